#!/usr/bin/env python3
"""signals_test.py --drdebug PROG --bin DIR TABLE... - GDB's commands (commands.py): signals.

SPDX-License-Identifier: MIT
"""
import sys

from commands import main, pattern

TABLES = {
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
    "signals_are_recorded": ("signals", (), (), [
        ("signal SIGUSR2", "a recording cannot be changed: the signal was not sent"),
        ("queue-signal SIGUSR2", None),
        ("continue", "a recording cannot be changed: the signal was not sent"),
        ("continue", "received signal SIGUSR1"),
        ("set var $_siginfo.si_signo = 5", "a recording cannot be changed"),
        ("print $_siginfo.si_signo", "= 10"),
        ("signal SIGUSR1", "received signal SIGUSR2"),  # is what comes here
        ("signal SIGINT", "a recording cannot be changed: the signal was not sent"),
        ("stepi", "on_usr2"),
    ]),
    "siginfo_of_threads": ("crash", ("thread",), (), [
        ("continue", "received signal SIGSEGV"),
        ("print $_siginfo.si_signo", "= 11"),
        ("thread 1", "Switching to thread 1"),
        ("print $_siginfo.si_signo", "= 0"),
        ("print (int) getpid() > 0", "= 1"),  # the other thread gets its signal back, which is not there
        ("thread 2", "Switching to thread 2"),
        ("print $_siginfo.si_signo", "= 11"),
        ("frame", "CRASH"),
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
}

if __name__ == "__main__":
    sys.exit(main(TABLES))
