"""places.py - `pin when', `pin goto', `pin events' and what goes with them: places of a recording.

SPDX-License-Identifier: MIT

The build puts this into drdebug.py (gdb/embed.py), whose names it uses: GDB loads a single file.
"""


def recording():
    """(program, path), bytes: this drdebug and the pinball."""
    answer = ask("recording")
    program, path = (bytes.fromhex(answer[key]) for key in ("program", "path"))
    for name in (program, path):
        if not os.path.exists(name):
            raise gdb.GdbError(f"{plain(os.fsdecode(name))}: not here; slices need the recording on this machine.")
    return program, path


def instructions_before(when):
    """(executed by now, of the whole recording), if a trace that is kept with it tells."""
    try:
        program, path = recording()
    except gdb.GdbError:
        return None
    told = subprocess.run([program, "trace", "--number", when["position"], "--", path], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True)
    numbers = re.match(rb"(\d+) of (\d+) ", told.stdout)
    return tuple(map(int, numbers.groups())) if numbers else None


class PinWhen(PinCommand):
    """Show where in the recording this is.
Usage: pin when

The first line is the position, and what is executed next. How many
instructions were executed is known once there is a trace: `pin trace'.
$pin_position() is the position, too."""

    name = "when"
    kind = gdb.COMMAND_STATUS

    def run(self, arg):
        self.check(not arg)
        when = ask("when")
        executed, total = instructions_before(when) or (None, when.get("instructions"))
        return {**when, "location": location(when["pc"]), "executed": executed, "instructions": total}

    def show(self, when):
        say(f"{when['position']}  {when['location']}")
        say(f"thread {when['thread']} (tid {when['tid']}): {when['count']:,} ticks; "
            f"all threads: {when['ticks']:,} ticks, {when['events']:,} events")
        if when["at_begin"]:
            say("The recording begins here.")
        if when["at_end"]:
            say("The recording ends here.")
        if when["executed"] is not None:
            say(f"all threads: {when['executed']:,} of {when['instructions']:,} instructions executed")
        elif when["instructions"]:
            say(f"the whole recording: {when['instructions']:,} instructions")
        if when.get("diverted"):
            say("Memory or registers were changed, in a copy that is dropped with the next move.")


class PinMove(PinCommand):
    """The base of those that go somewhere. The result says where that is, and whether it was elsewhere."""

    def moved(self, went):
        return {"moved": went, "position": ask("when")["position"]}

    def show(self, result):
        if not result["moved"]:
            say("Already there.")


class PinGoto(PinMove):
    """Go to another place of the recording.
Usage: pin goto POSITION|begin|end|+N|-N

POSITION is one that `pin when' and others print, such as T2:48213:401136.
+N and -N go N ticks on or back; those of all threads count."""

    name = "goto"

    def complete(self, text, word):
        try:
            marks = [mark["position"] for mark in bookmarks()]
        except gdb.GdbError:
            marks = []
        done = len(text) - len(word)  # to GDB, a colon ends a word
        return [full[done:] for full in matching(["begin", "end", *dict.fromkeys(marks)], text)]

    def run(self, arg):
        self.check(len(arg.split()) == 1)
        return self.moved(goto(arg))


class PinCheckpoint(PinCommand):
    """Remember this place of the recording.
Usage: pin checkpoint [NOTE]

It is kept with the recording. `pin checkpoints' lists all, and `pin rollback'
goes to one."""

    name = "checkpoint"

    def run(self, arg):
        self.dont_repeat()
        when = ask("when")
        ask(f"bookmark {when['position']} {arg}".rstrip())
        return {"number": len(bookmarks()), "position": when["position"], "location": location(when["pc"])}

    def show(self, mark):
        say(f"Checkpoint {mark['number']} at {mark['position']}: {mark['location']}")


class PinCheckpoints(PinCommand):
    """List the places remembered by `pin checkpoint'.
Usage: pin checkpoints"""

    name = "checkpoints"
    kind = gdb.COMMAND_STATUS

    def run(self, arg):
        self.check(not arg)
        return {"checkpoints": [{"number": n, "position": mark["position"],
                                 "location": location(position_pc(mark["position"])), "note": mark["note"]}
                                for n, mark in enumerate(bookmarks(), 1)]}

    def show(self, result):
        marks = result["checkpoints"]
        if not marks:
            say("No checkpoints.")
        say_columns([(str(mark["number"]), mark["position"], mark["location"], plain(mark["note"]))
                     for mark in marks])


