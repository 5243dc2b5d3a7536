"""goto.py - `pin goto'. SPDX-License-Identifier: MIT"""


class PinGoto(PinMove):
    """Go to another place of the recording.
Usage: pin goto POSITION|begin|end|+N|-N|#ROW

POSITION is one that `pin when' and others print, such as T2:48213:401136.
+N and -N go N ticks on or back; those of all threads count. #ROW is a row of
the last answer to `pin ask', `pin values' and their kind."""

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
        if re.fullmatch(r"#\d+", arg):
            arg = answered_position(int(arg[1:]))
        return self.moved(goto(arg))
