/* beneath.h - files beneath a folder, and nothing else.
 *
 * SPDX-License-Identifier: MIT
 *
 * A pinball comes from anywhere. A name in its directory may be a link that leads elsewhere, a FIFO
 * that makes us wait, a device, or one of several names of a file that is somebody else's. So
 * drdebug opens, makes and removes everything in it through these functions: they follow no link,
 * open only regular files and folders, and make only files that are really new. The user names the
 * folder itself, which may be a link. tests/arch/beneath.py checks that no other code opens files
 * in a pinball.
 *
 * Functions return -1 with errno set; beneath_error() has words for it.
 */
#ifndef PINBALL_BENEATH_H
#define PINBALL_BENEATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Opens a folder that the user named. */
int beneath_folder(const char *path);
/* The folder that the user's path is in; *name is the path's last part. */
int beneath_folder_of(const char *path, const char **name);

/* Opens a file, or with O_DIRECTORY a folder, by a name without `..`. For writing, only a file that
 * has no other name. */
int beneath_open(int folder, const char *name, int flags);
bool beneath_exists(int folder, const char *name); /* anything, a link, too */

/* Makes a file for reading and writing. What has the name now is removed. */
int beneath_create(int folder, const char *name);

/* A file that gets its name when it is whole, and leaves nothing when drdebug is killed before that
 * (except on filesystems without O_TMPFILE). */
struct beneath_new {
    int folder, fd; /* the folder is the caller's */
    bool named;     /* there was no other way */
    char temporary[NAME_MAX + 1];
};
/* `name` has no slash. beneath_finish() takes the place of what has the name; with `fresh` it fails
 * with EEXIST instead. Both close fd. */
int beneath_begin(struct beneath_new *file, int folder, const char *name);
int beneath_finish(struct beneath_new *file, const char *name, bool fresh);
void beneath_abandon(struct beneath_new *file);

/* A file without a name in TMPDIR, for reading and writing. */
int beneath_temporary(void);

/* ---- files of this machine, by names that a pinball's contents chose ---- */

/* Only regular files: nothing else is opened at all. Links are followed. */
int beneath_open_plain(const char *path, struct stat *st);
/* The same in a folder that the user named; links that lead out of it are not followed. */
int beneath_open_within(int folder, const char *name, struct stat *st);

const char *beneath_error(int error);

/* Can files be made in the folder? Some sandboxes tell only when it is tried. */
bool beneath_is_writable(const char *path);

/* ---- in a process that may open nothing itself (base/confine.h) ---- */

enum beneath_kind {
    BENEATH_FOLDER, /* beneath_folder() */
    BENEATH_FILE,   /* beneath_open() */
    BENEATH_PLAIN,  /* beneath_open_plain() */
    BENEATH_WITHIN, /* beneath_open_within() */
};
/* From now on these four ask `opener`, which returns a descriptor or -1 with errno set. NULL: no
 * more. */
typedef int beneath_opener(void *arg, enum beneath_kind kind, int folder, const char *name,
                           int flags);
void beneath_set_opener(beneath_opener *opener, void *arg);

#endif
