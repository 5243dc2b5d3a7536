"""relog.py - `pin relog': a recording of a slice. SPDX-License-Identifier: MIT"""


class PinRelog(PinCommand):
    """Make a recording that replays only a slice.
Usage: pin relog DIR [NAME]

The slice is that of the last `pin slice' or `pin why', or the one that `pin
list' has shown; with NAME, one that `drdebug slice -o NAME' has kept. `drdebug
debug DIR' then steps through it."""

    name = "relog"
    completer = gdb.COMPLETE_FILENAME

    def run(self, arg):
        words = gdb.string_to_argv(arg)
        self.check(1 <= len(words) <= 2)
        self.dont_repeat()
        slices.check_connection()
        folder = os.path.abspath(os.path.expanduser(words[0]))
        if len(words) == 2:
            return {"said": self.make(folder, words[1])}
        if slices.current is None:
            raise gdb.GdbError("There is no slice: `pin slice' or `pin why' makes one.")
        criterion, options = slices.current.recipe
        if "--show" in options:
            return {"said": self.make(folder, options[options.index("--show") + 1])}
        return {"said": self.make_of(folder, criterion, options)}

    @staticmethod
    def make(folder, name):
        return run_drdebug("relog", "--slice", name, "-o", folder).strip()

    def make_of(self, folder, criterion, options):
        """By a name that is used for nothing else."""
        name = f"relog-{os.getpid()}"
        prunes = [word for _, words in slices.current.prunes for word in ("--prune", words)]
        run_drdebug("slice", *slices.window, *options, *prunes, "-o", name, words=(criterion,) if criterion else ())
        try:
            return self.make(folder, name)
        finally:
            run_drdebug("slice", "--delete", name)

    def show(self, result):
        say(result["said"])
