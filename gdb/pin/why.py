"""why.py - `pin why'. SPDX-License-Identifier: MIT"""

WHY_CAUSES = 5


class PinWhy(PinCommand):
    """Show the nearest causes of a value, or of the failure that ended the recording.
Usage: pin why [EXPRESSION]

Those that the value was made of come first, then those that say where it was.
`pin goto' goes to one. The slice is remembered as by `pin slice': what decided
that the lines were executed is not in it. Without an expression, at the end of
a recording or at a signal, it is about the failure."""

    name = "why"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        slices.check_connection()
        if not arg:
            when = ask("when")
            if not when["at_end"] and "signal" not in when:
                raise gdb.GdbError("Why what? Say `pin why EXPRESSION'; without one it is about the failure that "
                                   "ended the recording, at its end (`pin goto end').")
            return self.causes(slices.make("failure", None, "--at", "failure", edges) for edges in ("--thin", "--data"))
        where = place_now()
        return self.causes(slices.make(arg, f"{arg} at {where}", edges) for edges in ("--thin", "--data"))

    @staticmethod
    def causes(some):
        """Those of the first slice, and of the next only if these are too few."""
        causes, known = [], set()
        for made in some:
            rows = [row for row in made.own_rows() if not row["criterion"]]
            for row in rows:
                line = row["thread"], row["file"], row["line"], row["name"] if not row["file"] else ""
                if line not in known and len(causes) < WHY_CAUSES:
                    known.add(line)
                    causes.append(made.row(row))
            if len(causes) == WHY_CAUSES:
                break
        return {"number": slices.remember(made), "criterion": made.end("criterion", made.label), "causes": causes,
                "more": max(len(rows) - len(causes), 0)}

    def show(self, why):
        say_end("criterion", why["criterion"])
        if not why["causes"]:
            say(NO_CAUSE)
            return
        say_columns([(f"{n:>2}", *line_columns(cause)) for n, cause in enumerate(why["causes"], 1)])
        if why["more"]:
            say(f"    {counted(why['more'], 'more line')}: `pin list {why['number']}'")
