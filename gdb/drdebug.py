"""drdebug.py - the `pin ...` commands of drdebug, inside GDB.

SPDX-License-Identifier: MIT

GDB (13 or later, with Python) debugs a recording through `drdebug serve`. That remote stub knows
more than GDB has commands for: where in the recording this is, how to get elsewhere, what was
written where. It is asked by packets of its own, `qDrdebug,COMMAND ARGUMENT...`; the answer is a
JSON object in hexadecimal, with "error" in it if something is wrong.

`drdebug debug` loads this file and connects. By hand:

    (gdb) source drdebug.py
    (gdb) target extended-remote | drdebug serve race.pinball

To get elsewhere, the stub is told where, and then GDB is let continue, forwards or backwards: the
stub goes straight there. To GDB and its front ends that is a stop like any other.
"""
import functools
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time

import gdb

if not hasattr(gdb, "MICommand"):
    raise gdb.GdbError("drdebug.py needs GDB 13 or later")

# {number: name}. Empty here; the build puts engine/os/syscalls.def in (gdb/embed.py).
SYSCALLS = {}

# ((first, last), ...): what may deceive a terminal's reader. Empty here; the build puts base/plain.def in.
HIDDEN = ()

# {number: (what its status is, what the program did)}. Empty here; the build puts pinball/ends.def in.
ENDS = {}

PATIENCE_S = 100000


# ---- the stub ----

class NotDrdebug(gdb.GdbError):
    """The remote target is something else."""


def connection():
    """The connection to a remote target, or None."""
    found = gdb.selected_inferior().connection
    return found if isinstance(found, gdb.RemoteTargetConnection) else None


def escape(packet):
    """As the protocol needs it; GDB sends packets as they are."""
    return b"".join(bytes([0x7d, c ^ 0x20]) if c in b"#$}*" else bytes([c]) for c in packet)


def be_patient():
    """An answer that GDB does not wait for is taken for the one to the next packet: the end of all
    understanding. A recording may have to be replayed for an answer, and GDB waits for 2 seconds."""
    if gdb.parameter("remotetimeout") < PATIENCE_S:
        gdb.execute(f"set remotetimeout {PATIENCE_S}")


def ask(command):
    """The stub's answer to a command, a dict; what it refuses is a gdb.GdbError."""
    to = connection()
    if to is None:
        raise gdb.GdbError("Not connected to a recording: `drdebug debug DIR' does that.")
    try:
        reply = to.send_packet(escape(b"qDrdebug," + command.encode(errors="replace")))
    except (gdb.error, RuntimeError) as error:
        raise gdb.GdbError(f"The recording does not answer: {plain(error)}") from None
    if not reply:
        raise NotDrdebug("The remote target is not `drdebug serve'.")
    try:
        answer = json.loads(bytes.fromhex(reply.decode()))
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise gdb.GdbError(f"Bad answer to `{command.split()[0]}': is `drdebug serve' of another "
                           "version than drdebug.py?")
    be_patient()  # only now: other remote targets are none of our business
    if "error" in answer:
        raise gdb.GdbError(plain(answer["error"]))
    return answer


def pages(command):
    """All entries of a list that comes in pages: objects with a list and `next`."""
    answer = ask(command)
    while True:
        yield from next((value for value in answer.values() if isinstance(value, list)), [])
        if answer.get("next") is None:
            return
        answer = ask(f"{command} from {answer['next']}")


def bookmarks():
    return ask("bookmarks")["bookmarks"]


# ---- text ----

def hidden_pattern():
    """What is not printed as it is. Bytes that are no UTF-8 are surrogates in Python."""
    return re.compile("[%s\ud800-\udfff]" % "".join(f"{chr(first)}-{chr(last)}" for first, last in HIDDEN))


