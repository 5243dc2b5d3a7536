/* slice_html.c - a slice as a page: what one attaches to a bug report.
 *
 * SPDX-License-Identifier: MIT
 *
 * One file that needs no other, and whose policy forbids to load any. The title says what failed,
 * then comes the story, then sources, the order of execution, and all lines. Text from the
 * recording or from sources is escaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cli/slice_page.h"
#include "cli/slice_text.h"
#include "pinball/pinball.h"
#include "pinball/sha256.h"

extern const char slice_page_css[], slice_page_css_end[], slice_page_js[], slice_page_js_end[];

enum { WORDS_ROOM = 400, NOTE_ROOM = 1024, SUM_ROOM = 45 };

/* Only the script with this sum runs, whatever else gets into the page; nothing is loaded. */
static const char policy[] = "default-src 'none'; style-src 'unsafe-inline'; "
                             "script-src 'sha256-%s'; base-uri 'none'; form-action 'none'";

void slice_page_put(const struct slice_page *g, const char *text)
{
    plain_put(g->f, PLAIN_HTML, text);
}

/* ---- rows ---- */

static bool is_header(const char *file)
{
    return strncmp(file, "/usr/include/", 13) == 0 || strncmp(file, "/usr/lib/", 9) == 0;
}

bool slice_page_shows(const struct slice_page *g, uint32_t row)
{
    const struct report_row *r = &g->p->report->row[row];
    return r->own || !g->p->report->others || r->distance == 0 || r->target;
}

size_t slice_page_file(const struct slice_page *g, const char *file)
{
    size_t i = 0;
    while (i < g->files && g->file[i] != file)
        i++;
    return i;
}

void slice_page_link(const struct slice_page *g, uint32_t row, const struct report_row *from)
{
    const struct report_row *r = &g->p->report->row[row];
    char place[SLICE_TEXT_PLACE];
    bool source = r->file && slice_page_file(g, r->file) < g->files;
    if (!from || from->thread != r->thread)
        fprintf(g->f, "<b class=\"t t%" PRIu32 "\">T%" PRIu32 "</b> ", r->thread % 8, r->thread);
    fprintf(g->f, "<a href=\"#%c%" PRIu32 "\">", source ? 'm' : 'r', row);
    if (r->file)
        snprintf(place, sizeof place, "%.200s:%" PRIu32,
                 from && from->file == r->file ? "" : slice_text_base(r->file), r->line);
    else
        source_name(g->p->study->source, r->pc, place, sizeof place);
    slice_page_put(g, place);
    fputs("</a>", g->f);
}

static const char *kind_of(const struct slice_page *g, const struct report_row *r)
{
    const struct report *report = g->p->report;
    return r->edge == REPORT_NONE ? "criterion" : report_kind(report->edge[r->edge].sample.kind);
}

void slice_page_filter(const struct slice_page *g, const char *before, uint32_t row)
{
    const struct report_row *r = &g->p->report->row[row];
    fprintf(g->f, "%s%" PRIu32 ":%s:%" PRIu32, before, r->thread, kind_of(g, r),
            r->distance == UINT32_MAX ? 0 : r->distance);
}

void slice_page_edge(const struct slice_page *g, int32_t edge)
{
    const struct report_edge *e = &g->p->report->edge[edge];
    const char *value = values_of(g->p->values, edge);
    char what[WORDS_ROOM];
    report_what(g->p->study, &e->sample, what, sizeof what);
    fprintf(g->f, "<i>%s</i> ", report_kind(e->sample.kind));
    slice_page_put(g, what);
    if (value) {
        fputs(" = ", g->f);
        slice_page_put(g, value);
    }
    if (e->race)
        fprintf(g->f, " <em>%s</em>", race_name(e->race));
}

static void put_position(const struct slice_page *g, const struct position *at)
{
    char token[POSITION_TEXT];
    position_format(at, token);
    fprintf(g->f, "<button class=\"pos\">%s</button>", token);
}

