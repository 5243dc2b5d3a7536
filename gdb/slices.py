"""slices.py - `pin slice', `pin why' and what goes with them: why a value is what it is.

SPDX-License-Identifier: MIT

The build puts this into drdebug.py (gdb/embed.py), whose names it uses: GDB loads a single file.
Slices are made by `drdebug slice', the same program that serves the recording. An expression is
given to it as it is, with the position, the thread and the frame in which it is meant: drdebug reads it.
"""

JSON_VERSION = 1  # cli/json.h
WHY_CAUSES = 5
SHOWN_LINES = 50
SAY_SO_AFTER_S = 1
NO_CAUSE = "Nothing that was executed made it: it was there from the begin."


# ---- drdebug itself ----

def run_drdebug(verb, *options, criterion=None):
    """What it prints. Ctrl-C ends it."""
    program, path = recording()
    words = [program, verb, *options, "--", path, *([criterion] if criterion else [])]
    what = "Slicing" if os.path.exists(os.path.join(path, b"trace")) and verb == "slice" else \
        "Collecting the trace of the whole recording, once"
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as child:
        try:
            out, err = wait_patiently(child, what)
        except BaseException:
            child.kill()
            raise
    if child.returncode:
        raise gdb.GdbError(complaint(err.decode(errors="replace"), child.returncode))
    return out.decode(errors="replace")


def wait_patiently(child, what):
    begin, said = time.monotonic(), False
    while True:
        try:
            return child.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            if not said and time.monotonic() - begin > SAY_SO_AFTER_S:
                said = True
                say(f"{what}... (Ctrl-C stops it)")
                gdb.flush()
        except KeyboardInterrupt:
            raise gdb.GdbError("Quit") from None


def complaint(text, status):
    lines = [re.sub(r"^drdebug: (?:(?:slice|trace): )?", "", plain(line)) for line in text.splitlines()]
    return "\n".join(line for line in lines if line) or f"`drdebug slice' ended with status {status}."


# ---- slices ----

class Slice:
    """What `drdebug slice --json` has said, and of what."""

    def __init__(self, label, result):
        self.label, self.to_label, self.result = label, "failure", result
        self.rows, self.edges, self.steps = result["lines"], result["edges"], result["steps"]
        self.forward = result["kind"] != "backward"
        self.recipe, self.prunes = None, []  # to make it again: criterion and options; [(what, words)]

    def row(self, row):
        """A line: where to go, what it says, how it came in and what flows."""
        edge = self.edges[row["edge"]] if "edge" in row else None
        what = plain(edge["what"] or "") if edge else ""
        if edge and edge["across_threads"]:
            who = f"by T{self.rows[edge['on']]['thread']}" if self.forward else \
                f"read by T{self.rows[edge['line']]['thread']}"
            what += f"{', ' if what else ''}{who}"
            what += f", {edge['race']}" if edge["race"] else ""
        text = plain(" ".join((row["text"] or "").split())) or (
            f"in {plain(row['function'])}" if row["file"] and row["function"] else plain(row["name"]))
        end = self.result["to"] if row.get("target") else self.result["criterion"]
        return {"position": row.get("first" if self.forward else "last") or end["position"],
                "thread": row["thread"], "file": row["file"], "line": row["line"] if row["file"] else None,
                "text": text, "kind": edge["kinds"][0] if edge else "criterion" if row["criterion"] else "",
                "what": what}

    def own_rows(self):
        own = [row for row in self.rows if row["own"] or row["criterion"] or row.get("target")]
        return own if any(row["own"] for row in self.rows) else self.rows

    def end(self, key, label):
        """The criterion, or the other one of a chop."""
        of = self.result[key]
        return {"thread": of["thread"], "position": of["position"], "file": of["file"],
                "line": of["line"] if of["file"] else None, "note": of["note"],
                "what": of["what"] if label == "failure" else label}

    def about(self):
        """All that `pin slice' shows, a dict."""
        own = self.own_rows()
        lines = {(row["file"], row["line"]) if row["file"] else row["name"] for row in own if row["instances"]}
        kept = self.result["prune"][:len(self.result["prune"]) - len(self.prunes)]
        return {"kind": self.result["kind"], "criterion": self.end("criterion", self.label),
                "to": self.end("to", self.to_label) if self.result["kind"] == "chop" else None,
                "instructions": self.result["instructions"], "total": self.result["total"],
                "threads": self.result["threads"], "executed_lines": len(lines), "lines": [self.row(row) for row in own],
                "others": len(self.rows) - len(own), "saves": self.result["pruned"],
                "pruned": [*kept, *(what for what, _ in self.prunes)]}

    def title(self):
        """For the list."""
        text = f"{self.label} at {self.result['criterion']['position']}"
        if self.result["kind"] == "chop":
            text += f" to {self.to_label} at {self.result['to']['position']}"
        pruned = f", without {', '.join(what for what, _ in self.prunes)}" if self.prunes else ""
        return ("forward: " if self.result["kind"] == "forward" else "") + text + pruned


