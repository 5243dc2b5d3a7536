/* closure_broken.c - def/use sets with a hole, to test the test: CLOSURE_BREAK=use:NAME or
 * def:NAME.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "engine/x86/defuse.h"

void __real_defuse_of(const struct insn *in, const struct insn_operands *ops,
                      const struct defuse_how *how, struct defuse *out);
void __wrap_defuse_of(const struct insn *in, const struct insn_operands *ops,
                      const struct defuse_how *how, struct defuse *out);

/* The first use, or definition, of that instruction is left out. */
void __wrap_defuse_of(const struct insn *in, const struct insn_operands *ops,
                      const struct defuse_how *how, struct defuse *out)
{
    const char *text = getenv("CLOSURE_BREAK");
    __real_defuse_of(in, ops, how, out);
    if (!text || strcmp(text + 4, insn_name(in)))
        return;
    if (!strncmp(text, "use:", 4) && out->uses)
        memmove(out->use, out->use + 1, --out->uses * sizeof *out->use);
    if (!strncmp(text, "def:", 4) && out->defs)
        memmove(out->def, out->def + 1, --out->defs * sizeof *out->def);
}
