#!/usr/bin/env python3
"""program_case.py - run a Debian program natively, under run, recorded and replayed, and compare.

SPDX-License-Identifier: MIT

    program_case.py [--drdebug FILE] [--results DIR] NAME...     rows of catalogue.py
    program_case.py --list                                       the table, for CMakeLists.txt
    program_case.py --packages                                   what the rows need

All runs get the same arguments, environment, input and working directory, a new one of the same name. Status,
outputs and the files left behind must be the native ones; where they differ from run to run, what replay shows is
compared with what was recorded. --results: figures for report.py. DRDEBUG_SOAK=1: three rounds, fewer where they
take long, and the medians of their times. Status: 0 good, 1 bad, 77 skipped.
"""
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "replay"))
import replay_test  # noqa: E402  pylint: disable=wrong-import-position
from servers import answers, free_port  # noqa: E402  pylint: disable=wrong-import-position
from replay_test import SKIP, SOAK, Done, Recording, Skipped, compare, wait_for  # noqa: E402  pylint: disable=wrong-import-position

import catalogue  # noqa: E402  pylint: disable=wrong-import-position

ROUNDS, ENOUGH_S = 3 if SOAK else 1, 20


class Place:
    """The row's working directory, made anew for each run from what its set-up left."""

    def __init__(self, test, row):
        self.row, self.top = row, test.folder("top")
        self.work, self.prepared = os.path.join(self.top, "work"), os.path.join(self.top, "prepared")
        self.env = {**replay_test.environment(self.work), **{k: self.fill(v) for k, v in row.env.items()}}
        os.mkdir(self.work)
        if row.setup:
            done = replay_test.execute(["/bin/sh", "-ec", self.fill(row.setup)], self.work, self.env, limit=300)
            if done.status == SKIP:
                raise Skipped(done.out.decode().strip())
            if done.status:
                raise RuntimeError(f"set-up failed: {done.text()}")
        os.rename(self.work, self.prepared)

    def fill(self, text, port=0):
        return text.replace("{work}", self.work).replace("{input}", os.path.join(HERE, "input")) \
                   .replace("{port}", str(port))

    @contextlib.contextmanager
    def fresh(self, port):
        subprocess.run(["cp", "-a", self.prepared, self.work], check=True)
        for name, text in self.row.files.items():
            with open(os.path.join(self.work, name), "w", encoding="utf-8") as f:
                f.write(self.fill(text, port))
        try:
            yield
        finally:
            subprocess.run(["chmod", "-R", "u+rwX", self.work], check=False)
            shutil.rmtree(self.work, ignore_errors=True)


class Run:
    """What one run showed, and how long it took. client: what a server's client was answered."""

    def __init__(self, done, seconds, files, client=b""):
        self.done, self.seconds, self.files, self.client = done, seconds, files, client

    def result(self, out, err):
        return compare.Result(self.done.status, out + self.client, err, self.files, self.done.note)


@contextlib.contextmanager
def display(row, env):
    """An X server of its own for a row that wants one."""
    if not row.x11:
        yield env
        return
    if not shutil.which("Xvfb", path=replay_test.PATH):
        raise Skipped("Xvfb is not installed")
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "800x600x24", "-nolisten", "tcp"],
                              pass_fds=[write], stderr=subprocess.DEVNULL, env=env, start_new_session=True)
    os.close(write)
    with os.fdopen(read) as number:
        env = {**env, "DISPLAY": ":" + number.readline().strip()}
    try:
        yield env
    finally:
        server.kill()
        server.wait()


def run_program(place, prefix, env, _port):
    row = place.row
    stdin = subprocess.DEVNULL
    if row.stdin is not None:
        stdin = open(os.path.join(place.top, "in"), "w+b")
        stdin.write(row.stdin.encode())
        stdin.seek(0)
    start = time.monotonic()
    done = replay_test.execute([*prefix, *map(place.fill, row.argv)], place.work, env, stdin, row.limit)
    return done, time.monotonic() - start, b""