# ---- a slice's dict as text ----

def place_text(row):
    return f"{plain(os.path.basename(row['file']))}:{row['line']}" if row["file"] else ""


def line_columns(row):
    """Where to go, line, text, kind, what flows."""
    text = row["text"] if len(row["text"]) <= 50 else row["text"][:47] + "..."
    return row["position"], place_text(row), text, row["kind"], row["what"]


def say_end(key, of):
    note = f", {plain(of['note'])}" if of["note"] else ""
    say(f"{key:9}  T{of['thread']} {place_text(of)}  {plain(of['what'])}{note}")


def say_slice(about, most=SHOWN_LINES):
    say_end("criterion", about["criterion"])
    if about["to"]:
        say_end("to", about["to"])
    title = {"backward": "slice", "forward": "forward", "chop": "chop"}[about["kind"]]
    say(f"{title:9}  {about['instructions']} of {about['total']} instructions, "
        f"{counted(about['executed_lines'], 'line')}, {counted(about['threads'], 'thread')}")
    if about["instructions"]:
        say_lines(about, most)
    else:
        say({"backward": NO_CAUSE, "forward": "Nothing depends on it.",
             "chop": "Nothing leads from the one to the other."}[about["kind"]])
    if about["pruned"]:
        say(f"pruned     {', '.join(map(plain, about['pruned']))}")


def say_lines(about, most):
    rows = about["lines"]
    say_columns([("", *line_columns(row)) for row in rows[:most]])
    if len(rows) > most:
        say(f"  ... {counted(len(rows) - most, 'more line')}; `pin list' with the number shows them")
    if about["others"]:
        say(f"libraries  {counted(about['others'], 'function')} that no line above called, such as the loader's")
    if about["saves"]:
        say(f"pruned     {counted(about['saves'], 'save/restore pair')}")


def counted(n, thing):
    return f"{n} {thing}" + ("" if n == 1 else "s")


class Slices:
    """Those of this session, by number; and which of them `pin slice-step' goes through."""

    def __init__(self):
        self.connection = None
        self.forget()

    def forget(self):
        self.made, self.current, self.number, self.window = {}, None, 0, ()
        self.only = []  # options of `drdebug slice'

    def check_connection(self):
        ask("when")
        if connection().num != self.connection:
            self.forget()
            self.connection = connection().num

    def make(self, label, criterion, *options):
        """One that is remembered as the current one."""
        self.check_connection()
        limits = () if "--show" in options else (*self.window, *self.only)
        text = run_drdebug("slice", "--json", "--steps", *limits, *options, criterion=criterion)
        try:
            told = json.loads(text)
            result = Slice(label, told)
        except (ValueError, KeyError):
            told = {}
        if told.get("version") != JSON_VERSION:
            raise gdb.GdbError("Bad answer of `drdebug slice': another version than drdebug.py?") from None
        result.recipe = criterion, options
        return result

    def remake(self, old, prunes):
        """The same slice, pruned by these: it takes the place of the old one."""
        criterion, options = old.recipe
        made = self.make(old.label, criterion, *options, *(word for _, words in prunes for word in ("--prune", words)))
        made.to_label, made.recipe, made.prunes = old.to_label, old.recipe, prunes
        for number, one in self.made.items():
            if one is old:
                self.made[number] = made
        self.current = made
        return made

    def remember(self, made):
        self.number += 1
        self.made[self.number], self.current = made, made
        return self.number

    def get(self, word):
        if not word.isdecimal() or int(word) not in self.made:
            raise gdb.GdbError(f"No slice number {plain(word)}.")
        return self.made[int(word)]

    # -- a walk through the current one --

    def order(self, step):
        """-1, 0 or 1: the step is before now, now, after now. The stub is told to go there, too."""
        answer = ask(f"goto {step['position']}")["direction"]
        return {"backward": -1, "here": 0, "forward": 1}[answer]

    def neighbour(self, direction):
        """The first step after now, or the last one before it; None: there is none."""
        steps, low = self.current.steps, 0
        high = len(steps)
        while low < high:  # low becomes the first that is after now, or now if we go back
            middle = (low + high) // 2
            after = self.order(steps[middle]) > (0 if direction > 0 else -1)
            low, high = (low, middle) if after else (middle + 1, high)
        place = low if direction > 0 else low - 1
        return place if 0 <= place < len(steps) else None

    def walk(self, direction):
        self.check_connection()
        if self.current is None:
            raise gdb.GdbError("No slice to go through: `pin slice' makes one.")
        when = ask("when")
        place = self.neighbour(direction)
        if place is None:
            if not when["at_end"]:
                ask(f"goto {when['position']}")  # nowhere: what order() has said is taken back
            raise gdb.GdbError(f"No statement of the slice is {'after' if direction > 0 else 'before'} this.")
        step = self.current.steps[place]
        goto(step["position"])
        row = self.current.row(self.current.rows[step["line"]])
        return {**row, "position": step["position"], "step": place + 1, "steps": len(self.current.steps)}


