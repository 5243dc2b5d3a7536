#!/usr/bin/env python3
"""ends.py PART - however a recorded program or its recorder ends, what was recorded until then replays.

SPDX-License-Identifier: MIT

PART: exits, signals, terminal, deadlock, kill_compute, kill_threads, kill_calls, kill_early, full_limit, full_disk,
full_write, group.
Moments are random, with fixed seeds; a soak takes new ones and ten times as many.
"""
import contextlib
import errno
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time

import replay_test
from live import Live, Terminal
from replay_test import LIMIT, SOAK, Done, Recording, Skipped, compare, wait_for

MOMENTS = 50 if SOAK else 2  # of each kind of program, and of each victim
SEED = random.randrange(1 << 30) if SOAK else 20261116


def whole(test, argv, text, want, times=2, verify=False):
    """A recording with a proper end."""
    recording = test.record(argv)
    if test.recorded(recording, text):
        test.check(compare.same_status(want, recording.status), f"{text}: {recording.text()}, not {want}")
        test.all_replays(recording, times, text)
        test.info_end(recording.path, recording, text)
        if verify:
            test.verify(recording.path, text)
    return recording


def thread_of(recording):
    found = re.search(r"in thread (\d+)", recording.ended)
    return int(found[1]) if found else None


def exits(test):
    program = test.program("end_ends")
    for how, want in (("exit=0", 0), ("exit=7", 7), ("exit=300", 44), ("_exit=255", 255), ("group=3", 3)):
        whole(test, [program, "main", how], how, want)
        whole(test, [program, "thread", how], how + " from a thread", want, verify=True)
    whole(test, [program, "main", "pthread_exit"], "pthread_exit of the only thread", 0)
    throw = test.program("end_throw")
    whole(test, [throw], "uncaught exception", -6, verify=True)
    whole(test, [throw, "thread"], "uncaught exception in a thread", -6)
    in_main = whole(test, [program, "main", "abort"], "abort", -6)
    in_thread = whole(test, [program, "thread", "abort"], "abort in a thread", -6)
    numbers = thread_of(in_main), thread_of(in_thread)
    test.check(numbers[1] is not None and numbers[0] != numbers[1], f"abort: threads {numbers} are said to have ended it")


def late_signals(test):
    """Whoever ends a server may ask twice: the recorder still tells the end, whenever the second one comes."""
    live = Live(test, ["perl", "-e", "$SIG{TERM} = $SIG{HUP} = 'IGNORE'; $| = 1; print qq(ready $$\\n); select undef, undef, undef, 0.1"])
    if test.check(live.started(), "perl does not start"):
        while live.child.poll() is None:
            live.kill("recorder", random.choice((signal.SIGTERM, signal.SIGHUP)))
    recording = live.finish()
    if test.recorded(recording, "signals to a recorder at its end"):
        test.all_replays(recording, 1, "signals to a recorder at its end")


def signals(test):
    for _ in range(10):
        late_signals(test)
    program = test.program("end_ends")
    for how, number in (("assert", 6), ("null", 11), ("divide", 8), ("ud2", 4), ("int3", 5), ("bus", 7), ("jump", 11),
                        ("smash", 11), ("overflow", 11)):
        for where in ("main", "thread"):
            recording = whole(test, [program, where, how], f"{how} in {where}", -number, verify=where == "thread")
            test.check(where == "main" or thread_of(recording) is not None, f"{how} in {where}: no thread in `{recording.ended}`")
    for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31, 34, 50, 64):
        whole(test, [program, "main", f"signal={number}"], f"kill -{number}", -number, times=1)


def on_terminal(test, terminal, path, status):
    """A Recording of what the terminal showed: both outputs and the summary, in one."""
    recording = Recording(path, Done(status, b"", terminal.text))
    recording.out, recording.err = recording.err, b""
    return recording


