/* slice_outside.c - which call brought what a story says came from outside.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace does not know the arguments of calls. A plain replay tells of all calls up to the last
 * one that is wanted; descriptors are followed on the way, and how far files were read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/slice_print.h"
#include "debug/events/describer.h"
#include "engine/os/kinds.h"
#include "pinball/pinball.h"
#include "replayer/journal.h"

enum { FILES = 256 };

struct search {
    struct story *story;
    struct describer *describer;
    size_t wanted;      /* rows of which nothing is known yet */
    uint64_t at[FILES]; /* how far a descriptor's file was read or written */
};

/* What it does to the place in a file; *from becomes the place that it reads at. */
static void follow(struct search *q, const struct debuggee_event *e, const char *name,
                   const uint64_t arg[6], uint64_t *from)
{
    uint64_t fd = arg[0], result = (uint64_t)e->result;
    *from = UINT64_MAX;
    if (e->result < 0)
        return;
    switch (kinds_of(e->call).does) {
    case DOES_OPENS:
    case DOES_OPENS_ANYHOW:
    case DOES_MAKES_FILE:
        if (result < FILES)
            q->at[result] = 0;
        return;
    case DOES_READS_AT:
        *from = arg[3];
        return;
    case DOES_READS:
    case DOES_WRITES:
        if (fd >= FILES)
            return;
        *from = q->at[fd];
        q->at[fd] += result;
        return;
    default:
        if (name && strcmp(name, "lseek") == 0 && fd < FILES)
            q->at[fd] = result;
        return;
    }
}

/* `read(3 "conf.ini") bytes 40-47` */
static void tell(struct search *q, struct story_row *row, const struct described *words,
                 const uint64_t arg[6], uint64_t from)
{
    char where[STORY_OUTSIDE_ROOM / 2] = "", bytes[64] = "";
    if (words->fds && words->paths)
        snprintf(where, sizeof where, "%" PRId64 " \"%.40s\"", words->fd[0], words->path[0]);
    else if (words->fds)
        snprintf(where, sizeof where, "%" PRId64, words->fd[0]);
    else if (words->paths)
        snprintf(where, sizeof where, "\"%.40s\"", words->path[0]);
    uint64_t into = row->came.addr - arg[1];
    if (from != UINT64_MAX && row->came.memory && row->came.addr >= arg[1] && into < arg[2])
        snprintf(bytes, sizeof bytes,
                 row->came.bytes == 1 ? " byte %" PRIu64 : " bytes %" PRIu64 "-%" PRIu64,
                 from + into, from + into + row->came.bytes - 1);
    snprintf(row->outside, sizeof row->outside, "%s(%s)%s", words->call ? words->call : "a call",
             where, bytes);
    q->wanted--;
}

static bool take(void *data, const struct mailbox_entry *entry, const void *text)
{
    struct search *q = data;
    struct debuggee_event event;
    struct described words;
    uint64_t arg[6] = {0}, from;
    journal_read(entry, text, &event);
    describer_event(q->describer, &event, &words);
    if (event.kind != EVENT_CALL || event.text_bytes < sizeof(struct mailbox_call))
        return true;
    memcpy(arg, ((const struct mailbox_call *)(const void *)event.text)->arg, sizeof arg);
    follow(q, &event, words.call, arg, &from);
    for (size_t i = 0; i < q->story->rows; i++) {
        struct story_row *row = &q->story->row[i];
        if (row->how == STORY_OUTSIDE && !row->outside[0] && row->at.thread == event.at.thread &&
            row->at.count == event.at.count && row->at.pc == event.at.pc)
            tell(q, row, &words, arg, from);
    }
    return true;
}

static bool has_enough(void *data)
{
    const struct search *q = data;
    return q->wanted == 0;
}

/* What cannot be found out is not told. */
void slice_outside_find(struct study *s, struct story *story)
{
    struct search q = {.story = story};
    struct replay_stop stop;
    struct err unused;
    for (size_t i = 0; i < story->rows; i++)
        q.wanted += story->row[i].how == STORY_OUTSIDE;
    if (!q.wanted || !pinball_is_own(s->pinball) || trace_insns(s->trace) > FINDINGS_INSNS ||
        !(q.describer = describer_new()))
        return;
    struct replay *replay = replay_new(
        s->pinball,
        &(struct replay_options){
            .entry = take, .tell = RUN_OUTPUT | RUN_EVENTS, .pause = has_enough, .arg = &q},
        &unused);
    if (replay)
        (void)replay_run(replay, NULL, &stop, &unused);
    replay_free(replay);
    describer_free(q.describer);
}
