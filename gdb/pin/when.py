"""when.py - `pin when'. SPDX-License-Identifier: MIT"""


def instructions_before(when):
    """(executed by now, of the whole recording), if a trace that is kept with it tells."""
    try:
        program, path = recording()
    except gdb.GdbError:
        return None
    told = subprocess.run([program, "trace", "--number", when["position"], "--", path], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True)
    numbers = re.match(rb"(\d+) of (\d+) ", told.stdout)
    return tuple(map(int, numbers.groups())) if numbers else None


class PinWhen(PinCommand):
    """Show where in the recording this is.
Usage: pin when

The first line is the position, and what is executed next. How many
instructions were executed is known once there is a trace: `pin trace'.
$pin_position() is the position, too."""

    name = "when"
    kind = gdb.COMMAND_STATUS

    def run(self, arg):
        self.check(not arg)
        when = ask("when")
        executed, total = instructions_before(when) or (None, when.get("instructions"))
        return {**when, "location": location(when["pc"]), "executed": executed, "instructions": total}

    def show(self, when):
        say(f"{when['position']}  {when['location']}")
        say(f"thread {when['thread']} (tid {when['tid']}): {when['count']:,} ticks; "
            f"all threads: {when['ticks']:,} ticks, {when['events']:,} events")
        if when["at_begin"]:
            say("The recording begins here.")
        if when.get("alive"):
            say("The program is here, alive." if when["recorded"] else "The program is here, alive, and not recorded.")
        elif when["at_end"]:
            say("The recording ends here.")
        if when["executed"] is not None:
            say(f"all threads: {when['executed']:,} of {when['instructions']:,} instructions executed")
        elif when["instructions"]:
            say(f"the whole recording: {when['instructions']:,} instructions")
        if when.get("diverted"):
            say("Memory or registers were changed, in a copy that is dropped with the next move.")
