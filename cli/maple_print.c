/* maple_print.c - what `drdebug maple` says. SPDX-License-Identifier: MIT
 *
 * Results go to standard output; a line on a terminal, standard error, says how far it is.
 */
#define _GNU_SOURCE
#include "cli/maple_print.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "maple-bridge/tell.h"

static void clear_line(const struct maple *m)
{
    if (m->terminal)
        fputs("\r\033[K", stderr);
}

static void show(void *arg, const struct search_state *s)
{
    const struct maple *m = arg;
    if (!m->terminal)
        return;
    const double seconds = (double)s->ns / 1e9;
    fprintf(stderr,
            "\r%" PRIu64 " runs, %.0f/s, %" PRIu64 " pairs of accesses seen, %" PRIu64
            " iRoots forced of %" PRIu64 " tried, %" PRIu64 " failure%s%s%s\033[K",
            s->runs, seconds > 0 ? (double)s->runs / seconds : 0.0, s->pairs, s->exposed, s->orders,
            s->failures, s->failures == 1 ? "" : "s", s->strategy ? ", most new by " : "",
            s->strategy ? s->strategy : "");
}

static void failure_text(const struct crew_outcome *o, char *out, size_t room)
{
    const int status = o->wait_status;
    switch (o->kind) {
    case CREW_CIRCLE:
        snprintf(out, room, "deadlock: threads wait for each other's locks");
        break;
    case CREW_STUCK:
        snprintf(out, room, "deadlock: all threads wait, and nothing can end that");
        break;
    case CREW_LONG:
        snprintf(out, room, "hang: %.1f s of CPU time", (double)o->used_ns / 1e9);
        break;
    case CREW_TEXT_MATCHED:
        snprintf(out, room, "it reported an error");
        break;
    case CREW_CHECK:
        snprintf(out, room, "the check failed");
        break;
    default:
        if (WIFSIGNALED(status))
            snprintf(out, room, "SIG%s", sigabbrev_np(WTERMSIG(status)));
        else
            snprintf(out, room, "status %d", WEXITSTATUS(status));
    }
}

static void lock_json(void *arg, const char *text)
{
    bool *more = arg;
    fputs(*more ? ", " : "", stdout);
    json_string(text);
    *more = true;
}

static void found_json(const struct search_found *f, const char *failure, const char *recipe)
{
    printf("{\"run\": %" PRIu64 ", \"failure\": ", f->run);
    json_string(failure);
    fputs(", \"pinball\": ", stdout);
    json_string(f->dir);
    fputs(", \"strategy\": ", stdout);
    json_string(f->strategy);
    fputs(", \"recipe\": ", stdout);
    json_string(f->strategy ? recipe : NULL);
    printf(", \"events\": %" PRIu64 ", \"switches\": %" PRIu64 ", \"output\": ", f->events,
           f->switches);
    json_string(f->outcome->text);
    if (f->deadlock) {
        bool more = false;
        fputs(", \"waits\": [", stdout);
        tell_deadlock(f->dir, lock_json, &more);
        putchar(']');
    }
    putchar('}');
}

static void wait_line(void *arg, const char *text)
{
    (void)arg;
    plain_printf(stdout, "  %s\n", text);
}

