"""statements.py - a recording that leaves code out: steps go from one statement that it was made of to the next.

SPDX-License-Identifier: MIT

The build puts this into drdebug.py (gdb/embed.py), whose names it uses. `drdebug relog' made the recording, which lists
its statements; the stub tells of them. GDB's own step would run through what is left out, or stop in the middle of it. So step, next
and their kind are commands of ours as soon as there is such a recording, and go where `pin goto' does. GDB's reverse forms
execute the same commands by name, backwards.
"""

GOES_ON, IN_CALL = 1, 2
MADE_OF = "made-of"  # the slice that a recording was made of is kept with it by this name


class Statement:
    """One, or a piece of one: its thread, how many calls deep it is, where it begins and ends."""

    def __init__(self, row):
        self.thread, self.depth, self.how, count, pc, last_count, last_pc = row
        self.begin, self.end = (count, pc), (last_count, last_pc)

    def position(self):
        return f"T{self.thread}:{self.begin[0]}:{self.begin[1]:x}"

    def place(self):
        """Where to go to: behind a function's prologue, so that its arguments are there."""
        pc = self.begin[1]
        behind = body_of(pc)
        if behind and behind > pc and (self.begin[0], behind) <= self.end:
            pc = behind
        return f"T{self.thread}:{self.begin[0]}:{pc:x}"

    def is_prologue(self):
        """Nothing but a function's begin, where its arguments are not there yet: GDB's own steps do not stop there."""
        behind = body_of(self.begin[1])
        return behind is not None and behind > self.begin[1] and (self.begin[0], behind) > self.end

    def is_place(self, within=False):
        """Somewhere to stop; within: also where it goes on after a call."""
        return not self.how & IN_CALL and (within or not self.how & GOES_ON)


