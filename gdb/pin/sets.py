"""sets.py - slices of output, sets of slices, and values that are right. SPDX-License-Identifier: MIT"""


class PinOutputSlice(PinSlice):
    """Say why the program wrote what it wrote: a slice of a line of its output.
Usage: pin output-slice PATTERN

The last line counts that has PATTERN in it; *, ? and [ make it a glob for the
whole line, and /PATTERN/ is a regular expression. `pin output' has the lines."""

    name = "output-slice"
    completer = gdb.COMPLETE_NONE

    def run(self, arg):
        self.check(arg)
        slices.check_connection()
        made = slices.make(f"output {arg}", None, "--of-output", arg)
        return {"number": slices.remember(made), **made.about()}


class PinCombine(PinSlice):
    """Combine two slices of this session into a new one.
Usage: pin combine N minus|common|plus M

N and M are their numbers (`pin list'). `minus' is what N has and M has not:
with a slice of a wrong value and one of a right value, what only the wrong one
depends on. `common' is what both have, `plus' what either has. Executed
instructions are compared, not lines."""

    name = "combine"
    completer = gdb.COMPLETE_NONE

    def run(self, arg):
        parts = re.fullmatch(r"(\d+)\s+(minus|common|plus)\s+(\d+)", arg)
        self.check(parts)
        slices.check_connection()
        first, how, other = slices.get(parts[1]), parts[2], slices.get(parts[3])
        if other.words is None or first.forward or other.forward:
            raise gdb.GdbError("Only slices of what a value depends on can be combined, and only with plain ones.")
        criterion, options = first.recipe
        made = slices.make(f"{first.label} {how} {other.label}", criterion, *options, f"--{how}", other.words)
        return {"number": slices.remember(made), **made.about()}


class PinCorrect(PinCommand):
    """Say that a value is right: the current slice loses what cannot be wrong then.
Usage: pin correct WHAT [at WHERE]

The words are those of `pin slice'. What another value would have made wrong
must be right, too, and what only such values depend on explains nothing. The
slice becomes smaller at once, and keeps its number; do it again with more."""

    name = "correct"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        self.check(arg)
        self.dont_repeat()
        slices.check_connection()
        old = slices.current
        if old is None or old.forward:
            raise gdb.GdbError("No slice of what a value depends on: `pin slice' makes one.")
        _, criterion, options = find_criterion(self, arg)
        return {**slices.remake(old, old.prunes, "--correct", self_contained(criterion, tuple(options))).about(),
                "before": old.result["instructions"]}

    def show(self, result):
        say_slice(result)
        say(f"before     {counted(result['before'], 'instruction')}")
