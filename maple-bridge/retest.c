/* retest.c - the orders that a failure needed, on a program that was changed since.
 *
 * SPDX-License-Identifier: MIT
 */
#include "maple-bridge/retest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maple-bridge/feasible.h"

#define HEAD "drdebug maple orders 1\n"

/* ---- in the pinball ---- */

static void write_access(FILE *to, const struct reduce_access *a, const struct scout *profile)
{
    const struct scout_site *s = scout_site(profile, a->site);
    fprintf(to, "access %d %" PRIx64 " %s %s\n", a->write, s ? s->text : 0,
            s && *s->function ? s->function : "-", a->place);
}

int retest_write(const char *dir, const struct reduced *r, const struct scout *profile,
                 bool deadlock, struct err *err)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/maple", dir);
    FILE *to = fopen(path, "wxe");
    if (!to)
        return err_set_code(err, errno, "%s: %m", path);
    fputs(HEAD, to);
    if (deadlock)
        fputs("locks\n", to);
    for (uint32_t i = 0; i < r->pairs && !deadlock; i++) {
        const struct reduce_pair *p = &r->pair[i];
        if (p->then.absent && !r->pair[0].then.absent) /* the failing run did without */
            continue;
        fputs("order\n", to);
        if (p->before.thread)
            write_access(to, &p->before, profile);
        write_access(to, &p->first, profile);
        write_access(to, &p->then, profile);
    }
    return fclose(to) ? err_set_code(err, errno, "%s: %m", path) : 0;
}

static int take_line(struct retest *t, char *line)
{
    struct retest_order *o = t->orders ? &t->order[t->orders - 1] : NULL;
    struct retest_access a = {.write = false};
    int write, n = 0;
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "locks") == 0 || strcmp(line, "order") == 0) {
        if (t->orders == REDUCE_PAIRS)
            return -1;
        t->order[t->orders++] = (struct retest_order){.locks = *line == 'l'};
        return 0;
    }
    if (!o || o->steps == RETEST_STEPS ||
        sscanf(line, "access %d %" SCNx64 " %63s %n", &write, &a.text, a.function, &n) != 3 || !n ||
        strlen(line + n) >= sizeof a.place)
        return -1;
    a.write = write;
    strcpy(a.place, line + n);
    o->access[o->steps++] = a;
    return 0;
}

int retest_read(const char *dir, struct retest *out, struct err *err)
{
    char line[512];
    int bad;
    const int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd =
        folder < 0 ? -1 : openat(folder, "maple", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    struct stat st;
    *out = (struct retest){.orders = 0};
    if (folder >= 0)
        close(folder);
    if (!f && errno == ENOENT)
        return err_set(err, "%s: no search has left its critical orders there", dir);
    if (!f)
        return err_set_code(err, errno, "%s/maple: %m", dir);
    bad = fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || !fgets(line, sizeof line, f) ||
          strcmp(line, HEAD) != 0;
    while (!bad && fgets(line, sizeof line, f))
        bad = take_line(out, line);
    fclose(f);
    for (unsigned i = 0; i < out->orders; i++)
        bad = bad || (!out->order[i].locks && out->order[i].steps < 2);
    return bad ? err_set(err, "%s/maple: damaged", dir) : 0;
}

/* ---- on the other build ---- */

/* A site of the same function at the same line, or else at one with the same text. 0: none. */
static uint32_t find(const struct scout *p, const struct retest_access *a)
{
    uint32_t by_text = 0;
    for (uint32_t n = 1; n <= p->sites && n < AGENDA_SITES; n++) {
        const struct scout_site *s = scout_site(p, n);
        if (s->sync || strcmp(s->function, a->function) != 0 || !(a->write ? s->writes : s->reads))
            continue;
        if (a->text && s->text == a->text)
            by_text = by_text && strcmp(scout_site(p, by_text)->place, a->place) == 0 ? by_text : n;
        else if (!a->text && strcmp(s->place, a->place) == 0)
            return n;
    }
    return by_text;
}

static bool match(struct retest_order *o, const struct scout *p)
{
    for (unsigned i = 0; i < o->steps; i++) {
        const uint32_t n = find(p, &o->access[i]);
        if (!n) {
            o->lacking = i;
            return false;
        }
        o->step[i] = (struct agenda_step){.site = (uint16_t)n, .actor = (i + o->steps) % 2 == 0};
        o->key[i] = scout_site(p, n)->key;
    }
    return true;
}

/* What one run shows to be possible stays so. */
static void judge(struct retest_order *o, const struct scout *p)
{
    enum feasible_verdict v;
    if (o->state == RETEST_FORCED)
        return;
    if (o->locks) {
        const bool can = feasible_circle(p->feasible);
        o->state = can || o->state == RETEST_OPEN ? RETEST_OPEN : RETEST_LOCKED;
        return;
    }
    if (!match(o, p))
        return;
    v = feasible_judge(p->feasible, o->step, o->key, o->steps);
    if (v == FEASIBLE_YES || o->state == RETEST_OPEN)
        o->state = RETEST_OPEN;
    else if (v == FEASIBLE_ORDERED || v == FEASIBLE_LOCKED)
        o->state = v == FEASIBLE_ORDERED ? RETEST_ORDERED : RETEST_LOCKED;
    else if (o->state == RETEST_UNMATCHED)
        o->state = RETEST_OPEN;
}

void retest_match(struct retest *t, const struct scout *profile)
{
    for (unsigned i = 0; profile->feasible && i < t->orders; i++)
        judge(&t->order[i], profile);
}

bool retest_next(struct retest *t, uint64_t seed, struct recipe *out)
{
    for (unsigned i = 0; i < t->orders; i++) {
        struct retest_order *o = &t->order[i];
        if (o->state != RETEST_OPEN || o->locks || o->tries == RETEST_TRIES)
            continue;
        o->tries++;
        *out = (struct recipe){.tactic = AGENDA_idiom, .seed = seed, .steps = o->steps};
        memcpy(out->step, o->step, sizeof out->step);
        return true;
    }
    return false;
}

void retest_learn(struct retest *t, const struct recipe *r, uint32_t reached)
{
    for (unsigned i = 0; i < t->orders && r->tactic == AGENDA_idiom; i++)
        if (t->order[i].state == RETEST_OPEN && reached >= r->steps &&
            r->steps == t->order[i].steps && memcmp(r->step, t->order[i].step, sizeof r->step) == 0)
            t->order[i].state = RETEST_FORCED;
}
