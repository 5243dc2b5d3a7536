#!/usr/bin/env python3
"""called_test.py --drdebug PROG --bin DIR TABLE... - GDB's commands (commands.py): functions called from GDB.

SPDX-License-Identifier: MIT
"""
import sys

from commands import HISTORY, main, pattern

TABLES = {
    "calls": ("calls", (), (), [
        ("tbreak {SECOND WORD}", None),
        ("continue", None),
        ("pin when", None),
        ("print add(2, 3)", "= 5"),
        ("print counter", "= 26"),  # as the call has left it
        ("print factorial(6)", "= 720"),
        ("print counter", "= 25"),  # which that call began with, too
        ('call length("twelve bytes")', "= 12"),
        ("print add(1, factorial(4))", "= 25"),
        ("print counter", "= 26"),
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
    "called_memory": ("called", (), (), [
        ("break {HERE}", None),
        ("continue", "HERE"),
        ("print tick()", ["functions are called in a copy", "= 1"]),
        ("print n", "= 1"),
        ("print tick()", ["= 1", "~in a copy"]),
        ("print n", "= 1"),
        ("print describe(7)", '"number 7"'),
        ("print text", '"number 7'),
        ("print length(describe(12345))", "= 12"),  # it gets what the inner one has written
        ('print length("four")', "= 4"),
        ("print length(text)", "= 11"),
        ("print text", '"as recorded"'),
        ("pin when", "~copy"),
        ("next", "NEXT"),
        ("print n", "= 0"),
        ("print describe(8)", '"number 8"'),
        ("reverse-next", "HERE"),
        ("print text", '"as recorded"'),
    ]),
    "called_in_threads": ("called", (), (), [
        ("break {HERE}", None),
        ("continue", "HERE"),
        ("thread apply all print (int)getpid() > 0", pattern(r"Thread 2 (.|\n)*= 1(.|\n)*Thread 1 (.|\n)*= 1")),
        ("thread 2", "Switching to thread 2"),
        ("print tick()", "= 1"),
        ("print n", "= 1"),
        ("set scheduler-locking on", None),
        ("print tick()", "= 1"),
        ("set scheduler-locking off", None),
        ("break tick", None),
        ("print tick()", "stopped while in a function called from GDB"),
        ("thread 1", "HERE"),
        ("print describe(3)", '"number 3"'),  # from another thread, in the same copy
        ("thread 2", "TICKS"),
        ("finish", "= 1"),
        ("thread 1", "HERE"),
        ("next", "NEXT"),
        ("print n", "= 0"),
        ("thread 2", None),
        ("frame", "~called from gdb"),
    ]),
    "called_nested": ("called", (), (), [
        ("break {HERE}", None),
        ("continue", "HERE"),
        ("break nested", None),
        ("print nested(1)", "stopped while in a function called from GDB"),
        ("print nested(2)", "stopped while in a function called from GDB"),
        ("backtrace", [pattern(r"#0  nested \(depth=2\)"), pattern(r"#2  nested \(depth=1\)"), "main ("]),
        ("finish", "= 102"),
        ("print n", "= 100"),
        ("print $_siginfo.si_signo", "= 0"),
        ("print tick()", "= 101"),  # from where the outer one is
        ("finish", "= 202"),
        ("frame", "HERE"),
        ("print n", "= 201"),
        ("print tick()", "= 1"),
        ("next", "NEXT"),
        ("print n", "= 0"),
    ]),
    "called_waits": ("called", (), (), [
        ("break {HERE}", None),
        ("continue", "HERE"),
        ("print locks()", ["waits for a lock that nobody releases", "was signaled while in a function called from GDB"]),
        ("backtrace", [pattern(r"#\d+ .* locks \(\)"), "<function called from gdb>"]),
        ("reverse-next", None),
        ("frame", "~called from gdb"),
    ]),
    "called_signals": ("called", (), (), [
        ("break {HERE}", None),
        ("continue", "HERE"),
        ("print raises(10)", ["received signal SIGUSR1", "was signaled while in a function called from GDB"]),
        ("print $_siginfo.si_signo", "= 10"),
        ("continue", None),  # to its handler, and to the call's end
        ("frame", "HERE"),
        ("print caught", "= 10"),
        ("handle SIGUSR1 nostop noprint", None),
        ("print raises(10)", "= 10"),
        ("print raises(23)", "= 23"),
        ("print raises(17)", "= 0"),  # SIGCHLD, which nobody takes
        ("print raises(15)", "received signal SIGTERM"),
        ("continue", "the function cannot go on; back in the recording"),
        ("frame", "HERE"),
        ("print faults()", "received signal SIGSEGV"),
        ("backtrace", ["faults ()", "<function called from gdb>"]),
        ("continue", "the function cannot go on; back in the recording"),
        ("call abort()", "received signal SIGABRT"),
        ("next", "the function cannot go on; back in the recording"),
        ("next", "NEXT"),
        ("print caught", "= 0"),
    ]),
    "goto_after_lost_call": ("calls", (), (), [
        ("tbreak {SECOND WORD}", None),
        ("continue", None),
        ("print *(int *)length(0)", "SIGSEGV"),  # stays in the called function
        ("pin goto end", "_exit"),
        ("reverse-continue", HISTORY),
    ]),
}

if __name__ == "__main__":
    sys.exit(main(TABLES))
