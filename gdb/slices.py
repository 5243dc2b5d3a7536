"""slices.py - what `pin slice', `pin why' and their kind share: slices, how they are made and told of.

SPDX-License-Identifier: MIT

The build puts this into drdebug.py (gdb/embed.py), whose names it uses, before the commands: GDB loads a single file.
Slices are made by `drdebug slice', the same program that serves the recording. An expression is
given to it as it is, with the position, the thread and the frame in which it is meant: drdebug reads it.
"""

JSON_VERSION = 1  # cli/json.h
SHOWN_LINES = 50
SAY_SO_AFTER_S = 1
NO_CAUSE = "Nothing that was executed made it: it was there from the begin."


# ---- drdebug itself ----

def recording():
    """(program, path), bytes: this drdebug and the pinball."""
    answer = ask("recording")
    program, path = (bytes.fromhex(answer[key]) for key in ("program", "path"))
    for name in (program, path):
        if not os.path.exists(name):
            raise gdb.GdbError(f"{plain(os.fsdecode(name))}: not here; slices need the recording on this machine.")
    return program, path


def source_options():
    """Where GDB has been told to look for sources: `set substitute-path', `directory'."""
    rules = re.findall(r"`(.*?)' -> `(.*?)'", gdb.execute("show substitute-path", to_string=True))
    folders = [name for name in gdb.parameter("directories").split(":") if name and not name.startswith("$")]
    return [word for place in [*(f"{old}={new}" for old, new in rules), *folders][:16] for word in ("--source-dir", place)]


def run_drdebug(verb, *options, words=(), path=True):
    """What it prints. Ctrl-C ends it."""
    program, pinball = recording()
    options = [*options, *(source_options() if verb in ("slice", "ask") and "--list" not in options else ())]
    line = [program, verb, *options, "--", *([pinball] if path else []), *words]
    traced = os.path.exists(os.path.join(pinball, b"trace"))
    what = "Slicing" if verb == "slice" and traced else "Asking" if verb == "ask" and traced else \
        "Collecting the trace of the whole recording, once"
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
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
    lines = [re.sub(r"^drdebug: (?:(?:slice|trace|ask): )?", "", plain(line)) for line in text.splitlines()]
    return "\n".join(line for line in lines if line) or f"`drdebug slice' ended with status {status}."


# ---- slices ----

class Slice:
    """What `drdebug slice --json` has said, and of what."""

    def __init__(self, label, result):
        self.label, self.to_label, self.result = label, "failure", result
        self.rows, self.edges, self.steps = result["lines"], result["edges"], result["steps"]
        self.forward = result["kind"] != "backward"
        self.recipe, self.prunes = None, []  # to make it again: criterion and options; [(what, words)]
        self.words = None  # the criterion in words that mean the same everywhere; None: it has none

    def row(self, row):
        """A line: where to go, what it says, how it came in and what flows."""
        edge = self.edges[row["edge"]] if "edge" in row else None
        what = flowed(edge) if edge else ""
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

    def dependences(self, own):
        """What these lines depend on (forwards: what depends on them), for front ends: `of` counts the lines from 0."""
        place = {id(row): n for n, row in enumerate(own)}
        edges = [(edge, place.get(id(self.rows[edge["line"]])), self.rows[edge["on"]]) for edge in self.edges]
        return [{"of": of, "position": on.get("first" if self.forward else "last"), "thread": on["thread"],
                 "file": on["file"], "line": on["line"] if on["file"] else None,
                 "text": plain(" ".join((on["text"] or on["name"] or "").split())), "kind": edge["kinds"][0],
                 "what": flowed(edge), "race": edge["race"], "count": edge["count"]}
                for edge, of, on in edges if of is not None]

    def story(self):
        """The rows of the story that are not the criterion, as row() has them."""
        return [{**self.row(self.rows[told["line"]]), "kind": told["how"], "what": plain(told["words"]),
                 **({"position": told["position"]} if "position" in told else {})}
                for told in self.result.get("story", ()) if "cause_of" in told]

    def ranks(self):
        """id of a row of self.rows -> its place in the story, from 1."""
        told = [told["line"] for told in self.result.get("story", ()) if "cause_of" in told]
        return {id(self.rows[line]): n for n, line in enumerate(told, 1)}

    def findings(self):
        """What stands above the story, as texts, and what did not happen."""
        said = [{"kind": found["kind"], "text": plain(found["text"]), "position": found["position"]}
                for found in self.result.get("findings", ())]
        missed = [{"kind": row["how"], "text": f"T{row['thread']} {place_text(row)} {plain(row['words'])}", "position": row["position"]}
                  for row in self.result.get("missed", ())]
        return said + missed

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
        lines, ranks = [row for row in own if row["instances"]], self.ranks()
        kept = self.result["prune"][:len(self.result["prune"]) - len(self.prunes)]
        return {"kind": self.result["kind"], "criterion": self.end("criterion", self.label),
                "to": self.end("to", self.to_label) if self.result["kind"] == "chop" else None,
                "instructions": self.result["instructions"], "total": self.result["total"],
                "threads": self.result["threads"], "executed_lines": len(lines), "findings": self.findings(), "story": self.story(),
                "lines": [{**self.row(row), "rank": ranks.get(id(row))} for row in own],
                "dependences": self.dependences(own), "others": len(self.rows) - len(own), "saves": self.result["pruned"],
                "pruned": [*kept, *(what for what, _ in self.prunes)]}

    def title(self):
        """For the list."""
        text = f"{self.label} at {self.result['criterion']['position']}"
        if self.result["kind"] == "chop":
            text += f" to {self.to_label} at {self.result['to']['position']}"
        pruned = f", without {', '.join(what for what, _ in self.prunes)}" if self.prunes else ""
        return ("forward: " if self.result["kind"] == "forward" else "") + text + pruned


