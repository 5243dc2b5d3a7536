/* hang.c - what every thread waits for, on the terminal. SPDX-License-Identifier: MIT */
#include "cli/hang.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plain.h"
#include "facts/hang/hang.h"
#include "study/broker.h"

enum { WORDS = 256, STORY = 1024, PLACE = 128 };

static int print(void *arg)
{
    struct study *s = arg;
    char words[WORDS], story[STORY], place[PLACE], token[POSITION_TEXT];
    struct err err;
    const struct hang *h = study_analyse(s, &err) ? NULL : hang_find(s, &err);
    if (!h || !hang_is(s, h))
        return 0;
    hang_summary(h, story, sizeof story);
    printf("hang       %s\n", story);
    for (size_t i = 0; i < h->threads; i++) {
        const struct hang_thread *t = &h->thread[i];
        study_place(s, t->line_pc ? t->line_pc : t->at.pc, place, sizeof place);
        hang_words(t, words, sizeof words);
        hang_story(s, t, story, sizeof story);
        position_format(&t->at, token);
        plain_printf(stdout, "  T%" PRIu32 " %s  %s%s%s  %s\n", t->number, place, words,
                     *story ? ": " : "", story, token);
    }
    fflush(stdout);
    return 0;
}

void hang_print(const struct slice_options_given *a)
{
    const struct study_options options = {
        .untraced = true, .modules = true, .places = a->study.places};
    struct err err;
    if (a->study.from || a->study.to || slice_formats_are_whole(&a->formats))
        return;
    struct study *s = study_collect(a->in, &options, &err);
    if (s && hang_is(s, NULL))
        broker_run(s, &(struct broker_options){.other = NULL}, print, s, &err);
    study_close(s);
}
