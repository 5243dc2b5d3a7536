"""stub_client.py - a client of `drdebug serve` that speaks GDB's remote protocol, and recordings to serve.

SPDX-License-Identifier: MIT
"""
import json
import os
import re
import select
import signal
import socket
import subprocess
import time

SKIP = 77
SOAK = bool(os.environ.get("DRDEBUG_SOAK"))
REPLY_S = 60
# GDB need not read the debug files of libraries, which takes half of a short session.
NO_LIBRARIES = ("-iex", "set debug-file-directory /nowhere")
HERE = os.path.dirname(os.path.abspath(__file__))
RIP, EFLAGS = 16, 17
PT_TF = 0x100


class Failed(Exception):
    """What a test says when it fails."""


def markers(name, folder="subjects"):
    """{marker: line} of a subject: `/* WORDS */`; numbers of lines are texts."""
    path = os.path.join(HERE, folder, name + ".c")
    with open(path if os.path.exists(path) else path + "c", encoding="utf-8") as source:
        return {marker: str(number) for number, line in enumerate(source, 1)
                for marker in re.findall(r"/\* ([A-Z][A-Z0-9 ]*) \*/", line)}


class Recordings:
    """Programs of --bin, recorded on demand into a folder."""

    def __init__(self, drdebug, folder_of_programs, work):
        self.drdebug, self.programs, self.work = drdebug, folder_of_programs, work
        self.made = {}

    def program(self, name):
        return os.path.join(self.programs, name)

    def get(self, name, *args, chaos=None):
        key = (name, args, chaos)
        if key not in self.made:
            path = os.path.join(self.work, f"{name}-{len(self.made)}.pinball")
            words = [self.drdebug, "record", "-q", "-o", path] + ([f"--chaos={chaos}"] if chaos else [])
            done = subprocess.run(words + ["--", self.program(name), *args], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60, check=False)
            if done.stderr:
                raise Failed(f"{name} cannot be recorded: {done.stderr.decode(errors='replace')}")
            self.made[key] = path
        return self.made[key]

    def symbols(self, name):
        """{name: address} in the program, which must not be position-independent."""
        shown = subprocess.run(["nm", self.program(name)], stdout=subprocess.PIPE, text=True, timeout=20, check=True)
        rows = [line.split() for line in shown.stdout.splitlines()]
        return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def frame(data):
    data = b"".join(bytes([0x7d, c ^ 0x20]) if c in b"#$}*" else bytes([c]) for c in data)
    return b"$" + data + b"#%02x" % (sum(data) & 0xff)


def expand(data):
    """Escapes and runs undone."""
    if b"*" not in data and b"}" not in data:
        return data
    data = re.sub(rb"(\}.|[^}])\*(.)", lambda run: run[1] * (run[2][0] - 28), data, flags=re.DOTALL)
    return re.sub(rb"\}(.)", lambda byte: bytes([byte[1][0] ^ 0x20]), data, flags=re.DOTALL)


class Stop:
    """A stop reply: T05swbreak:;thread:p1.1;06:...;"""

    def __init__(self, reply):
        text = reply.decode()
        if text[:1] != "T":
            raise Failed(f"not a stop: {text!r}")
        self.text, self.signal = text, int(text[1:3], 16)
        self.fields = dict(part.split(":", 1) for part in text[3:].split(";") if part)
        self.thread = self.fields.get("thread")

    def why(self):
        for name in ("swbreak", "hwbreak", "watch", "rwatch", "awatch", "replaylog", "syscall_entry",
                     "syscall_return", "exec"):
            if name in self.fields:
                return name if name != "replaylog" else "replaylog:" + self.fields[name]
        return f"signal {self.signal}"


