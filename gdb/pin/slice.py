"""slice.py - `pin slice' and its other direction. SPDX-License-Identifier: MIT"""


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
        say(f"again      pin list {result['number']}")


class PinBackwardSlice(PinSlice):
    """Say why a value is what it is: another name of `pin slice'.
Usage: pin backward-slice [INSTANCE] [THREAD] WHAT [at WHERE]"""

    name = "backward-slice"


class PinForwardSlice(PinSlice):
    """Say what a value led to: all that depends on it, across threads.
Usage: pin forward-slice [INSTANCE] [THREAD] WHAT [at WHERE]

The words are those of `pin slice'. Of an expression its value counts, not the
pointers that lead to it. The nearest lines come first; the first column is
the position of the first time."""

    name = "forward-slice"
    options = ("--forward",)