slices = Slices()


# ---- commands ----

def hidden_calls(frame):
    """GDB does not show inlined calls that begin where the innermost frame is; drdebug counts them."""
    pc, shown = frame.pc(), 1
    while frame.type() == gdb.INLINE_FRAME and frame.older():
        frame, shown = frame.older(), shown + 1
    try:
        block, there = gdb.block_for_pc(pc), 0
    except (gdb.error, RuntimeError):
        return 0
    while block:
        there += block.function is not None
        block = block.superblock
    return max(there - shown, 0)


def frame_number():
    """The selected frame's, 0 being the innermost. GDB makes up frames of calls that are over: tail calls."""
    frame, number = gdb.selected_frame(), 0
    if frame.type() == gdb.TAILCALL_FRAME:
        raise gdb.GdbError("This call was over before the next one began: nothing is left of its frame.")
    while frame.newer():
        frame = frame.newer()
        number += frame.type() != gdb.TAILCALL_FRAME
    return number + hidden_calls(frame)


def place_now():
    """Words for here: WHERE, the selected thread and the selected frame."""
    when = ask("when")
    if when.get("diverted"):
        raise gdb.GdbError("This is a copy of the program in a called function: `finish' that first.")
    thread, frame = gdb.selected_thread().ptid[1], frame_number()
    where = "end" if when["at_end"] else when["position"]
    if when["at_end"] or thread != when["thread"]:
        where += f" thread {thread}"
    return where + (f" frame {frame}" if frame else "")


def place_named(where):
    """A line's number alone is one of the file that is shown."""
    if not where.isdecimal():
        return where
    symtab = gdb.selected_frame().find_sal().symtab
    if symtab is None:
        raise gdb.GdbError(f"{where}: no source file here; say FILE:LINE.")
    return f"{os.path.basename(symtab.filename)}:{where}"


def find_criterion(command, arg):
    """[INSTANCE] [THREAD] WHAT [at WHERE]: WHAT, the criterion in drdebug's words, options."""
    parts = re.fullmatch(r"(?:(\d+)\s+(?=[%\w$]))?(?:T?(\d+)\s+(?=[%\w$]))?(.+?)"
                         r"(?:\s+at\s+([^*\s]\S*|\*\S+(?:\s+\*\S+)?))?", arg)
    command.check(parts)
    instance, thread, what, where = parts.groups()
    command.check(where or not (instance or thread))
    if where:
        options = [word for name, number in (("--instance", instance), ("--thread", thread)) if number
                   for word in (name, number)]
        return what, f"{what} at {place_named(where)}", options
    return what, f"{what} at {place_now()}", []


