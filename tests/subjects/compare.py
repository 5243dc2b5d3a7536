#!/usr/bin/env python3
"""compare.py - run a case natively and under `drdebug run`, and compare all that can be seen.

    compare.py [--bin DIR] [--drdebug FILE] [--no-link] NAME...   cases of cases.py
    compare.py ... --all [--match REGEX] [-j N]                   many, with a summary
    compare.py ... --native N NAME...|--all                       N native runs must agree
    compare.py --list                                             the table, for CMakeLists.txt

Both runs get the same arguments, environment, input and working directory, a new and empty one of
the same name. Standard output, standard error, the exact wait status and the files left behind must
be equal; a native death by signal N may also show as the exit status 128+N that `drdebug run`
promises. A subject that prints FAIL natively is itself broken. Status: 0 equal, 1 different,
77 skipped. DRDEBUG_SOAK=1 repeats each case 20 times. $DRDEBUG is the default of --drdebug.
"""
import argparse
import ctypes
import fcntl
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77
NATIVE_LIMIT = 120
# `./dev soak machines` shows programs an older CPU: run and record do by these options, glibc in all programs by its
# variable. (A case must not see a variable of drdebug's.)
ENGINE = [word for option in os.environ.get("DRDEBUG_ENGINE", "").split(",") if option for word in ("--engine", option)]
MACHINE = {name: os.environ[name] for name in ("GLIBC_TUNABLES",) if name in os.environ}
USER_KEY = r"^\.local/state/drdebug/key$"  # the recorder's own, made at first use


class Result:
    """What one run showed: wait status, outputs, files; status None means the time limit hit."""

    def __init__(self, status, out, err, files, note=""):
        self.status, self.out, self.err, self.files, self.note = status, out, err, files, note


def status_text(status):
    if status is None:
        return "time limit"
    if status >= 0:
        return f"exited {status}"
    known = {number.value for number in signal.Signals}  # not those that the C library keeps for itself
    return f"killed by {signal.Signals(-status).name if -status in known else f'signal {-status}'}"


def same_status(native, engine):
    return native == engine or (native is not None and native < 0 and engine == 128 - native)


def children_of(pid):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                if int(f.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except (OSError, IndexError):
            pass
    return found


def end_leftovers():
    """Ends what a run left behind: orphans of it are our children, as we are their subreaper."""
    for _ in range(100):
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return  # there are none
        for pid in children_of(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:
                pass


def where_it_hangs(pid):
    lines = []
    try:
        for tid in sorted(os.listdir(f"/proc/{pid}/task"), key=int)[:8]:
            with open(f"/proc/{pid}/task/{tid}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
            with open(f"/proc/{pid}/task/{tid}/wchan") as f:
                lines.append(f"thread {tid} state {state} in {f.read() or '?'}")
    except OSError:
        pass
    return "; ".join(lines)


def text_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def left_files(case, top):
    found = {}
    for folder, dirs, names in os.walk(top):
        dirs.sort()
        for name in names:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, top)
            if any(re.search(p, short) for p in (*case.ignore_files, USER_KEY)) or not os.path.isfile(path):
                continue
            import hashlib  # takes as long as a small case, as difflib does
            with open(path, "rb") as f:
                found[short] = hashlib.sha256(f.read()).hexdigest()[:16]
    return found


def fill(text, args, work):
    return text.replace("{bin}", args.bin).replace("{src}", HERE).replace("{work}", work)


def normal(case, data):
    text = data.decode("latin-1")
    for pattern, new in case.norm:
        text = re.sub(pattern, new, text, flags=re.M)
    return text


def environment(case, args, work):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": work, "TMPDIR": work,
           "XDG_STATE_HOME": os.path.join(os.path.dirname(work), "state"),  # the recorder's key, not the case's
           "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1", **MACHINE}
    env.update({k: fill(v, args, work) for k, v in case.env.items()})
    return env


def wait_end(child, limit):
    """Popen.wait polls when it has a limit, up to 50 ms late."""
    if child.poll() is not None:
        return child.returncode
    end = os.pidfd_open(child.pid)
    try:
        if not select.select([end], [], [], limit)[0]:
            raise subprocess.TimeoutExpired(child.args, limit)
    finally:
        os.close(end)
    return child.wait()


def run_once(case, args, prefix, limit, top):
    """Runs the case in a fresh directory top/work and returns its Result."""
    work = os.path.join(top, "work")
    os.mkdir(work)
    env = environment(case, args, work)
    try:
        for target, source in case.files.items():
            shutil.copy(fill(source, args, work), os.path.join(work, target))
        if case.setup:
            done = subprocess.run(["/bin/sh", "-ec", fill(case.setup, args, work)], cwd=work,
                                  env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  check=False)
            if done.returncode == SKIP:
                return Result(SKIP, b"skipped: " + done.stdout, b"", {})
            if done.returncode:
                raise RuntimeError(f"set-up failed: {done.stderr.decode()}")
        argv = prefix + [fill(a, args, work) for a in case.argv]
        with open(os.path.join(top, "in"), "w+b") as fin, \
             open(os.path.join(top, "out"), "w+b") as fout, \
             open(os.path.join(top, "err"), "w+b") as ferr:
            fin.write(case.stdin.encode())
            fin.seek(0)
            for f in (fout, ferr):
                append_only(f)
            child = subprocess.Popen(argv, cwd=work, env=env, stdin=fin, stdout=fout, stderr=ferr, start_new_session=True)
            note = ""
            try:
                status = wait_end(child, limit)
            except subprocess.TimeoutExpired:
                note = where_it_hangs(child.pid)
                child.kill()
                child.wait()
                status = None
            end_leftovers()
            for f in (fout, ferr):
                f.seek(0)
            return Result(status, fout.read(), ferr.read(), left_files(case, work), note)
    finally:
        end_leftovers()
        shutil.rmtree(work, ignore_errors=True)


def default_signals():
    """Whoever started us may ignore or block signals; the cases must not inherit that. Once, in this process: a function to be
    called in each child would make Python fork all of itself for it. (It restores SIGPIPE and SIGXFSZ in children.)"""
    for sig in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}:
        try:
            signal.signal(sig, signal.SIG_DFL)
        except OSError:
            pass
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a handler is the default in a child
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def append_only(f):
    """Several processes write to one file: each write goes to its end."""
    fcntl.fcntl(f, fcntl.F_SETFL, fcntl.fcntl(f, fcntl.F_GETFL) | os.O_APPEND)


