#!/usr/bin/env python3
"""session_test.py --drdebug PROG --bin DIR CASE - sessions as front ends have them, and clients that misbehave.

SPDX-License-Identifier: MIT
"""
import argparse
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from stub_client import REPLY_S, SKIP, SOAK, Client, Failed, Recordings, frame, markers


def check(condition, text):
    if not condition:
        raise Failed(text)


class Serve:
    """`drdebug serve --listen`; address is what connects to it."""

    def __init__(self, recordings, pinball, listen=None):
        self.path = os.path.join(recordings.work, f"socket-{time.monotonic_ns()}")
        listen = listen or "unix:" + self.path
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([recordings.drdebug, "serve", "--listen", listen, "-q", pinball],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors)
        if listen.startswith("unix:"):
            self.address = self.path
            self.wait(lambda: os.path.exists(self.path))
        else:
            self.wait(lambda: re.search(rb"[:\s](\d+)\b\D*$", self.said()))
            self.address = ("127.0.0.1", int(re.search(rb"[:\s](\d+)\b\D*$", self.said())[1]))

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def wait(self, condition):
        until = time.monotonic() + REPLY_S
        while not condition():
            check(self.process.poll() is None, f"serve ended: {self.said()!r}")
            check(time.monotonic() < until, f"serve does not listen: {self.said()!r}")
            time.sleep(0.02)

    def connect(self, hands=True):
        """A client that has just left may not have been missed yet: then the next is turned away. A socket has its
        name a little before it listens."""
        until = time.monotonic() + REPLY_S
        while True:
            try:
                return Client.connect(self.address, hands)
            except (Failed, BrokenPipeError, ConnectionResetError, ConnectionRefusedError):
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def send(self, data):
        """All of it, by a client that leaves then. One that is turned away, as in connect(), comes again."""
        until = time.monotonic() + REPLY_S
        while True:
            client = self.connect(hands=False)
            try:
                client.write(data)
                return
            except (BrokenPipeError, ConnectionResetError):
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.05)
            finally:
                client.connection.close()

    def lives(self):
        check(self.process.poll() is None, f"serve ended with {self.process.poll()}: {self.said()!r}")

    def end(self):
        self.lives()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(REPLY_S)
        self.process.stdout.close()
        check(status == 0, f"serve ends with {status} upon SIGTERM: {self.said()!r}")
        check(not os.path.exists(self.path), "the socket is left")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(REPLY_S)


