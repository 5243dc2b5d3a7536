"""last.py - `pin last'. SPDX-License-Identifier: MIT"""


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
