#!/usr/bin/env python3
"""kinds.py - system calls are described in engine/os/syscalls.def and nowhere else.

SPDX-License-Identifier: MIT

Who looks at a program's calls asks engine/os/kinds.h what they do: a number in a comparison, a case or a table
is knowledge that the next call will lack. A number that is the first argument of sys3() or syscall(), or that
syscalls_pass() is told, is a call that is made. The columns `does` and `message` must also agree with the others of their row.
"""
import re

import tree

ELSEWHERE = ("tests/", "bench/", "demo/")  # programs that make calls, or count them
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
OWN_CALL = re.compile(r"\b(?:(?:sys[0-6]|syscall|engine_syscall)\s*\(|(?:syscalls_pass|with_mask)\s*\(\s*\w+,)\s*(?:__NR|SYS)_\w+")
NAMED = re.compile(r"\b(?:__NR|SYS)_([a-z]\w*)")
DEFINED = re.compile(r"\b(?:NR|SYS|SYSCALL)_[A-Z]\w*\s*=\s*\d+")
COMPARED = re.compile(r"\bnr\s*[!=]=\s*(?:\d+|[A-Z]\w*)|\b(?:\d+|[A-Z][A-Z\d_]*)\s*[!=]=\s*(?:\w+(?:->|\.))*nr\b")
SWITCHED = re.compile(r"\bswitch\s*\(\s*(?:\([^()]*\)\s*)?(?:\w+(?:->|\.))*nr\s*\)\s*\{")
CASE = re.compile(r"\bcase\s+(?!__NR_|SYS_)(\w+)")

# What is no knowledge about a program's calls, or none that others share. None: all numbers.
ALLOWED = {
    # Filters of drdebug's own calls.
    "replayer/target/confine.c": None,
    "base/confine.c": None,
    "cli/debug_confined.c": None,
    # Calls that are made, in other ways: by the vdso's functions, for new threads, by another process.
    "engine/os/maps.c": {"clock_gettime", "gettimeofday", "time", "getcpu", "clock_getres"},
    "engine/os/threads.c": {"clone", "clone3", "fork"},
    "engine/start/exec.c": {"execve", "execveat"},
    "engine/start/inject.c": {"mmap"},
    # The kernel's strict mode is these four.
    "engine/os/seccomp.c": {"read", "write", "exit", "rt_sigreturn"},
    # The readers of their arguments, beside the table.
    "engine/os/syscalls.c": {"write", "writev", "ioctl", "fcntl", "setsockopt", "getsockopt"},
    # What may be asked twice: these change nothing.
    "engine/os/terminal.c": {"poll", "ppoll", "select", "pselect6"},
    # What a function that GDB calls is told: who it is, and when.
    "replayer/target/divert.c": {"clock_gettime", "getpid", "gettid", "sched_yield", "kill", "tkill", "tgkill"},
}

TABLE = "engine/os/syscalls.def"
HEADER = "engine/os/kinds.h"
ROW = re.compile(r"^SYSCALL\((\d+), (\w+), (\d+), (\w+), (\w+), (\w+),\s+(\w+(?:\(\d\))?),\s+(\w+),\s+(.*?)\)(?: /\*[^\n]*\*/)?$(?=\n\S|\n?\Z)",
                 re.MULTILINE | re.DOTALL)
MAPS = set("MAPS UNMAPS REMAPS PROTECTS ADVISES ATTACHES DETACHES BREAKS IMPLIES".split())
THREADS = set("FORKS VFORKS CLONES CLONES_BY EXECS ENDS_THREAD ENDS_PROCESS".split())

# Words, and what the effects have if and only if the word is there.
BOTH_WAYS = {
    "IMPORTS": r"OUT_MESSAGES?\(1\b", "FUTEX": r"COMMAND\(1, futex\)", "CONTROLS": r"COMMAND\(1, fcntl\)",
    "NAMES": r"COMMAND\(0, prctl\)",
}
# Words that need such effects; N is the word's argument.
ONE_WAY = {
    "MAKES_TWO": r"^OUT\(N, BYTES\(8\)\)$",
    "READS": r"^OUT\(1, RESULT\(2\)\)$", "READS_AT": r"^OUT\(1, RESULT\(2\)\)$",
    "READS_VECTOR": r"^OUT_VECTOR\(1, 2\)$", "READS_VECTOR_AT": r"^OUT_VECTOR\(1, 2\)$",
    "WRITES": r"^IN(_VECTOR)?\(1, (ARG\()?2", "WRITES_AT": r"^IN(_VECTOR)?\(1, (ARG\()?2", "WRITES_HOW": r"^IN_VECTOR\(1, 2",
    "WRITES_MEMORY": r"OUT_VECTOR\(3, 4, OWN\)", "COPIES_AT": r"INOUT\(3, BYTES\(8\)\)", "RESIZES_NAMED": r"^PATH\(0\)",
    "EXECS": r"PATH.*STRINGS", "CLONES_BY": r"^IN\(0, ARG\(1\)\)", "OPENS_ANYHOW": "PATH",
}
LEAST_ARGS = {"READS_AT": 4, "READS_VECTOR_AT": 4, "WRITES_AT": 4, "WRITES_HOW": 6, "COPIES_AT": 4, "DUPLICATES": 1, "CLOSES": 1, "CLOSES_RANGE": 2, "SETS_WORD": 1, "ALLOCATES": 4}