static void found(void *arg, const struct search_found *f)
{
    struct maple *m = arg;
    char failure[100], recipe[RECIPE_TEXT];
    failure_text(f->outcome, failure, sizeof failure);
    recipe_text(&f->recipe, recipe, sizeof recipe);
    clear_line(m);
    if (m->json) {
        fputs(m->told ? ", " : "", stdout);
        found_json(f, failure, recipe);
    } else {
        plain_printf(stdout, "%s: run %" PRIu64 ": %s\n", f->dir, f->run, failure);
        if (f->strategy || m->search.recipe || m->search.iroot)
            plain_printf(stdout, "recipe %s: %" PRIu64 " events, %" PRIu64 " switches\n", recipe,
                         f->events, f->switches);
        else
            plain_printf(stdout, "the program fails without being perturbed\n");
        if (f->deadlock)
            tell_deadlock(f->dir, wait_line, NULL);
        for (const char *line = f->outcome->text; *line;) {
            const size_t n = strcspn(line, "\n");
            plain_printf(stdout, "  | %.*s\n", (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
    m->told = true;
    fflush(stdout);
}

static void say_access(const struct reduce_access *a, const char *name, const char *end)
{
    plain_printf(stdout, "T%" PRIu32 " %s %s%s%s at %s%s", a->thread, a->write ? "writes" : "reads",
                 a->value, *a->value ? (a->write ? " to " : " from ") : "", *name ? name : "it",
                 a->place, end);
    for (uint32_t i = 0; i < a->locks; i++)
        plain_printf(stdout, "%s %s since %s", i ? "," : ", with", a->lock[i].name,
                     a->lock[i].place);
}

/* By which calls it came there. */
static void say_calls(const char stack[][SCOUT_PLACE], uint32_t frames)
{
    for (uint32_t i = 1; i < frames; i++)
        plain_printf(stdout, "%s %s", i == 1 ? "; called from" : ",", stack[i]);
    putchar('\n');
}

static void say_stack(const struct reduce_access *a)
{
    say_calls(a->stack, a->frames);
}

static void say_pauses(const struct reduced *r)
{
    for (uint32_t i = r->pauses; i > 0; i--) {
        const struct reduce_pause *p = &r->pause[i - 1];
        if (!p->frames)
            continue;
        const bool between = p->lasts && strcmp(p->last[0], p->stack[0]) != 0;
        plain_printf(stdout, "  T%" PRIu32 " is taken off %s%s%s%s for T%" PRIu32, p->thread,
                     between ? "between " : "at ", between ? p->last[0] : "",
                     between ? " and " : "", p->stack[0], p->next);
        say_calls(p->stack, p->frames);
    }
}

static void say_pair(const struct reduce_pair *p, bool first)
{
    fputs(first ? "critical pair " : "              ", stdout);
    say_access(&p->first, p->name, "");
    say_stack(&p->first);
    fputs("         then ", stdout);
    say_access(&p->then, p->name, p->then.absent ? ", which this run ended before" : "");
    say_stack(&p->then);
    if (*p->story)
        plain_printf(stdout, "              %s\n", p->story);
}

static void stack_json(const char *name, const char stack[][SCOUT_PLACE], uint32_t frames)
{
    printf(", \"%s\": [", name);
    for (uint32_t i = 0; i < frames; i++) {
        fputs(i ? ", " : "", stdout);
        json_string(stack[i]);
    }
    putchar(']');
}

static void locks_json(const struct reduce_access *a)
{
    fputs(", \"locks\": [", stdout);
    for (uint32_t i = 0; i < a->locks; i++) {
        fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
        json_string(a->lock[i].name);
        fputs(", \"since\": ", stdout);
        json_string(a->lock[i].place);
        putchar('}');
    }
    putchar(']');
}

static void access_json(const struct reduce_access *a, bool more)
{
    char token[POSITION_TEXT];
    position_format(&a->at, token);
    printf("%s{\"thread\": %" PRIu32 ", \"write\": %s, \"position\": \"%s\", \"place\": ",
           more ? ", " : "", a->thread, a->write ? "true" : "false", token);
    json_string(a->place);
    printf(", \"came\": %s, \"value\": ", a->absent ? "false" : "true");
    json_string(*a->value ? a->value : NULL);
    stack_json("stack", a->stack, a->frames);
    locks_json(a);
    putchar('}');
}

static void pauses_json(const struct reduced *r)
{
    fputs(", \"switches\": [", stdout);
    for (uint32_t i = r->pauses; i > 0; i--) {
        const struct reduce_pause *p = &r->pause[i - 1];
        printf("%s{\"thread\": %" PRIu32 ", \"next\": %" PRIu32, i < r->pauses ? ", " : "",
               p->thread, p->next);
        stack_json("stack", p->stack, p->frames);
        stack_json("last", p->last, p->lasts);
        putchar('}');
    }
    putchar(']');
}

static void reduced_json(const struct reduced *r)
{
    printf("{\"runs\": %" PRIu64 ", \"before\": %" PRIu32 ", \"after\": %" PRIu32 ", \"pairs\": [",
           r->runs, r->before, r->after);
    for (uint32_t i = 0; i < r->pairs; i++) {
        const struct reduce_access *side[] = {&r->pair[i].first, &r->pair[i].then};
        fputs(i ? ", [" : "[", stdout);
        for (int k = 0; k < 2; k++)
            access_json(side[k], k);
        putchar(']');
    }
    fputs("], \"stories\": [", stdout);
    for (uint32_t i = 0; i < r->pairs; i++) {
        fputs(i ? ", " : "", stdout);
        json_string(r->pair[i].story);
    }
    putchar(']');
    pauses_json(r);
    putchar('}');
}

static void reduced(void *arg, const struct reduced *r)
{
    struct maple *m = arg;
    if (m->json) {
        fputs(", ", stdout);
        reduced_json(r);
        return;
    }
    if (r->failed) {
        puts("the schedule alone does not bring it back: the program depends on something outside");
        return;
    }
    printf("%" PRIu32 " of %" PRIu32 " switches are needed (%" PRIu64 " more runs)", r->after,
           r->before, r->runs);
    struct recipe script = {.tactic = AGENDA_script};
    if (r->after <= RECIPE_SWITCHES) {
        char text[RECIPE_TEXT];
        script.switches = r->after;
        memcpy(script.script, r->list, r->after * sizeof *r->list);
        recipe_text(&script, text, sizeof text);
        printf(": recipe %s", text);
    }
    putchar('\n');
    say_pauses(r);
    for (uint32_t i = 0; i < r->pairs; i++)
        say_pair(&r->pair[i], i == 0);
    fflush(stdout);
}

/* "3 predicted, 2 exposed" */
static void say_orders(const struct search_result *r)
{
    const char *before = "iRoots: ";
    for (int i = 0; i <= IDIOMS_RULED_OUT; i++)
        if (r->orders[i]) {
            printf("%s%" PRIu64 " %s", before, r->orders[i],
                   idioms_state_name((enum idioms_state)i));
            before = ", ";
        }
    puts(*before == ',' ? "" : "there are no iRoots");
}

static void say_iroot(const struct scout *profile, const struct idioms_order *o, size_t number)
{
    printf("%6zu idiom %d  %-9s  ", number, o->idiom, idioms_state_name(idioms_state_of(o)));
    for (unsigned i = 0; i < o->steps; i++) {
        const struct scout_site *s = scout_site(profile, o->step[i].site);
        plain_printf(stdout, "%s%c %s", i ? " -> " : "", 'A' + o->step[i].actor,
                     s ? s->place : "?");
        if (o->idiom > 3)
            printf(" (%c)", 'x' + o->step[i].place);
    }
    if (o->tries)
        printf("; %d tries", o->tries);
    putchar('\n');
}

/* A and B are two threads, x and y two locations. */
static void known(void *arg, const struct scout *profile, const struct portfolio *portfolio)
{
    const struct maple *m = arg;
    const struct idioms *all = portfolio_idioms(portfolio);
    for (size_t i = 0; i < all->orders && !m->json; i++)
        say_iroot(profile, &all->order[i], i + 1);
}

void maple_print_to(struct maple *m)
{
    m->search.progress = show;
    m->search.found = found;
    m->search.reduced = reduced;
    m->search.known = known;
    m->search.arg = m;
}

void maple_print_begin(const struct maple *m)
{
    if (m->json) {
        json_begin();
        fputs(", \"found\": [", stdout);
    }
}

static void say_retest(const struct retest *t)
{
    static const char *const states[] = {"not tried", "not forced", "forced",
                                         "cannot come: threads begin and end so",
                                         "cannot come: locks"};
    for (unsigned i = 0; i < t->orders; i++) {
        const struct retest_order *o = &t->order[i];
        fputs("order ", stdout);
        if (o->locks)
            fputs("of locks that threads wait for in a circle", stdout);
        for (unsigned k = 0; k < o->steps; k++)
            plain_printf(stdout, "%s%s at %s", k ? ", " : "", o->access[k].write ? "write" : "read",
                         o->access[k].place);
        printf(": %s", states[o->state]);
        const struct retest_access *a = &o->access[o->lacking];
        if (o->state == RETEST_UNMATCHED && !o->locks)
            plain_printf(stdout, ": no run had such a %s in %s", a->write ? "write" : "read",
                         a->function);
        if (o->state == RETEST_OPEN && o->tries)
            printf(" in %u tries", o->tries);
        putchar('\n');
    }
}

void maple_print_end(const struct maple *m, const struct search_result *r, bool failed)
{
    clear_line(m);
    if (m->json) {
        printf("], \"iroots\": {");
        for (int i = 0; i <= IDIOMS_RULED_OUT; i++)
            printf("%s\"%s\": %" PRIu64, i ? ", " : "", idioms_state_name((enum idioms_state)i),
                   r->orders[i]);
        printf("}, \"runs\": %" PRIu64 ", \"seconds\": %.3f, \"sites\": %" PRIu32
               ", \"hash\": \"%016" PRIx64 "\", \"same\": %s}\n",
               r->runs, (double)r->ns / 1e9, r->sites, r->hash, r->same ? "true" : "false");
        return;
    }
    if (failed && !r->runs)
        return;
    if (m->search.goal == SEARCH_RETEST && !m->json)
        say_retest(&r->retest);
    if (m->search.goal == SEARCH_SHOW) {
        say_orders(r);
        return;
    }
    if (m->search.goal == SEARCH_PROFILE && !r->failures) {
        printf("%" PRIu64 " runs, %" PRIu32 " instructions touch what threads share; ", r->runs,
               r->sites);
        say_orders(r);
        return;
    }
    if (m->search.recipe || m->search.iroot)
        printf("%" PRIu64 " runs, hash of switches %016" PRIx64 "%s\n", r->runs, r->hash,
               r->same ? "" : ", not the same in all of them");
    else if (!r->failures)
        printf("%" PRIu64 " run%s in %.1f s, none failed\n", r->runs, r->runs == 1 ? "" : "s",
               (double)r->ns / 1e9);
    if (!r->failures && r->threads == 1)
        say_hint("the program has one thread: there is only one schedule");
    else if (!r->failures && !r->sites)
        say_hint("its threads share no memory that the search could order");
}
