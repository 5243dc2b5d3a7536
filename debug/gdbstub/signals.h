/* signals.h - GDB's numbers for signals.
 *
 * SPDX-License-Identifier: MIT
 *
 * The protocol has numbers of its own, the same on every system (include/gdb/signals.def).
 */
#ifndef DEBUG_GDBSTUB_SIGNALS_H
#define DEBUG_GDBSTUB_SIGNALS_H

enum { SIGNALS_INT = 2, SIGNALS_TRAP = 5, SIGNALS_UNKNOWN = 143 };

/* GDB's number for Linux's 1 to 64. */
int signals_to_gdb(int linux_signal);
/* The other way round; 0: Linux has none. */
int signals_from_gdb(int gdb_signal);

#endif