def ctrl_c(test, handler):
    text = f"Ctrl-C, {'handled' if handler else 'not handled'}"
    path, cwd = test.fresh("pinball"), test.folder("cwd")
    argv = [test.program("end_interrupted")] + (["handler"] if handler else [])
    terminal = Terminal([test.drdebug, "record", "-o", path, "--", *argv], cwd, replay_test.environment(cwd))
    if not test.check(terminal.expect(rb"ready \d+\n"), f"{text}: it does not start: {terminal.text}"):
        return terminal.finish(1)
    time.sleep(0.2)
    terminal.type(b"\x03")
    status = terminal.finish()
    recording = on_terminal(test, terminal, path, status)
    if test.recorded(recording, text):
        test.check(compare.same_status(21 if handler else -2, status), f"{text}: {recording.text()}")
        test.all_replays(recording, 3, text)
        test.info_end(path, recording, text)
        test.verify(path, text)
    return None


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


def ctrl_z(test):
    path, cwd = test.fresh("pinball"), test.folder("cwd")
    program = test.program("end_stopped")
    env = dict(replay_test.environment(cwd), PS1="> ", TERM="dumb", HISTFILE="")
    shell = Terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"], cwd, env)
    shell.expect(rb"> ")
    shell.type(f"{test.drdebug} record -o {path} -- {program}\n".encode())
    ready = shell.expect(rb"ready (\d+)\n")
    if not test.check(ready, f"Ctrl-Z: it does not start: {shell.text}"):
        return shell.finish(1)
    pid = int(ready[1])
    time.sleep(0.2)
    shell.type(b"\x1a")
    stopped = shell.expect(rb"Stopped")
    test.check(stopped and wait_for(lambda: state_of(pid) == "T", LIMIT),
               f"Ctrl-Z: the program is not stopped but {state_of(pid)}: {shell.text}")
    time.sleep(0.3)
    shell.type(b"fg\n")
    said = shell.expect(rb"continued by \d+, counter \d+\n")
    shell.type(b"echo status=$?\n")
    status = shell.expect(rb"status=(\d+)")
    shell.type(b"exit\n")
    shell.finish()
    test.check(said and status, f"Ctrl-Z and fg: it does not go on: {shell.text}")
    if said and status:
        test.equal(int(status[1]), 31, "Ctrl-Z and fg: status")
        replay = test.replay(path)
        test.equal((replay.status, replay.out), (0, ready[0] + said[0]), f"Ctrl-Z and fg: replay ({replay.text()})")
        test.check("exit status 31" in replay.ended, f"Ctrl-Z and fg: {replay.ended}")
        test.verify(path, "Ctrl-Z and fg")
    return None


KEYS = (b"\x03", b"\x04", b"\x1a")  # Ctrl-C, Ctrl-D, Ctrl-Z


def shell_sees(test, text, path, line, keys):
    """What an interactive shell says about a command: its job's state, and statuses."""
    cwd = test.folder("cwd")
    env = dict(replay_test.environment(cwd), PS1="> ", TERM="dumb", HISTFILE="")
    shell = Terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"], cwd, env)
    shell.expect(rb"> ")
    shell.type(b"set -b; " + line.encode() + b"\n")  # jobs are told of at once
    for wanted, key in keys:
        if not test.check(shell.expect(wanted), f"{text}: {wanted} is not shown: {shell.text}"):
            break
        if key in KEYS:  # the job has the terminal, not the shell
            wait_for(lambda: os.tcgetpgrp(shell.master) != shell.child.pid, LIMIT)
        time.sleep(0.2)
        shell.type(key)
    shell.finish()
    return re.findall(rb"Stopped[^\n]*?(?=  )|status=\d+|Killed", shell.text)


def stops(test):
    """A stop and its end look to a shell as without the recorder."""
    program = test.program("end_group")
    for text, line, keys in (
            ("Ctrl-Z", f"{program} wait 10", ((rb"ready \d+\n", b"\x1a"), (rb"Stopped", b"echo status=$?; fg\n"),
                                             (rb"status=148\n[^\n]+\n", b"\x03"), (rb"> $", b"echo status=$?; exit\n"))),
            ("SIGTTIN", "cat > /dev/null &", ((rb"Stopped", b"echo go; fg\n"), (rb"go\n[^\n]+\n", b"\x04"),
                                             (rb"> $", b"echo status=$?; exit\n")))):
        path = test.fresh("pinball")
        native = shell_sees(test, text + " natively", path, line, keys)
        recorded = shell_sees(test, text, path, f"{test.drdebug} record -q -o {path} -- {line}", keys)
        test.equal(recorded, native, f"{text}: what the shell sees")
        test.verify(path, text)