def differences(case, a, b, names):
    """Lines that say how two results differ; none if they agree."""
    said = []
    if not same_status(a.status, b.status):
        said.append(f"status: {names[0]} {status_text(a.status)}, "
                    f"{names[1]} {status_text(b.status)}")
        if b.note:
            said.append(f"        {b.note}")
    for what in ("out", "err"):
        x, y = normal(case, getattr(a, what)), normal(case, getattr(b, what))
        if x != y:
            import difflib
            lines = list(difflib.unified_diff(x.splitlines(), y.splitlines(),
                                              f"{names[0]} std{what}", f"{names[1]} std{what}",
                                              lineterm="", n=2))
            said += lines[:60] + (["..."] if len(lines) > 60 else [])
    for path in sorted(set(a.files) | set(b.files)):
        if a.files.get(path) != b.files.get(path):
            said.append(f"file {path}: {names[0]} {a.files.get(path, 'missing')}, "
                        f"{names[1]} {b.files.get(path, 'missing')}")
    return said


def missing_need(case):
    for need in case.needs:
        if not (os.path.exists(need) if need.startswith("/") else shutil.which(need)):
            return need
    return None


def skips(result):
    return result.status == SKIP and result.out.startswith(b"skipped:")


def broken(case, native):
    """Lines that show a native run to be wrong: there is nothing to compare with then."""
    bad_status = native.status is None or case.status not in (None, native.status)
    if not bad_status and not re.search(rb"\bFAIL\b", native.out):
        return []
    return [status_text(native.status)] + (native.out + native.err).decode("latin-1").splitlines()


def check_expectation(case, result):
    """A case without a native twin: bad input, where drdebug itself must answer."""
    said = []
    if result.status not in case.expect["status"]:
        said.append(f"status: {status_text(result.status)}, wanted one of {case.expect['status']}")
    err = result.err.decode("latin-1")
    if not re.search(case.expect["stderr"], err):
        said.append(f"standard error does not match {case.expect['stderr']!r}: {err!r}")
    lines = [l for l in err.splitlines() if not l.startswith("hint:")]
    if len(lines) != 1:
        said.append(f"standard error should be one line: {err!r}")
    if result.out:
        said.append(f"standard output should be empty: {result.out!r}")
    return said


