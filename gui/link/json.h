/* json.h - JSON (RFC 8259) that drdebug prints, read.
 *
 * SPDX-License-Identifier: MIT
 *
 * An object is a tuple, an array a list; numbers and truth values are texts as they were written.
 */
#ifndef GUI_LINK_JSON_H
#define GUI_LINK_JSON_H

#include "gui/model/value.h"

/* NULL: it is no JSON, or something follows it, or it is nested beyond reason. */
struct value *json_parse(const char *text);

#endif