class Gdb:
    """An interactive GDB, with text in and out; `prompt` ends an answer."""

    def __init__(self, words, prompt, work):
        self.prompt, self.all = prompt, ""
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=work,
                                        stderr=subprocess.STDOUT, env=dict(os.environ, LC_ALL="C.UTF-8"))
        self.buffer = b""

    def until(self, pattern, seconds=60):
        """What comes up to the pattern."""
        until = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.buffer, re.MULTILINE | re.DOTALL)
            if found:
                text, self.buffer = self.buffer[:found.end()], self.buffer[found.end():]
                return text.decode(errors="replace")
            ready = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                raise Failed(f"GDB does not say {pattern!r}, but {self.buffer[-1500:]!r}")
            self.buffer += more

    def write(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def say(self, line):
        self.write(line)
        return self.until(self.prompt)

    def expect(self, line, *patterns):
        text = self.say(line)
        for pattern in patterns:
            check(re.search(pattern, text, re.DOTALL), f"{line}: expected {pattern!r}, got {text[-1500:]!r}")
        return text

    def close(self):
        self.process.stdin.close()
        self.process.wait(REPLY_S)
        self.process.stdout.close()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(REPLY_S)


# ---- front ends ----

def mi_run(gdb, command, *patterns):
    """A command that resumes: ^running, *running, *stopped; all records up to the prompt behind that."""
    gdb.write(command)
    text = gdb.until(rb"^\*stopped[^\n]*\n(.*?)^\(gdb\) \n")
    for pattern in (r"\^running|\^done", r"\*running", *patterns):
        check(re.search(pattern, text, re.DOTALL), f"{command}: expected {pattern!r}, got {text[-1500:]!r}")
    check(len(re.findall(r"^\*stopped", text, re.MULTILINE)) == 1, f"{command}: not one *stopped: {text[-1500:]!r}")
    return text


def mi(recordings):
    line = markers("calls")
    gdb = Gdb([recordings.drdebug, "debug", recordings.get("calls"), "--", "-nx", "-i=mi3"], rb"^\(gdb\) \n",
              recordings.work)
    try:
        gdb.until(rb'^\*stopped,reason="breakpoint-hit"[^\n]*func="main"[^\n]*\n(.*?)^\(gdb\) \n')
        gdb.expect("-list-features", r"\^done.*python")
        gdb.expect("-list-target-features", r"\^done.*reverse")
        gdb.expect("-break-insert add", r'\^done,bkpt=\{number="\d+".*func="add"')
        mi_run(gdb, "-exec-continue", r'\*stopped,reason="breakpoint-hit".*func="add"')
        mi_run(gdb, "-exec-next", r'reason="end-stepping-range"')
        mi_run(gdb, "-exec-step --reverse", r'\*stopped,.*func="add"')
        mi_run(gdb, "-exec-finish", r'reason="function-finished"')
        mi_run(gdb, "-exec-next", r'func="main"')
        mi_run(gdb, "-exec-next --reverse", r'\*stopped')
        mi_run(gdb, "-exec-step-instruction", r'\*stopped')
        mi_run(gdb, "-exec-step-instruction --reverse", r"\*stopped")
        mi_run(gdb, "-exec-continue --reverse", "No more reverse-execution history")
        gdb.expect("-break-watch *(int*)&written", r"\^done,wpt")
        gdb.expect("-break-disable 2", r"\^done")
        mi_run(gdb, "-exec-continue", r'reason="watchpoint-trigger".*old="0",new="1"')
        mi_run(gdb, 'pin goto end', r'\*stopped,.*func="_*G?I?_*_exit"')
        mi_run(gdb, '-interpreter-exec console "pin goto begin"', r'\*stopped,.*func="_start"')
        gdb.expect("-pin-when", r'\^done,.*position="T1:0:.*at_begin="true"')
        gdb.expect("-break-delete", r"\^done")
        gdb.expect(f"-break-insert -t calls.c:{line['ADDS']}", r"\^done")
        mi_run(gdb, "-exec-continue", r'func="main"')
        gdb.expect("-stack-list-frames", r"\^done,stack=\[frame=")
        gdb.expect("-thread-info", r'\^done,threads=\[\{id="1"')
        gdb.expect("-data-list-register-names", r"ymm0|xmm0")
        gdb.expect("-data-evaluate-expression counter", r'\^done,value="\d+"')
        gdb.expect("-var-create - * counter", r'\^done,name="var1"')
        mi_run(gdb, 'pin goto end', r"\*stopped")
        gdb.expect("-var-update var1", r'\^done,changelist=\[\{name="var1",in_scope="true"')
        gdb.expect("-data-evaluate-expression factorial(4)", r'\^done,value="24"')
        gdb.write("-gdb-exit")
        gdb.process.wait(REPLY_S)
    finally:
        gdb.kill()


# ---- clients that go ----

def client_killed(recordings):
    """GDBs are killed in the middle of things; whoever connects then finds the recording well."""
    draw = random.Random(5)
    pinball = recordings.get("spin", "3000000")
    symbols = recordings.symbols("spin")
    serve = Serve(recordings, pinball)
    try:
        for number in range(40 if SOAK else 8):
            script = draw.choice(["continue", "reverse-continue", "break work if i == 77777\ncontinue\nreverse-continue",
                                  "watch rounds if rounds == 99999\ncontinue", "python\nwhile 1: gdb.execute('stepi')",
                                  "print strtoul(\"12\", 0, 10)\ncontinue"])
            gdb = Gdb(["gdb", "-nx", "-q", "-ex", f"target extended-remote {serve.path}"], rb"\(gdb\) ", recordings.work)
            gdb.process.stdin.write(f"set pagination off\ntbreak main\ncontinue\n{script}\n\n".encode())
            gdb.process.stdin.flush()
            time.sleep(draw.random() * 2)
            gdb.kill()
            gdb.close()
            serve.lives()
            client = serve.connect()
            check("error" not in client.when(), "no answer to when")
            client.goto("begin")
            client.insert(0, symbols["main"])
            stop = client.run("vCont;c")
            check("swbreak" in stop.fields, f"client {number}: after {script!r}: {stop.text}")
            client.connection.close()
        serve.end()
    finally:
        serve.kill()


def replaying(pid):
    """The processes below one, the oldest first."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as stat:
                parents[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = [pid]
    for one in found:
        found += sorted(child for child, parent in parents.items() if parent == one)
    return found[1:]


def lost(recordings):
    """Replaying processes are killed between commands and in the middle of them; all goes on as without."""
    draw = random.Random(3)
    pinball = recordings.get("spin", "2000000")
    symbols = recordings.symbols("spin")
    client = Client.start(recordings.drdebug, pinball)

    def lose(most):
        processes = replaying(client.process.pid)
        for pid in draw.sample(processes, min(most, len(processes))):
            try:
                process = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            signal.pidfd_send_signal(process, signal.SIGKILL)
            select.select([process], [], [])  # it has ended
            os.close(process)

    try:
        client.insert(0, symbols["work"])
        forwards = []
        for _ in range(6):
            client.run("vCont;c")
            forwards.append((client.when()["position"], client.registers()))
        for most in (1, 100, 3, 1, 100):
            lose(most)
            check(client.registers() == forwards[-1][1], f"other registers when {most} are killed")
            lose(most)
            forwards.pop()
            client.run("bc")
            check((client.when()["position"], client.registers()) == forwards[-1], f"elsewhere when {most} are killed")
        client.remove(0, symbols["work"])
        client.goto("end")
        end = client.when()
        for number in range(24 if SOAK else 4):
            lose(100)
            packet = ("vCont;c", "bc")[number % 2]
            client.goto("begin" if packet == "vCont;c" else "end")
            client.send(packet)
            time.sleep(draw.random() * 0.2)
            lose(draw.choice((1, 100)))
            check(b"replaylog" in client.receive(), f"{packet} does not come to the end")
        client.goto("end")
        check(client.when() == end, f"the end is {client.when()}, not {end}")
        check(client.output.count(b"rounds") == 1, f"output: {client.output!r}")
        client.close()
    finally:
        client.kill()


def leaves_anywhere(recordings):
    """A session is cut off after each number of bytes; a run under way ends with its client."""
    pinball = recordings.get("spin", "300000000")
    serve = Serve(recordings, pinball)
    packets = [frame(p) for p in (b"qSupported:multiprocess+", b"?", b"g", b"m401000,40", b"Z0,401000,1", b"bs",
                                  b"vCont;s", b"qXfer:features:read:target.xml:0,ffb", b"vCont;c")]
    session = b"+".join(packets)
    draw = random.Random(9)
    cuts = range(len(session)) if SOAK else sorted(draw.sample(range(len(session)), 25)) + [len(session)]
    try:
        for cut in cuts:
            serve.send(session[:cut])
        client = serve.connect()
        client.goto("begin")
        client.send("vCont;c")
        time.sleep(0.1)  # it runs
        client.connection.close()
        client = serve.connect()
        place = client.when()
        check("position" in place, "no answer to when")
        check(not place["at_end"], "a run goes on to its end without its client")
        client.connection.close()
        serve.end()
    finally:
        serve.kill()


def interrupt(recordings):
    """\\x03 stops long runs in both directions, at once, and they go on from there."""
    client = Client.start(recordings.drdebug, recordings.get("spin", "300000000"), "--quiet")
    try:
        client.goto("end")
        end = client.when()["ticks"]
        client.goto("begin")
        for packet in ("vCont;c", "bc"):
            if packet == "bc":
                client.goto("end")
            client.send(packet)
            time.sleep(0.3)
            begin = time.monotonic()
            client.write(b"\x03")
            from_stub = client.receive()
            took = time.monotonic() - begin
            check(from_stub[:3] == b"T02" or b"replaylog" in from_stub, f"{packet} interrupted: {from_stub!r}")
            check(took < 2, f"{packet}: {took:.1f} s until it stops")
            check(b"replaylog" not in from_stub or packet == "bc", f"{packet} ended early: {from_stub!r}")
        check(0 < client.when()["ticks"] <= end or True, "")
        client.write(b"\x03\x03")  # nothing runs: nothing happens
        check("position" in client.when(), "an interrupt without a run spoils the session")
        client.goto("begin")
        client.send("vCont;c")
        client.write(b"\x03")  # at once
        check(client.receive()[:3] == b"T02", "an interrupt right behind the packet is lost")
        check(client.run("vCont;c", 120).fields.get("replaylog") == "end", "does not go on")
        client.goto("begin")
        client.goto("end")
        client.write(b"\x03")  # before the client has asked for anything of this stop: it may be about to go on
        client.send("bc")
        check(client.receive()[:3] == b"T02", "an interrupt between two runs is lost")
        client.close()
    finally:
        client.kill()


def two_clients(recordings):
    """The second one waits, or is told; the first does not notice."""
    serve = Serve(recordings, recordings.get("calls"))
    try:
        first = serve.connect()
        second = serve.connect(hands=False)
        try:
            second.write(frame(b"qSupported:multiprocess+"))
        except BrokenPipeError:
            pass  # turned away already
        for _ in range(50):
            check(first.run("vCont;s").signal == 5, "the first client's step")
        place = first.when()["position"]
        closed = False
        if select.select([second.read_fd], [], [], 0.5)[0]:
            try:
                closed = os.read(second.read_fd, 4096) == b""
            except ConnectionResetError:
                closed = True
            check(closed, "two clients are served at once")
            check(b"client" in serve.said(), f"nothing is said of a second client: {serve.said()!r}")
        first.connection.close()
        if closed:
            second.connection.close()
            second = serve.connect()
        else:
            check(b"PacketSize" in second.receive(), "the second client is not served")
            second.ask("QStartNoAckMode")
        check(second.when()["position"] == place, "the recording is not where the first one left it")
        second.connection.close()
        serve.end()
    finally:
        serve.kill()


def does_not_read(recordings):
    """A client that sends, but does not read: serve can be ended all the same."""
    serve = Serve(recordings, recordings.get("calls"))
    try:
        client = serve.connect()
        client.connection.setblocking(False)
        try:
            for _ in range(200000):
                client.connection.send(frame(b"qXfer:features:read:target.xml:0,ffff"))
        except BlockingIOError:
            pass
        time.sleep(0.5)
        serve.lives()
        serve.process.send_signal(signal.SIGTERM)
        try:
            status = serve.process.wait(10)
        except subprocess.TimeoutExpired:
            raise Failed("SIGTERM does not end it while a client does not read") from None
        check(status == 0, f"ended with {status}")
    finally:
        serve.kill()


def garbage(recordings):
    """Bytes without sense, in packets and outside; then a client that makes sense."""
    serve = Serve(recordings, recordings.get("tiny"))
    draw = random.Random(11)
    verbs = [b"?", b"g", b"G", b"p", b"P", b"m", b"M", b"X", b"H", b"T", b"bs", b"bc", b"c", b"C", b"s", b"S", b"Z0", b"Z2",
             b"Z4", b"z0", b"vCont;", b"vCont;s:", b"vRun;", b"vFile:open:", b"vFile:pread:", b"qXfer:auxv:read::",
             b"qXfer:siginfo:read::", b"qXfer:threads:read::", b"qRcmd,", b"qDrdebug,", b"qDrdebug,goto ",
             b"qDrdebug,last ", b"qDrdebug,events ", b"qDrdebug,bookmark ", b"QPassSignals:", b"QCatchSyscalls:",
             b"qGetTLSAddr:", b"qSymbol:", b"vFile:fstat:", b"Hg", b"Hc", b"R", b"D", b"k", b"vKill;"]
    tails = [b"", b",", b";", b":", b"-1", b"p-1.-1", b"0,ffffffffffffffff", b"ffffffffffffffff,ffffffffffffffff",
             b"0,0", b"7fffffffffffffff,1", b"401080,1;X0,", b"401080,1;X8000,00", b"401080,1;X2,2627", b"zz", b"\x00\xff",
             b"+1", b"-1", b"end", b"begin", b"T1:0:0", b"1" * 300, b"p1.1", b"0", b"401080,8:0000", b"401080,1", b"'\"{}"]
    rounds = 200 if SOAK else 12
    try:
        for number in range(rounds):
            client = serve.connect(hands=False)
            sent = []
            try:
                for _ in range(40):
                    kind = draw.randrange(6)
                    if kind == 0:
                        data = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 200)))
                    elif kind == 1:
                        data = b"$" + draw.choice(verbs) + draw.choice(tails) + b"#00"  # a wrong sum
                    elif kind == 2:
                        data = b"$" + draw.choice(verbs)  # not ended
                    else:
                        data = frame(draw.choice(verbs) + draw.choice(tails))
                    sent.append(data)
                    client.write(data)
                    while select.select([client.read_fd], [], [], 0)[0] and os.read(client.read_fd, 1 << 16):
                        pass
            except OSError:
                pass  # the stub may end a connection
            client.connection.close()
            try:
                serve.lives()
                after = serve.connect()
                check("position" in after.when(), "no answer to when")
                after.goto("begin")
                check(after.run("vCont;s").signal == 5, "no step")
                check(after.run("bs").signal == 5, "no step back")
                after.connection.close()
            except (Failed, OSError) as failed:
                raise Failed(f"round {number}: {failed}; sent {sent!r}; serve says {serve.said()[-500:]!r}") from None
        client = serve.connect()
        client.write(b"$" + b"m" * (4 << 20) + b"#00")  # too long
        client.connection.close()
        client = serve.connect()
        check("position" in client.when(), "no answer after a packet that is too long")
        client.connection.close()
        serve.end()
    finally:
        serve.kill()


# ---- recordings that are not well ----

def bad_pinballs(recordings):
    """What is wrong is said before GDB starts, in one line."""
    good = recordings.get("calls")
    not_gdb = os.path.join(recordings.work, "not-gdb")
    with open(not_gdb, "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\necho GDB HAS STARTED\n")
    os.chmod(not_gdb, 0o755)

    def spoilt(name, spoil):
        path = os.path.join(recordings.work, name)
        shutil.copytree(good, path)
        spoil(path)
        return path

    def largest(path):
        files = [os.path.join(top, name) for top, _, names in os.walk(path) for name in names]
        return max((f for f in files if "files" not in os.path.relpath(f, path).split(os.sep)), key=os.path.getsize)

    def flip(path):
        with open(largest(path), "r+b") as file:
            size = os.path.getsize(file.name)
            file.seek(size // 2)
            byte = file.read(1)
            file.seek(size // 2)
            file.write(bytes([byte[0] ^ 0xff]))

    def empty(path):
        for top, _, names in os.walk(path):
            for name in names:
                with open(os.path.join(top, name), "r+b") as file:
                    file.truncate(0)

    def newer(path):
        """The number behind the magic of the head."""
        with open(os.path.join(path, "head"), "r+b") as file:
            check(file.read(4) == b"DrPB", "the head has another magic")
            file.write(bytes([99]))

    problems = []
    for name, spoil in (("damaged", flip), ("empty", empty), ("newer", newer)):
        path = spoilt(name, spoil)
        for verb in (["debug", "--gdb", not_gdb], ["serve"]):
            done = subprocess.run([recordings.drdebug, *verb, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            lines = done.stderr.decode(errors="replace").splitlines()
            if done.returncode != 1 or done.stdout or not lines or not lines[0].startswith("drdebug: "):
                problems.append(f"{verb[0]} of a pinball that is {name}: status {done.returncode}, {done.stdout!r}, "
                                f"{done.stderr!r}")
    check(not problems, "\n".join(problems))


CASES = {"mi": mi, "lost": lost, "client_killed": client_killed, "leaves_anywhere": leaves_anywhere,
         "interrupt": interrupt, "does_not_read": does_not_read, "two_clients": two_clients, "garbage": garbage, "bad_pinballs": bad_pinballs}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as work:
        try:
            CASES[options.case](Recordings(options.drdebug, options.bin, work))
        except Failed as failed:
            print(f"FAILED: {options.case}: {failed}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