def escape_one(match):
    code = ord(match[0])
    if match[0] in "\t\n\r":
        return {"\t": "\\t", "\n": "\\n", "\r": "\\r"}[match[0]]
    if 0xdc80 <= code <= 0xdcff:
        code -= 0xdc00  # os.fsdecode() has made it of this byte
        return f"\\x{code:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(text):
    """Text from a recording in one line, as base/plain.h has it: a terminal would obey it otherwise."""
    return HIDDEN_PATTERN.sub(escape_one, str(text))


def plain_lines(text):
    """The same of text that may have lines, by GDB: values, errors."""
    return "\n".join(map(plain, str(text).split("\n")))


def say(text):
    """All that these commands print goes through here."""
    charset = gdb.host_charset()
    gdb.write(f"{plain_lines(text)}\n".encode(charset, "replace").decode(charset))


HIDDEN_PATTERN = hidden_pattern()


def say_columns(rows):
    """Rows of texts; all columns but the last are as wide as needed."""
    widths = [max(len(text) for text in column) for column in zip(*rows)]
    for row in rows:
        say("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def position_pc(position):
    """A position is thread, count and pc: T2:48213:401136."""
    return int(position.rpartition(":")[2], 16)


def function_at(pc):
    """The innermost function's name, if there is debug information."""
    block = gdb.block_for_pc(pc)
    while block and not block.function:
        block = block.superblock
    return block.function.print_name if block else None


def location(pc):
    """`work () at racy.c:18`, or as much as is known."""
    try:
        name, line = function_at(pc), gdb.find_pc_line(pc)
        if name and line.symtab:
            brackets = "" if name.endswith(")") else " ()"
            return plain(f"{name}{brackets} at {line.symtab.filename}:{line.line}")
        symbol, found, _ = gdb.execute(f"info symbol {pc:#x}", to_string=True).partition(
            " in section ")
        if found:
            return plain(symbol.split(" + ")[0]) + " ()"
    except (gdb.error, RuntimeError, UnicodeDecodeError):  # names may be any bytes
        pass
    return f"{pc:#x}"


# ---- moving ----

def file_name(objfile):
    try:
        return objfile.filename
    except UnicodeDecodeError:
        return None  # a path may be any bytes, and GDB's Python wants characters


def refresh_libraries():
    """A jump passes by all places at which GDB would have seen libraries come and go."""
    before = {file_name(objfile) for objfile in gdb.objfiles()}
    wanted = gdb.parameter("auto-solib-add")
    try:
        gdb.execute("sharedlibrary" if wanted else "info sharedlibrary", to_string=True)
    except gdb.error:
        return
    except UnicodeDecodeError:
        pass  # it is done
    if {file_name(objfile) for objfile in gdb.objfiles()} != before:
        gdb.execute("frame")  # what GDB has just shown had no names


def goto(where):
    """To a position, `begin`, `end`, `+TICKS` or `-TICKS`. False: it was here."""
    before = ask("when")["position"]
    direction = ask(f"goto {where}")["direction"]
    if direction == "here":
        return False
    turned = gdb.parameter("exec-direction") == "reverse"  # then GDB refuses reverse-continue
    gdb.execute("reverse-continue" if direction == "backward" and not turned else "continue")
    if ask("when").get("pending"):  # GDB has stopped for `catch exec'; it was not told of the place yet
        gdb.execute("continue")
    refresh_libraries()
    if where[0] in "PT" and ask("when")["position"] == before:
        raise gdb.GdbError(f"{plain(where)}: not reached; this is where it was.")  # the stub has said why
    return True


def forget_other_threads():
    """With the scheduler locked GDB believes that the other threads have stayed where they were. The
    recorded schedule has moved them."""
    if gdb.parameter("scheduler-locking") in ("on", "step"):
        gdb.execute("maintenance flush register-cache", to_string=True)


BACKWARDS = ("reverse-step", "reverse-next", "reverse-stepi", "reverse-nexti", "reverse-finish")


def tell_thread():
    """Before a step back: the protocol has no words for whose step it is to be."""
    thread = gdb.selected_thread()
    if thread is None or len(gdb.selected_inferior().threads()) < 2:
        return
    try:
        ask(f"thread {thread.ptid[1]}")
    except gdb.GdbError:
        pass  # another target's, or GDB says itself what is wrong


class RefuseRecord(gdb.Command):
    """What `record' does before all else, on a recording."""

    def __init__(self):
        super().__init__("maintenance drdebug-refuse-record", gdb.COMMAND_MAINTENANCE)

    def invoke(self, arg, from_tty):
        if is_recording():
            raise gdb.GdbError("This is a recording already, and goes backwards as it is: reverse-continue, "
                               "reverse-step.")


def is_recording():
    return connection() is not None and connection().num == history.connection


class Forks:
    """Tells the stub whether somebody wants to know of child processes, since GDB does not. Each one is a
    stop, so a program that starts thousands of them would be slow. The children are not in the recording."""

    SETTINGS = {"follow-fork-mode": "parent", "detach-on-fork": True}

    def __init__(self):
        self.told = None  # (number of the connection, wanted)

    @staticmethod
    def are_wanted(gone):
        """gone: a breakpoint that does not count, it is being deleted."""
        if not any(one.type == gdb.BP_CATCHPOINT for one in gdb.breakpoints()):
            return False
        listed = gdb.execute("info breakpoints", to_string=True)
        found = re.findall(r"^(\d+) +catchpoint .* v?fork\b", listed, re.MULTILINE)
        return any(gone is None or number != str(gone.number) for number in found)

    def on_created(self, _):
        self.tell()

    def tell(self, gone=None):
        if not is_recording():
            return
        now = (connection().num, self.are_wanted(gone))
        if now == self.told:
            return
        if now[1]:
            self.stay_with_parent()
        self.told = now
        try:
            ask("forks " + ("on" if now[1] else "off"))
        except gdb.GdbError:
            pass  # an older stub tells of none

    def stay_with_parent(self):
        for name, value in self.SETTINGS.items():
            if gdb.parameter(name) != value:
                word = "on" if value is True else value
                gdb.execute(f"set {name} {word}")
                say(f"Child processes are not in the recording: {name} is {word} now.")


class RefuseChildren(gdb.Command):
    """What `set follow-fork-mode' and `set detach-on-fork' do before all else, on a recording."""

    def __init__(self):
        super().__init__("maintenance drdebug-refuse-children", gdb.COMMAND_MAINTENANCE)

    def invoke(self, arg, from_tty):
        if is_recording() and gdb.parameter(arg) == Forks.SETTINGS[arg]:
            raise gdb.GdbError("Child processes are not in the recording: GDB stays with the parent.")


def hook(command, what, when="hook"):
    """What to do before a command of GDB's, or after it (`hookpost')."""
    prefix, _, name = command.rpartition(" ")
    own = f"{prefix} {when}-{name}".strip()
    if own not in gdb.execute(f"complete {own}", to_string=True).splitlines():  # the user's own stays
        gdb.execute(f"define {own}\n{what}\nend")


def change_terminal():
    """After `tty PATH': GDB's own would count from the next `run' on, and a living program runs already."""
    path = gdb.parameter("inferior-tty")
    if path and is_recording() and ask("record")["path"]:  # not a recording's
        ask(f"terminal {os.fsencode(path).hex()}")


def tell_end(when):
    """How the program ended, as GDB tells it of one that runs: $_exitcode, $_exitsignal."""
    status = when.get("status")
    if not when["at_end"] or when.get("diverted") or when.get("reason") not in ENDS:
        return
    kind, did = ENDS[when["reason"]]
    words = signal_name(status) if kind == "SIGNAL" else str(status)
    say(f"[The recording ends here: the program {did.replace('$STATUS', words)}.]")
    if kind in EXIT_VARIABLES:
        gdb.set_convenience_variable(EXIT_VARIABLES[kind], status)


def signal_name(number):
    names = {known.value: known.name for known in signal.Signals}
    return names.get(number, f"signal {number}")


EXIT_VARIABLES = {"EXIT": "_exitcode", "SIGNAL": "_exitsignal"}


def ended_by_signal(when):
    return ENDS.get(when.get("reason"), ("", ""))[0] == "SIGNAL"


class History:
    """The places where GDB has stopped, and which of them this is: as in a browser."""

    LIMIT = 1000

    def __init__(self):
        self.connection = None  # number of the one that the places are of
        self.foreign = None  # number of one to something else
        self.places = []  # (position, location)
        self.now = -1

    def on_stop(self, _):
        to = connection()
        if to is None or to.num == self.foreign:
            return
        try:
            when = ask("when")
        except NotDrdebug:
            self.foreign = to.num
            return
        except gdb.GdbError:
            return
        if to.num != self.connection:
            self.connection, self.places, self.now = to.num, [], -1
            replace_run()
            replace_steps()
        forks.tell()
        forget_other_threads()
        tell_end(when)
        if not when.get("diverted"):
            self.visit(when["position"], location(when["pc"]))

    def visit(self, position, where):
        if self.now >= 0 and self.places[self.now][0] == position:
            return
        del self.places[self.now + 1:]
        self.places.append((position, where))
        del self.places[:-self.LIMIT]
        self.now = len(self.places) - 1

    def go(self, step):
        """As goto()."""
        before, place = self.now, self.now + step
        if not 0 <= place < len(self.places):
            which = "before" if step < 0 else "after"
            raise gdb.GdbError(f"No place was visited {which} this one.")
        self.now = place  # so that the stop there is nothing new
        try:
            return goto(self.places[place][0])
        except (gdb.error, gdb.GdbError):
            self.now = before
            raise

    def list(self):
        return [{"position": position, "location": where, "current": i == self.now}
                for i, (position, where) in enumerate(self.places)]


# ---- values in memory ----

class Memory:
    """What an expression stands for, at a fixed address: it can be read in any frame."""

    def __init__(self, expression):
        value = gdb.parse_and_eval(expression)
        if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
        if value.is_optimized_out:
            raise gdb.GdbError(f"{expression}: optimized out here.")
        if value.address is None or value.type.sizeof == 0:
            raise gdb.GdbError(f"{expression}: not in memory; in a register, or calculated.")
        self.address, self.type = int(value.address), value.type
        self.start, self.size = self.address, self.type.sizeof
        self.field = None
        self.narrow_to_bits(expression)

    def narrow_to_bits(self, expression):
        """If it is a bit-field: GDB gives it the address of the whole word that it is in."""
        member = re.fullmatch(r"(.+?)(\.|->)\s*(\w+)\s*", expression)
        try:
            address = gdb.parse_and_eval(f"{'&' if member[2] == '.' else ''}({member[1]})")
            outer = address.dereference().type.strip_typedefs()
            field = next(f for f in outer.fields() if f.name == member[3] and f.bitsize)
        except (gdb.error, TypeError, StopIteration):
            return  # not a member; the outer thing is none, or has members of another kind
        self.field, self.type, self.address = field, outer, int(address)
        self.start = self.address + field.bitpos // 8
        self.size = (field.bitpos % 8 + field.bitsize + 7) // 8

    def text(self):
        value = gdb.Value(self.address).cast(self.type.pointer()).dereference()
        return (value[self.field] if self.field else value).format_string()


# ---- commands ----

class PinCommand(gdb.Command):
    """The base of all but the prefix: a subclass with a row in gdb/pin.def is a command, and has name, run(), show(), and complete() or a
    completer. run() gives the result, a dict; show() prints it. The same dict is the answer of -pin-NAME, in MI."""

    kind = gdb.COMMAND_RUNNING
    completer = gdb.COMPLETE_NONE
    latest = {}  # the last result

    def __init__(self):
        if hasattr(self, "complete"):
            super().__init__(f"pin {self.name}", self.kind)
        else:
            super().__init__(f"pin {self.name}", self.kind, self.completer)
        MiCommand(self)

    def result(self, arg, show):
        try:
            PinCommand.latest = {}
            PinCommand.latest = result = self.run(arg.strip())
            if show:
                self.show(result)
            return result
        except (gdb.error, gdb.GdbError) as error:  # the user's mistake: without a word about Python
            raise gdb.GdbError(plain_lines(error)) from None

    def invoke(self, arg, from_tty):
        self.result(arg, show=True)

    def show(self, result):
        """Most of those that go somewhere have nothing to say: GDB shows the place."""

    def check(self, condition):
        if not condition:
            raise gdb.GdbError(re.search("^Usage: .*", self.__doc__, re.MULTILINE)[0])


class PinMove(PinCommand):
    """The base of those that go somewhere. The result says where that is, and whether it was elsewhere."""

    def moved(self, went):
        return {"moved": went, "position": ask("when")["position"]}

    def show(self, result):
        if not result["moved"]:
            say("Already there.")


def mi_value(value):
    """As MI can have it: texts in lists and dicts; what is None is left out."""
    if isinstance(value, dict):
        return {key: mi_value(one) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [mi_value(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else plain_lines(value)


class MiResult(gdb.MICommand):
    """-pin-result: what the last command has found, for front ends. GDB answers a command that goes somewhere
    with ^running and *stopped, as it does -exec-continue, and drops the fields."""

    def __init__(self):
        super().__init__("-pin-result")

    def invoke(self, argv):
        return mi_value(PinCommand.latest)


class MiPlace(gdb.MICommand):
    """-pin-place: what `pin when' says, without how many instructions were executed: that would take a look at the
    trace, and a front end asks at every stop."""

    def __init__(self):
        super().__init__("-pin-place")

    def invoke(self, argv):
        return mi_value(ask("when"))


class MiCommand(gdb.MICommand):
    """-pin-NAME: what `pin NAME' says, for front ends. Its arguments are the words of that command."""

    def __init__(self, command):
        super().__init__(f"-pin-{command.name}")
        self.command = command

    def invoke(self, argv):
        try:
            return mi_value(self.command.result(" ".join(argv), show=False))
        except gdb.GdbError as error:
            raise gdb.GdbError(str(error).replace("Usage: pin ", "Usage: -pin-")) from None


def matching(words, start):
    return [word for word in words if word.startswith(start)]


class Pin(gdb.Command):
    """Walk a recording.

Besides these commands, all of GDB's that go forwards work, and those that go
backwards: reverse-step, reverse-next, reverse-finish, reverse-continue.
A position such as T2:48213:401136 names a point of a recording for good. It is
made of a thread's number, its progress counter and the pc."""

    def __init__(self):
        super().__init__("pin", gdb.COMMAND_RUNNING, prefix=True)

    def invoke(self, arg, from_tty):
        if arg:
            raise gdb.GdbError(f"Undefined pin command: \"{plain(arg)}\".  Try \"help pin\".")
        gdb.execute("help pin")


# ---- the commands ----

PARTS = ()  # the build puts gdb/printers.py, gdb/slices.py, gdb/statements.py and the files of gdb/pin/ here (gdb/embed.py)

# Their classes. Empty here; the build puts those of gdb/pin.def in.
COMMANDS = ()


# ---- for expressions and front ends ----

class PinPosition(gdb.Function):
    """The position in the recording, a string.
Usage: $pin_position ()"""

    def __init__(self):
        super().__init__("pin_position")

    def invoke(self):
        return ask("when")["position"]


# ---- the begin of `drdebug debug` ----

def quietly(command):
    """GDB tells of every file that it gets from the recording; what else it says is shown."""
    noise = ("Reading ", "warning: File transfers from remote targets can be slow")
    try:
        shown = gdb.execute(command, to_string=True)
    except UnicodeDecodeError:  # it is done; a path may be any bytes, which GDB shows itself
        gdb.execute("frame")
        return
    for line in shown.splitlines(keepends=True):
        if not line.startswith(noise):
            say(line.rstrip("\n"))


def run_to_main():
    try:
        gdb.decode_line("main")
    except gdb.error:
        say("There is no function main, so this is the program's first instruction.")
        return
    if statements.load() and not statements.begins_at_main():
        say("The begin of main is left out, so this is the recording's begin.")
        return
    breakpoint_at_main = gdb.Breakpoint("main", temporary=True)
    quietly("continue")
    if breakpoint_at_main.is_valid() and ask("when")["at_end"]:
        breakpoint_at_main.delete()
        say("The recording ends before main.")


def start(where="main"):
    """Goes from the first instruction to where a session begins: `main`, `start` or `end`."""
    if where == "end":
        goto("end")
        if ended_by_signal(ask("when")):
            gdb.execute("reverse-continue")  # to the signal, as if it had just come
    elif where == "main":
        run_to_main()


def wait_for(server, path):
    """Until the stub listens at the socket; one that ends before has said why."""
    while not os.path.exists(path):
        if server.poll() is not None:
            raise gdb.GdbError("`drdebug serve' ended before it could be asked anything")
        time.sleep(0.005)


def attach(server, path):
    """A socket is there before it listens: a moment, or seconds where the machine is busy."""
    while True:
        try:
            quietly("target extended-remote " + path)
            return
        except gdb.error as error:
            if "refused" not in str(error) or server.poll() is not None:
                raise
            time.sleep(0.005)


class StepBack(gdb.Command):
    """The base of reverse-next and reverse-step. They do what GDB's own do, and tell the stub: GDB
    goes back by single instructions, and turns of a loop can be left out if it does not count them.
    On the wire that looks like `reverse-stepi 100'."""

    def __init__(self):
        super().__init__(f"reverse-{self.forwards}", gdb.COMMAND_RUNNING)

    def invoke(self, arg, from_tty):
        if gdb.parameter("exec-direction") == "reverse":
            raise gdb.GdbError(f"Already going backwards: `{self.forwards}' does it, until "
                               "`set exec-direction forward'.")
        if arg.strip() in ("", "1"):
            try:
                ask("lines")
            except gdb.GdbError:
                pass  # another target: there it is GDB's command
        try:
            gdb.execute("set exec-direction reverse")
            gdb.execute(f"{self.forwards} {arg}", from_tty)
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from None
        finally:
            if gdb.parameter("exec-direction") == "reverse":
                gdb.execute("set exec-direction forward")


class ReverseNext(StepBack):
    """Step program backward, past calls of functions: the opposite of `next'.
Usage: reverse-next [N]
With N, do it N times, or until the program stops for another reason."""

    forwards = "next"


class ReverseStep(StepBack):
    """Step program backward to the beginning of another source line: the opposite of `step'.
Usage: reverse-step [N]
With N, do it N times, or until the program stops for another reason."""

    forwards = "step"


class Run(gdb.Command):
    """Start debugged program; of a recording, go to its begin and on from there.
Usage: run [ARGS]
A recording has its own arguments: others are refused."""

    name = "run"

    def __init__(self):
        super().__init__(self.name, gdb.COMMAND_RUNNING, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        self.dont_repeat()
        try:
            if is_recording():
                self.check_arguments(arg or gdb.parameter("args"))
            self.prepare()
            if not is_recording():
                quietly(f"starti {arg}")  # GDB's own
            elif gdb.selected_inferior().pid:
                self.to_begin()
            else:  # it was killed
                gdb.execute("starti", to_string=True)
            gdb.execute("continue")
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from None

    def prepare(self):
        pass

    @staticmethod
    def check_arguments(text):
        """GDB's own `run' would end the process first, and ask then."""
        try:
            words = [os.fsencode(word).hex() for word in shlex.split(text)]
        except ValueError as error:
            raise gdb.GdbError(f"{plain(error)}.") from None
        if words and not ask("arguments " + " ".join(words))["recorded"]:
            raise gdb.GdbError("A recording has its own arguments: `set args' and `run' without any go to its begin.")

    @staticmethod
    def to_begin():
        """As GDB does it: what was counted is forgotten."""
        gdb.execute("set exec-direction forward")
        if ask("goto begin")["direction"] != "here":
            gdb.execute("with suppress-cli-notifications on -- reverse-continue", to_string=True)
            if ask("when").get("pending"):  # as in goto()
                gdb.execute("with suppress-cli-notifications on -- continue", to_string=True)
        for one in gdb.breakpoints():
            one.hit_count = 0
        for name in EXIT_VARIABLES.values():
            gdb.set_convenience_variable(name, None)


class Start(Run):
    """Start the debugged program, or a recording, stopping at the beginning of the main procedure.
Usage: start [ARGS]"""

    name = "start"

    def prepare(self):
        gdb.execute("tbreak main")


def replace_run():
    """`run' and `start', as soon as there is a recording; GDB's own are lost to other targets then."""
    if not hasattr(gdb, "drdebug_run"):
        gdb.drdebug_run = (Run(), Start())


def connect(server, where="main", live=False):
    """Connects to the stub that `server` starts, words as bytes; GDB quits if that fails. By a socket, since
    GDB looks at a pipe's standard error for every character that it reads: ten times as slow. A GDB that is
    confined makes no sockets: then `server` is a descriptor that leads to the stub."""
    try:
        check_architecture()
        be_patient()
        if isinstance(server, int):
            quietly(f"target extended-remote | cat <&{server} & cat >&{server}; kill $!")
            start(where)
            return
        gdb.events.new_objfile.connect(load_printers)
        with tempfile.TemporaryDirectory(prefix="drdebug.") as room:
            path = os.path.join(room, "gdb")
            here = [b"--once", b"--listen", b"unix:" + os.fsencode(path)]
            process = start_live([*server[:2], *here, *server[2:]]) if live else start_stub([*server, *here])
            wait_for(process, path)
            attach(process, path)
        start(where)
    except (gdb.error, gdb.GdbError, OSError) as error:
        gdb.write(f"drdebug: {plain_lines(error)}\n", gdb.STDERR)
        gdb.execute("quit 1")


def start_stub(words):
    """A session of its own: Ctrl-C is GDB's to pass on."""
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)


def start_live(words):
    """A process group of its own. The stub gives the terminal to its program while that runs."""
    return subprocess.Popen(words, preexec_fn=os.setpgrp)


def check_architecture():
    if "i386:x86-64" not in gdb.architecture_names():
        raise gdb.GdbError("this GDB cannot debug x86-64 programs")


def install():
    """The commands, and the history; once, even if this file is loaded again."""
    for command in (Pin, *COMMANDS, MiResult, MiPlace, PinPosition, RefuseRecord, RefuseChildren, ReverseNext, ReverseStep):
        command()
    if hasattr(gdb, "drdebug_on_stop"):
        gdb.events.stop.disconnect(gdb.drdebug_on_stop)
        gdb.events.breakpoint_created.disconnect(gdb.drdebug_forks.on_created)
        gdb.events.breakpoint_deleted.disconnect(gdb.drdebug_forks.tell)
    gdb.drdebug_on_stop, gdb.drdebug_forks = history.on_stop, forks
    gdb.events.stop.connect(history.on_stop)
    gdb.events.breakpoint_created.connect(forks.on_created)
    gdb.events.breakpoint_deleted.connect(forks.tell)
    gdb.drdebug_tell_thread, gdb.drdebug_change_terminal = tell_thread, change_terminal
    hook("record", "maintenance drdebug-refuse-record")
    for setting in Forks.SETTINGS:
        hook(f"set {setting}", f"maintenance drdebug-refuse-children {setting}")
    hook("set inferior-tty", "python gdb.drdebug_change_terminal()", when="hookpost")
    for command in BACKWARDS:
        hook(command, "python gdb.drdebug_tell_thread()")


history, forks = History(), Forks()
install()
if __name__ == "__main__":
    check_architecture()