/* The begin of a row in a list. */
static void put_row(const struct slice_page *g, char list, size_t number, uint32_t row)
{
    fprintf(g->f, "<li id=\"%c%zu\"", list, number);
    slice_page_filter(g, " data-r=\"", row);
    fputs("\"><div>", g->f);
    slice_page_link(g, row, NULL);
    fputc(' ', g->f);
}

static void put_text(const struct slice_page *g, const struct report_row *r)
{
    const char *text = r->file ? source_text(g->p->study->source, r->file, r->line) : NULL;
    char insn[WORDS_ROOM];
    fputs("<code>", g->f);
    report_left_out(r, insn, sizeof insn);
    if (r->left_out)
        slice_page_put(g, insn);
    else if (text)
        slice_page_put(g, text + strspn(text, " \t"));
    else if (r->nodes && report_insn(g->p->study, r->last, insn, sizeof insn))
        slice_page_put(g, insn);
    fputs("</code>", g->f);
}

static void put_note(const struct slice_page *g, const char *title, const char *text)
{
    if (!text[0])
        return;
    fprintf(g->f, "<p>%s", title);
    slice_page_put(g, text);
    fputs("</p>\n", g->f);
}

/* ---- sections ---- */

/* What facts say beside the slice: errors with memory, patterns of races. */
static void put_findings(const struct slice_page *g)
{
    const struct findings *f = g->p->findings;
    if (!f || (!f->count && !f->unsought[0]))
        return;
    fputs("<section id=\"findings\"><h2>Findings</h2><ul>\n", g->f);
    for (size_t i = 0; i < f->count; i++) {
        put_row(g, 'f', i + 1, f->list[i].row);
        fputs("<em>", g->f);
        slice_page_put(g, f->list[i].kind);
        fputs("</em>", g->f);
        put_position(g, &f->list[i].at);
        if (f->list[i].then.thread)
            put_position(g, &f->list[i].then);
        fputs("</div><div>", g->f);
        slice_page_put(g, f->list[i].text);
        fputs("</div></li>\n", g->f);
    }
    fputs("</ul>\n", g->f);
    if (f->more)
        fprintf(g->f, "<p>%zu more: <code>drdebug ask errors</code>, <code>ask races</code></p>\n",
                f->more);
    put_note(g, "Not all were looked for: ", f->unsought);
    fputs("</section>\n", g->f);
}

static void put_story(const struct slice_page *g)
{
    const struct story *t = g->p->story;
    fputs("<section id=\"story\"><h2>What happened</h2><ol>\n", g->f);
    for (size_t i = 0; i < t->rows; i++) {
        const struct story_row *row = &t->row[i];
        const struct report_row *r = &g->p->report->row[row->row];
        char words[WORDS_ROOM];
        story_words(g->p->study, g->p->report, row, values_flowed(g->p->values, &row->use), words,
                    sizeof words);
        put_row(g, 's', i + 1, row->row);
        fprintf(g->f, "<i>%s</i> ", story_how(row->how));
        slice_page_put(g, words);
        if (row->cause_of != STORY_NONE)
            fprintf(g->f, " <a class=\"for\" href=\"#s%d\">for %d</a>", row->cause_of + 1,
                    row->cause_of + 1);
        put_position(g, i ? &row->at : &g->p->criterion->position);
        fputs("</div>", g->f);
        put_text(g, r);
        fputs("</li>\n", g->f);
    }
    fputs("</ol></section>\n", g->f);
}

/* What is not in the slice has no place in its sources. */
static void put_missed(const struct slice_page *g)
{
    const struct missed *m = g->p->missed;
    fputs("<section id=\"missed\"><h2>What did not happen</h2><ul>\n", g->f);
    for (size_t i = 0; i < m->rows; i++) {
        const struct missed_row *x = &m->row[i];
        char place[SLICE_TEXT_PLACE];
        slice_text_place(&x->row, NULL, place);
        fputs("<li><div><b>", g->f);
        slice_page_put(g, place);
        fprintf(g->f, "</b> <i>%s</i> ", x->how);
        slice_page_put(g, x->words);
        put_position(g, &x->at);
        fputs("</div>", g->f);
        put_text(g, &x->row);
        fputs("</li>\n", g->f);
    }
    fputs("</ul></section>\n", g->f);
}

