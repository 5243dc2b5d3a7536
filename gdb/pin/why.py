"""why.py - `pin why'. SPDX-License-Identifier: MIT"""


class PinWhy(PinCommand):
    """Tell why a value is what it is, or why the recording ended with a failure.
Usage: pin why [EXPRESSION]

The story of a slice: its best rows, ten at the most, those first that say most
about the value. `pin goto' goes to one. The slice is remembered as by `pin
slice', and `pin list' has all of it. Without an expression, at the end of a
recording or at a signal, it is about the failure; of a program that hung, what
its threads wait for comes first. In a recording that `drdebug relog' made of a
slice, it is about what that slice is of."""

    name = "why"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        slices.check_connection()
        hang = {}
        if not arg and statements.load() and MADE_OF in kept_slices():
            made = slices.make(MADE_OF, None, "--show", MADE_OF)
            made.label = made.result["criterion"]["what"]
        elif not arg:
            when = ask("when")
            if not when["at_end"] and "signal" not in when:
                raise gdb.GdbError("Why what? Say `pin why EXPRESSION'; without one it is about the failure that "
                                   "ended the recording, at its end (`pin goto end').")
            hang = self.hang() if when["at_end"] else {}
            made = slices.make("failure", None, "--at", "failure")
        else:
            made = slices.make(arg, f"{arg} at {place_now()}")
        causes = made.story()
        return {**hang, "number": slices.remember(made), "criterion": made.end("criterion", made.label), "causes": causes,
                "findings": made.findings(),
                "more": max(len(made.own_rows()) - len(causes) - 1, 0)}

    @staticmethod
    def hang():
        """What `drdebug ask waits' tells; nothing of a program that did not hang."""
        *rows, last = [json.loads(line) for line in run_drdebug("ask", "--json", words=("waits",)).splitlines()]
        return {"hang": last["notes"][0], "waits": rows[1:]} if last["notes"] else {}

    def show(self, why):
        if "hang" in why:
            say(plain(why["hang"]))
            say_columns([(f"T{row['thread']}", cell_text("place", row["place"]), f"{row['kind']} {row['what'] or ''}".rstrip(),
                          row["story"] or "") for row in why["waits"]])
        say_end("criterion", why["criterion"])
        for found in why["findings"]:
            say(f"found      {found['position']}  {found['kind']}: {found['text']}")
        if not why["causes"]:
            say(NO_CAUSE)
            return
        say_columns([(f"{n:>2}", *line_columns(cause)) for n, cause in enumerate(why["causes"], 1)])
        if why["more"]:
            say(f"    {counted(why['more'], 'more line')}: `pin list {why['number']}'")
