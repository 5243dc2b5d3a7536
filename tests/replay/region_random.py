#!/usr/bin/env python3
"""region_random.py DRDEBUG SUBJECTS WHAT [CHAIN_TEST] - parts of real runs that begin and end anywhere: each verifies and replays three times the same.

SPDX-License-Identifier: MIT

Where a part begins is drawn by a seed that is printed. `kill` kills the recorder or the program at any moment: what was written opens, or
the message says that there was nothing yet. `chain_NAME` records one run as parts that follow one another, with the first one from its start: the
state that the recorder saw where a part begins is compared with the one that a replay of what was before comes to (chain_test.c). Long form:
$DRDEBUG_SOAK.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DRDEBUG, SUBJECTS, WHAT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
SOAK = bool(os.environ.get("DRDEBUG_SOAK"))
SEED = int(os.environ.get("SEED") or random.randrange(1 << 32))
RANDOM = random.Random(SEED)
PYTHON = "/usr/bin/python3"
SERVER = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def serve(peer):
    while data := peer.recv(4096):
        peer.sendall(str(sum(hash(str(i)) for i in range(len(data)))).encode() + b"\\n")
threads = []
while len(threads) < 12:
    peer, _ = listener.accept()
    threads.append(threading.Thread(target=serve, args=(peer,)))
    threads[-1].start()
for thread in threads:
    thread.join()
"""
JAVA = """
import java.util.*;
import java.util.stream.*;
public class Work {
    public static void main(String[] a) throws Exception {
        Map<Integer, String> map = Collections.synchronizedMap(new HashMap<>());
        IntStream.range(0, 20000).parallel().forEach(i -> map.put(i, Integer.toString(i * 31)));
        System.out.println(map.values().stream().mapToInt(String::length).sum());
    }
}
"""


