"""history.py - `pin history', `pin back' and `pin forward': places that were visited. SPDX-License-Identifier: MIT"""


class PinHistory(PinMove):
    """List the places where the program was stopped, or go to one.
Usage: pin history [back|forward]

`back' and `forward' go to the place before and after the one that is marked,
as `pin back' and `pin forward' do. Moving on from a place in the middle drops
those after it."""

    name = "history"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(["back", "forward"], word)

    def run(self, arg):
        self.check(arg in ("", "back", "forward"))
        ask("when")  # is this a recording at all?
        if arg:
            return self.moved(history.go(-1 if arg == "back" else 1))
        return {"places": history.list()}

    def show(self, result):
        if "places" not in result:
            super().show(result)
            return
        say_columns([("=>" if place["current"] else "", place["position"], place["location"])
                     for place in result["places"]])


class PinBack(PinMove):
    """Go to the place visited before this one.
Usage: pin back

See `pin history'."""

    name = "back"

    def run(self, arg):
        self.check(not arg)
        ask("when")
        return self.moved(history.go(-1))


class PinForward(PinMove):
    """Go to the place visited after this one, where `pin back' came from.
Usage: pin forward

See `pin history'."""

    name = "forward"

    def run(self, arg):
        self.check(not arg)
        ask("when")
        return self.moved(history.go(1))
