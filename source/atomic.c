/* atomic.c - atomic variables and code. SPDX-License-Identifier: MIT */
#include "source/atomic.h"

#include <string.h>

#include "source/module.h"
#include "source/place.h"
#include "source/source_int.h"

struct each {
    source_atomic_fn *fn;
    void *arg;
    gaddr base; /* of the variable */
};

static void tell(void *arg, uint64_t offset, uint64_t bytes)
{
    const struct each *e = arg;

    e->fn(e->arg, e->base + offset, bytes);
}

void source_atomic_each(struct source *s, source_atomic_fn *fn, void *arg)
{
    Dwarf_Die die;

    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        if (!source_strings_atomics(m))
            continue;
        source_module_read(s, m);
        for (size_t k = 0; k < m->globals; k++) {
            const struct source_var *var = &m->var[m->global[k]];
            struct each e = {fn, arg, var->addr + m->bias};
            if (!var->tls && source_scopes_die(m, var->unit, var->die, &die))
                source_type_atomics(&die, tell, &e);
        }
    }
}

/* Functions of the C++ library whose memory operands are atomic objects. */
static bool is_atomic_function(const char *name)
{
    static const char *const prefix[] = {
        "std::atomic<",         "std::__atomic_base<", "std::atomic_flag::", "std::__atomic_float<",
        "std::__atomic_impl::", "std::atomic_ref<",    "std::__atomic_ref<"};

    for (size_t i = 0; name && i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

bool source_atomic_code(struct source *s, gaddr pc, bool *inlined)
{
    uint64_t addr;
    struct source_mod *m = source_units_at(s, pc, &addr);

    if (!m)
        return false;
    for (int32_t i = source_scopes_at(m, addr); i != SOURCE_NONE; i = m->scope[i].parent) {
        const struct source_scope *scope = &m->scope[i];
        if (is_atomic_function(scope->name)) {
            *inlined = scope->kind == SOURCE_INLINED;
            return true;
        }
        if (scope->kind == SOURCE_FUNCTION)
            break;
    }
    return false;
}

enum source_atomic source_atomic_at(struct source *s, gaddr pc, const struct source_frame *frame,
                                    gaddr addr)
{
    struct source_mod *m;
    uint64_t offset;
    const struct source_var *var = source_place_variable(s, pc, frame, addr, &m, &offset);
    Dwarf_Die die;
    char unused[1];

    if (!var || !source_scopes_die(m, var->unit, var->die, &die))
        return SOURCE_ATOMIC_UNKNOWN;
    return source_type_path(&die, offset, 1, unused, sizeof unused, NULL) ? SOURCE_ATOMIC_YES
                                                                          : SOURCE_ATOMIC_NO;
}
