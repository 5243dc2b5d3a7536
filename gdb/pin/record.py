"""record.py - `pin record' and `pin replay': parts of a living program's run. SPDX-License-Identifier: MIT"""


class PinRecord(PinCommand):
    """Begin or end the recording of a program that runs.
Usage: pin record [on|off]

`drdebug live' records a program from its start. Where it has stopped, `off' ends
that: what was recorded is a recording of its own from then on, and the program
runs on as fast as it can. `on' begins the next one right there: another
directory, NAME.2.pinball and so on. Alone it says whether the program is
recorded."""

    name = "record"

    def complete(self, text, word):
        return matching(["on", "off"], word)

    def run(self, arg):
        self.check(arg in ("", "on", "off"))
        told = ask(f"record {arg}".strip())
        return {**told, "path": os.fsdecode(bytes.fromhex(told["path"])), "asked": arg}

    def show(self, told):
        path, asked = plain(told["path"]), told["asked"]
        if told["later"]:
            say(f"Recording {'begins' if asked == 'on' else 'ends'} as soon as the program goes on.")
        elif told["on"]:
            say(f"{path}: recording begins here." if asked else f"The program is recorded: {path}")
        elif asked:
            say(f"{path}: recording ends here; `pin replay' goes back into it.")
        else:
            say("The program is not recorded.")


class PinReplay(PinMove):
    """Go into what was recorded last of a program that runs.
Usage: pin replay

After `pin record off' the program may have run on. This goes to the end of what
was recorded, and from there everything works as on a recording. Forwards out
of it GDB stops once where the program is, as `pin goto end' does."""

    name = "replay"

    def run(self, arg):
        self.check(not arg)
        if ask("record")["on"]:
            raise gdb.GdbError("The program is being recorded: it goes back from here, by reverse-continue and the like.")
        when = ask("when")
        if not when.get("alive") and not when["at_end"]:
            raise gdb.GdbError("This is in what was recorded already.")
        return self.moved(goto("recorded"))