def stopped_alone(test, sig, want):
    """Somebody stops the program, not its group, and then continues or kills it: the recorder follows."""
    path, text = test.fresh("pinball"), f"stopped alone, then signal {sig}"
    recorder = subprocess.Popen([test.drdebug, "record", "-q", "-o", path, "--", test.program("end_stopped")],
                                stdout=subprocess.PIPE, start_new_session=True)
    pid = int(recorder.stdout.readline().split()[1])
    os.kill(pid, signal.SIGSTOP)
    test.check(wait_for(lambda: state_of(recorder.pid) == "T", 10), f"{text}: the recorder does not stop")
    os.kill(pid, sig)
    try:
        test.equal(recorder.wait(60), want, f"{text}: status")
        test.verify(path, text)
    except subprocess.TimeoutExpired:
        test.check(False, f"{text}: the recorder stays stopped")
        recorder.kill()
    recorder.stdout.close()


def terminal_keys(test):
    for handler in (True, False):
        ctrl_c(test, handler)
    ctrl_z(test)
    stops(test)
    stopped_alone(test, signal.SIGCONT, 31)
    stopped_alone(test, signal.SIGKILL, 137)


def group_alike(test, args):
    """The same natively and recorded; the recording replays."""
    text, argv = " ".join(args), [test.program("end_group"), *args]
    native, recording = replay_test.execute(argv, test.folder("cwd")), test.record(argv)
    if test.recorded(recording, text):
        test.check(compare.same_status(native.status, recording.status) and native.out == recording.out,
                   f"{text}: {recording.text()}, natively {native.text()}: {recording.out} {native.out}")
        test.all_replays(recording, 1, text)


def group_sent(test, number, whom):
    """The program sees what is sent to its recorder, or to both, exactly once."""
    text = f"signal {number} to the {whom}"
    live = Live(test, [test.program("end_group"), "wait", str(number)])
    if not test.check(live.started(), f"{text}: it does not start"):
        live.finish(1)
        return
    if whom == "group":
        os.killpg(live.child.pid, number)
    else:
        os.kill(live.child.pid, number)
    recording = live.finish()
    if test.recorded(recording, text):
        sender = os.getpid() if whom == "group" else live.child.pid
        test.check(recording.status == 7 and recording.out.endswith(f"\n1 times, from {sender}\n".encode()),
                   f"{text}: {recording.text()}: {recording.out}")
        test.all_replays(recording, 1, text)


def group(test):
    """The recorder is in the program's process group: it outlives what the group gets, and tells the program's end."""
    group_alike(test, ["all"])
    group_alike(test, ["pause"])
    for number in ([n for n in range(1, 65) if n not in (9, 19)] if SOAK else (1, 2, 11, 13, 15, 32, 64)):
        group_alike(test, ["kill", str(number)])
    for number in (1, 2, 10, 15, 34) if SOAK else (2, 15, 34):
        group_sent(test, number, "group")
        group_sent(test, number, "recorder")
    recording = test.record([test.program("end_group"), "kill", "9"])
    test.equal(recording.status, -9, "kill(0, SIGKILL): the recorder's status")
    prefix_replays(test, recording.path, recording.out, 0, "kill(0, SIGKILL)", WHY_KILLED)




def deadlock(test):
    for whom, want in (("program", -2), ("group", -2)):
        live = Live(test, [test.program("end_deadlock")])
        if not test.check(wait_for(lambda: b"now it hangs\n" in live.seen, LIMIT), "the deadlock does not start"):
            live.finish(1)
            return
        time.sleep(0.3)
        if whom == "program":
            os.kill(live.pid(), signal.SIGINT)
        else:
            os.killpg(live.child.pid, signal.SIGINT)
        recording = live.finish()
        text = f"a deadlock, SIGINT to the {whom}"
        if test.recorded(recording, text):
            test.check(compare.same_status(want, recording.status), f"{text}: {recording.text()}")
            test.all_replays(recording, 3, text)
            test.info_end(recording.path, recording, text)
            test.verify(recording.path, text)


def one_line(done):
    """A refusal: one line by drdebug, perhaps with a hint."""
    lines = [line for line in done.err.decode("latin-1").splitlines() if not line.startswith("hint:")]
    return len(lines) == 1 and re.match(r"drdebug: \S+: \S", lines[0]) is not None