static void put_lines(const struct slice_page *g)
{
    const struct report *r = g->p->report;
    fputs("<section id=\"lines\"><h2>All lines, the nearest first</h2><ul>\n", g->f);
    for (uint32_t i = 0; i < r->rows; i++) {
        const struct report_row *row = &r->row[i];
        if (!slice_page_shows(g, i))
            continue;
        put_row(g, 'r', i, i);
        if (row->edge != REPORT_NONE)
            slice_page_edge(g, row->edge);
        else if (row->distance == 0)
            fputs("<i>criterion</i>", g->f);
        if (row->nodes)
            put_position(g, &row->last_at);
        fputs("</div>", g->f);
        put_text(g, row);
        fputs("</li>\n", g->f);
    }
    fputs("</ul></section>\n", g->f);
}

/* ---- the head ---- */

static const struct report_row *criterion_row(const struct slice_page *g)
{
    const struct report *r = g->p->report;
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].distance == 0)
            return &r->row[i];
    return NULL;
}

/* `SIGABRT in racy_counter`, `total at end in racy_counter`; and where. */
static void put_title(const struct slice_page *g)
{
    const struct slice_print *p = g->p;
    const char *program = pinball_head_get(p->study->pinball, "program");
    bool failure = strcmp(p->text, "failure") == 0;
    fputs(p->of->kind == SLICE_FORWARD ? "What depends on " : "", g->f);
    slice_page_put(g, failure && p->criterion->note[0] ? p->criterion->note : p->text);
    if (p->of->kind == SLICE_CHOP) {
        fputs(" to ", g->f);
        slice_page_put(g, p->of->target_text);
    }
    fputs(" in ", g->f);
    slice_page_put(g, program ? slice_text_base(program) : "a program");
    const struct report_row *r = criterion_row(g);
    if (r && r->file) {
        fprintf(g->f, ", T%" PRIu32 " ", r->thread);
        slice_page_put(g, slice_text_base(r->file));
        fprintf(g->f, ":%" PRIu32, r->line);
    }
}

/* The sum of the script between its tags, in base64. */
static void sum_of_script(char out[SUM_ROOM])
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct sha256 sha;
    uint8_t sum[SHA256_BYTES + 1];
    sha256_init(&sha);
    sha256_add(&sha, "\n", 1);
    sha256_add(&sha, slice_page_js, (size_t)(slice_page_js_end - slice_page_js));
    sha256_end(&sha, sum);
    sum[SHA256_BYTES] = 0;
    for (size_t i = 0; i < SUM_ROOM - 2; i++) {
        size_t bit = i * 6, byte = bit / 8;
        out[i] = digit[(sum[byte] << 8 | sum[byte + (byte < SHA256_BYTES)]) >> (10 - bit % 8) & 63];
    }
    memcpy(out + SUM_ROOM - 2, "=", 2);
}

static void put_asset(const struct slice_page *g, const char *tag, const char *from,
                      const char *end)
{
    fprintf(g->f, "<%s>\n", tag);
    fwrite(from, 1, (size_t)(end - from), g->f);
    fprintf(g->f, "</%s>\n", tag);
}

/* In groups of three digits. */
static void put_number(const struct slice_page *g, uint64_t n)
{
    if (n >= 1000) {
        put_number(g, n / 1000);
        fprintf(g->f, ",%03u", (unsigned)(n % 1000));
    } else {
        fprintf(g->f, "%u", (unsigned)n);
    }
}

