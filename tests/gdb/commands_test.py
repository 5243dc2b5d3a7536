#!/usr/bin/env python3
"""commands_test.py --drdebug PROG --bin DIR [TABLE...] - GDB's commands on recordings, by `drdebug debug`.

SPDX-License-Identifier: MIT

A table is a subject and a list of GDB commands, each with what must be in its output: a text, a pattern, or a
list of them; None for anything. What begins with `~` must not be there. {LINE MARKER} is a line's number.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from stub_client import SKIP, SOAK, Failed, Recordings, markers

HISTORY = "No more reverse-execution history."


def pattern(text):
    return re.compile(text, re.MULTILINE)


# name: (subject, arguments, options of debug, rows)
TABLES = {
    "breakpoints": ("calls", (), (), [
        ("info breakpoints", "No breakpoints or watchpoints."),
        ("break factorial", "Breakpoint 2 at"),
        ("continue", "Breakpoint 2, factorial (n=5)"),
        ("continue", "factorial (n=4)"),
        ("info breakpoints", "breakpoint already hit 2 times"),
        ("tbreak {DEEPEST}", "Temporary breakpoint 3"),
        ("disable 2", None),
        ("continue", "Temporary breakpoint 3, factorial (n=1)"),
        ("info breakpoints", "~{DEEPEST}"),
        ("backtrace", [pattern(r"#0  factorial \(n=1\)"), pattern(r"#4 .*factorial \(n=5\)"),
                       pattern(r"#5 .*in main \(argc=1")]),
        ("up", "factorial (n=2)"),
        ("print n", "= 2"),
        ("down", "factorial (n=1)"),
        ("frame 5", "in main (argc=1"),
        ("print total", "= 140"),
        ("break add if b == 7", "Breakpoint 4"),
        ("continue", pattern(r"Breakpoint 4, add \(a=\d+, b=7\)")),
        ("condition 4 b == 12 && counter > 10", None),
        ("continue", pattern(r"Breakpoint 4, add \(a=\d+, b=12\)")),
        ("print counter", "= 17"),
        ("delete", None),
        ("break *vectors", None),
        ("hbreak plain_vectors", "Hardware assisted breakpoint"),
        ("continue", pattern("Breakpoint .*, plain_vectors")),
        ("reverse-continue", HISTORY),
    ]),
    "ignore_and_commands": ("calls", (), (), [
        ("break add", None),
        ("ignore 2 9", None),
        ("continue", pattern(r"add \(a=\d+, b=9\)")),
        ("condition 2 b == 3", None),
        ("reverse-continue", pattern(r"add \(a=\d+, b=3\)")),
        ("reverse-continue", HISTORY),
        ("condition 2 b > 100", None),
        ("continue", HISTORY),
        ("condition 2 $_streq(word, \"first\") && b == 4", None),
        ("reverse-continue", pattern(r"add \(a=\d+, b=4\)")),
    ]),
    "stepping": ("calls", (), (), [
        ("tbreak {RECURSES}", None),
        ("continue", "main (argc=1"),
        ("step", "factorial (n=5)"),
        ("next", pattern(r"^\d+\s+return n \* factorial")),
        ("step", "factorial (n=4)"),
        ("finish", "Value returned is $1 = 24"),
        ("next", None),
        ("tbreak {ADDS}", None),
        ("continue", "total = add(total, i);"),
        ("next", "for (int i = 0; i < 20; i++)"),
        ("next", "total = add(total, i);"),
        ("step", pattern(r"add \(a=\d+, b=1\)")),
        ("advance {ADD RETURNS}", "return sum;"),
        ("stepi", None),
        ("x/i $pc", pattern("=> .*:\t")),
        ("finish", "Value returned is $2 ="),
        ("until {WRITES}", "write_some();"),
        ("step", "/* WRITE 1 */"),
        ("nexti", None),
        ("reverse-stepi", "/* WRITE 1 */"),
        ("until", "WRITE 1 AGAIN"),
        ("step 2", "WRITE 2 AGAIN"),
    ]),
    "reverse_steps": ("calls", (), (), [
        ("tbreak {ADD RETURNS}", None),
        ("continue", "return sum;"),
        ("print counter", "= 6"),
        ("reverse-step", "counter = counter + 1;"),
        ("print counter", "= 5"),
        ("reverse-step", "counter = counter + 1;"),  # GDB's line table has the line twice
        ("reverse-step", "int sum = a + b;"),
        ("reverse-step", pattern("main .*|total = add")),
        ("step", "add (a="),
        ("tbreak {ADD RETURNS}", None),
        ("continue", "return sum;"),
        ("reverse-finish", "total = add(total, i);"),
        ("next", "for (int i"),
        ("reverse-next", "total = add(total, i);"),
        ("print i", "= 0"),
        ("tbreak {WRITES}", None),
        ("continue", "write_some()"),
        ("next", None),
        ("print written", "= 3"),
        ("reverse-next", "write_some()"),
        ("print written", "= 0"),
        ("step", "WRITE 1"),
        ("next 4", "table[0] = written;"),
        ("reverse-next 2", "WRITE 2 */"),
        ("reverse-stepi", None),
        ("reverse-stepi", None),
        ("stepi 2", "WRITE 2 */"),
        ("set exec-direction reverse", None),
        ("next", "WRITE 1 AGAIN"),
        ("step", "WRITE 1 */"),
        ("continue", HISTORY),
        ("set exec-direction forward", None),
        ("continue", HISTORY),
        ("continue", HISTORY),
        ("stepi", HISTORY),
        ("info registers rip", pattern("rip +0x")),
        ("reverse-continue", HISTORY),
        ("reverse-stepi", HISTORY),
        ("reverse-step", HISTORY),
    ]),
    "reverse_next_over_recursion": ("calls", (), (), [
        ("tbreak {RECURSES}", None),
        ("continue", None),
        ("next", "printf"),
        ("reverse-next", "factorial(5)"),  # behind the call: the line table has the line twice
        ("reverse-next", "factorial(5)"),
        ("tbreak {DEEPEST}", None),
        ("continue", "factorial (n=1)"),
        ("reverse-finish", "factorial (n=2)"),
        ("print n", "= 2"),
        ("reverse-finish", "factorial (n=3)"),
        ("finish", None),
        ("backtrace 1", pattern(r"factorial \(n=4\)")),
    ]),
    "watch": ("calls", (), (), [
        ("watch written", "Hardware watchpoint 2: written"),
        ("continue", ["Old value = 0", "New value = 1"]),
        ("continue", ["Old value = 1", "New value = 2"]),
        ("continue", ["Old value = 2", "New value = 3"]),
        ("continue", None),
        ("reverse-continue", None),
        ("print written", None),
        ("delete 2", None),
        ("pin goto end", None),
        ("watch written", "Hardware watchpoint 3"),
        ("reverse-continue", ["Old value = 3", "New value = 2"]),
        ("print $_exitcode", "= void"),
        ("frame", "write_some ()"),
        ("info line", None),
        ("reverse-continue", ["Old value = 2", "New value = 1"]),
        ("reverse-continue", ["Old value = 1", "New value = 0"]),
        ("reverse-continue", HISTORY),
    ]),
    "watch_kinds": ("calls", (), (), [
        ("rwatch written", "Hardware read watchpoint 2: written"),
        ("continue", ["Hardware read watchpoint 2", "Value = 2"]),
        ("frame", "write_some"),
        ("continue", None),
        ("delete", None),
        ("pin goto begin", None),
        ("tbreak main", None),
        ("continue", None),
        ("awatch written", "Hardware access (read/write) watchpoint 4"),
        ("continue", ["Hardware access (read/write) watchpoint", "New value = 1"]),
        ("continue", "Value = 1"),
        ("continue", ["Old value = 1", "New value = 2"]),
        ("continue", "Value = 2"),
        ("continue", "Value = 2"),
        ("continue", ["Old value = 2", "New value = 3"]),
        ("reverse-continue", None),
        ("delete", None),
        ("pin goto end", None),
        ("rwatch written", None),
        ("reverse-continue", "Value = 2"),
        ("frame", "table[0] = written;"),
        ("delete", None),
        ("pin goto end", None),
        ("watch table", "atchpoint"),
        ("reverse-continue", "write_some"),
        ("watch -l item", None),
        ("watch counter if counter == 9", None),
        ("reverse-continue", ["Old value = 10", "New value = 9"]),
    ]),
    "software_watch": ("tiny", (), ("--start",), [
        ("set can-use-hw-watchpoints 0", None),
        ("break tiny", None),
        ("continue", "tiny ()"),
        ("watch a", "Watchpoint 2: a"),
        ("continue", ["Old value = 0", "New value = 1"]),
        ("continue", ["Old value = 1", "New value = 2"]),
        ("reverse-continue", ["Old value = 2", "New value = 1"]),
        ("reverse-continue", ["Old value = 1", "New value = 0"]),
    ]),
    "pin_last": ("calls", (), ("--end",), [
        ("pin last written", ["write_some", ":{WRITE 3}", "old value  2", "new value  3"]),
        ("pin last written", [":{WRITE 2 AGAIN}", "(the same)"]),
        ("pin last written", [":{WRITE 2}", "old value  1", "new value  2"]),
        ("pin last written", [":{WRITE 1 AGAIN}", "(the same)"]),
        ("pin last written", [":{WRITE 1}", "old value  0", "new value  1"]),
        ("pin last written", "not written between"),
        ("pin back", None),
        ("pin goto end", None),
        ("pin last word", [":{SECOND WORD}", "first", "second"]),
        ("pin last counter", "old value  24"),
        ("pin last table", ":{LOOP BODY}"),
        ("pin when", pattern(r"T1:\d+:[0-9a-f]+ ")),
    ]),
    "pin_goto": ("calls", (), (), [
        ("pin goto begin", "_start ()"),
        ("pin when", "The recording begins here."),
        ("pin goto begin", "Already there."),
        ("pin goto end", "_exit"),
        ("pin when", "The recording ends here."),
        ("pin goto end", "Already there."),
        ("pin goto -1", None),
        ("pin goto +1", None),
        ("pin goto +100000000", None),
        ("pin when", "The recording ends here."),
        ("pin goto -100000000", None),
        ("pin when", "The recording begins here."),
        ("pin goto T1:99999999:401000", pattern("not in this recording|beyond")),
        ("pin when", "The recording begins here."),
        ("pin goto T9:1:401000", pattern("not in this recording|no thread")),
        ("pin goto T0:1:401000", pattern("not a position|not in this|position")),
        ("pin goto T1:5:1", "not in this recording"),
        ("pin goto +", "number of ticks"),
        ("pin goto +99999999999999999999999", pattern("number|too large|beyond")),
        ("tbreak add", None),
        ("continue", "add (a="),
        ("python here = gdb.parse_and_eval('$pin_position()').string()", None),
        ("pin goto end", None),
        ("python gdb.execute('pin goto ' + here)", "add (a="),
        ("python print(here == gdb.parse_and_eval('$pin_position()').string())", "True"),
        ("pin checkpoint in add", "Checkpoint 1 at"),
        ("pin goto end", None),
        ("pin rollback 1", "add (a="),
        ("pin events write", "write = 8"),
        ("pin output", ["| begin 1", "| total 260", "| end "]),
        ("pin history", "=>"),
    ]),
    "values": ("calls", (), (), [
        ("tbreak {SECOND WORD}", None),
        ("continue", None),
        ("print item", ["key = 7", "weight = 2.5", '"seven']),
        ("print table", "{{2, 1, 4, 9, 16, 25, 36, 49}}"),
        ("print *argv@argc", "calls"),
        ("x/s word", '"first"'),
        ("x/4dw table", pattern(r"2\s+1\s+4\s+9")),
        ("x/2i $pc", "=> "),
        ("print $rip == $pc", "= 1"),
        ("info registers", [pattern("^rax"), pattern("^rip"), pattern("^eflags")]),
        ("info all-registers", [pattern("^[yz]mm15"), pattern("^mxcsr"), pattern("^st0")]),
        ("print $sp > 0", None),
        ("info locals", "total = "),
        ("info args", "argc = 1"),
        ("info source", "calls.c"),
        ("info symbol add", "add in section .text"),
        ("ptype item", "double weight;"),
        ("print/x *(unsigned char*)0", "Cannot access memory at address 0x0"),
        ("x/4x 0xffffffff80000000", "Cannot access memory"),
        ("info sharedlibrary", [pattern(r"0x0000.*Yes.*ld-linux-x86-64"), "libc.so.6"]),
        ("info proc mappings", ["calls", "libc.so.6", "[stack]"]),
        ("info auxv", ["AT_ENTRY", "AT_PHDR", "AT_PLATFORM"]),
        ("info files", None),
        ("info inferiors", "calls"),
        ("info threads", pattern(r"^\* 1 ")),
        ("info signals SIGSEGV", None),
        ("find &table[0], +sizeof(table), 16", "table+16"),
        ("disassemble add", "Dump of assembler code"),
        ("list add", "int sum = a + b;"),
    ]),
    "vectors": ("calls", ("vectors",), (), [
        ("break vectors_loaded", None),
        ("continue", "vectors"),
        ("print $ymm1.v4_double", "= {{1.5, 2.5, 3.5, 4.5}}"),
        ("print $ymm2.v4_double", "= {{3, 5, 7, 9}}"),
        ("print $xmm2.v2_double", "= {{3, 5}}"),
        ("reverse-stepi 2", None),
        ("print $ymm2.v4_double[3] == 9", "= 0"),
        ("stepi", None),
        ("stepi", None),
        ("print $ymm2.v4_double", "= {{3, 5, 7, 9}}"),
        ("break plain_vectors_loaded", None),
        ("continue", "plain_vectors"),
        ("print $xmm3.v2_double", "= {{1.5, 2.5}}"),
        ("print $mxcsr", pattern("IM")),
        ("info registers ymm2", pattern("ymm2")),
    ]),
    "goto_after_lost_call": ("calls", (), (), [
        ("tbreak {SECOND WORD}", None),
        ("continue", None),
        ("print *(int *)length(0)", "SIGSEGV"),  # stays in the called function
        ("pin goto end", "_exit"),
        ("reverse-continue", HISTORY),
    ]),
    "calls": ("calls", (), (), [
        ("tbreak {SECOND WORD}", None),
        ("continue", None),
        ("pin when", None),
        ("print add(2, 3)", "= 5"),
        ("print counter", "= 25"),
        ("print factorial(6)", "= 720"),
        ('call length("twelve bytes")', "= 12"),
        ("print add(1, factorial(4))", "= 25"),
        ("print counter", "= 25"),
        ("call (void)write_some()", None),
        ("print written", "= 3"),
        ("frame", "SECOND WORD"),
        ("next", "SYSTEM CALL"),
        ("reverse-next", "SECOND WORD"),
        ("print length(word)", "= 5"),
        ("break factorial", None),
        ("print factorial(3)", "The program being debugged stopped while in a function called from GDB."),
        ("backtrace", "<function called from gdb>"),
        ("delete", None),
        ("finish", "= 6"),
        ("pin when", "~copy"),
        ("print counter", "= 25"),
        ("next", "SYSTEM CALL"),
    ]),
    "refused_writes": ("calls", (), (), [
        ("tbreak {SECOND WORD}", None),
        ("continue", None),
        ("set var counter = 99", "a recording cannot be changed"),
        ("maintenance flush dcache", None),
        ("next", None),
        ("maintenance flush dcache", None),
        ("print counter", "= 25"),
        ("print $rip", "main"),
        ("set var $rax = 7", "a recording cannot be changed"),
        ("print $_siginfo.si_signo", "= 0"),  # it might be a call
        ("set var $rax = 7", None),
        ("set var counter = 99", "a recording cannot be changed"),
        ("maintenance flush dcache", None),
        ("print counter", "= 25"),
        ("pin when", "~copy"),
        ("stepi", None),
        ("reverse-stepi", None),
        ("jump main", "a recording cannot be changed"),
        ("pin goto end", None),
        ("print counter", "= 25"),
        ("kill", "killed"),
    ]),
    "threads": ("threads", (), (), [
        ("break {WORKED}", None),
        ("continue", pattern("hit Breakpoint .*work")),
        ("info threads", [pattern(r"Thread \d+\.1 "), pattern(r"Thread \d+\.4 "), '"worker-1"', '"worker-2"',
                          '"worker-3"']),
        ("thread 1", "Switching to thread 1"),
        ("backtrace", "main ("),
        ("thread apply all -q print $_thread", ["= 1", "= 2", "= 3", "= 4"]),
        ("delete", None),
        ("tbreak threads.c:{WORKED} if number == 2", None),
        ("pin goto begin", None),
        ("continue", None),
        ("print own", "= 102"),
        ("print mine", "= 204"),
        ("print &own", "(int *) 0x"),
        ("thread 1", None),
        ("print own", "= 100"),
        ("watch shared if shared == 150", None),  # it has made 200 itself
        ("reverse-continue", "shared"),
        ("delete", None),
        ("pin goto end", None),
        ("pin last shared", ["old value  599", "new value  600", ":{SHARED}"]),
        ("pin last shared", ["old value  598", "new value  599", ":{SHARED}"]),
        ("reverse-next", None),
        ("reverse-next", None),
        ("next", None),
        ("tbreak threads.c:{JOINED}", None),
        ("continue", None),
        ("print shared", "= 600"),
        ("info threads", pattern(r"^\* 1 ")),
        ("print visits", "= {{0, 200, 200, 200}}"),
    ]),
    "thread_breakpoints": ("threads", (), (), [
        ("break {OWN}", None),
        ("continue", "work"),
        ("continue", "work"),
        ("continue", "work"),
        ("info threads", "worker"),
        ("break visit thread 3", "Breakpoint"),
        ("delete 2", None),
        ("continue", "visit"),
        ("print $_thread", "= 3"),
        ("finish", None),
        ("print $_thread", "= 3"),
        ("reverse-continue", "visit"),
        ("print $_thread", "= 3"),
        ("set scheduler-locking on", None),
        ("next", None),
        ("print $_thread", "= 3"),
        ("set scheduler-locking off", None),
        ("next", None),
        ("next", None),
        ("next", None),
        ("print $_thread", "= 3"),
        ("reverse-next", None),
        ("print $_thread", "= 3"),
        ("reverse-step", None),
        ("print $_thread", "= 3"),
        ("reverse-finish", None),
        ("print $_thread", "= 3"),
    ]),
    "goto_from_thread": ("threads", (), (), [
        ("break visit", None),
        ("continue", "visit"),
        ("thread 1", "Switching to thread 1"),
        ("pin goto begin", "_start ()"),  # the thread at the breakpoint is another than the selected one
        ("pin when", "The recording begins here."),
        ("continue", "visit"),
        ("thread 1", None),
        ("pin goto end", "_exit"),
        ("pin when", "The recording ends here."),
    ]),
    "fs_base": ("tiny", (), ("--start",), [
        ("print $fs_base", "= 0"),  # as natively: the program never sets it
        ("print $gs_base", "= 0"),
        ("stepi 20", None),
        ("print $fs_base", "= 0"),
    ]),
    "watch_gathers": ("gathers", (), (), [
        ("watch table[9]", "Hardware watchpoint"),
        ("continue", ["Old value = 0", "New value = 1"]),
        ("continue", ["Old value = 1", "New value = 2"]),
        ("continue", ["Old value = 2", "New value = 3"]),
        ("reverse-continue", ["Old value = 3", "New value = 2"]),
        ("reverse-continue", ["Old value = 2", "New value = 1"]),
        ("reverse-continue", ["Old value = 1", "New value = 0"]),
        ("delete", None),
        ("rwatch table[21]", "Hardware read watchpoint"),
        ("continue", "Value = 1"),
        ("continue", "Value = 2"),
        ("reverse-continue", "Value = 2"),
        ("delete", None),
        ("awatch table[17]", None),  # of which the mask says no
        ("awatch table[10]", None),  # between two elements
        ("pin goto begin", None),
        ("tbreak main", None),
        ("continue", "main ()"),
        ("continue", "~watchpoint"),
    ]),
    "watch_strings": ("strings", (), (), [
        ("handle SIGSEGV nostop noprint", None),
        ("watch area[100]", "Hardware watchpoint"),  # the part that comes before the fault
        ("continue", ["New value = 7", "UPWARDS"]),
        ("print faults", "= 0"),
        ("reverse-continue", ["Old value = 7", "New value = 0", "UPWARDS"]),
        ("continue", ["New value = 7", "UPWARDS"]),
        ("continue", "New value = 0"),
        ("print faults", "= 2"),
        ("reverse-continue", "New value = 7"),
        ("reverse-continue", "New value = 0"),
        ("delete", None),
        ("watch area[5000]", "Hardware watchpoint"),
        ("continue", "New value = 7"),
        ("print faults", "= 1"),
        ("continue", ["New value = 0", "DOWNWARDS"]),
        ("print faults", "= 1"),
        ("reverse-continue", ["New value = 7", "DOWNWARDS"]),
        ("handle SIGSEGV stop", None),
        ("continue", ["New value = 0", "DOWNWARDS"]),
        ("continue", "received signal SIGSEGV"),
        ("print area[5000]", "= 0"),
        ("print area[100]", "Cannot access memory"),
    ]),
    "watch_frame": ("signals", (), (), [
        ("handle SIGUSR2 nostop noprint", None),
        ("continue", "received signal SIGUSR1"),
        ("stepi", "on_usr1"),
        ("set $frame = $sp", None),
        ("print/x *(unsigned long *) $frame", None),
        ("reverse-stepi", None),
        ("pin goto begin", None),
        ("handle SIGUSR1 nostop noprint", None),
        ("tbreak main", None),
        ("continue", "main ()"),
        ("set var $before = *(unsigned long *) $frame", None),
        ("watch -location *(unsigned long *) $frame", "Hardware watchpoint"),
        ("continue", ["Hardware watchpoint", "on_usr1"]),
        ("print $sp == $frame", "= 1"),
        ("reverse-continue", ["Hardware watchpoint", "~on_usr1"]),
        ("print *(unsigned long *) $frame == $before", "= 1"),
        ("continue", ["Hardware watchpoint", "on_usr1"]),
        ("delete", None),
        ("watch -location ((unsigned long *) $frame)[100]", "Hardware watchpoint"),
        ("reverse-continue", None),
    ]),
    "signals": ("signals", (), (), [
        ("handle SIGALRM nostop noprint", None),
        ("continue", "received signal SIGUSR1"),
        ("print $_siginfo.si_signo", "= 10"),
        ("print handled", "= 0"),
        ("continue", "received signal SIGUSR2"),
        ("backtrace", ["on_usr1", "<signal handler called>"]),
        ("stepi", "on_usr2"),
        ("break {HANDLER}", None),
        ("continue", "received signal SIGUSR1"),
        ("print handled", "= 11"),
        ("continue", "on_usr1"),
        ("reverse-step", None),
        ("continue", None),
        ("delete", None),
        ("handle SIGUSR1 nostop noprint", None),
        ("handle SIGUSR2 nostop noprint", None),
        ("pin goto begin", None),
        ("tbreak main", None),
        ("continue", "main ()"),
        ("catch signal SIGUSR2", "Catchpoint"),
        ("continue", "signal SIGUSR2"),
        ("delete", None),
        ("continue", "received signal SIGSEGV"),
        ("print $_siginfo._sifields._sigfault.si_addr", "0x1234"),
        ("frame", "FAULTS"),
        ("step", "on_segv"),
        ("reverse-step", "FAULTS"),
        ("handle SIGSEGV nostop noprint", None),
        ("watch faults", None),
        ("continue", "New value = 1"),
        ("reverse-continue", "New value = 0"),
        ("delete", None),
        ("tbreak {SIGNALLED}", None),
        ("continue", "printf"),
        ("watch handled", None),
        ("reverse-continue", ["Old value = 13", "New value = 12"]),
        ("reverse-continue", ["Old value = 12", "New value = 11"]),
        ("reverse-continue", ["Old value = 11", "New value = 1"]),
        ("frame", "on_usr2"),
        ("reverse-continue", ["Old value = 1", "New value = 0"]),
        ("frame", "on_usr1"),
    ]),
    "catch_syscall": ("calls", (), (), [
        ("catch syscall getppid", "Catchpoint 2 (syscall 'getppid' [110])"),
        ("continue", "call to syscall getppid"),
        ("print $orig_rax", "= 110"),
        ("continue", "returned from syscall getppid"),
        ("backtrace", "main (argc=1"),
        ("reverse-continue", "syscall getppid"),
        ("reverse-continue", pattern("getppid|reverse-execution")),
        ("delete", None),
        ("catch syscall write", None),
        ("pin goto begin", None),
        ("continue", "call to syscall write"),
        ("continue", "returned from syscall write"),
        ("print $rax", "= 8"),
        ("continue", "call to syscall write"),
    ]),
    "segv": ("crash", (), ("--end",), [
        ("frame", pattern("use|CRASH")),
        ("backtrace", [pattern(r"#0 .*use \(p=0x0\)"), pattern(r"#1 .*main \(argc=1")]),
        ("print p", "(int *) 0x0"),
        ("pin last pointer", [":{ROOT CAUSE}", "new value  0x0"]),
        ("next", None),
        ("next", pattern("USES NULL")),
        ("continue", pattern("SIGSEGV")),
        ("print $_siginfo.si_signo", "= 11"),
        ("continue", pattern("reverse-execution|SIGSEGV")),
        ("reverse-stepi", None),
        ("reverse-finish", "USES NULL"),
        ("info program", None),
    ]),
    "abort": ("crash", ("abort",), (), [
        ("continue", "received signal SIGABRT"),
        ("backtrace", ["abort ()", "main (argc=2"]),
        ("up", None),
        ("reverse-finish", None),
        ("pin goto end", None),
        ("pin when", "The recording ends here."),
        ("backtrace", "main (argc=2"),
    ]),
    "restart": ("calls", (), (), [
        ("tbreak add", None),
        ("continue", "add ("),
        ("tbreak factorial", None),
        ("run", "factorial (n=5)"),
        ("start", "main (argc=1"),
        ("info breakpoints", "No breakpoints or watchpoints."),
        ("break add", None),
        ("run", pattern(r"add \(a=\d+, b=0\)")),
        ("starti", "_start ()"),
        ("continue", pattern(r"add \(a=\d+, b=0\)")),
    ]),
    "pending": ("plugged", ("{lib}",), (), [
        ("set breakpoint pending on", None),
        ("break plugin_run", pattern("plugin_run.*pending")),
        ("continue", "plugin_run (n=2)"),
        ("info sharedlibrary", "libplugin.so"),
        ("print plugin_state", "= 40"),
        ("step", "plugin_own++"),
        ("next", None),
        ("print plugin_own", "= 10"),
        ("print plugin_state", "= 42"),
        ("backtrace", ["plugin_run", "main (argc=2"]),
        ("finish", "= 42"),
        ("tbreak {UNLOADED}", None),
        ("continue", "UNLOADED"),
        ("info sharedlibrary", "~libplugin.so"),
        ("reverse-continue", "plugin_run"),
        ("print plugin_state", "= 40"),
        ("info sharedlibrary", "libplugin.so"),
        ("reverse-continue", HISTORY),
        ("continue", "plugin_run (n=2)"),
    ]),
    "exec": ("execs", ("{calls}",), (), [
        ("break prepare", None),
        ("continue", "prepare ()"),
        ("print before_exec", "= 1"),
        ("delete", None),
        ("catch exec", "Catchpoint"),
        ("continue", pattern("exec'd .*calls")),
        ("delete", None),
        ("tbreak factorial", None),
        ("continue", "factorial (n=5)"),
        ("info inferiors", "calls"),
        ("print counter", "= 5"),
        ("watch counter", None),
        ("continue", ["Old value = 5", "New value = 6"]),
        ("reverse-continue", None),
        ("delete", None),
        ("pin goto begin", "_start"),
        ("info inferiors", "execs"),
        ("tbreak prepare", None),
        ("continue", "prepare ()"),
        ("pin goto end", "_exit"),
        ("info inferiors", "calls"),
        ("print counter", "= 25"),
        ("reverse-continue", None),
        ("reverse-continue", None),
        ("reverse-continue", HISTORY),
        ("pin when", "The recording begins here."),
        ("info inferiors", "execs"),
    ]),
    "core": ("calls", (), (), [
        ("break add if counter == 10", None),
        ("continue", "add"),
        ("generate-core-file {work}/core.made", "Saved corefile"),
        ("print counter", "= 10"),
        ("set var $rax = 7", "a recording cannot be changed"),
        ("set var counter = 99", "a recording cannot be changed"),
        ("delete", None),
        ("print add(1, 2)", "= 3"),
    ]),
    "core_of_threads": ("threads", (), (), [  # takes a minute as long as zeros are sent one by one
        ("break visit if shared == 100", None),
        ("continue", "visit"),
        ("generate-core-file {work}/core.made", "Saved corefile"),
        ("print shared", "= 100"),
    ]),
    "display": ("calls", (), (), [
        ("break {ADDS}", None),
        ("continue", None),
        ("display total", None),
        ("next", "1: total = 260"),
        ("info display", "total"),
        ("x/3i add", None),
        ("info frame", "rip = 0x"),
        ("info line {ADDS}", "starts at address"),
        ("print $_", None),
        ("maint print registers", None),
        ("monitor when", pattern(r"T1:\d+:")),
        ("monitor nonsense", "unknown monitor command"),
        ("monitor help", "monitor when"),
        ("detach", "detached"),
        ("info registers", pattern("no registers|no thread|not being run")),
    ]),
}


class Test:
    def __init__(self, recordings):
        self.recordings, self.work = recordings, recordings.work
        self.failures = self.checks = 0
        self.words = {"lib": recordings.program("libplugin.so"), "calls": recordings.program("calls"),
                      "work": recordings.work}

    def fail(self, text):
        self.failures += 1
        print("FAILED:", text)

    def debug(self, pinball, options, *gdb_arguments, seconds=90):
        words = [self.recordings.drdebug, "debug", *options, pinball, "--", "-nx", "-batch", *gdb_arguments]
        return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, check=False, text=True, errors="replace", cwd=self.work,
                              env=dict(os.environ, LC_ALL="C.UTF-8"))

    def run(self, name):
        subject, args, options, rows = TABLES[name]
        pinball = self.recordings.get(subject, *[arg.format(**self.words) for arg in args])
        self.run_rows(name, pinball, options, rows, dict(self.words, **markers(subject)))

    def run_rows(self, name, pinball, options, rows, words):
        """GDB's commands on a recording, each with what must be in its output."""
        arguments = ["-ex", "set width 0", "-ex", "set height 0", "-ex", "set confirm off"]
        for number, (command, _) in enumerate(rows):
            arguments += ["-ex", f"echo \\n@@{number}@@\\n", "-ex", command.format(**words)]
        try:
            output = self.debug(pinball, options, *arguments).stdout
        except subprocess.TimeoutExpired as late:
            self.fail(f"{name}: does not end:\n{(late.stdout or b'').decode(errors='replace')[-3000:]}")
            return
        parts = re.split(r"\n@@\d+@@\n", output)
        if len(parts) != len(rows) + 1:
            self.fail(f"{name}: GDB ended early:\n{output[-3000:]}")
            return
        for bad in ("Python Exception", "Traceback", "internal-error", "Remote communication error",
                    "Ignoring packet error", "Remote connection closed", "Packet too long"):
            if bad in output:
                self.fail(f"{name}: {bad}:\n{output[max(0, output.index(bad) - 800):][:1600]}")
        for number, ((command, expected), said) in enumerate(zip(rows, parts[1:])):
            for one in expected if isinstance(expected, list) else [expected]:
                self.check(f"{name}: {number}: {command.format(**words)}", one, said, words)

    def check(self, name, expected, said, words):
        self.checks += 1
        if expected is None:
            return
        if isinstance(expected, re.Pattern):
            good, expected = expected.search(said), expected.pattern
        else:
            expected = expected.format(**words)
            good = expected[1:] not in said if expected.startswith("~") else expected in said
        if not good:
            self.fail(f"{name}\n  expected {expected!r}\n  but got {said[-1500:]!r}")

    def core(self):
        """A core that was made can be opened, and shows the same."""
        for table, program, expression, wanted in (
                ("core", "calls", "counter", ("= 10", "add (", "main (")),
                ("core_of_threads", "threads", "shared", ("= 100", "visit", "LWP", "work ("))):
            if table == "core_of_threads" and not SOAK:
                continue
            self.run(table)
            shown = subprocess.run(["gdb", "-nx", "-batch", "-ex", f"print {expression}", "-ex", "info threads", "-ex",
                                    "bt", self.recordings.program(program), f"{self.work}/core.made"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                                   check=False, stdin=subprocess.DEVNULL).stdout
            for one in wanted:
                self.check(table, one, shown, {})

    def output_once(self):
        """What the program wrote appears at its first execution only; -q is for none at all."""
        pinball = self.recordings.get("calls")
        again = []
        for command in ("pin goto end", "pin goto begin", "continue", "reverse-continue", "tbreak add", "continue",
                        "pin goto -50", "run", "pin goto end"):
            again += ["-ex", command]
        shown = self.debug(pinball, (), "-ex", "set confirm off", *again).stdout
        for line in ("begin 1\n", "total 260\n", "end 456 second\n"):
            self.checks += 1
            if shown.count(line) != 1:
                self.fail(f"output: {line!r} appears {shown.count(line)} times:\n{shown}")
        before = self.debug(pinball, (), "-ex", "next 2").stdout
        self.check("output", "~total 260", before, {})

    def start_places(self):
        pinball = self.recordings.get("calls")
        for options, wanted in (((), "main (argc=1"), (("--start",), "_start ()"), (("--end",), "_exit")):
            self.check(f"debug {options}", wanted, self.debug(pinball, options, "-ex", "frame").stdout, {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("table", nargs="*")
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIP
    special = {"core": "core", "output_once": "output_once", "start_places": "start_places"}
    with tempfile.TemporaryDirectory() as work:
        test = Test(Recordings(options.drdebug, options.bin, work))
        for name in options.table or [*(t for t in TABLES if t != "core_of_threads"), "output_once", "start_places"]:
            try:
                if name in special:
                    getattr(test, special[name])()
                else:
                    test.run(name)
            except Failed as failed:
                test.fail(f"{name}: {failed}")
        print(f"{test.checks} checks, {test.failures} failures")
        return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
