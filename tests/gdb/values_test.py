#!/usr/bin/env python3
"""values_test.py --drdebug PROG --bin DIR TABLE... - GDB's commands (commands.py): what there is to see: values, registers, core files.

SPDX-License-Identifier: MIT
"""
import subprocess
import sys

from commands import main, pattern
from stub_client import SOAK

PLAIN_VECTORS = [
    ("break plain_vectors_loaded", None),
    ("continue", "plain_vectors"),
    ("print $xmm3.v2_double", "= {{1.5, 2.5}}"),
    ("print $mxcsr", pattern("IM")),
]

TABLES = {
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
        ("info all-registers", [pattern("^[xyz]mm15"), pattern("^mxcsr"), pattern("^st0")]),
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
    "printers": ("printers", (), (), [
        ("tbreak {ALL THERE}", None),
        ("continue", None),
        ("print numbers", "std::vector of length 4, capacity 6 = {{2, 7, 1, 5}}"),
        ("print word", '= "seven"'),
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
        *PLAIN_VECTORS,
        ("info registers ymm2", pattern("ymm2")),
    ]),
    "plain_vectors": ("calls", ("vectors",), (), [
        *PLAIN_VECTORS,
        ("print $ymm2", "= void"),
    ]),
    "fs_base": ("tiny", (), ("--start",), [
        ("print $fs_base", "= 0"),  # as natively: the program never sets it
        ("print $gs_base", "= 0"),
        ("stepi 20", None),
        ("print $fs_base", "= 0"),
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
        ("print $_siginfo", "si_signo = 0"),
        ("set var $rax = 7", "a recording cannot be changed"),
        ("print $rax == 7", "= 0"),
        ("set var counter = 99", "a recording cannot be changed"),
        ("maintenance flush dcache", None),
        ("print counter", "= 25"),
        ("pin when", "~copy"),
        ("break add", None),
        ("reverse-continue", "add (a="),
        ("print $_siginfo", None),
        ("set var sum = 99", "a recording cannot be changed"),  # below the stack pointer
        ("set var sum = 99", "a recording cannot be changed"),
        ("print add(1, 2)", "stopped while in a function called from GDB"),
        ("delete", None),
        ("finish", "= 3"),
        ("print $_siginfo", None),
        ("set var $rbx = 9", "a recording cannot be changed"),
        ("jump main", "a recording cannot be changed"),
        ("pin goto end", None),
        ("print counter", "= 25"),
        ("kill", "killed"),
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
}


def core(test):
    """A core that was made can be opened, and shows the same."""
    for table, program, expression, wanted in (
            ("core", "calls", "counter", ("= 10", "add (", "main (")),
            ("core_of_threads", "threads", "shared", ("= 100", "visit", "LWP", "work ("))):
        if table == "core_of_threads" and not SOAK:
            continue
        test.run(table)
        shown = subprocess.run(["gdb", "-nx", "-batch", "-ex", f"print {expression}", "-ex", "info threads", "-ex",
                                "bt", test.recordings.program(program), f"{test.work}/core.made"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                               check=False, stdin=subprocess.DEVNULL).stdout
        for one in wanted:
            test.check(table, one, shown, {})


def vectors(test):
    """The program uses AVX if it sees that there is: not on a CPU without, nor with DRDEBUG_ENGINE=cpu=2."""
    shown = test.debug(test.recordings.get("calls", "vectors"), (), "-ex", "break vectors", "-ex", "continue").stdout
    if ", vectors () at" in shown:
        test.run("vectors")
    else:
        print("left out: $ymm, since the recorded program found no AVX")
        test.run("plain_vectors")


SPECIAL = {"core": core, "vectors": vectors}

if __name__ == "__main__":
    sys.exit(main(TABLES, SPECIAL))
