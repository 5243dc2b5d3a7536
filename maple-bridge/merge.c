/* merge.c - adds up what jobs have found. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "maple-bridge/memo.h"
#include "maple-bridge/search.h"

struct merging {
    struct memo *memo;
    struct memo_state state;
    struct scout profile;
    struct portfolio *portfolio;
    uint64_t sum;
    bool *had;             /* by job */
    struct memo_part part; /* as the first one has it */
    uint64_t last;         /* run of all of them */
};

/* Does it continue this memo, and is it one that was not there yet? */
static int check(struct merging *m, const struct memo_part *part, const char *path, struct err *err)
{
    if (!part->jobs)
        return err_set(err, "%s: a whole memo, not a job's part", path);
    if (part->base != m->sum)
        return err_set(err, "%s: it began with another memo, or was added already", path);
    if (!m->had && !(m->had = calloc(part->jobs + 1, sizeof *m->had)))
        return err_set(err, "no memory");
    if (!m->part.jobs)
        m->part = *part;
    if (part->jobs != m->part.jobs || part->runs != m->part.runs || part->first != m->state.runs)
        return err_set(err, "%s: of another division into jobs", path);
    if (m->had[part->job])
        return err_set(err, "%s: job %u is there twice", path, part->job);
    m->had[part->job] = true;
    return 0;
}

static int add(struct merging *m, const char *path, struct err *err)
{
    struct memo_state state = {.program = m->state.program};
    struct scout profile = {.site = NULL};
    uint64_t sum;
    struct portfolio *p = portfolio_new(&profile, 0, NULL, err);
    struct memo *part = p ? memo_open(path, err) : NULL;
    int got = part ? memo_read(part, &state, &profile, p, &sum, err) : -1;
    if (got == 0)
        err_set(err, "%s: there is nothing in it", path);
    int bad = got <= 0 || check(m, &state.part, path, err);
    if (!bad && portfolio_add(m->portfolio, p, err))
        bad = err_set(err, "%s: %s", path, err->msg);
    for (size_t i = 0; !bad && i < state.failures.count; i++)
        failures_add(&m->state.failures, &state.failures.list[i]);
    m->last = state.runs > m->last ? state.runs : m->last;
    memo_close(part);
    portfolio_free(p);
    scout_deinit(&profile);
    return bad ? -1 : 0;
}

static int merge(struct merging *m, char *const *part, struct err *err)
{
    if (memo_read(m->memo, &m->state, &m->profile, m->portfolio, &m->sum, err) <= 0)
        return -1;
    for (; *part; part++)
        if (add(m, *part, err))
            return -1;
    m->state.runs = m->last > m->state.runs ? m->last : m->state.runs;
    m->state.batches += (m->part.runs + SEARCH_BATCH - 1) / SEARCH_BATCH;
    char *text = memo_text(&m->state, &m->profile, m->portfolio, err);
    int bad = !text || memo_write(m->memo, text, err);
    free(text);
    return bad ? -1 : 0;
}

int search_merge(const char *memo, char *const *part, uint32_t *failures, struct err *err)
{
    struct merging m = {.memo = NULL};
    int bad = -1;
    err_set(err, "%s: there is nothing in it", memo);
    m.portfolio = portfolio_new(&m.profile, 0, NULL, err);
    if (m.portfolio && (m.memo = memo_open(memo, err)))
        bad = merge(&m, part, err);
    *failures = (uint32_t)m.state.failures.count;
    memo_close(m.memo);
    free(m.had);
    portfolio_free(m.portfolio);
    scout_deinit(&m.profile);
    return bad;
}
