"""walk.py - `pin slice-step' and `pin slice-back': a walk through a slice. SPDX-License-Identifier: MIT"""


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