class PinRollback(PinMove):
    """Go to a place remembered by `pin checkpoint'.
Usage: pin rollback N

N is the checkpoint's number in `pin checkpoints'."""

    name = "rollback"

    def run(self, arg):
        self.check(arg.isdecimal())
        marks = bookmarks()
        if not 1 <= int(arg) <= len(marks):
            raise gdb.GdbError(f"No checkpoint number {arg}.")
        return self.moved(goto(marks[int(arg) - 1]["position"]))


class PinLast(PinCommand):
    """Go back to where a value was written last.
Usage: pin last EXPRESSION

EXPRESSION is something in memory: a variable, a member, *(int *) 0x404050.
The program then is just before the instruction that writes; the same command
again goes to the write before that one, and `pin back' returns."""

    name = "last"
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        self.check(arg)
        memory = Memory(arg)
        new = memory.text()
        position = ask(f"last {memory.start:#x} {memory.size}")["position"]
        if position is None:
            raise gdb.GdbError(f"{arg}: not written between the recording's begin and here.")
        goto(position)
        return {"expression": arg, "position": position, "location": location(position_pc(position)),
                "old": memory.text(), "new": new}

    def show(self, last):
        say(f"{last['expression']} is written here, {last['position']}: {last['location']}")
        say(f"  old value  {last['old']}")
        say(f"  new value  {last['new']}" + ("  (the same)" if last["new"] == last["old"] else ""))


class PinHistory(PinMove):
    """List the places where the program was stopped, or go to one.
Usage: pin history [back|forward]

`back' and `forward' go to the place before and after the one that is marked,
as `pin back' and `pin forward' do. Moving on from a place in the middle drops
those after it."""

    name = "history"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(["back", "forward"], word)

    def run(self, arg):
        self.check(arg in ("", "back", "forward"))
        ask("when")  # is this a recording at all?
        if arg:
            return self.moved(history.go(-1 if arg == "back" else 1))
        return {"places": history.list()}

    def show(self, result):
        if "places" not in result:
            super().show(result)
            return
        say_columns([("=>" if place["current"] else "", place["position"], place["location"])
                     for place in result["places"]])


class PinBack(PinMove):
    """Go to the place visited before this one.
Usage: pin back

See `pin history'."""

    name = "back"

    def run(self, arg):
        self.check(not arg)
        ask("when")
        return self.moved(history.go(-1))


class PinForward(PinMove):
    """Go to the place visited after this one, where `pin back' came from.
Usage: pin forward

See `pin history'."""

    name = "forward"

    def run(self, arg):
        self.check(not arg)
        ask("when")
        return self.moved(history.go(1))


EVENT_KINDS = ["call", "signal", "thread", "output", "exec", "exit"]


class PinEvents(PinCommand):
    """List what happened: system calls, signals, threads, output.
Usage: pin events [FILTER]

FILTER is call, signal, thread, output, exec, exit; a system call's name or
number; file, net, memory, process, ipc, time or %signal for calls of a kind;
fd=3; errno=ENOENT or failed; or a path with * and ?. `drdebug ask events'
shows the same. An arrow marks what is next. What was not executed yet since
the recording was opened is not known: `pin goto end' executes all of it."""

    name = "events"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(EVENT_KINDS + sorted(SYSCALLS.values()), word)

    def run(self, arg):
        self.check(len(arg.split()) <= 1)
        now, events = ask("when")["events"], list(pages(f"events {self.filter(arg)}".rstrip()))
        following = next((event["number"] for event in events if event["number"] >= now), None)
        return {"events": [{**event, "next": event["number"] == following} for event in events]}

    def show(self, result):
        for event in result["events"]:
            mark = "=>" if event["next"] else ""
            say(f"{mark:2} {event['number']:>6}  {event['position']:<26}  {plain(event['about'])}")

    @staticmethod
    def filter(word):
        """A number would be taken for a limit."""
        return SYSCALLS.get(int(word), word) if word.isdecimal() else word


class PinOutput(PinCommand):
    """Show what the program wrote to standard output and error, and where.
Usage: pin output

Each line comes with the position at which it was written, for `pin goto';
lines on standard error have a `!', those to /dev/tty a `t'. What was not
executed yet since the recording was opened is not known: `pin goto end'
executes all of it."""

    name = "output"
    kind = gdb.COMMAND_STATUS

    def run(self, arg):
        self.check(not arg)
        return {"lines": list(pages("output"))}

    def show(self, result):
        for line in result["lines"]:
            mark = {2: "!", 3: "t"}.get(line["fd"], "|")
            say(f"{line['position']:<26} {mark} {plain(line['text'].expandtabs())}")
