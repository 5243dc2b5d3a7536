"""list.py - `pin list' and `pin delete': the slices that there are. SPDX-License-Identifier: MIT"""


class PinList(PinCommand):
    """List slices, or show one again.
Usage: pin list [N|NAME]

In a recording that was made of a slice, without an argument: its statements
around here. Otherwise the slices that there are: those of this session have numbers; those kept by `drdebug slice -o NAME' have
names. The one that is shown is the one that `pin slice-step' goes through."""

    name = "list"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(slice_names(), word)

    def run(self, arg):
        self.check(len(arg.split()) <= 1)
        slices.check_connection()
        if not arg and statements.load():
            return {"statements": statements.around(10)}
        if arg in kept_slices():
            slices.current = slices.make(arg, None, "--show", arg)
            slices.current.label = slices.current.result["criterion"]["what"]
            return slices.current.about()
        if arg:
            slices.current = slices.get(arg)
            return slices.current.about()
        return {"slices": self.list_all()}

    @staticmethod
    def list_all():
        made = [{"name": str(n), "current": one is slices.current, "title": one.title(),
                 "size": f"{one.result['instructions']} of {one.result['total']} instructions"}
                for n, one in slices.made.items()]
        return made + [{"name": name, "current": False, "size": size, "title": title}
                       for name, (size, title) in kept_slices().items()]

    def show(self, result):
        if "statements" in result:
            say_columns([("=>" if one["current"] else "", one["position"], one["text"]) for one in result["statements"]])
            return
        if "slices" not in result:
            say_slice(result, most=1 << 30)
            return
        if not result["slices"]:
            say("No slices.")
        say_columns([("=>" if one["current"] else "", one["name"], one["size"], one["title"])
                     for one in result["slices"]])


def kept_slices():
    """{name: (size, criterion)} of those that are kept with the recording."""
    lines = run_drdebug("slice", "--list").splitlines()
    return {parts[0]: tuple(plain(part) for part in parts[1:])
            for parts in (line.split("  ", 2) for line in lines) if len(parts) == 3}


def slice_names():
    try:
        slices.check_connection()
        return [*map(str, slices.made), *kept_slices()]
    except gdb.GdbError:
        return []


class PinDelete(PinCommand):
    """Delete a slice.
Usage: pin delete N|NAME

N is one of this session; NAME one that `drdebug slice -o NAME' has kept: it is
deleted from the recording."""

    name = "delete"

    def complete(self, text, word):
        return matching(slice_names(), word)

    def run(self, arg):
        self.check(len(arg.split()) == 1)
        self.dont_repeat()
        slices.check_connection()
        if arg in kept_slices():
            run_drdebug("slice", "--delete", arg)
        else:
            if slices.get(arg) is slices.current:
                slices.current = None
            del slices.made[int(arg)]
        return {"deleted": arg}
