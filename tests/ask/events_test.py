#!/usr/bin/env python3
"""events_test.py DRDEBUG SUBJECTS_DIR [PROGRAM...] - `ask events` against strace: what both print of a call is the same.

SPDX-License-Identifier: MIT

Each program is run under strace and recorded. Both lists are brought to a common form: addresses, process ids, times and
random bytes differ from run to run, and `ask events` says what descriptors lead to. A recorded program does not make all
calls that a native one makes (copy_file_range is not there, rseq is the runtime's), so that the lists are aligned by the
names of the calls; then each pair of lines must be equal.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

DRDEBUG, SUBJECTS = sys.argv[1], sys.argv[2]

# Programs by name; the working directory has d/a, d/b, d/sub.
PROGRAMS = {
    "cat": ["cat", "d/a", "d/missing"],
    "ls": ["ls", "-la", "d"],
    "sort": ["sort", "d/a", "d/b"],
    "find": ["find", "d", "-name", "*a*"],
    "grep": ["grep", "-rn", "foo", "d"],
    "tar": ["tar", "cf", "out.tar", "d"],
    "python": ["/usr/bin/python3", "-S", "-E", "-c", "import os; print(os.getcwd()); os.mkdir('new'); os.rmdir('new')"],
    "sh": ["sh", "-c", "cat d/a | sort | head -1; exit 3"],
    "sockets": [f"{SUBJECTS}/events_sockets"],
    "threads": [f"{SUBJECTS}/events_threads"],
}

# What a recorded program does otherwise, or the kernel answers otherwise each time.
OTHER_RESULT = {"copy_file_range", "rseq", "set_robust_list", "getpid", "gettid", "getppid", "set_tid_address",
                "sched_getaffinity", "sysinfo", "clock_gettime", "getrandom", "rt_sigreturn", "statfs", "times", "getrusage"}
# Calls that a recorded program need not have.
OPTIONAL = {"copy_file_range", "mmap", "munmap", "read", "write", "rseq", "futex", "clock_gettime", "rt_sigreturn", "madvise", "brk",
            "mprotect", "time", "gettimeofday", "wait4"}


def common(line):
    """A line in the form that both lists share."""
    line = re.sub(r"\s+= ", " = ", line)
    line = re.sub(r"(\d)<[^<>]*>", r"\1", line)
    line = re.sub(r"0x[0-9a-f]{5,}", "ADDR", line)
    line = re.sub(r" /\* \d{4}-\d\d-\d\dT[^*]*\*/", "", line)
    line = re.sub(r"\b(tv_sec|tv_nsec|tv_usec|st_rdev|si_pid|si_utime|si_stime|fd_pid)=-?\d+( /\*[^*]*\*/)?", r"\1=N", line)
    line = re.sub(r"(futex\(ADDR, FUTEX_WAIT_BITSET\|FUTEX_CLOCK_REALTIME, )\d{3,}", r"\1TID", line)
    line = re.sub(r"parent_tid=\[\d+\]", "parent_tid=[N]", line)
    line = re.sub(r'"\\x.*?"', '"RANDOM"', line)
    line = re.sub(r'"[0-9a-f]{8,}-[0-9a-f]{8,} .*= \d+$', "MAPS", line)
    line = re.sub(r"sysinfo\(.*\)", "sysinfo()", line)
    line = re.sub(r"\b(f_bfree|f_bavail|f_ffree)=\d+", r"\1=N", line)
    name = line.partition("(")[0]
    if name in ("clone", "clone3", "vfork", "fork", "wait4", "kill", "tgkill"):
        line = re.sub(r" = \d+$", " = PID", line)
        line = re.sub(r"(kill|wait4)\(\d+, (\d+, )?", r"\1(PID, ", line)
    if name in OTHER_RESULT:
        line = re.sub(r" = .*", " = X", line)
    return line


def by_strace(program):
    """Lines of the first process's calls, by its thread; whole lines."""
    subprocess.run(["strace", "-f", "-o", "trace", *program], check=False, stdin=subprocess.DEVNULL, stdout=open("native.out", "wb"),
                   stderr=subprocess.DEVNULL)
    whole, begun = [], {}
    for text in open("trace", encoding="utf-8", errors="replace"):
        pid, _, line = text.rstrip("\n").partition(" ")
        line = line.lstrip()
        if line.startswith("---") or line.startswith("+++"):
            continue
        if line.endswith("<unfinished ...>"):
            begun[pid] = line[:-len(" <unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", line)
        whole.append((pid, begun.pop(pid) + resumed.group(1) if resumed else line))
    # A thread's first calls may stand before the end of the clone that made it.
    process = {whole[0][0]}
    made = [(pid, re.match(r"clone3?\(.*CLONE_THREAD.* = (\d+)$", line)) for pid, line in whole]
    while True:
        more = {clone.group(1) for pid, clone in made if clone and pid in process} - process
        if not more:
            break
        process |= more
    threads = {}
    for pid, line in whole:
        if pid in process:
            threads.setdefault(pid, []).append(line)
    lists = list(threads.values())
    lists[0] = lists[0][1:]  # execve of the program itself
    return lists


def by_ask(program):
    subprocess.run([DRDEBUG, "record", "-o", "p", "--", *program], check=False, stdin=subprocess.DEVNULL,
                   stdout=open("recorded.out", "wb"), stderr=subprocess.DEVNULL)
    told = subprocess.run([DRDEBUG, "ask", "p", "events", "call", "--json"], check=True, stdout=subprocess.PIPE)
    threads = {}
    for text in told.stdout.splitlines():
        row = json.loads(text)
        if "event" in row:
            threads.setdefault(row["at"].split(":")[0], []).append(row["event"])
    return list(threads.values())


def name_of(line):
    return line.partition("(")[0]


def compare(name, native, recorded):
    """How many lines are equal, and complaints."""
    equal, complaints = 0, []
    forms = [[common(line) for line in lines] for lines in (native, recorded)]
    for op, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *forms, autojunk=False).get_opcodes():
        if op == "equal":
            equal += i2 - i1
            continue
        left = forms[1][j1:j2]
        for line in forms[0][i1:i2]:
            other = next((o for o in left if name_of(o) == name_of(line)), None)
            if other:
                left.remove(other)
                complaints.append(f"{name}:\n  strace {line}\n  ask    {other}")
            elif name_of(line) not in OPTIONAL:
                complaints.append(f"{name}: only strace has {line}")
        complaints += [f"{name}: only ask has {line}" for line in left if name_of(line) not in OPTIONAL]
    return equal, complaints


def main():
    os.environ["PATH"] = "/usr/bin:/bin"
    wanted, failed = sys.argv[3:] or PROGRAMS, False
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.makedirs("d/sub")
            for file, text in (("a", "hello\n"), ("b", "world foo\n")):
                with open(f"d/{file}", "w", encoding="utf-8") as out:
                    out.write(text)
            native = by_strace(PROGRAMS[name])
            if os.path.exists("out.tar"):
                os.unlink("out.tar")
            recorded = by_ask(PROGRAMS[name])
            equal, complaints = 0, []
            if len(native) != len(recorded):
                complaints.append(f"{name}: {len(native)} threads, {len(recorded)} recorded")
            for a, b in zip(native, recorded):
                n, more = compare(name, a, b)
                equal, complaints = equal + n, complaints + more
            if equal < 20:
                complaints.append(f"{name}: only {equal} lines are equal")
            print(f"{name}: {equal} calls as strace has them", *complaints, sep="\n")
            failed |= bool(complaints)
            os.chdir("/")
    sys.exit(failed)


if not shutil.which("strace"):
    print("SKIP: there is no strace")
    sys.exit(77)
main()