static void put_head(const struct slice_page *g)
{
    const struct slice_print *p = g->p;
    char text[NOTE_ROOM], sum[SUM_ROOM];
    sum_of_script(sum);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"",
          g->f);
    fprintf(g->f, policy, sum);
    fputs("\">\n<title>", g->f);
    put_title(g);
    fputs("</title>\n", g->f);
    put_asset(g, "style", slice_page_css, slice_page_css_end);
    fputs("</head><body>\n<header><h1>", g->f);
    put_title(g);
    fputs("</h1>\n", g->f);
    put_note(g, "Why: ", p->criterion->what);
    fputs("<p>", g->f);
    put_number(g, p->report->full);
    fputs(" of ", g->f);
    put_number(g, trace_insns(p->study->trace));
    fprintf(g->f, " instructions, %" PRIu64 " line%s, %" PRIu64 " thread%s</p>\n", p->report->lines,
            p->report->lines == 1 ? "" : "s", p->report->threads,
            p->report->threads == 1 ? "" : "s");
    for (size_t i = 0; p->sets && i < p->sets->terms; i++) {
        snprintf(text, sizeof text, "%s %s", sets_option(p->sets->term[i].how),
                 p->sets->term[i].text);
        put_note(g, "With ", text);
    }
    slice_print_pruned(p->of, text, sizeof text);
    put_note(g, "Pruned: ", text);
    slice_print_limits(p->of, text, sizeof text);
    put_note(g, "Shown: lines of ", text);
    if (p->report->bare)
        fprintf(g->f,
                "<p>Only the last %d M of them tell of dependences; other lines are by their last "
                "execution.</p>\n",
                REPORT_LAST / 1000000);
    fputs("</header>\n", g->f);
}

static void put_nav(const struct slice_page *g)
{
    const struct {
        bool there;
        const char *id, *name;
    } section[] = {{g->p->story, "story", "Story"},
                   {g->files, "source", "Source"},
                   {slice_page_has_order(g), "order", "Order"},
                   {true, "lines", "Lines"}};
    fputs("<nav>", g->f);
    for (size_t i = 0; i < sizeof section / sizeof section[0]; i++)
        if (section[i].there)
            fprintf(g->f, "<a href=\"#%s\">%s</a>", section[i].id, section[i].name);
    fputs("</nav>\n<main>\n", g->f);
}

static int put_page(const struct slice_page *g, struct err *err)
{
    put_head(g);
    put_nav(g);
    put_findings(g);
    if (g->p->story)
        put_story(g);
    if (g->p->missed->rows)
        put_missed(g);
    if (g->files && slice_page_sources(g, err))
        return -1;
    if (slice_page_has_order(g) && slice_page_order(g, err))
        return -1;
    put_lines(g);
    fputs("</main>\n", g->f);
    if (g->p->again[0]) {
        fputs("<footer>Made by <code>", g->f);
        slice_page_put(g, g->p->again);
        fputs("</code></footer>\n", g->f);
    }
    put_asset(g, "script", slice_page_js, slice_page_js_end);
    fputs("</body></html>\n", g->f);
    return 0;
}

static void list_files(struct slice_page *g)
{
    const struct report *r = g->p->report;
    for (uint32_t i = 0; i < r->rows; i++) {
        const char *file = r->row[i].file;
        if (file && slice_page_shows(g, i) && !is_header(file) &&
            slice_page_file(g, file) == g->files)
            g->file[g->files++] = file;
    }
}

int slice_html_write(const struct slice_print *p, const char *path, struct err *err)
{
    struct slice_page g = {.p = p, .file = malloc(sizeof *g.file * (p->report->rows + 1))};
    if (!g.file)
        return err_set(err, "no memory");
    g.f = study_create(p->study, path, err);
    if (!g.f) {
        free(g.file);
        return -1;
    }
    list_files(&g);
    int bad = put_page(&g, err);
    free(g.file);
    if (ferror(g.f) && !bad)
        bad = err_set_code(err, errno, "%s: %s", path, strerror(errno));
    if (fclose(g.f) && !bad)
        bad = err_set_code(err, errno, "%s: %s", path, strerror(errno));
    return bad;
}