class Client:
    """One connection. ends(): the stub has ended the connection."""

    def __init__(self, read_fd, write_fd, process=None, connection=None):
        self.read_fd, self.write_fd, self.process, self.connection = read_fd, write_fd, process, connection
        self.buffer, self.output = b"", b""

    @classmethod
    def start(cls, drdebug, pinball, *options):
        process = subprocess.Popen([drdebug, "serve", *options, pinball], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        client = cls(process.stdout.fileno(), process.stdin.fileno(), process)
        client.shake_hands()
        return client

    @classmethod
    def connect(cls, address, hands=True):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.setblocking(True)
        until = time.monotonic() + REPLY_S
        while True:
            try:
                connection.connect(address)
                break
            except BlockingIOError:  # too many wait there
                if time.monotonic() > until:
                    raise Failed("cannot connect") from None
                time.sleep(0.02)
        client = cls(connection.fileno(), connection.fileno(), connection=connection)
        if hands:
            client.shake_hands()
        return client

    def shake_hands(self):
        self.ask("qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+;exec-events+")
        self.ask("QStartNoAckMode")
        self.write(b"+")
        self.ask("!")
        return Stop(self.ask("?"))

    def write(self, data):
        while data:
            data = data[os.write(self.write_fd, data):]

    def send(self, packet):
        self.write(frame(packet if isinstance(packet, bytes) else packet.encode()))

    def receive(self, seconds=REPLY_S):
        """The next packet, expanded; b"" can be one. Output is put aside."""
        until = time.monotonic() + seconds
        while True:
            packet = re.search(rb"\$([^#]*)#(..)", self.buffer, re.DOTALL)
            if packet:
                self.buffer = self.buffer[packet.end():]
                if sum(packet[1]) & 0xff != int(packet[2], 16):
                    raise Failed(f"bad checksum of {packet[0]!r}")
                data = expand(packet[1])
                if data[:1] == b"O" and data != b"OK":
                    self.output += bytes.fromhex(data[1:].decode())
                    continue
                return data
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise Failed(f"no answer within {seconds} s")
            try:
                more = os.read(self.read_fd, 1 << 16)
            except ConnectionResetError:
                more = b""
            if not more:
                raise Failed("the stub ended: " + self.last_words())
            self.buffer += more

    def last_words(self):
        if not self.process:
            return "connection closed"
        self.process.wait(REPLY_S)
        return f"status {self.process.returncode}, {self.process.stderr.read().decode(errors='replace')!r}"

    def ask(self, packet, seconds=REPLY_S):
        self.send(packet)
        return self.receive(seconds)

    def run(self, packet, seconds=REPLY_S):
        """A packet that resumes."""
        return Stop(self.ask(packet, seconds))

    def json(self, command):
        return json.loads(bytes.fromhex(self.ask("qDrdebug," + command).decode()))

    def when(self):
        return self.json("when")

    def goto(self, where):
        """None: it is here."""
        answer = self.json("goto " + where)
        if "error" in answer:
            raise Failed(f"goto {where}: {answer['error']}")
        direction = answer["direction"]
        return None if direction == "here" else self.run("vCont;c" if direction == "forward" else "bc")

    def registers(self):
        return self.ask("g").decode()

    def memory(self, address, size):
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}").decode())

    def threads(self):
        """{id: registers} of all."""
        listed = self.ask("qfThreadInfo").decode()
        out = {}
        while listed[:1] == "m":
            for thread in listed[1:].split(","):
                self.ask("Hg" + thread)
                out[thread] = self.registers()
            listed = self.ask("qsThreadInfo").decode()
        return out

    def insert(self, kind, address, size=1):
        answer = self.ask(f"Z{kind},{address:x},{size:x}")
        if answer != b"OK":
            raise Failed(f"Z{kind} at {address:#x}: {answer!r}")

    def remove(self, kind, address, size=1):
        answer = self.ask(f"z{kind},{address:x},{size:x}")
        if answer != b"OK":
            raise Failed(f"z{kind} at {address:#x}: {answer!r}")

    def close(self):
        """Leaves, and expects the stub to end well if it is of its own."""
        if self.connection:
            self.connection.close()
        if self.process:
            self.process.stdin.close()
            status = self.process.wait(REPLY_S)
            words = self.process.stderr.read().decode(errors="replace")
            self.process.stdout.close()
            self.process.stderr.close()
            if status:
                raise Failed(f"serve ended with {status}: {words}")

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(REPLY_S)
        if self.connection:
            self.connection.close()