class Listed:
    """The list, of which the stub tells pages as they are needed: it may be long."""

    PAGE = 500

    def __init__(self):
        self.page = functools.lru_cache(maxsize=200)(self.ask)

    def ask(self, number):
        answer = ask(f"statements {self.PAGE} from {number * self.PAGE}")
        return [Statement(row) for row in answer["statements"]]

    def get(self, number):
        """None: there are fewer."""
        page = self.page(number // self.PAGE)
        return page[number % self.PAGE] if number % self.PAGE < len(page) else None

    def count(self):
        """Of all."""
        low, high = 0, 1  # there are more than low - 1, and no more than high, at last
        while self.get(high - 1):
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.get(middle) else (low, middle)
        return low


class Statements:
    """Those of the recording that GDB is connected to; none, if it leaves nothing out."""

    def __init__(self):
        self.connection, self.listed, self.total = None, None, 0
        self.places = None  # where statements begin, and how far one goes: pcs
        self.lines = None  # of these

    def load(self):
        """Once for each recording. True: there are some."""
        to = connection()
        if to is None:
            return False
        if to.num != self.connection:
            self.connection, self.listed = to.num, Listed()
            try:
                self.total = self.listed.count()
            except gdb.GdbError:
                self.total = 0  # an older stub, or another target
            self.places = self.lines = None
        return self.total > 0

    def get(self, number):
        return self.listed.get(number)

    def now(self):
        """(number, inside): of the last one that has begun, -1: none; and whether this is in it."""
        when = ask("when")
        if when["at_end"]:
            return self.total - 1, False
        _, count, pc = re.fullmatch(r"T(\d+):(\d+):([0-9a-f]+)", when["position"]).groups()
        number = ask(f"statements {when['position']}")["number"]
        if number is None:
            return -1, False
        return number, (int(count), int(pc, 16)) <= self.get(number).end

    def find(self, start, back, wanted):
        """The next one in this direction that is wanted, or None."""
        numbers = range(start - 1, -1, -1) if back else range(start + 1, self.total)
        return next((number for number in numbers if wanted(self.get(number)) and not self.get(number).is_prologue()), None)

    def around(self, most):
        """Those near here, for `pin list'."""
        now, _ = self.now()
        places = [number for number in range(max(0, now - 20 * most), min(self.total, now + 20 * most))
                  if self.get(number).is_place() or number == now]
        before = [number for number in places if number <= now][-most:]
        after = [number for number in places if number > now][:most]
        return [{"position": self.get(number).position(), "thread": self.get(number).thread,
                 "depth": self.get(number).depth, "current": number == now, "text": statement_text(self.get(number))}
                for number in before + after]

    def begins_at_main(self):
        """Is there a place where GDB would stop for a breakpoint at main?"""
        probe = gdb.Breakpoint("main", internal=True)
        mains = [place.address for place in probe.locations] if hasattr(probe, "locations") else []
        probe.delete()
        self.load_places()
        return any(first <= pc <= last for first, last in self.places for pc in mains)

    def load_places(self):
        if self.places is None:
            self.places = list(pages("statements places"))
            self.lines = {line_of(first) for first, _ in self.places}

    def holds(self, line):
        """Is code there kept? A statement is of one line; without lines it is one instruction."""
        self.load_places()
        return line in self.lines


statements = Statements()


@functools.lru_cache(maxsize=None)
def body_of(entry):
    """Where GDB stops for a breakpoint at the function that begins there; None: none does."""
    try:
        block = gdb.block_for_pc(entry)
        while block and not block.function:
            block = block.superblock
        if not block or block.start != entry:
            return None
        probe = gdb.Breakpoint(f'"{block.function.symtab.filename}":{block.function.name}', internal=True)
        try:
            return next((place.address for place in probe.locations if block.start <= place.address < block.end), None)
        finally:
            probe.delete()
    except (AttributeError, gdb.error, RuntimeError, UnicodeDecodeError):
        return None


def statement_text(one):
    """`work () at racy.c:18  total = seen + 1;'"""
    line = gdb.find_pc_line(one.begin[1])
    text = None
    if line.symtab:
        try:
            shown = gdb.execute(f"list {line.symtab.filename}:{line.line},{line.line}", to_string=True)
            text = shown.partition("\t")[2].strip()
            if text == f"in {line.symtab.filename}" or text.startswith(f"{line.symtab.filename}: "):
                text = None  # the source is not there
        except gdb.error:
            pass
    return location(one.begin[1]) + (f"  {plain(text)}" if text else "")


def go_with_stops(where):
    """As goto(), but breakpoints and watchpoints on the way stop."""
    if where in ("begin", "end"):
        gdb.execute("continue")
    elif ask(f"goto stops {where}")["direction"] != "here":
        try:
            gdb.execute("continue")
        finally:
            ask("goto none")
        refresh_libraries()


class StatementStep(gdb.Command):
    """The base of step, next and their kind, in a recording that leaves code out."""

    def __init__(self):
        super().__init__(self.name, gdb.COMMAND_RUNNING, self.completer)

    completer = gdb.COMPLETE_NONE
    takes = "count"

    def invoke(self, arg, from_tty):
        background = arg.rstrip().endswith("&")
        arg = arg.rstrip().removesuffix("&").strip()
        if not statements.load():
            raise gdb.GdbError(f"`{self.name}' was replaced for a recording that leaves code out; "
                               "another target needs another GDB.")
        back = gdb.parameter("exec-direction") == "reverse"
        times = self.times(arg) if self.takes == "count" else 1
        number, inside = statements.now()
        for _ in range(times):
            found = self.target(number, inside, back, arg)
            if found is None:
                break
            number, inside = found, True
        self.go(number if found is not None or times > 1 else None, back, background)

    @staticmethod
    def times(arg):
        try:
            return max(1, int(gdb.parse_and_eval(arg))) if arg else 1
        except gdb.error as error:
            raise gdb.GdbError(plain_lines(error)) from None

    def go(self, number, back, background):
        """To the statement; past the last one it is the recording's end, or its begin."""
        where = statements.get(number).place() if number is not None and number >= 0 else "begin" if back else "end"
        if not background and any(one.enabled and one.visible for one in gdb.breakpoints()):
            go_with_stops(where)
            return
        if not background:
            goto(where)
            return
        direction = ask(f"goto {where}")["direction"]
        if direction != "here":
            turned = gdb.parameter("exec-direction") == "reverse"
            gdb.execute("reverse-continue &" if direction == "backward" and not turned else "continue &")

    @staticmethod
    def depth(number):
        return statements.get(number).depth if number >= 0 else 0

    @staticmethod
    def thread(number):
        return statements.get(number).thread if number >= 0 else 0

    def begin_of(self, number, inside, back):
        """Backwards from the middle of a statement, or from behind it, it is its begin that comes first."""
        return number + 1 if back and number >= 0 and not (
            inside and ask("when")["position"] in (statements.get(number).position(), statements.get(number).place())) else number

    def target(self, number, inside, back, arg):
        thread, depth = self.thread(number), self.depth(number)
        return statements.find(self.begin_of(number, inside, back), back,
                               lambda one: one.is_place() and self.wants(one, thread, depth))


class KeptStep(StatementStep):
    """Go to the next statement that the recording was made of, in whichever thread.
Usage: step [N]
What was left out in between has been done, and is not seen."""

    name = "step"

    def wants(self, one, thread, depth):
        return True


class KeptNext(StatementStep):
    """Go to the next statement that the recording was made of, but not into what this one calls.
Usage: next [N]
It may be one of another thread."""

    name = "next"

    def wants(self, one, thread, depth):
        return one.thread != thread or one.depth <= depth


class KeptFinish(StatementStep):
    """Go on until the function returns: to the first statement that was kept of its callers.
Usage: finish"""

    name = "finish"
    takes = "nothing"

    def target(self, number, inside, back, arg):
        thread, depth = self.thread(number), self.depth(number)
        return statements.find(number, back, lambda one: one.is_place(within=not back) and one.thread == thread and
                               one.depth < depth)


class KeptAdvance(StatementStep):
    """Go on to the next statement at a location.
Usage: advance LOCATION"""

    name = "advance"
    completer = gdb.COMPLETE_LOCATION
    takes = "location"

    def target(self, number, inside, back, arg):
        if not arg:
            raise gdb.GdbError("Argument required (a location).")
        lines = [line for line in wanted_lines(arg) if statements.holds(line)]
        found = statements.find(number, back, lambda one: one.is_place(within=True) and line_of(one.begin[1]) in lines) if lines else None
        if found is None:
            raise gdb.GdbError(f"{plain(arg)}: no statement there was kept, from here on.")
        return found


class KeptUntil(KeptAdvance):
    """Go to the next statement that is not before this one in the source, so past a loop; or to a location.
Usage: until [LOCATION]"""

    name = "until"

    def target(self, number, inside, back, arg):
        if arg:
            return super().target(number, inside, back, arg)
        thread, depth = self.thread(number), self.depth(number)
        pc = statements.get(number).begin[1] if number >= 0 else 0
        return statements.find(number, back, lambda one: one.is_place() and (
            one.thread != thread or one.depth < depth or (one.depth == depth and one.begin[1] > pc)))


def line_of(pc):
    line = gdb.find_pc_line(pc)
    return (line.symtab.fullname(), line.line) if line.symtab else (None, pc)


def wanted_lines(text):
    try:
        _, found = gdb.decode_line(text)
    except gdb.error as error:
        raise gdb.GdbError(plain_lines(error)) from None
    return {(one.symtab.fullname(), one.line) if one.symtab else (None, one.pc) for one in found or ()}


def warn_of_breakpoint(one):
    """Of a breakpoint on code that is not kept: it is never hit."""
    if not is_recording() or not statements.load() or one.type not in (gdb.BP_BREAKPOINT, gdb.BP_HARDWARE_BREAKPOINT) or \
            not one.visible or one.temporary:
        return
    places = [place.address for place in one.locations] if hasattr(one, "locations") else \
        [found.pc for found in (gdb.decode_line(one.location)[1] or ())] if one.location else []
    if places and not any(statements.holds(line_of(pc)) for pc in places):
        say(f"Breakpoint {one.number}: this code is left out of the recording, so it is never hit.")


def replace_steps():
    """As soon as there is a recording that leaves code out."""
    if statements.load() and not hasattr(gdb, "drdebug_steps"):
        gdb.drdebug_steps = (KeptStep(), KeptNext(), KeptFinish(), KeptAdvance(), KeptUntil())
        gdb.events.breakpoint_created.connect(warn_of_breakpoint)
        gdb.events.new_objfile.connect(lambda event: body_of.cache_clear())
