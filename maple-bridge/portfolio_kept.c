/* portfolio_kept.c - a portfolio in a memo, and parts of one that are added up.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "maple-bridge/portfolio_int.h"

/* ---- parts ---- */

struct portfolio *portfolio_part(const struct portfolio *whole, struct err *err)
{
    struct portfolio *p = calloc(1, sizeof *p);
    if (p) {
        p->profile = whole->profile;
        p->whole = whole;
        p->only = whole->only;
        if (idioms_copy(&p->idioms, &whole->idioms) == 0)
            return p;
    }
    portfolio_free(p);
    err_set(err, "no memory");
    return NULL;
}

static void add_orders(struct idioms *s, const struct idioms *part)
{
    for (size_t i = 0; i < s->orders; i++) {
        const struct idioms_order *o = &part->order[i];
        const unsigned tries = s->order[i].tries + o->tries,
                       failed = s->order[i].failed + o->failed;
        s->order[i].tries = (uint8_t)(tries < UINT8_MAX ? tries : UINT8_MAX);
        s->order[i].failed = (uint8_t)(failed < UINT8_MAX ? failed : UINT8_MAX);
        s->order[i].exposed |= o->exposed;
    }
}

int portfolio_add(struct portfolio *whole, const struct portfolio *part, struct err *err)
{
    if (part->idioms.orders != whole->idioms.orders)
        return err_set(err, "it has other iRoots");
    add_orders(&whole->idioms, &part->idioms);
    for (uint32_t w = 0; w < AGENDA_SITES; w++)
        for (uint32_t r = 0; r < AGENDA_SITES; r++)
            if (part->seen[w][r / 64] && portfolio_saw(part, w, r))
                portfolio_see(whole, w, r);
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        for (uint32_t k = 0; k <= AGENDA_GROUPS; k++)
            if (part->expected[i][k] > whole->expected[i][k])
                whole->expected[i][k] = part->expected[i][k];
    for (size_t i = 0; i < STRATEGIES_MOST; i++) {
        whole->score[i].runs += part->score[i].runs;
        whole->score[i].news += part->score[i].news;
    }
    for (size_t i = 0; i < part->corpus.count; i++)
        corpus_keep(&whole->corpus, &part->corpus.kept[i], part->corpus.run[i]);
    whole->events += part->events;
    whole->counted += part->counted;
    return 0;
}

/* ---- as text ---- */

void portfolio_write(const struct portfolio *p, FILE *to)
{
    char text[RECIPE_TEXT];
    fprintf(to, "lot %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            p->state, p->period, p->holds, p->runs, p->events, p->counted);
    for (int i = p->next; i < p->turns; i++)
        fprintf(to, "turn %d\n", p->turn[i]);
    for (int i = 0; i < portfolio_count(); i++)
        fprintf(to, "score %s %" PRIu64 " %" PRIu64 "\n", portfolio_name(i), p->score[i].runs,
                p->score[i].news);
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        for (uint32_t k = 0; k <= AGENDA_GROUPS; k++)
            if (p->expected[i][k])
                fprintf(to, "expected %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", i, k,
                        p->expected[i][k]);
    for (uint32_t w = 0; w < AGENDA_SITES; w++)
        for (uint32_t r = 0; r < AGENDA_SITES; r++)
            if (p->seen[w][r / 64] && portfolio_saw(p, w, r))
                fprintf(to, "seen %" PRIu32 " %" PRIu32 "\n", w, r);
    for (size_t i = 0; i < p->corpus.count; i++) {
        recipe_text(&p->corpus.kept[i], text, sizeof text);
        fprintf(to, "kept %" PRIu64 " %s\n", p->corpus.run[i], text);
    }
    idioms_write(&p->idioms, to);
}

static int score_line(struct portfolio *p, const char *line)
{
    char name[16];
    struct score s;
    if (sscanf(line, "score %15s %" SCNu64 " %" SCNu64, name, &s.runs, &s.news) != 3)
        return -1;
    for (int i = 0; i < portfolio_count(); i++)
        if (strcmp(name, portfolio_name(i)) == 0) {
            p->score[i] = s;
            return 1;
        }
    return -1;
}

static int kept_line(struct portfolio *p, const char *line)
{
    struct recipe r;
    struct err err;
    uint64_t run;
    int n = 0;
    if (sscanf(line, "kept %" SCNu64 " %n", &run, &n) != 1 || !n ||
        recipe_parse(line + n, &r, &err) || p->corpus.count == CORPUS)
        return -1;
    p->corpus.run[p->corpus.count] = run;
    p->corpus.kept[p->corpus.count++] = r;
    return 1;
}

static int turn_line(struct portfolio *p, const char *line)
{
    const int turn = atoi(line + sizeof "turn");
    if (turn < 0 || turn >= portfolio_count() || p->turns == ROUND * 2)
        return -1;
    p->turn[p->turns++] = turn;
    return 1;
}

int portfolio_line(struct portfolio *p, const char *line)
{
    uint32_t a, b, n;
    const size_t sites = p->profile->sites;
    if (strncmp(line, "score ", 6) == 0)
        return score_line(p, line);
    if (strncmp(line, "kept ", 5) == 0)
        return kept_line(p, line);
    if (strncmp(line, "turn ", 5) == 0)
        return turn_line(p, line);
    if (sscanf(line, "expected %" SCNu32 " %" SCNu32 " %" SCNu32, &a, &b, &n) == 3) {
        if (a >= AGENDA_THREADS || b > AGENDA_GROUPS)
            return -1;
        p->expected[a][b] = n;
        return 1;
    }
    if (sscanf(line, "seen %" SCNu32 " %" SCNu32, &a, &b) == 2) {
        if (a > sites || b > sites || a >= AGENDA_SITES || b >= AGENDA_SITES)
            return -1;
        portfolio_see(p, a, b);
        return 1;
    }
    if (sscanf(line, "lot %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
               &p->state, &p->period, &p->holds, &p->runs, &p->events, &p->counted) == 6)
        return 1;
    return idioms_line(&p->idioms, line, sites);
}
