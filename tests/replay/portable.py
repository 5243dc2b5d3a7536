#!/usr/bin/env python3
"""portable.py - a pinball needs nothing but itself: packed, moved, read-only, by another user, twice at once.

SPDX-License-Identifier: MIT
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

import replay_test
from replay_test import Recording, compare

NOBODY = 65534


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def tree_state(path):
    """Names, sizes and contents below a path."""
    state = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                state[os.path.relpath(os.path.join(folder, name), path)] = hash(f.read())
    return state


def moved_to(recording, path):
    """The same recording at another place: its own lines carry the new name."""
    other = Recording.__new__(Recording)
    other.__dict__.update(recording.__dict__)
    other.path = path
    return other


def check_everywhere(test, recording, text):
    test.all_replays(recording, 3, text)
    test.verify(recording.path, text)
    test.info_end(recording.path, recording, text)


def record_threads(test, name="race_atomicity"):
    program = test.program(name)
    recording = test.record([program])
    test.recorded(recording, name)
    return program, recording


def pack_and_forget(test):
    """The folder and the program go; the file is copied elsewhere, and is all there is."""
    program, recording = record_threads(test)
    packed = test.fresh("pack")
    done = test.verb("pack", recording.path, "-o", packed)
    if not test.check(done.status == 0 and os.path.isfile(packed), f"pack: {done.text()}"):
        return
    default_at, beside = test.folder("default"), set(os.listdir(test.work))
    done = test.verb("pack", recording.path, cwd=default_at)
    made = os.listdir(default_at) + sorted(set(os.listdir(test.work)) - beside)
    test.check(done.status == 0 and len(made) == 1, f"pack without -o: {done.text()}; made {made}")
    shutil.rmtree(recording.path)
    shutil.rmtree(os.path.dirname(program))
    copy = os.path.join(test.folder("another machine"), "race copy.pinball")
    shutil.move(packed, copy)
    check_everywhere(test, moved_to(recording, copy), "packed")
    test.check(not stat.S_IMODE(os.stat(copy).st_mode) & 0o022, "others may write the packed file")


def pack_sources(test):
    """With the source in it the file is larger; without it the sources are not asked for."""
    work = test.folder("build")
    source = os.path.join(work, "tiny.c")
    filler = "".join(f"/* {os.urandom(24).hex()} */\n" for _ in range(400))
    with open(source, "w") as f:
        f.write(filler + '#include <stdio.h>\nint main(void) { puts("with sources"); return 3; }\n')
    subprocess.run(["gcc", "-g", "-o", os.path.join(work, "tiny"), source], check=True)
    recording = test.record([os.path.join(work, "tiny")])
    test.recorded(recording, "tiny")
    plain, full = test.fresh("plain"), test.fresh("full")
    done = test.verb("pack", recording.path, "-o", plain)
    test.check(done.status == 0, f"pack: {done.text()}")
    done = test.verb("pack", recording.path, "--sources", "--source-dir", work, "-o", full)  # no key: a stranger's
    test.check(done.status == 0, f"pack --sources: {done.text()}")
    if os.path.exists(plain) and os.path.exists(full):
        more = os.path.getsize(full) - os.path.getsize(plain)
        test.check(more > 400 * 24, f"--sources added {more} bytes for a source that has {len(filler)}, half of them random")
        shutil.rmtree(work)
        for path in (plain, full):
            check_everywhere(test, moved_to(recording, path), os.path.basename(path))
    gone = test.fresh("gone")
    done = test.verb("pack", recording.path, "--sources", "-o", gone)  # the source is not there any more
    test.check(done.status in (0, 1) and (done.status == 0 or b"tiny.c" in done.err), f"pack without its source: {done.text()}")


def read_only(test):
    """Reading changes nothing, and needs no right to write: neither as owner nor as somebody else."""
    _, recording = record_threads(test)
    before = tree_state(recording.path)
    for verb in (("info",), ("info", "--json"), ("replay",)):
        test.check(test.verb(*verb, recording.path).status == 0, f"{verb}: failed")
    test.check(tree_state(recording.path) == before, "info or replay changed the pinball")
    subprocess.run(["chmod", "-R", "a-w,a+rX", recording.path], check=True)
    test.all_replays(recording, 1, "read-only")
    test.verify(recording.path, "read-only")
    if os.getuid() != 0:
        print("not root: replay by another user is not tried")
        return
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        place = os.path.join(top, "pinball")
        shutil.copytree(recording.path, place)
        shutil.copy(test.drdebug, os.path.join(top, "drdebug"))
        os.chmod(os.path.join(top, "drdebug"), 0o755)
        done = replay_test.execute([os.path.join(top, "drdebug"), "replay", place], "/", {"PATH": "/usr/bin:/bin"}, before=as_nobody)
        test.same(moved_to(recording, place), replay_test.Replay(place, done), "by another user, read-only")


def twice_at_once(test):
    _, recording = record_threads(test)
    argv = [test.drdebug, "replay", recording.path]
    runs = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) for _ in range(4)]
    for n, run in enumerate(runs):
        out, err = run.communicate(timeout=60)
        done = replay_test.Done(run.returncode, out, err)
        test.same(recording, replay_test.Replay(recording.path, done), f"replay {n + 1} of four at once")


def changed_world(test):
    """Libraries and inputs are others by now; limits, too. The program read its input and its own file."""
    work = test.folder("input")
    with open(os.path.join(work, "input"), "w") as f:
        f.write("first\n" * 1000)
    recording = test.record(["/usr/bin/md5sum", "input", "/proc/self/exe"], cwd=work)
    test.recorded(recording, "md5sum")
    with open(os.path.join(work, "input"), "w") as f:
        f.write("second\n" * 1000)
    check_everywhere(test, recording, "the input changed")

    def other_limits():
        import resource  # pylint: disable=import-outside-toplevel
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
        os.umask(0o777)
        os.chdir("/")
        os.nice(5)

    test.same(recording, test.replay(recording.path, before=other_limits), "other limits")
    done = test.verb("replay", recording.path, env={f"V{i}": "x" * 1000 for i in range(100)})
    test.same(recording, replay_test.Replay(recording.path, done), "a large environment")


def main_test(test):
    for part in (pack_and_forget, pack_sources, read_only, twice_at_once, changed_world):
        print(f"{part.__name__}")
        part(test)


if __name__ == "__main__":
    sys.exit(replay_test.main(main_test, replay_test.parser_of(__doc__)))