def run(*command, status=(0,), **options):
    """A finished process."""
    done = subprocess.run(command, capture_output=True, timeout=300, check=False, **options)
    assert done.returncode in status, (SEED, command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def free_port():
    """One that nobody has now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connect(port):
    """To a server that may not listen yet."""
    for _ in range(2000):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise AssertionError(f"seed {SEED}: nobody listens")


def judge(pinball):
    """Good, and the same three times."""
    verified = run(DRDEBUG, "verify", pinball)
    assert b": good: " in verified.stdout, (SEED, pinball, verified.stdout)
    said = [run(DRDEBUG, "replay", "-q", pinball, status=range(256)) for _ in range(3)]
    outputs = {(s.returncode, s.stdout, s.stderr) for s in said}
    assert len(outputs) == 1 and said[0].returncode != 3, (SEED, pinball, outputs)


def programs(tmp, *command, ticks):
    """A program that ends: parts of up to a fifth of it."""
    begin = RANDOM.randrange(ticks)
    options = ["--from", f"ticks:{begin}"]
    if RANDOM.random() < 0.6:
        options += ["--to", f"ticks:{begin + RANDOM.randrange(1, ticks // 5)}"]
    pinball = f"{tmp}/part.pinball"
    done = run(DRDEBUG, "record", "-q", "-o", pinball, *options, "--", *command, status=range(256))
    if b"ended before --from" in done.stderr:
        return False
    judge(pinball)
    shutil.rmtree(pinball)
    return True


def ticks_of(tmp, *command):
    """How long it is, about."""
    pinball = f"{tmp}/whole.pinball"
    run(DRDEBUG, "record", "-q", "-o", pinball, "--to", "time:1000", "--", *command, status=range(256))
    text = run(DRDEBUG, "info", "--json", pinball).stdout.decode()
    shutil.rmtree(pinball)
    return int(text.split('"ticks":')[1].split(",")[0].strip(" }"))


def repeat(tmp, *command):
    """Two parts of a program that ends, at least one of which began."""
    ticks = ticks_of(tmp, *command)
    done = [programs(tmp, *command, ticks=ticks) for _ in range(50 if SOAK else 2)]
    while not any(done) and len(done) < 50:
        ticks = max(ticks // 2, 1000)  # it takes as long as it likes: the measured run may have been the longest
        done.append(programs(tmp, *command, ticks=ticks))
    assert any(done), (SEED, command)


def threads(tmp):
    """Subjects of the replay tests: locks, futexes, cancelling, signals."""
    for name in ("thread_sync", "thread_futex_ops", "thread_cancel"):
        repeat(tmp, f"{SUBJECTS}/{name}")


def pigz(tmp):
    """Threads that pass blocks on."""
    with open(f"{tmp}/data", "wb") as f:
        f.write(RANDOM.randbytes(300000) + b"some text " * 200000)
    repeat(tmp, "pigz", "-p", "3", "-c", "-k", f"{tmp}/data")


def java(tmp):
    """Code that is made while it runs, a collector, signals for its own use."""
    with open(f"{tmp}/Work.java", "w", encoding="utf-8") as f:
        f.write(JAVA)
    run("javac", "-d", tmp, f"{tmp}/Work.java")
    began = tries = 0
    while began < (25 if SOAK else 1) and tries < 50:
        tries += 1
        begin = RANDOM.uniform(0.1, 0.9)
        pinball = f"{tmp}/part.pinball"
        done = run(DRDEBUG, "record", "-q", "-o", pinball, "--from", f"time:{begin}", "--to", f"time:{begin + RANDOM.uniform(0.05, 0.5)}", "--",
                   "java", "-Xmx256m", "-cp", tmp, "Work", status=range(256))
        if b"ended before --from" not in done.stderr:
            judge(pinball)
            shutil.rmtree(pinball)
            began += 1
    assert began, f"seed {SEED}: no part had begun"


def server(tmp, command, press):
    """A server under load: parts by time, so that they begin anywhere."""
    for _ in range(50 if SOAK else 2):
        port, pinball = free_port(), f"{tmp}/part.pinball"
        begin = RANDOM.uniform(0.2, 1.0)
        with subprocess.Popen([DRDEBUG, "record", "-q", "-o", pinball, "--from", f"time:{begin}", "--to", f"time:{begin + RANDOM.uniform(0.05, 0.5)}",
                               "--", *command(port)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
            press(port, lambda p=p, pinball=pinball: p.poll() is None and not os.path.exists(f"{pinball}/end"))
            _, err = p.communicate(timeout=120)
        assert p.returncode == 0 or b"ended before" in err, (SEED, p.returncode, err)
        judge(pinball)
        shutil.rmtree(pinball)


def press_redis(port, go_on):
    """Until the part is recorded."""
    connect(port).close()
    while go_on():
        run("redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-n", "2000", "-c", "10", "-q", "-t", "set,get,lpush")
    run("redis-cli", "-p", str(port), "shutdown", "nosave", status=range(256))


def press_python(port, go_on):
    """Twelve clients one after the other."""
    for i in range(12):
        with connect(port) as s:
            while True:
                s.sendall(bytes(RANDOM.randrange(1, 3000)))
                assert s.recv(100)
                if i < 11 or not go_on():
                    break


def redis(tmp):
    """With threads of its own for input and output."""
    server(tmp, lambda port: ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--io-threads", "2", "--dir", tmp],
           press_redis)


def python(tmp):
    """A thread for each connection."""
    server(tmp, lambda port: [PYTHON, "-c", SERVER, str(port)], press_python)


def await_begin(pinball):
    """On a busy machine a part begins late: the last run is not killed before some of its memory is written."""
    events, end = f"{pinball}/events", time.monotonic() + 120
    while not os.path.exists(events) or os.path.getsize(events) < 32 << 20:
        assert time.monotonic() < end, f"seed {SEED}: the part does not begin"
        time.sleep(0.05)


def kill(tmp):
    """Recorder or program, at any moment, with memory to write where the part begins."""
    opened, runs = 0, 100 if SOAK else 6
    for i in range(runs):
        pinball = f"{tmp}/{i}.pinball"
        with subprocess.Popen([DRDEBUG, "record", "-q", "-o", pinball, "--from", "ticks:3000000", "--", PYTHON, "-c",
                               "import os\nprint(os.getpid(), flush=True)\nx = [os.urandom(1 << 20) for i in range(40)]\n"
                               "for i in range(10 ** 9): x[i % 40] += b'1'"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
            program = int(p.stdout.readline())
            if i == runs - 1:
                await_begin(pinball)
            time.sleep(RANDOM.uniform(0, 1.2))
            whom = p.pid if i % 2 else program
            os.kill(whom, signal.SIGKILL)
            p.wait(timeout=60)
            if whom == p.pid:
                os.kill(program, signal.SIGKILL)  # it goes on without its recorder
        if not os.path.exists(pinball):
            continue  # the program ended before the part, and the recorder said so
        done = run(DRDEBUG, "verify", pinball, status=(0, 1))
        good = b": good: " in done.stdout
        assert good or b"recording ended before" in done.stderr, (SEED, i, done.stdout, done.stderr)
        opened += good
        shutil.rmtree(pinball)
    assert opened, f"seed {SEED}: no part had begun"


def triggers_of(subject, ticks):
    """Moments in the order in which they come: of one kind of trigger, since the order of kinds is not known."""
    many = 5 if SOAK else 3
    kinds = {"ticks": lambda: sorted(RANDOM.sample(range(1, ticks), many))}
    if subject.startswith("thread"):
        kinds |= {"call:futex": lambda: sorted(RANDOM.sample(range(1, 40), many)), "func:pthread_mutex_lock": lambda: sorted(RANDOM.sample(range(1, 60), many)),
                  "call:mmap": lambda: sorted(RANDOM.sample(range(1, 12), many)), "func:libc.so.6!malloc": lambda: sorted(RANDOM.sample(range(1, 20), many))}
    if subject.startswith("signal"):
        kinds |= {"call:rt_sigprocmask": lambda: sorted(RANDOM.sample(range(1, 12), many)), "call:rt_sigaction": lambda: sorted(RANDOM.sample(range(1, 8), many))}
    kind = RANDOM.choice(list(kinds))
    return [f"{kind}:{n}" for n in kinds[kind]()]


def chain_once(tmp, triggers, *command):
    """False: the program ended before the second part began."""
    pinball, options = f"{tmp}/chain.pinball", ["--from", "ticks:0"]
    for trigger in triggers:
        options += ["--to", trigger, "--from", trigger]
    run(DRDEBUG, "record", "-q", "-o", pinball, *options, "--", *command, status=range(256), stdin=subprocess.DEVNULL)
    made = [path for path in (f"{tmp}/chain.{i}.pinball" for i in range(1, len(triggers) + 2)) if os.path.exists(path)]
    if len(made) > 1:
        compared = run(sys.argv[4], *made, status=(0, 1))
        assert compared.returncode == 0, (SEED, command, triggers, compared.stdout)
        judge(RANDOM.choice(made))
    for path in made:
        shutil.rmtree(path)
    return len(made) > 1


def chain(tmp, subject):
    """At least one that had two parts."""
    command = ["pigz", "-p", "3", "-c", "-k", f"{tmp}/data"] if subject == "pigz" else [f"{SUBJECTS}/{subject}"]
    with open(f"{tmp}/data", "wb") as f:
        f.write(RANDOM.randbytes(30000) + b"some text " * 20000)
    ticks = ticks_of(tmp, *command)
    done = [chain_once(tmp, triggers_of(subject, ticks), *command) for _ in range(50 if SOAK else 1)]
    while not any(done) and len(done) < 50:
        done.append(chain_once(tmp, triggers_of(subject, ticks), *command))
    assert any(done), (SEED, command)


NEEDS = {"pigz": ["pigz"], "java": ["java", "javac"], "redis": ["redis-server", "redis-benchmark", "redis-cli"], "python": [PYTHON], "kill": [PYTHON]}
if any(not shutil.which(need) for need in NEEDS.get(WHAT.removeprefix("chain_"), [])):
    sys.exit(77)
print("seed", SEED)
with tempfile.TemporaryDirectory() as directory:
    if WHAT.startswith("chain_"):
        chain(directory, WHAT.removeprefix("chain_"))
    else:
        {"threads": threads, "pigz": pigz, "java": java, "redis": redis, "python": python, "kill": kill}[WHAT](directory)