def compare(case, args):
    """One comparison, or two that share the native run: (status, lines)."""
    need = missing_need(case)
    if need:
        return SKIP, [f"skipped: {need} is not installed"]
    engine = [args.drdebug, "run", *ENGINE]
    ways = [] if args.no_link else [("drdebug", [*engine, "--"])]
    if args.no_link or args.both:
        ways.append(("drdebug without links", [*engine, "--no-link", "--"]))
    with tempfile.TemporaryDirectory(prefix="case.") as top:
        if case.expect:
            said = [line for _, words in ways for line in check_expectation(case, run_once(case, args, words, case.limit, top))]
            return (1 if said else 0), said
        native = run_once(case, args, [], NATIVE_LIMIT, top)
        if skips(native):
            return SKIP, [native.out.decode().strip()]
        if broken(case, native):
            return 1, ["the case itself is broken, natively:", *broken(case, native)]
        said = []
        for name, words in ways:
            result = run_once(case, args, words, case.limit, top)
            if ENGINE and (case.shows_cpu or skips(result)):  # natively nobody hides what the CPU has
                return SKIP, ["skipped: nothing native to compare with"]
            said += differences(case, native, result, ("native", name))
    return (1 if said else 0), said


def compare_native(case, args):
    """Native runs among themselves: is the case fit to compare at all?"""
    need = missing_need(case)
    if need or case.expect:
        return SKIP, [f"skipped: {need or 'no native form'}"]
    with tempfile.TemporaryDirectory(prefix="case.") as top:
        prefix = ["taskset", "-c", "0"] if args.one_cpu else []
        first = run_once(case, args, prefix, NATIVE_LIMIT, top)
        if skips(first):
            return SKIP, [first.out.decode().strip()]
        if broken(case, first):
            return 1, broken(case, first)
        for n in range(1, args.native):
            said = differences(case, first, run_once(case, args, prefix, NATIVE_LIMIT, top),
                               ("first", f"run {n + 1}"))
            if said:
                return 1, said
    return 0, [f"{status_text(first.status)}, {len(first.out)} bytes"] if args.verbose else []


def run_case(name, args):
    """All repetitions of one case: (name, status, lines, seconds)."""
    default_signals()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    case = cases.BY_NAME[name]
    start = time.monotonic()
    rounds = 20 if os.environ.get("DRDEBUG_SOAK") == "1" and not args.native else 1
    status, said = 0, []
    for n in range(rounds):
        status, said = (compare_native if args.native else compare)(case, args)
        if status:
            if rounds > 1 and status == 1:
                said.insert(0, f"in round {n + 1} of {rounds}")
            break
    return name, status, said, time.monotonic() - start


def run_many(names, args):
    """Each in a process of its own; 1 if one is different."""
    import concurrent.futures  # takes as long as a small case
    worst, counts = 0, {0: 0, 1: 0, SKIP: 0}
    with concurrent.futures.ProcessPoolExecutor(args.j) as pool:
        for name, status, said, seconds in pool.map(run_case, names, [args] * len(names)):
            counts[status] += 1
            word = {0: "ok", 1: "DIFFERENT", SKIP: "skipped"}[status]
            print(f"{word:9} {name} ({seconds:.1f} s)", *(f"    {line}" for line in said), sep="\n", flush=True)
            worst = 1 if status == 1 else worst
    print(f"{counts[0]} equal, {counts[1]} different, {counts[SKIP]} skipped")
    return worst


def list_table():
    """Lines CMakeLists.txt reads: what to build and which tests there are."""
    for b in cases.BUILDS:
        print("|".join(["build", b.name, b.kind, " ".join(b.sources), b.flags]))
    for c in cases.CASES:
        print("|".join(["test", c.name, c.labels, "1" if c.nolink else "0"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--bin", default=os.getcwd(), help="where the built subjects are")
    parser.add_argument("--drdebug", default=os.environ.get("DRDEBUG", "drdebug"))
    parser.add_argument("--no-link", action="store_true", help="pass --no-link to drdebug run")
    parser.add_argument("--both", action="store_true", help="run it with links and without")
    parser.add_argument("--native", type=int, default=0, metavar="N")
    parser.add_argument("--one-cpu", action="store_true", help="with --native: on one CPU")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--match", default="")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        return list_table()
    args.bin = os.path.abspath(args.bin)
    if os.sep in args.drdebug:
        args.drdebug = os.path.abspath(args.drdebug)
    names = args.names
    if args.all:
        names = [c.name for c in cases.CASES if re.search(args.match, c.name)]
    unknown = [n for n in names if n not in cases.BY_NAME]
    if unknown or not names:
        parser.error(f"unknown case: {unknown[0]}" if unknown else "no case named")
    if len(names) > 1:
        return run_many(names, args)
    _, status, said, _ = run_case(names[0], args)
    print(*said, sep="\n", end="\n" if said else "")
    return status


if __name__ == "__main__":
    sys.exit(main())
