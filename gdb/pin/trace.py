"""trace.py - `pin trace'. SPDX-License-Identifier: MIT"""


class PinTrace(PinCommand):
    """Collect the trace that slices are made of, now.
Usage: pin trace [FROM..TO]

FROM and TO are positions; either may be left out. Slices then look at that part
of the recording only, until the next `pin trace'. Without them it is the whole
recording, whose trace is kept with it."""

    name = "trace"
    kind = gdb.COMMAND_DATA

    def run(self, arg):
        self.check(re.fullmatch(r"|(\S*)\.\.(\S*)", arg))
        slices.check_connection()
        window = ("--window", arg) if arg else ()
        said = run_drdebug("trace", *window)
        slices.window = window
        return {"trace": said.rstrip().rpartition("/")[2]}

    def show(self, result):
        say(plain(result["trace"]))