class PinSlice(PinCommand):
    """Say why a value is what it is: all that it depends on, across threads.
Usage: pin slice [INSTANCE] [THREAD] WHAT [at WHERE]

WHAT is an expression, %REGISTER, or 0xADDRESS BYTES. Of an expression, all
that it reads counts: for p->x that is p, too.
WHERE is FILE:LINE, LINE or FUNCTION (when that line is done), *START *END
(when these instructions are), or a position such as T2:48213:401136, and is
what the expression means there. Without, it is here and now, in the selected
frame and thread; of a frame that is not the innermost, registers are those of
its call. INSTANCE is the number of times that the line was reached, by default
the last; THREAD is a thread's number.
The first column is a position for `pin goto', of the last time if there are
several. `pin slice-back' and `pin slice-step' go through the slice, and `pin
list' shows it again. The first slice of a recording collects its trace."""

    name = "slice"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION
    options = ()

    def run(self, arg):
        self.check(arg)
        slices.check_connection()
        what, criterion, options = find_criterion(self, arg)
        made = slices.make(what, criterion, *self.options, *options)
        return {"number": slices.remember(made), **made.about()}

    def show(self, result):
        say(f"Slice {result['number']}")
        say_slice(result)


class PinBackwardSlice(PinSlice):
    """Say why a value is what it is: another name of `pin slice'.
Usage: pin backward-slice [INSTANCE] [THREAD] WHAT [at WHERE]"""

    name = "backward-slice"


class PinWhy(PinCommand):
    """Show the nearest causes of a value, or of the failure that ended the recording.
Usage: pin why [EXPRESSION]

Those that the value was made of come first, then those that say where it was.
`pin goto' goes to one. The slice is remembered as by `pin slice': what decided
that the lines were executed is not in it. Without an expression, at the end of
a recording or at a signal, it is about the failure."""

    name = "why"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        slices.check_connection()
        if not arg:
            when = ask("when")
            if not when["at_end"] and "signal" not in when:
                raise gdb.GdbError("Why what? Say `pin why EXPRESSION'; without one it is about the failure that "
                                   "ended the recording, at its end (`pin goto end').")
            return self.causes(slices.make("failure", None, "--at", "failure", edges) for edges in ("--thin", "--data"))
        where = place_now()
        return self.causes(slices.make(arg, f"{arg} at {where}", edges) for edges in ("--thin", "--data"))

    @staticmethod
    def causes(some):
        """Those of the first slice, and of the next only if these are too few."""
        causes, known = [], set()
        for made in some:
            rows = [row for row in made.own_rows() if not row["criterion"]]
            for row in rows:
                line = row["thread"], row["file"], row["line"], row["name"] if not row["file"] else ""
                if line not in known and len(causes) < WHY_CAUSES:
                    known.add(line)
                    causes.append(made.row(row))
            if len(causes) == WHY_CAUSES:
                break
        return {"number": slices.remember(made), "criterion": made.end("criterion", made.label), "causes": causes,
                "more": max(len(rows) - len(causes), 0)}

    def show(self, why):
        say_end("criterion", why["criterion"])
        if not why["causes"]:
            say(NO_CAUSE)
            return
        say_columns([(f"{n:>2}", *line_columns(cause)) for n, cause in enumerate(why["causes"], 1)])
        if why["more"]:
            say(f"    {counted(why['more'], 'more line')}: `pin list {why['number']}'")


class PinList(PinCommand):
    """List slices, or show one again.
Usage: pin list [N|NAME]

Those of this session have numbers; those kept by `drdebug slice -o NAME' have
names. The one that is shown is the one that `pin slice-step' goes through."""

    name = "list"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(slice_names(), word)

    def run(self, arg):
        self.check(len(arg.split()) <= 1)
        slices.check_connection()
        if arg in kept_slices():
            slices.current = slices.make(arg, None, "--show", arg)
            slices.current.label = slices.current.result["criterion"]["what"]
            return slices.current.about()
        if arg:
            slices.current = slices.get(arg)
            return slices.current.about()
        return {"slices": self.list_all()}

    @staticmethod
    def list_all():
        made = [{"name": str(n), "current": one is slices.current, "title": one.title(),
                 "size": f"{one.result['instructions']} of {one.result['total']} instructions"}
                for n, one in slices.made.items()]
        return made + [{"name": name, "current": False, "size": size, "title": title}
                       for name, (size, title) in kept_slices().items()]

    def show(self, result):
        if "slices" not in result:
            say_slice(result, most=1 << 30)
            return
        if not result["slices"]:
            say("No slices.")
        say_columns([("=>" if one["current"] else "", one["name"], one["size"], one["title"])
                     for one in result["slices"]])