def run_server(place, prefix, env, port):
    """Starts it, has the client do its work, and ends it as its users do: SIGTERM, unless the client has."""
    row = place.row
    out, err = (open(os.path.join(place.top, name), "w+b") for name in ("out", "err"))
    start = time.monotonic()
    server = subprocess.Popen([*prefix, *(place.fill(a, port) for a in row.argv)], cwd=place.work, env=env,
                              stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    wait_for(lambda: server.poll() is not None or answers(port), row.limit)
    client = replay_test.execute(["/bin/sh", "-ec", place.fill(row.client, port)], place.top, env, limit=row.limit,
                                 tidy=False)
    note = "" if client.status == 0 else f"client: {client.text()}"
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
    try:
        status = compare.wait_end(server, row.limit)
    except subprocess.TimeoutExpired:
        note += compare.where_it_hangs(server.pid)
        replay_test.stop_group(server)
        server.wait()
        status = None
    seconds = time.monotonic() - start
    compare.end_leftovers()
    for f in (out, err):
        f.seek(0)
    with out, err:
        return Done(status, out.read(), err.read(), note), seconds, client.out


def run(place, prefix):
    port = free_port()
    with place.fresh(port), display(place.row, place.env) as env:
        done, seconds, client = (run_server if place.row.client else run_program)(place, prefix, env, port)
        return Run(done, seconds, compare.left_files(place.row, place.work), client)


def differences(row, native, other, out, err, names):
    """Against the native run: all of it, or what does not change from run to run."""
    want, got = native.result(native.done.out, native.done.err), other.result(out, err)
    if row.varies:
        want.out, got.out, want.err, got.err, want.files, got.files = native.client, other.client, b"", b"", {}, {}
    return compare.differences(row, want, got, names)


class Figures:
    """What report.py gets to know of a row: seconds of every round, and the first complaint of each stage."""

    def __init__(self, row):
        self.row, self.seconds, self.wrong = row, {}, {}

    def note(self, test, stage, seconds, before):
        self.seconds.setdefault(stage, []).append(seconds)
        if test.failures > before:
            self.wrong.setdefault(stage, test.complaints[-1])

    def write(self, folder):
        row = self.row
        result = {"name": row.name, "package": row.package, "version": version(row.package), "what": row.what,
                  "wrong": self.wrong, "seconds": {k: statistics.median(v) for k, v in self.seconds.items()}}
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, row.name + ".json"), "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)


def version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    return done.stdout


def one_round(test, place, figures):
    row = place.row
    before = test.failures
    native = run(place, [])
    figures.note(test, "native", native.seconds, before)
    if native.done.status is None or row.status not in (None, native.done.status) or native.done.note:
        test.check(False, f"{row.name}: the row itself is broken, natively: {native.done.text()}")
        return
    engine = run(place, [test.drdebug, "run", "--"])
    said = differences(row, native, engine, engine.done.out, engine.done.err, ("native", "run"))
    test.check(not said, "\n    ".join([f"{row.name}: run shows", *said, engine.done.note]))
    figures.note(test, "run", engine.seconds, before)
    before = test.failures
    path = test.fresh("pinball")
    recorded = run(place, [test.drdebug, "record", "-o", path, "--"])
    recording = Recording(path, recorded.done)
    if test.recorded(recording, row.name):
        said = differences(row, native, recorded, recording.out, recording.err, ("native", "recorded"))
        test.check(not said, "\n    ".join([f"{row.name}: recording shows", *said, recorded.done.note]))
    figures.note(test, "record", recorded.seconds, before)
    if recording.whole:
        judge_replay(test, row, recording, figures)
    shutil.rmtree(path, ignore_errors=True)


def judge_replay(test, row, recording, figures):
    before, start = test.failures, time.monotonic()
    replay = test.replay(recording.path, limit=3 * row.limit)
    seconds = time.monotonic() - start
    if test.same(recording, replay, row.name, row.parts):
        test.verify(recording.path, row.name)
    figures.note(test, "replay", seconds, before)


def one_case(test, name):
    row = catalogue.BY_NAME[name]
    if not version(row.package):
        raise Skipped(f"{row.package} is not installed")
    need = compare.missing_need(row)
    if need:
        raise Skipped(f"{need} is not installed")
    place, figures = Place(test, row), Figures(row)
    start = time.monotonic()
    for n in range(ROUNDS):
        if n == 0 or time.monotonic() - start < ENOUGH_S:
            one_round(test, place, figures)
    print(" ".join(f"{stage} {statistics.median(s):.2f} s" for stage, s in figures.seconds.items()))
    if test.options.results:
        figures.write(test.options.results)


def list_table():
    for row in catalogue.ROWS:
        print("|".join([row.name, "1" if row.quick else "0"]))


def main():
    parser = replay_test.parser_of(__doc__)
    parser.add_argument("--results", type=os.path.abspath, help="where to leave figures for report.py")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("names", nargs="*")
    if "--list" in sys.argv[1:]:
        return list_table()
    if "--packages" in sys.argv[1:]:
        return print("\n".join(sorted({p for row in catalogue.ROWS for p in (row.package, *row.also)})))
    return replay_test.main(lambda test: [one_case(test, name) for name in test.options.names], parser)


if __name__ == "__main__":
    sys.exit(main())