def block_after(code, at):
    """What is between the brace before `at` and the one that closes it."""
    depth, end = 1, at
    while end < len(code) and depth:
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    return code[at:end]


def numbers_in(path, text):
    code = NOT_CODE.sub(lambda m: "\n" * m.group().count("\n") or " ", text)
    code = OWN_CALL.sub(lambda m: " " * len(m.group()), code)
    allowed = ALLOWED.get(path, set())
    found = [(m.start(), m.group(1)) for m in NAMED.finditer(code)]
    complaints = []
    if allowed is not None:
        complaints += [(at, name) for at, name in found if name not in allowed]
        complaints += [(0, f"{name} is not here: take it off the list in kinds.py")
                       for name in sorted(allowed - {name for _, name in found})]
    complaints += [(m.start(), m.group()) for pattern in (DEFINED, COMPARED) for m in pattern.finditer(code)]
    for switch in SWITCHED.finditer(code):
        complaints += [(switch.start(), f"case {label}") for label in CASE.findall(block_after(code, switch.end()))]
    return [f"{path}:{code.count(chr(10), 0, at) + 1}: {what}: what a call does is in {TABLE} (ask kinds.h)"
            for at, what in sorted(complaints)]


def check_row(name, args, how, replay, does, message, effects):
    """What the row's columns say against each other."""
    word, _, n = does.rstrip(")").partition("(")
    wrong = []
    if n and int(n) >= args:
        wrong.append(f"{does}: there is no such argument")
    if how == "REFUSED" and (does, message) != ("0", "0"):
        wrong.append("is refused and does something")
    for words, kind in ((MAPS, "MEMORY"), (THREADS, "THREAD")):
        if (word in words) != (replay == kind):
            wrong.append(f"{does}, and replay is {replay}")
    odd = [w for w, pattern in BOTH_WAYS.items() if (w == word) != bool(re.search(pattern, effects))]
    odd += [w for w, pattern in ONE_WAY.items() if w == word and not re.search(pattern.replace("N,", n + ","), effects)]
    wrong += [f"{does} with the effects {effects}" for _ in odd[:1]]
    if args < max(LEAST_ARGS.get(word, 0), message.endswith("_BY")):
        wrong.append(f"{does}, {message}: too few arguments")
    if message.startswith("RECEIVES") and how != "BLOCKS":
        wrong.append(f"{message}, and it never waits")
    return [f"{TABLE}: {name}: {what}" for what in wrong]


def check_table(files):
    rows = ROW.findall(files[TABLE])
    complaints, used = [], set()
    if len(rows) != len(re.findall(r"^SYSCALL\(", files[TABLE], re.MULTILINE)):
        complaints.append(f"{TABLE}: {len(rows)} rows were understood, not all")
    for _, name, args, how, _, replay, does, message, effects in rows:
        complaints += check_row(name, int(args), how, replay, does, message, " ".join(effects.split()))
        used |= {"DOES_" + does.partition("(")[0], "MESSAGE_" + message}
    words = set(re.findall(r"^ {4}((?:DOES|MESSAGE)_\w+)", files.get(HEADER, ""), re.MULTILINE))
    complaints += [f"{HEADER}: {word}: no row has it" for word in sorted(words - used - {"MESSAGE_BY_DESCRIPTOR"})]
    return complaints


def check(project):
    complaints = check_table(project.files) if TABLE in project.files else []
    for path, text in project.sources():
        if not path.startswith(ELSEWHERE):
            complaints += numbers_in(path, text)
    return complaints


def row(text):
    return {TABLE: f"SYSCALL({text})\n"}


