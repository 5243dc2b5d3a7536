"""output.py - `pin output'. SPDX-License-Identifier: MIT"""


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
