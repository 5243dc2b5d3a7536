/* code.h - instructions, as GDB disassembles them. SPDX-License-Identifier: MIT */
#ifndef GUI_MODEL_CODE_H
#define GUI_MODEL_CODE_H

#include "gui/model/value.h"

struct instruction {
    uint64_t address;
    char *text, *where; /* mov %rsp,%rbp; main+1 */
    unsigned line;      /* 0: not known */
};

/* struct instruction * of the answer to -data-disassemble, in order of address; line: only those of
 * it, 0: all. To be freed with g_ptr_array_unref(). */
GPtrArray *code_new(const struct value *answer, unsigned line);

#endif
