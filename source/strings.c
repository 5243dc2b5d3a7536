/* strings.c - could a module's debug information have a name at all?
 *
 * SPDX-License-Identifier: MIT
 *
 * A C library has 1,700 units, and to read the tables of all takes a tenth of a second. What stands
 * in no string of the debug information is in none of them. Where strings may be somewhere else, in
 * a file of a unit's own or in one that several libraries share, the answer is that they could.
 */
#define _GNU_SOURCE /* memmem */
#include <dwarf.h>
#include <string.h>

#include "source/module.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

struct question {
    bool (*look)(const char *section, Elf_Data *data, const void *arg);
    const void *arg;
};

/* What is asked is in this section of the debug information, or its strings are packed, or may be
 * in another file. */
static bool could_be_in(const char *name, Elf_Scn *section, const GElf_Shdr *header,
                        const void *arg)
{
    const struct question *q = arg;

    if (begins(name, ".zdebug") || strcmp(name, ".debug_addr") == 0 ||
        strcmp(name, ".debug_sup") == 0 || strcmp(name, ".gnu_debugaltlink") == 0)
        return true;
    if (!begins(name, ".debug_"))
        return false;
    Elf_Data *data = elf_getdata(section, NULL);
    return (header->sh_flags & SHF_COMPRESSED) || (data && q->look(name, data, q->arg));
}

static bool any_section(struct source_mod *m, bool (*look)(const char *, Elf_Data *, const void *),
                        const void *arg)
{
    const struct question q = {look, arg};

    return source_elf_any(m->debug_elf ? m->debug_elf : m->elf, true, could_be_in, &q);
}

struct text {
    const char *at;
    size_t bytes;
};

static bool has_text(const char *section, Elf_Data *data, const void *arg)
{
    const struct text *text = arg;

    return (begins(section, ".debug_str") || begins(section, ".debug_line") ||
            begins(section, ".debug_info") || begins(section, ".debug_types")) &&
           data->d_buf && memmem(data->d_buf, data->d_size, text->at, text->bytes);
}

static uint64_t number(const uint8_t **at, const uint8_t *end)
{
    uint64_t n = 0;

    for (unsigned shift = 0; *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift < 64)
            n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return n;
}

/* Does any entry have the tag? An abbreviation is a code, a tag, a byte, and pairs up to 0, 0. */
static bool has_tag(const char *section, Elf_Data *data, const void *arg)
{
    const uint8_t *at = data->d_buf, *end = at + data->d_size;
    uint64_t name, form;

    if (strcmp(section, ".debug_abbrev") != 0 || !at)
        return false;
    while (at < end) {
        if (!number(&at, end))
            continue;
        if (number(&at, end) == *(const uint64_t *)arg || at >= end)
            return true;
        at++;
        do {
            name = number(&at, end);
            form = number(&at, end);
            if (form == DW_FORM_implicit_const)
                number(&at, end);
        } while ((name || form) && at < end);
    }
    return false;
}

static bool could_have(struct source_mod *m, const char *text, size_t bytes)
{
    const struct text wanted = {text, bytes};

    return any_section(m, has_text, &wanted);
}

bool source_strings_file(struct source_mod *m, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *name = slash ? slash + 1 : file;

    if (m->read || !m->elf || !name || !name[0])
        return true;
    source_elf_debug(m);
    return m->dwarf && could_have(m, name, strlen(name) + 1);
}

bool source_strings_variable(struct source_mod *m, const char *name)
{
    const char *last = strrchr(name, ':');

    if (last)
        name = last + 1;
    if (m->read || !m->elf || !name[0] || strpbrk(name, "<>() "))
        return true;
    source_elf_debug(m);
    return m->dwarf && could_have(m, name, strlen(name) + 1);
}

bool source_strings_atomics(struct source_mod *m)
{
    static const char *const names[] = {"atomic<", "__atomic_base<", "atomic_flag",
                                        "__atomic_float<"}; /* of source/type.c */
    const uint64_t tag = DW_TAG_atomic_type;

    if (m->read || !m->elf)
        return true;
    source_elf_debug(m);
    if (!m->dwarf)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (could_have(m, names[i], strlen(names[i])))
            return true;
    return any_section(m, has_tag, &tag);
}