def prefix_replays(test, path, seen, at_least, text, why):
    """What there is opens, says why it ended, replays twice alike, and is a prefix of what was seen."""
    answer = test.info(path, text)
    if answer is None:
        return None
    test.check(re.search(why, answer["text"], re.I), f"{text}: info does not say why it ended: {answer['text']}")
    slow = test.ticks(path) >= replay_test.MANY_TICKS
    first, second = test.replay(path), test.replay(path, () if slow else ("--engine", "link=0"))
    for replay in (first, second):
        test.check(replay.status == 0 and replay.ended, f"{text}: replay: {replay.text()}")
    test.check(first.out == second.out, f"{text}: two replays differ: {len(first.out)} and {len(second.out)} bytes")
    good = test.check(seen.startswith(first.out), f"{text}: replay wrote what the program did not: "
                      + "; ".join(replay_test.difference("stdout", seen[:len(first.out)], first.out, 6)))
    if good:
        test.check(len(first.out) >= at_least, f"{text}: {len(first.out)} bytes of output replay, {at_least} or more were "
                   f"recorded, {len(seen)} written")
    test.verify(path, text)
    return first


WHY_KILLED = r"SIGKILL|kill|recorder|incomplete|cut|interrupt|unfinished|died|lost|not (?:closed|finished|complete)"


def kill_one(test, kind, whom, delay):
    text = f"kill -9 of {whom}, {kind}, {delay * 1000:.0f} ms"
    live = Live(test, [test.program(f"end_{kind}"), "2"])
    if not test.check(live.started(), f"{text}: it does not start"):
        live.finish(1)
        return
    time.sleep(delay)
    at_kill = len(live.seen)
    live.kill(whom)
    recording = live.finish(LIMIT, linger=LIMIT)
    if whom == "program":
        test.check(compare.same_status(-9, recording.status) and recording.whole and "SIGKILL" in recording.ended,
                   f"{text}: record: {recording.text()}")
        lines = recording.out.splitlines(keepends=True)
        at_least = sum(map(len, lines[:-8]))  # a line that was being written in each thread
    else:
        at_least = at_kill // 2 if at_kill > 4096 else 0
    test.check(os.path.isdir(recording.path), f"{text}: there is no pinball")
    first = prefix_replays(test, recording.path, recording.out, at_least, text, WHY_KILLED)
    if first:
        print(f"{text}: {at_kill} bytes at the kill, {len(recording.out)} in all, {len(first.out)} replayed: {first.ended}")


def kill(test, kind):
    rng = random.Random(f"{SEED} {kind}")
    print(f"seed {SEED}")
    for whom in ("program", "recorder", "both"):
        for _ in range(MOMENTS):
            kill_one(test, kind, whom, rng.uniform(0.0, 0.5))