FIXTURES = [
    ("calls of our own", {"logger/a.c": "sys3(__NR_write, 1); syscall( SYS_futex, p); if (r == __NR_x) {}"}, "logger/a.c:1: x:"),
    ("asks the table", {"facts/a.c": "switch (kinds_of(c->nr).does) {\ncase DOES_FUTEX: break;\n}\nif (c->r.nr != (uint16_t)nr) x();"}, None),
    ("words", {"trace/a.c": '/* __NR_read, nr == 3 */ say("SYS_read");'}, None),
    ("elsewhere", {"tests/a.c": "if (nr == __NR_write) {}"}, None),
    ("the engine, too", {"engine/os/a.c": "if (nr == __NR_write) {}"}, "engine/os/a.c:1: write:"),
    ("calls that are passed on", {"engine/os/a.c": "r = syscalls_pass(t, __NR_brk, a); engine_syscall(__NR_futex, a);"}, None),
    ("another argument of it", {"engine/os/a.c": "syscalls_pass(t, nr, __NR_brk);"}, "a.c:1: brk:"),
    ("strict mode and no more", {"engine/os/seccomp.c": "ok = nr == __NR_read || nr == __NR_readv;"}, "readv:"),
    ("a comparison", {"replayer/target/a.c": "int a;\nbool b = nr == __NR_exit;"}, "a.c:2: exit:"),
    ("a case", {"logger/target/a.c": "switch (nr) {\ncase __NR_mmap: break;\n}"}, "mmap"),
    ("a list", {"replayer/a.c": "static const long calls[] = {SYS_clone, SYS_fork};"}, "fork"),
    ("a literal", {"trace/a.c": "if (c->nr == 15) x();"}, "nr == 15"),
    ("a literal, turned", {"trace/a.c": "if (15 == c->nr) x();"}, "15 == c->nr"),
    ("a name for a literal", {"facts/a.c": "enum { READ = 0 };\nbool r = c->nr == READ;"}, "a.c:2: nr == READ"),
    ("a constant", {"slicer/a.c": "enum {\n    SYS_FUTEX = 202,\n};"}, "a.c:2: SYS_FUTEX = 202"),
    ("literal cases", {"facts/a.c": "switch (c->nr) {\ncase 1: /* write */\nif (x) { y(); }\ncase 20: z();\n}\nswitch (k) { case 3: ; }"}, "case 20"),
    ("a rule too many", {"replayer/target/divert.c": "case __NR_getpid:"}, "gettid is not here"),
    ("rows that agree", row("22, pipe, 1, QUICK, 0, LOGGED, MAKES_TWO(0), 0, OUT(0, BYTES(8)))\nSYSCALL(0, read, 3, BLOCKS, 0, LOGGED, 0,\n"
                            "    RECEIVES_BY, OUT(1, RESULT(2))) /* why */\nSYSCALL(9, mmap, 6, QUICK, memory_mmap, MEMORY, MAPS, 0, COMMAND(3, mmap)"), None),
    ("another argument", row("22, pipe, 2, QUICK, 0, LOGGED, MAKES_TWO(1), 0, OUT(0, BYTES(8))"), "pipe: MAKES_TWO(1)"),
    ("an argument too far", row("2, open, 3, BLOCKS, 0, LOGGED, OPENS(3), 0, PATH(0)"), "no such argument"),
    ("one word of two", row("201, time, 1, QUICK, 0, LOGGED, 0, 0, OUT(0, BYTES(8))"), None),
    ("a map that is logged", row("9, mmap, 6, QUICK, 0, LOGGED, MAPS, 0, NONE"), "replay is LOGGED"),
    ("memory without a word", row("9, mmap, 6, QUICK, 0, MEMORY, 0, 0, NONE"), "replay is MEMORY"),
    ("an end that is logged", row("60, exit, 1, QUICK, 0, LOGGED, ENDS_THREAD, 0, NONE"), "replay is LOGGED"),
    ("a refused one", row("1, write, 3, REFUSED, 0, LOGGED, 0, SENDS_BY, NONE"), "is refused"),
    ("descriptors that are overlooked", row("47, recvmsg, 3, BLOCKS, 0, LOGGED, 0, RECEIVES, OUT_MESSAGE(1, TRUNC(2))"), "OUT_MESSAGE"),
    ("a writer without bytes", row("1, write, 3, BLOCKS, 0, LOGGED, WRITES, 0, NONE"), "WRITES"),
    ("a reader of something else", row("17, pread64, 4, BLOCKS, 0, LOGGED, READS_AT, 0, OUT(2, RESULT(1))"), "READS_AT"),
    ("a receiver that does not wait", row("0, read, 3, QUICK, 0, LOGGED, 0, RECEIVES_BY, OUT(1, RESULT(2))"), "never waits"),
    ("no descriptor to send by", row("1, write, 0, BLOCKS, 0, LOGGED, 0, SENDS_BY, NONE"), "too few"),
    ("a row that is none", row("1, write, 3"), "not all"),
    ("a word without a row", {TABLE: "SYSCALL(3, close, 1, BLOCKS, 0, LOGGED, CLOSES, 0, NONE)\n",
                              HEADER: "enum {\n    DOES_CLOSES,\n    DOES_NEVER,\n};\n"}, "DOES_NEVER: no row"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
