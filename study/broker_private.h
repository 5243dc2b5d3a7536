/* broker_private.h - between the files of the broker: its messages. SPDX-License-Identifier: MIT */
#ifndef STUDY_BROKER_PRIVATE_H
#define STUDY_BROKER_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "study/broker.h"
#include "study/past.h"

enum { PASTS = 8 };

struct broker {
    int fd;
    uint32_t other; /* as in struct broker_ask */
};

struct broker_answer {
    int32_t result, code;
    uint64_t bytes;
    char msg[sizeof((struct err *)0)->msg];
    char data[BROKER_BYTES];
};

/* The parent's side. */
struct broker_server {
    int fd;
    struct study *first, *study; /* study: that is asked about */
    const struct broker_options *options;
    struct past *past[PASTS];
    struct broker_ask ask;
    struct broker_answer answer;
    int folder;    /* that came with the question; -1: none */
    int give;      /* that goes with the answer; -1: none */
    uint8_t *list; /* of probes; NULL: none */
    size_t list_bytes;
    bool gone; /* the child does not read answers */
};

/* ---- broker.c ---- */

/* One message, perhaps with a descriptor. Returns its bytes, 0 at the end, or -1. */
ssize_t broker_receive(int fd, void *data, size_t room, int *passed);
int broker_dispatch(int fd, const void *data, size_t bytes, int pass);
int broker_give_answer(struct broker_server *v); /* -1: the child does not read it */

/* ---- broker_stream.c: answers while a replay goes on ---- */

/* Whole rows or events, at most PROBE_ROWS_BYTES. -1: the child is gone. */
int broker_pass(struct broker_server *v, const void *data, size_t bytes);
void broker_pass_ticks(struct broker_server *v, uint64_t ticks);
/* Has the child said a word meanwhile? Then it wants no more. */
bool broker_has_enough(const struct broker_server *v);
/* What the last answer says; 0 or -1, or 1 if the child had enough. Its data stay. */
int broker_last(int result);

/* ---- broker_tell.c ---- */

int broker_answer_tell(struct broker_server *v, struct past *p, struct err *err);

/* ---- broker_probe.c ---- */

int broker_take_list(struct broker_server *v, struct err *err);
int broker_answer_probe(struct broker_server *v, struct err *err);

#endif