def kept_slices():
    """{name: (size, criterion)} of those that are kept with the recording."""
    lines = run_drdebug("slice", "--list").splitlines()
    return {parts[0]: tuple(plain(part) for part in parts[1:])
            for parts in (line.split("  ", 2) for line in lines) if len(parts) == 3}


def slice_names():
    try:
        slices.check_connection()
        return [*map(str, slices.made), *kept_slices()]
    except gdb.GdbError:
        return []


class PinDelete(PinCommand):
    """Delete a slice.
Usage: pin delete N|NAME

N is one of this session; NAME one that `drdebug slice -o NAME' has kept: it is
deleted from the recording."""

    name = "delete"

    def complete(self, text, word):
        return matching(slice_names(), word)

    def run(self, arg):
        self.check(len(arg.split()) == 1)
        self.dont_repeat()
        slices.check_connection()
        if arg in kept_slices():
            run_drdebug("slice", "--delete", arg)
        else:
            if slices.get(arg) is slices.current:
                slices.current = None
            del slices.made[int(arg)]
        return {"deleted": arg}


class PinTrace(PinCommand):
    """Collect the trace that slices are made of, now.
Usage: pin trace [FROM..TO]

FROM and TO are positions; either may be left out. Slices then look at that part
of the recording only, until the next `pin trace'. Without them it is the whole
recording, whose trace is kept with it."""

    name = "trace"
    kind = gdb.COMMAND_DATA

    def run(self, arg):
        self.check(re.fullmatch(r"|(\S*)\.\.(\S*)", arg))
        slices.check_connection()
        window = ("--window", arg) if arg else ()
        said = run_drdebug("trace", *window)
        slices.window = window
        return {"trace": said.rstrip().rpartition("/")[2]}

    def show(self, result):
        say(plain(result["trace"]))


class PinOnly(PinCommand):
    """Limit slices to some threads, files or modules.
Usage: pin only [threads N[,N...]] [files GLOB...] [modules GLOB...]
       pin only all

Slices that are made from then on show lines of these only; what depends on what
stays the same, so a value that came through another file is still followed.
Files are those of debug information, modules the program and its libraries, both
by their names or paths. Alone it says what the limits are."""

    name = "only"
    kind = gdb.COMMAND_DATA
    WORDS = {"threads": "--only-thread", "files": "--only-file", "modules": "--only-module"}

    def complete(self, text, word):
        return matching(["all", *self.WORDS], word)

    def run(self, arg):
        slices.check_connection()
        words = gdb.string_to_argv(arg)
        if words == ["all"]:
            slices.only = []
        elif words:
            slices.only = self.options(words)
        names = {option: word for word, option in self.WORDS.items()}
        pairs = zip(slices.only[::2], slices.only[1::2])
        return {"only": [{"kind": names[option], "value": value} for option, value in pairs]}

    def show(self, result):
        limits = [f"{one['kind']} {plain(one['value'])}" for one in result["only"]]
        say(f"Slices show {', '.join(limits) or 'everything'}.")

    def options(self, words):
        found, option = [], None
        for word in words:
            if word in self.WORDS:
                self.check(option is None or option in found)  # a word without any
                option = self.WORDS[word]
                continue
            self.check(option and (option != "--only-thread" or re.fullmatch(r"\d+(,\d+)*", word)))
            found += [option, word]
        self.check(words[-1] not in self.WORDS)
        return found


class PinWalk(PinCommand):
    """The base of slice-step and slice-back."""

    def show(self, at):
        _, line, text, kind, what = line_columns(at)
        say(f"{at['step']} of {at['steps']}: T{at['thread']} {line}  {text}  {kind} {what}".rstrip())


class PinSliceStep(PinWalk):
    """Go on to the next statement of the slice.
Usage: pin slice-step

The slice is that of the last `pin slice' or `pin why', or the one that `pin
list' has shown. The program is then before the statement's first instruction
that is in the slice."""

    name = "slice-step"

    def run(self, arg):
        self.check(not arg)
        return slices.walk(1)


class PinSliceBack(PinWalk):
    """Go back to the statement of the slice before this one.
Usage: pin slice-back

See `pin slice-step'."""

    name = "slice-back"

    def run(self, arg):
        self.check(not arg)
        return slices.walk(-1)
