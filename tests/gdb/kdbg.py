"""kdbg.py - KDbg's side of a conversation with GDB.

SPDX-License-Identifier: MIT

KDbg (3.x) starts its debugger with pipes and no terminal, both outputs in one, and talks GDB's command language. It knows that an answer is
complete when the output ends with its own prompt, and reads values, frames, threads, breakpoints, registers and code out of the text. What
it cannot read it drops silently, or shows as an error. These are its commands, and readers as strict as its own.
"""
import os
import re
import select
import signal
import subprocess
import time

from stub_client import Failed

PROMPT = b"(kdbg)"
PATIENCE_S = 120
BEGIN = """set editing off
set confirm off
set print static-members off
set print asm-demangle on
set print thread-events off
set auto-load python off
set python print-stack none
set unwindonsignal on
define kdbg__alllocals
info locals
info args
end
define kdbg_infolinemain
list
info line
end
show endian
set prompt (kdbg)
"""
TEXT = r'(?:"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')(?: <repeats \d+ times>)?'
PLAIN_VALUE = rf'(?:{TEXT}(?:, {TEXT})*|<[^>]*>|\([^()]*\)|[^,}}\n"\'<(])+(?:\.\.\.)?'
GOOD_FILE_LINES = ("Reading symbols from", "done.", "Missing separate debuginfo", "Try: ", "Using host libthread_db", "(no debugging symbols found)")


class Kdbg:
    """One debugger of KDbg's. Words are those of its setting «debugger command», parted at spaces: it uses no shell."""

    def __init__(self, command, work):
        environment = {**os.environ, "LC_ALL": "C", "HOME": work, "XDG_STATE_HOME": work}
        environment.pop("LANG", None)
        self.process = subprocess.Popen(command.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=work,
                                        env=environment)
        self.said = b""
        self.write(BEGIN)
        first = self.answer()
        version = re.search(r" [(]?(\d+)\.(\d+)[^ ]*\n", first)
        if not version:
            raise Failed(f"GDB's version is not told, so KDbg takes it for an old one: {first[-1000:]}")
        self.disassemble = "disassemble {}, {}" if (int(version[1]), int(version[2])) >= (7, 1) else "disassemble {} {}"
        if "little endian" not in first:
            raise Failed(f"the order of bytes is not told: {first[-1000:]}")

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def answer(self):
        """Up to the prompt, which is the last that was said."""
        end = time.monotonic() + PATIENCE_S
        while not self.said.endswith(PROMPT):
            ready = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                raise Failed(f"no prompt at the end of: {self.said[-2000:]!r}")
            self.said += more
        text, self.said = self.said[:-len(PROMPT)].decode(errors="replace"), b""
        return text

    def say(self, command):
        self.write(command + "\n")
        return self.answer()

    def interrupt(self):
        """Its button, and what it does to a command that is not urgent when the user wants something else."""
        self.process.send_signal(signal.SIGINT)

    def close(self):
        """Its end: GDB is told to go."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_S)
        self.process.stdin.close()
        self.process.stdout.close()


# ---- what it reads ----

def marker(text):
    """File and line that it shows, and the address."""
    found = re.search(r"\x1a\x1a([^\n]*?):(\d+):\d+:[begmidl]+:(0x[0-9a-f]+)\n", text)
    return (os.path.basename(found[1]), int(found[2]), int(found[3], 16)) if found else None


def active(text):
    """Is there still a program after a command that runs it? And what the status line says."""
    is_active, message = True, ""
    for line in text.split("\n"):
        if line.startswith(("Program ", "ptrace: ")):
            is_active = is_active and not line.startswith(("Program exited", "Program terminated", "ptrace: "))
            message = line
        elif re.match(r"\[Inferior \S+ +\([^()]*\) exited ", line):
            is_active, message = False, line.strip("[]")
    return is_active, message


def good_file(text):
    return all(line.startswith(GOOD_FILE_LINES) for line in text.splitlines())


def frame(text):
    """What stands behind a frame's or a thread's number: function, file, line, address."""
    found = re.match(r"(?:(0x[0-9a-f]+)(?: in )?)?\s*(<signal handler called>|[^(\n]* \((?:[^()\n]|\([^()\n]*\))*\))"
                     r"(?:\s+at ([^\n]*):(\d+)|\s+from [^\n]*)?\n?", text)
    if not found:
        raise Failed(f"not a frame: {text[:200]!r}")
    return {"address": found[1], "function": found[2].split(" (")[0], "file": found[3] and os.path.basename(found[3]),
            "line": found[4] and int(found[4])}, text[found.end():]


def frames(text):
    """`bt', from its first character on: what stands before the first frame makes it see no stack at all."""
    found = []
    while re.match(r"#\d+ ", text):
        one, text = frame(re.sub(r"^#\d+ +", "", text))
        found.append(one)
    return found


def threads(text):
    """`info threads': number, name, function, and which is selected."""
    head, _, rest = text.partition("\n")
    if not head.strip().startswith("Id   Target"):
        raise Failed(f"no head of a list of threads: {text[:300]!r}")
    found = []
    while rest.strip():
        one = re.match(r"\s*(\*?)\s*(\d+)\s+(\S+ \S+(?:\s+(?:\"[^\"]*\"|\([^()]*\)))*)\s+", rest)
        if not one:
            raise Failed(f"not a thread: {rest[:300]!r}")
        place, rest = frame(rest[one.end():])
        found.append({"id": int(one[2]), "name": one[3], "selected": bool(one[1]), **place})
    return found


