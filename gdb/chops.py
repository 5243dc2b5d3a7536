"""chops.py - `pin forward-slice', `pin chop', `pin prune': other slices than those of slices.py, and smaller ones.

SPDX-License-Identifier: MIT

The build puts this behind slices.py (gdb/embed.py), whose names it uses.
"""


def prune_words(what):
    """WHAT as `drdebug slice --prune' understands it: a name or an expression is what it means here."""
    if re.fullmatch(r"%\w+|0[xX][0-9a-fA-F]+(\s+\w+|\.\.0[xX][0-9a-fA-F]+)|\w+(::~?\w+)+", what):
        return what
    return f"{what} at {place_now()}"


class PinForwardSlice(PinSlice):
    """Say what a value led to: all that depends on it, across threads.
Usage: pin forward-slice [INSTANCE] [THREAD] WHAT [at WHERE]

The words are those of `pin slice'. Of an expression its value counts, not the
pointers that lead to it. The nearest lines come first; the first column is
the position of the first time."""

    name = "forward-slice"
    options = ("--forward",)


class PinChop(PinSlice):
    """Say how one value led to another: all that depends on the first and that the second depends on.
Usage: pin chop WHAT [at WHERE] to failure|WHAT [at WHERE]

The words are those of `pin slice'. Where one has no WHERE it is here and now;
`failure' is how the recording ended."""

    name = "chop"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        parts = re.fullmatch(r"(.+?)\s+to\s+(.+)", arg)
        self.check(parts)
        slices.check_connection()
        label, criterion, options = find_criterion(self, parts[1])
        if parts[2] == "failure":
            to = to_label = "failure"
        else:
            to_label, to, _ = find_criterion(self, parts[2])
        made = slices.make(label, criterion, "--to", to, *options)
        made.to_label = to_label
        return {"number": slices.remember(made), **made.about()}


class PinPrune(PinCommand):
    """Drop from the current slice all that only WHAT brought in.
Usage: pin prune [WHAT|--clear]

WHAT is a variable, an expression in memory, FUNCTION::VARIABLE, %REGISTER,
0xADDRESS BYTES or 0xFROM..0xTO: what it carries is not followed any more. A
variable of a function is pruned wherever the function's code uses it, in all
calls. The slice becomes smaller at once, and keeps its number; do it again to
prune more. Without WHAT, what was pruned is listed; --clear takes it all back."""

    name = "prune"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        self.dont_repeat()
        slices.check_connection()
        if slices.current is None:
            raise gdb.GdbError("No slice to prune: `pin slice' makes one.")
        old = slices.current
        if not arg:
            return {"prunes": [{"what": what, "where": words[len(what):].strip()} for what, words in old.prunes]}
        if arg.startswith("-"):
            self.check(arg == "--clear")
            prunes = []
        else:
            prunes = [*old.prunes, (arg, prune_words(arg))]
        return {**slices.remake(old, prunes).about(), "before": old.result["instructions"]}

    def show(self, result):
        if "prunes" in result:
            say_columns([(one["what"], one["where"]) for one in result["prunes"]])
            if not result["prunes"]:
                say("Nothing is pruned.")
            return
        say_slice(result)
        before = result["before"]
        say(f"before     {before} instructions" if result["instructions"] != before else
            "before     the same: nothing depended on it")
