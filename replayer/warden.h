/* warden.h - the replaying processes: none gets away, none is there that nobody asked for.
 *
 * SPDX-License-Identifier: MIT
 *
 * A ward is a replaying process. It and its copies are a family: one process group, whose members
 * are all children of this process, since a copy is made by clone with CLONE_PARENT. The kernel
 * kills a family when this process ends, however it ends (cage.h). What a replaying process says
 * about processes is never believed: only own children of a ward's group are ever signalled.
 *
 * While there are wards, a thread watches all families together: a member that nobody asked for,
 * or more memory really held than the limit, condemns them; so does one that does not answer. All
 * are killed then, and whatever is asked of them fails with the reason, until the last ward is
 * gone.
 *
 * Functions may be called from any thread.
 */
#ifndef REPLAYER_WARDEN_H
#define REPLAYER_WARDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct ward;

/* The first process of a new family, in which run(arg, fd) is called, caged. It must not return and
 * must keep fd open. */
struct ward *warden_start(void (*run)(void *arg, int fd), void *arg, struct err *err);

/* A copy: warden_expect() before its maker is told to make one, then in any case warden_adopt(),
 * with the process id that the maker has named, or a negative errno. NULL with *err set: code
 * REPLAY_GONE if it has ended. */
void warden_expect(void);
struct ward *warden_adopt(struct ward *maker, pid_t named, struct err *err);

void warden_end(struct ward *ward); /* kills it; NULL is allowed */
bool warden_gone(const struct ward *ward);
pid_t warden_pid(const struct ward *ward);
/* Why it has ended; returns -1. */
int warden_why(const struct ward *ward, struct err *err);

/* Condemns them; returns -1 with the reason. */
int warden_condemn(const char *why, struct err *err);

/* -1 with *err set: so much is more than all of them may hold together, memory_limit(). */
int warden_allow(uint64_t bytes, struct err *err);

#endif