def kill_early(test):
    """Before the program runs there may be nothing to open; that is said then, in a line."""
    rng = random.Random(SEED)
    for _ in range(3 * MOMENTS):
        delay = rng.uniform(0.0, 0.06)
        live = Live(test, [test.program("end_calls"), "1"])
        time.sleep(delay)
        try:
            os.killpg(live.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        recording = live.finish(LIMIT, linger=LIMIT)
        for verb in ("info", "replay", "verify"):
            done = test.verb(verb, recording.path)
            text = f"all killed after {delay * 1000:.0f} ms: {verb}"
            if done.status == 0:
                test.check(verb != "replay" or recording.out.startswith(done.out), f"{text}: wrong output")
            else:
                test.check(done.status == 1 and one_line(done), f"{text}: {done.text()}")


WHY_FULL = r"space|too large|full|limit|quota"


def full(test, text, before, path, must_hit, seconds="2"):
    """The log cannot be written any more; the program must not care."""
    live = Live(test, [test.program("end_calls"), seconds], before=before, path=path)
    recording = live.finish(LIMIT, linger=LIMIT)
    if recording.status == 1 and not recording.out:  # no room to begin with: it says so, and does not begin
        test.check(one_line(Done(1, b"", recording.raw)) and re.search(WHY_FULL.encode(), recording.raw, re.I),
                   f"{text}: it does not start, and says: {recording.text()}")
        return recording, True
    test.check(recording.status == 5, f"{text}: the program was harmed: {recording.text()}")
    test.check(recording.out.endswith(b"\ndone\n"), f"{text}: the program's output ends in {recording.out[-60:]!r}")
    hit = [line for line in recording.said if re.search(WHY_FULL, line, re.I)]
    test.check(len(hit) <= 1, f"{text}: said more than once: {hit}")
    if must_hit:
        test.check(hit, f"{text}: no line says that the log is full: {recording.text()}")
    test.check(b"line" not in recording.err, f"{text}: what is this? {replay_test.tail(recording.err)}")
    return recording, bool(hit)


def check_full(test, text, recording, hit):
    """What was recorded until then opens and replays; where that is nothing, the file is named that could not be kept."""
    if not os.path.exists(recording.path):
        test.check(hit, f"{text}: no pinball, and not a word: {recording.text()}")
        print(f"{text}: nothing was recorded")
        return None
    info = test.verb("info", recording.path)
    if not test.check(info.status == 0, f"{text}: info: {info.text()}"):
        return None
    done = test.verb("replay", recording.path)
    if done.out:
        test.check(not re.search(rb"(?m)^[^\n]* 0 ticks", info.out), f"{text}: ticks that were counted are lost: {info.out!r}")
    if done.status == 1:
        test.check(re.search(rb"holds nothing: /\S+, which the program begins with, could not be kept"
                             rb"|the recording ends before the program's first instruction", done.err) and hit
                   and not done.out, f"{text}: replay: {done.text()}")
        print(f"{text}: {done.err.decode().strip()}")
        return 0
    whole_log = not hit or done.out == recording.out  # the ring had room for all the rest
    first = prefix_replays(test, recording.path, recording.out, len(recording.out) if not hit else 0, text,
                           (WHY_FULL + "|exit status 5" if hit else "exit status 5") if whole_log else WHY_FULL)
    if first:
        print(f"{text}: {len(recording.out)} bytes written, {len(first.out)} replayed: {first.ended}")
    return len(first.out) if first else None


def full_limit(test):
    nothing = 0
    for size in (64 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 1 << 40):
        text = f"RLIMIT_FSIZE {size >> 10} KiB"
        recording, hit = full(test, text, lambda n=size: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)), None, size < 1 << 20)
        check_full(test, text, recording, hit)
        nothing += size >= 4 << 20 and test.verb("info", recording.path).status != 0
    test.check(nothing == 0, "4 MiB are enough for a beginning")


