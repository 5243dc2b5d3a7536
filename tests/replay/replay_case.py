#!/usr/bin/env python3
"""replay_case.py - record a row of table.py once, replay it several times, verify it.

SPDX-License-Identifier: MIT

    replay_case.py [--drdebug FILE] [--bin DIR] [--subjects DIR] [--no-link] NAME...
    replay_case.py --list      the table, for CMakeLists.txt

The program and what it maps are copied to a directory that is gone before the first replay, as its working
directory with all input is. Where a native run is always the same, the recorded run must be that, too.
Then it is verified, which is a replay, too, and replayed again if that changed the pinball. DRDEBUG_SOAK=1: 20 replays.
Status: 0 good, 1 bad, 77 skipped.
"""
import os
import re
import shutil
import sys
import types

import replay_test
import table
from replay_test import SOAK, Recording, Skipped, compare

NO_RUNTIME = {"asan": "AddressSanitizer's runtime (libasan) is not installed",
              "tsan": "ThreadSanitizer's runtime (libtsan) is not installed",
              "ubsan": "UndefinedBehaviorSanitizer's runtime (libubsan) is not installed",
              "sqlite3": "libsqlite3-dev is not installed"}


def copy_programs(row, sources, bin_dir):
    """What the row names as {bin}/X, and nothing else."""
    case = row.case
    texts = [*case.argv, *case.files.values(), *case.env.values(), case.setup]
    for name in sorted({name for text in texts for name in re.findall(r"\{bin\}/([\w.]+)", text)}):
        path = next(filter(os.path.exists, (os.path.join(source, name) for source in sources)), None)
        if not path:
            kinds = {build[0]: build[3] for build in table.BUILDS}
            raise Skipped(NO_RUNTIME.get(kinds.get(name, ""), f"{name} was not built"))
        shutil.copy(path, os.path.join(bin_dir, name))


def run(case, args, prefix, limit, top):
    result = compare.run_once(case, args, prefix, limit, top)
    if compare.skips(result):
        raise Skipped(result.out.decode().split(":", 1)[1].strip())
    return result


def refusal(test, row, args, prefix, path, top):
    """A program that cannot be run: one line, a shell's status, and no pinball."""
    said = compare.check_expectation(row.case, compare.run_once(row.case, args, prefix, row.case.limit, top))
    test.check(not said, "\n    ".join([f"{row.name}: record answers otherwise than run"] + said))
    test.check(not os.path.lexists(path), f"{row.name}: record left a pinball of nothing")


def compare_with_native(test, row, native, result, recording):
    """The recorded run against a native one: the program must not notice."""
    seen = compare.Result(result.status, recording.out, recording.err, result.files, result.note)
    said = compare.differences(row.case, native, seen, ("native", "recorded"))
    test.check(not said, "\n    ".join([f"{row.name}: recording shows"] + said))


def one_case(test, name):
    row, options = table.BY_NAME[name], test.options
    case = row.case
    need = compare.missing_need(case)
    if need:
        raise Skipped(f"{need} is not installed")
    top, path = test.folder("top"), test.fresh("pinball")
    args = types.SimpleNamespace(bin=os.path.join(top, "bin"))
    os.mkdir(args.bin)
    copy_programs(row, (options.bin, options.subjects) if row.own else (options.subjects,), args.bin)
    engine = ["--engine", "link=0"] if options.no_link else []
    prefix = [test.drdebug, "record", "-o", path, *compare.ENGINE, *engine, "--"]
    if case.expect:
        return refusal(test, row, args, prefix, path, top)
    native = None
    if row.sanitizer and not row.any_end:
        native_status = run(case, args, [], compare.NATIVE_LIMIT, top).status
        if native_status is None:
            raise Skipped("under this sanitizer it does not end natively, either")
    if not row.varies and not (compare.ENGINE and case.shows_cpu):
        native = run(case, args, [], compare.NATIVE_LIMIT, top)
        broken = compare.broken(case, native)
        if broken:
            return test.check(False, "\n    ".join(["the case itself is broken, natively:"] + broken))
    result = run(case, args, prefix, case.limit, top)
    recording = Recording(path, result)
    shutil.rmtree(top)
    if not test.recorded(recording, name):
        return None
    if native:
        compare_with_native(test, row, native, result, recording)
    elif row.fails:
        wrong = [line for line in recording.out.decode("latin-1").splitlines() if re.search(r"\bFAIL\b", line)]
        test.check(not wrong, "\n    ".join([f"{name}: wrong while it was recorded"] + wrong[:10]))
    if row.sanitizer and not row.any_end:
        test.check(compare.same_status(native_status, recording.status),
                   f"{name}: {recording.text()}, natively {compare.status_text(native_status)}")
    if case.status is not None:
        test.check(compare.same_status(case.status, recording.status), f"{name}: {recording.text()}, not {case.status}")
    return judge(test, row, recording)


def contents(pinball):
    """What a pinball's files show of a change."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(pinball) for name in names]
    return {path: (os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in found}


def judge(test, row, recording):
    if test.options.no_link:
        return test.all_replays(recording, 2, row.name, row.parts)  # recorded without links, replayed with and without
    without_links = row.nolink and test.ticks(recording.path) < replay_test.MANY_TICKS
    good = test.all_replays(recording, 19 if SOAK else 2 if without_links else 1, row.name, row.parts, without_links)
    before = contents(recording.path)
    good &= test.verify(recording.path, row.name)
    test.info_end(recording.path, recording, row.name)
    if not SOAK and contents(recording.path) == before:
        return good
    return good and test.all_replays(recording, 1, row.name + ", after verify", row.parts)


def accepts_engine_options(test):
    """Whether record knows --engine; its help need not show an option for developers."""
    return test.verb("record", "--engine", "link=0", "-o", test.fresh("pinball"), "--", "/bin/true").status == 0


def threaded():
    """Cases of tests/subjects about threads, or that start some. (A sanitizer's shadow is too large to be compared.)"""
    starts = re.compile(r"pthread_create|std::thread|CLONE_THREAD")
    sources = {build.name: build.sources for build in compare.cases.BUILDS}
    for case in compare.cases.CASES:
        name = case.argv[0].removeprefix("{bin}/")
        starting = any(starts.search(compare.text_of(path)) for path in sources.get(name, ()))
        if case.labels == "thread" or starting and case.labels != "sanitizer":
            yield case.name, " ".join([name, *case.argv[1:]])


def list_table():
    for name, sources, flags, needs, when in table.BUILDS:
        print("|".join(["build", name, sources, flags, needs or "-", when or "-"]))
    for row in table.ROWS:
        print("|".join(["test", row.name, row.labels, "1" if row.nolink else "0", "1" if row.soak else "0"]))
    for name, program in threaded():
        print("|".join(["threaded", name, program]))


def all_cases(test):
    if test.options.no_link and not accepts_engine_options(test):
        raise Skipped("record knows no --engine")
    for name in test.options.names:
        one_case(test, name)


def main():
    parser = replay_test.parser_of(__doc__)
    parser.add_argument("--subjects", type=os.path.abspath, default=os.getcwd(), help="where tests/subjects is built")
    parser.add_argument("--no-link", action="store_true", help="record with block linking off")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    if "--list" in sys.argv[1:]:
        return list_table()
    return replay_test.main(all_cases, parser)


if __name__ == "__main__":
    sys.exit(main())
