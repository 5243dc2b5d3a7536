/* slice_formats.c - the forms that a slice can be had in. SPDX-License-Identifier: MIT */
#include "cli/slice_formats.h"

enum { PRINTED, TO_FILE };

const struct slice_format slice_formats[SLICE_FORMATS] = {
#define SLICE_FORMAT(option, way, nodes, whole, writer, help)                                      \
    {way == TO_FILE, nodes, whole, writer},
#include "cli/slice_formats.def"
#undef SLICE_FORMAT
};

bool slice_formats_need_nodes(const struct slice_formats_wanted *w)
{
    bool any = false;
    for (size_t i = 0; i < SLICE_FORMATS; i++)
        any = any || (w->as[i] && slice_formats[i].nodes);
    return any;
}

bool slice_formats_are_whole(const struct slice_formats_wanted *w)
{
    bool any = false;
    for (size_t i = 0; i < SLICE_FORMATS; i++)
        any = any || (w->as[i] && slice_formats[i].whole);
    return any;
}

int slice_formats_write(const struct slice_print *p, const struct slice_formats_wanted *w,
                        struct err *err)
{
    slice_format_writer *print = slice_print_text;
    for (size_t i = 0; i < SLICE_FORMATS; i++) {
        if (!w->as[i])
            continue;
        if (!slice_formats[i].file)
            print = slice_formats[i].write;
        else if (slice_formats[i].write(p, w->as[i], err))
            return -1;
    }
    return print(p, NULL, err);
}
