/* mapped_int.h - what the sources of mapped.h share. SPDX-License-Identifier: MIT
 *
 * mapped.c has the list and what calls map, mapped_files.c what is written to files that are
 * mapped, mapped_others.c what other processes write to shared memory.
 */
#ifndef LOGGER_TARGET_MAPPED_INT_H
#define LOGGER_TARGET_MAPPED_INT_H

#include "engine/os/kinds.h"
#include "logger/target/mapped.h"

struct filestat;

enum { FDS = 1024 };
enum { OBJECTS = 4096, SHADOWS = 64 };
enum { WHOLE_BYTES = 64 << 20 }; /* files up to this are kept whole: pinball/writer.h */

/* Mappings of files and shared memory; sorted by nothing, there are few. */
struct mapping {
    gaddr start, end;
    uint64_t dev, ino, offset;
    uint32_t object; /* shared, or private but of the same file: its number */
    bool private;
    bool writable;     /* shared, and a child that inherits it may write it */
    bool changed;      /* private, of no object, and its file is no longer as it was kept */
    uint64_t size;     /* likewise: of its file, when it was mapped; 0: it was not kept */
    bool fresh;        /* its file was written not long before: somebody may be at it */
    bool shows;        /* private, small and fresh: pages that are not written show its file */
    bool stores;       /* private, and the program may write it */
    uint64_t modified; /* when its file was written last, in ns; 0: the program writes it, too */
};

extern struct mapped {
    struct mapping *list;
    size_t count, room;
    uint32_t objects;
    uint64_t size[OBJECTS]; /* of each, when last seen */
    bool stale[OBJECTS];    /* a replay may not have what lies outside its mappings */
    bool forked;            /* there were child processes */
    bool spawned;           /* ... that have no memory in common with the program by now */
    bool sharing;           /* ... or others, and there is memory to share with them */
    bool named;             /* there is memory that any process can find and map */
    bool others;            /* another process really has some and may write it: it was said */
    uint64_t asked, pause;  /* when the recorder was last asked about that, and until it is again */
    int at_once;            /* times that it was asked without a pause */
    size_t shadows;
    struct shadow {
        gaddr start, end;
        uint8_t *copy; /* as it was when last looked at; zeros where that was not possible */
    } shadow[SHADOWS];
    uint64_t writable[FDS / 64]; /* descriptors of regular files that may be written */
    uint64_t watched[FDS / 64];  /* ... which are mapped, too */
} mapped;

uint32_t mapped_object_of(uint64_t dev, uint64_t ino); /* 0: none */
bool mapped_is_mapped(uint64_t dev, uint64_t ino);
void mapped_log_size(uint32_t object, uint64_t size, uint8_t flags); /* of struct record_size */

/* ---- mapped_files.c ---- */

void mapped_opened(int fd, bool may_write);
bool mapped_may_write_file(long fd); /* it is a regular one */
/* The file may have another size now; what is mapped of it comes and goes with that. */
void mapped_size_seen(const struct filestat *st, int fd); /* which shows it; < 0: none does */
void mapped_path_size_seen(const char *path);
void mapped_watch_writers(uint64_t dev, uint64_t ino); /* it is mapped now */
/* Private mappings of the file were not thought to show anything but what was kept of it. Now that
 * it is written through a shared one, or has another size, they show an object. */
void mapped_make_object(uint64_t dev, uint64_t ino, int fd);
void mapped_log_object_piece(uint32_t object, uint64_t offset, const void *data, uint64_t bytes);
/* File systems on disks have cleared what lies behind the ends of files. */
void mapped_written_back(void);
void mapped_file_written(struct call_kind k, const long a[6], long result);
/* process_vm_writev to oneself: the remote ranges are here. */
void mapped_own_ranges_written(const long a[6], long result);

/* ---- mapped_others.c ---- */

/* A copy of it, to be compared with; made if there is none. NULL: there is no room. */
struct shadow *mapped_shadow_of(const struct mapping *n);
/* Shared memory with a name was mapped; `likely`: others do so, too, and the recorder is asked
 * about them soon. A file that is only read mostly is just read. */
void mapped_anybody_may_map(bool likely);
void mapped_own_writes(uint64_t dev, uint64_t ino); /* so what changes is not somebody else's */
void mapped_others_write(void);                     /* another process may write some of it */

#endif