@contextlib.contextmanager
def small_disk(test, kib):
    """A file system of so many KiB."""
    if os.getuid() != 0:
        raise Skipped("not root: no small file system can be mounted")
    disk = test.folder("disk")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", disk], capture_output=True, check=False)
    if done.returncode:
        raise Skipped(f"no small file system can be mounted: {done.stderr.decode().strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def fill(disk, delay, leave):
    """Somebody else needs the room: all of it but so many bytes."""
    time.sleep(delay)
    with open(os.path.join(disk, "ballast"), "wb", buffering=0) as f:
        for size in (1 << 16, 4096):
            free = os.statvfs(disk)
            try:
                for _ in range(max(0, free.f_bavail * free.f_frsize - leave) // size):
                    f.write(bytes(size))
            except OSError:
                pass


def full_disk(test):
    """At random moments; opened while the disk is full, and again when it is not."""
    moments, fewer = random.Random(SEED), 0
    for i in range(100 if SOAK else 5):
        kib, delay = int(600 * (40_000 / 600) ** moments.random()), moments.random()
        leave = moments.choice((0, 0, 8 << 10, 100 << 10, 1 << 20))
        text = f"{i}: a disk of {kib} KiB, filled up to {leave >> 10} KiB after {delay * 1000:.0f} ms"
        with small_disk(test, kib) as disk:
            filler = threading.Thread(target=fill, args=(disk, delay, leave))
            filler.start()
            recording, hit = full(test, text, None, os.path.join(disk, "pinball"), False, "1")
            filler.join()
            before = check_full(test, text, recording, hit)
            os.unlink(os.path.join(disk, "ballast"))
            if before is not None:
                after = check_full(test, text + ", with room again", recording, hit)
                test.check(after is not None and after >= before, f"{text}: {before} bytes replay, then {after}")
                fewer += hit
    test.check(fewer > 0, "no disk was too small, which proves nothing")


def failing(test, text, at, error, stays, options=()):
    """Records with drdebug's write number `at` failing. How many writes there were, and the recording."""
    cwd, count = test.folder("cwd"), test.fresh("count")
    env = {**replay_test.environment(cwd), "LD_PRELOAD": test.options.failing, "FAIL_AT": str(at), "FAIL_COUNT": count,
           "FAIL_WITH": str(error), "FAIL_ON": str(int(stays))}
    recording = test.record([test.program("end_calls"), "0"], options, cwd=cwd, env=env)
    test.check(recording.status == 5 and recording.out.endswith(b"done\n"), f"{text}: {recording.text()}")
    if not os.path.exists(count):
        return None, recording  # it became the program
    with open(count, encoding="ascii") as f:
        return int(f.read()), recording


def full_write(test):
    """Whichever write of the recorder fails, once or from then on, the program goes on and what there is replays."""
    writes, whole = failing(test, "no write fails", 0, 0, False)
    if not test.check(writes and writes > 10 and os.path.exists(whole.path), f"only {writes} writes: {whole.text()}"):
        return
    rounds = ([(error, stays) for error in (errno.ENOSPC, errno.EDQUOT, errno.EIO) for stays in (False, True)] if SOAK
              else [None])
    for at in range(1, writes + 1, 1 if SOAK else 2):
        for one in rounds:
            error, stays = one or ((errno.ENOSPC, errno.EDQUOT, errno.EIO)[at % 3], at % 4 == 1)
            text = f"{errno.errorcode[error]} at write {at} of {writes}{' and from then on' if stays else ''}"
            recording = failing(test, text, at, error, stays)[1]
            if os.path.exists(recording.path):
                check_failed(test, text, recording)
            else:
                test.check(len(recording.said) == 1 and "without being recorded" in recording.said[0],
                           f"{text}: no pinball: {recording.text()}")


def check_failed(test, text, recording):
    done = test.verb("replay", recording.path)
    if done.status == 1:
        test.check(re.search(rb": /\S+, which the program begins with, could not be kept", done.err) and one_line(done),
                   f"{text}: replay: {done.text()}")
        return
    test.check(done.status == 0 and recording.out.startswith(done.out), f"{text}: replay: {done.text()}")
    if SOAK:
        test.verify(recording.path, text)


def full_part(test):
    """The same for a recording that begins in the middle: without the memory there it is none."""
    options, unbegun = ("--from", "call:write"), 0
    writes, whole = failing(test, "no write fails", 0, 0, False, options)
    if not test.check(writes and writes > 10 and os.path.exists(whole.path), f"only {writes} writes: {whole.text()}"):
        return
    for at in range(1, writes + 1, 1 if SOAK else 2):
        stays = at % 3 == 0
        text = f"write {at} of {writes} fails{' and all from then on' if stays else ''}"
        recording = failing(test, text, at, errno.ENOSPC, stays, options)[1]
        if os.path.exists(recording.path):
            done = test.verb("verify", recording.path)
            test.check(done.status == 0 or b"which the program begins with, could not be kept" in done.err,
                       f"{text}: verify: {done.text()}")
        else:
            said = b" ".join(line if isinstance(line, bytes) else line.encode() for line in recording.said)
            unbegun += b"nothing was recorded" in said
            test.check(b"without being recorded" in said or b"nothing was recorded" in said,
                       f"{text}: no pinball: {recording.text()}")
    test.check(unbegun > 0, "no write of the memory failed, which proves nothing")


PARTS = {"full_write": full_write, "full_part": full_part, "group": group, "exits": exits, "signals": signals, "terminal": terminal_keys, "deadlock": deadlock, "kill_early": kill_early,
         "full_limit": full_limit, "full_disk": full_disk,
         **{f"kill_{kind}": lambda test, kind=kind: kill(test, kind) for kind in ("compute", "threads", "calls")}}

if __name__ == "__main__":
    options = replay_test.parser_of(__doc__)
    options.add_argument("--failing", help="what makes drdebug's writes fail")
    options.add_argument("part", choices=sorted(PARTS))
    sys.exit(replay_test.main(lambda t: PARTS[t.options.part](t), options))