# ---- a slice's dict as text ----

def flowed(edge):
    """`total = 6440', as far as it is known."""
    what, value = plain(edge["what"] or ""), plain(edge.get("value") or "")
    return f"{what} = {value}" if what and value else what


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
        self.values = False  # a front end wants to know what flowed, too: that takes a replay
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
        limits = () if "--show" in options else (*self.window, *self.only, *(("--values",) if self.values else ()))
        text = run_drdebug("slice", "--json", "--steps", *limits, *options,
                           words=(criterion,) if criterion else ())
        try:
            told = json.loads(text)
            result = Slice(label, told)
        except (ValueError, KeyError):
            told = {}
        if told.get("version") != JSON_VERSION:
            raise gdb.GdbError("Bad answer of `drdebug slice': another version than drdebug.py?") from None
        result.recipe = criterion, options
        result.words = self_contained(criterion, options)
        return result

    def remake(self, old, prunes, *more):
        """The same slice, pruned by these, with more options: it takes the place of the old one."""
        criterion, options = old.recipe
        options = *options, *more
        made = self.make(old.label, criterion, *options, *(word for _, words in prunes for word in ("--prune", words)))
        made.to_label, made.recipe, made.prunes = old.to_label, (criterion, options), prunes
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


def self_contained(criterion, options):
    """The criterion with what options say of it; None: it is no plain one."""
    if "--at" in options:
        return "failure"
    said = dict(zip(options[::2], options[1::2])) if len(options) % 2 == 0 else {None: None}
    if criterion is None or not said.keys() <= {"--instance", "--thread"}:
        return None
    return criterion + "".join(f" {key[2:]} {said[key]}" for key in ("--thread", "--instance") if key in said)


slices = Slices()


# ---- what a slice is to be of ----

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


answered = []  # rows of the last answer to `pin ask' and its kind


def answered_position(number):
    """Where `pin goto #NUMBER' goes."""
    for row in answered:
        if row["row"] == number:
            for cell in row.values():  # the first moment in it
                if isinstance(cell, str) and re.fullmatch(r"(?:P\d+\.)?T\d+:\d+:[0-9a-f]+", cell):
                    return cell
            raise gdb.GdbError(f"Row {number} is not about a moment.")
    raise gdb.GdbError(f"The last answer has no row {number}.")


def place_now():
    """Words for here: WHERE, the selected thread and the selected frame."""
    when = ask("when")
    if when.get("diverted"):
        raise gdb.GdbError("This is a copy of the program in a called function: `finish' that first.")
    thread, frame = gdb.selected_thread().ptid[1], frame_number()
    last = when["at_end"] or when.get("alive")  # nothing is executed there yet
    where = "end" if last else when["position"]
    if last or thread != when["thread"]:
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