def breakpoints(text):
    """`info breakpoints': those with a number of their own."""
    found = []
    for line in text.splitlines()[1:]:
        one = re.match(r"(\d+)\s+(breakpoint|hw watchpoint|watchpoint)\s+(keep|del|dis)\s+([yn])\s+(0x[0-9a-f]+)?\s*(.*)", line)
        if one:
            found.append({"id": int(one[1]), "watches": one[2] != "breakpoint", "temporary": one[3] == "del", "enabled": one[4] == "y",
                          "where": one[6], "hits": 0, "condition": "", "ignore": 0})
        elif found and (more := re.match(r"\s+breakpoint already hit (\d+)", line)):
            found[-1]["hits"] = int(more[1])
        elif found and (more := re.match(r"\s+stop only if (.*)", line)):
            found[-1]["condition"] = more[1]
        elif found and (more := re.match(r"\s+ignore next (\d+)", line)):
            found[-1]["ignore"] = int(more[1])
        elif found and line[:1].isspace():
            found[-1]["where"] += line.strip()
    return {one["id"]: one for one in found}


def new_breakpoint(text):
    """Number, and line or watched expression, of an answer whose first word says which kind it is."""
    lines = [line for line in text.splitlines() if not line.startswith(("(Cannot find", "Note: breakpoint"))]
    found = re.match(r"(?:Breakpoint|Temporary breakpoint) (\d+) at 0x[0-9a-f]+(?:: file (.*), line (\d+)|: [^:]*:(\d+))?", lines[0] if lines else "")
    if found:
        return int(found[1]), int(found[3] or found[4] or 0)
    found = re.match(r"(?:Hardware watchpoint|Watchpoint) (\d+): (.*)", lines[0] if lines else "")
    if not found:
        raise Failed(f"not a new breakpoint: {text!r}")
    return int(found[1]), found[2]


def registers(text):
    """Names and the rest of their lines; a line that begins with space goes on."""
    found = {}
    for line in re.sub(r"\n\s+", " ", text).splitlines():
        name, _, value = line.partition(" ")
        if not name or not value.strip():
            raise Failed(f"not a register: {line!r}")
        found[name] = value.strip()
    return found


def code(text):
    """Addresses and instructions of `disassemble'."""
    if not text.startswith("Dump of assembler"):
        raise Failed(f"not code: {text[:300]!r}")
    return re.findall(r"^(?:=>|\s)*(0x[0-9a-f]+)\s+<[^>]*>:\s+(.*)$", text, re.M)


def dump(text):
    """Addresses and contents of `x'."""
    return re.findall(r"^(?:=>|\s)*(0x[0-9a-f]+)[^:\n]*:\s+(.*)$", text, re.M)


def from_to(text):
    """Addresses of `info line'."""
    found = re.search(r"s at address (0x[0-9a-f]+)\s(?:.*and ends at (0x[0-9a-f]+))?", text, re.S)
    if not found:
        raise Failed(f"no address: {text!r}")
    return int(found[1], 16), int((found[2] or found[1]), 16)


def libraries(text):
    return [line.split()[3] for line in text.splitlines()[1:] if len(line.split()) > 3]


def kind(text):
    if not text.startswith("type = "):
        raise Failed(f"not a type: {text!r}")
    return text[7:].strip()


def value(text):
    """A value as GDB prints it: a text, or {name: value} of a structure, or a list of an array."""
    tree, rest = parse_value(re.sub(r"^\$\d+ = ", "", text.strip()))
    if rest.strip():
        raise Failed(f"behind a value: {rest!r}")
    return tree


def values(text):
    """Locals and arguments: `name = value' a line, and words for none of them."""
    text = re.sub(r"^No (locals|arguments)\.\n", "", text, flags=re.M)
    found = {}
    while text.strip():
        one = re.match(r"\s*(\w+) = ", text)
        if not one:
            raise Failed(f"not a variable: {text[:300]!r}")
        found[one[1]], text = parse_value(text[one.end():])
    return found


def parse_value(text):
    if not text.startswith("{"):
        plain = re.match(PLAIN_VALUE, text)
        if not plain:
            raise Failed(f"not a value: {text[:200]!r}")
        return plain[0].strip(), text[plain.end():]
    text, names, found = text[1:], True, []
    while not text.startswith("}"):
        named = re.match(r"\s*(\w+) = ", text)
        names = names and bool(named)
        one, text = parse_value(text[named.end():] if named else text.lstrip())
        found.append((named[1] if named else None, one))
        text = re.sub(r"^\s*,\s*", "", text)
    return (dict(found) if names and found else [one for _, one in found]), text[1:]
