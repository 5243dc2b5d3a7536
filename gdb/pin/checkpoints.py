"""checkpoints.py - `pin checkpoint', `pin checkpoints' and `pin rollback': places that are remembered. SPDX-License-Identifier: MIT"""


class PinCheckpoint(PinCommand):
    """Remember this place of the recording.
Usage: pin checkpoint [NOTE]

It is kept with the recording. `pin checkpoints' lists all, and `pin rollback'
goes to one."""

    name = "checkpoint"

    def run(self, arg):
        self.dont_repeat()
        when = ask("when")
        ask(f"bookmark {when['position']} {arg}".rstrip())
        return {"number": len(bookmarks()), "position": when["position"], "location": location(when["pc"])}

    def show(self, mark):
        say(f"Checkpoint {mark['number']} at {mark['position']}: {mark['location']}")


class PinCheckpoints(PinCommand):
    """List the places remembered by `pin checkpoint'.
Usage: pin checkpoints"""

    name = "checkpoints"
    kind = gdb.COMMAND_STATUS

    def run(self, arg):
        self.check(not arg)
        return {"checkpoints": [{"number": n, "position": mark["position"],
                                 "location": location(position_pc(mark["position"])), "note": mark["note"]}
                                for n, mark in enumerate(bookmarks(), 1)]}

    def show(self, result):
        marks = result["checkpoints"]
        if not marks:
            say("No checkpoints.")
        say_columns([(str(mark["number"]), mark["position"], mark["location"], plain(mark["note"]))
                     for mark in marks])


class PinRollback(PinMove):
    """Go to a place remembered by `pin checkpoint'.
Usage: pin rollback N

N is the checkpoint's number in `pin checkpoints'."""

    name = "rollback"

    def run(self, arg):
        self.check(arg.isdecimal())
        marks = bookmarks()
        if not 1 <= int(arg) <= len(marks):
            raise gdb.GdbError(f"No checkpoint number {arg}.")
        return self.moved(goto(marks[int(arg) - 1]["position"]))
