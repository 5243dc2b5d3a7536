"""prune.py - `pin prune'. SPDX-License-Identifier: MIT"""


def prune_words(what):
    """WHAT as `drdebug slice --prune' understands it: a name or an expression is what it means here."""
    if re.fullmatch(r"%\w+|0[xX][0-9a-fA-F]+(\s+\w+|\.\.0[xX][0-9a-fA-F]+)|\w+(::~?\w+)+", what):
        return what
    return f"{what} at {place_now()}"


class PinPrune(PinCommand):
    """Drop from the current slice all that only WHAT brought in.
Usage: pin prune [WHAT|--clear]

WHAT is a variable, an expression in memory, FUNCTION::VARIABLE, %REGISTER,
0xADDRESS BYTES or 0xFROM..0xTO: what it carries is not followed any more. A
variable of a function is pruned wherever the function's code uses it, in all
calls. The slice becomes smaller at once, and keeps its number; do it again to
prune more. Without WHAT, what was pruned is listed; --clear takes it all back."""

    name = "prune"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        self.dont_repeat()
        slices.check_connection()
        if slices.current is None:
            raise gdb.GdbError("No slice to prune: `pin slice' makes one.")
        old = slices.current
        if not arg:
            return {"prunes": [{"what": what, "where": words[len(what):].strip()} for what, words in old.prunes]}
        if arg.startswith("-"):
            self.check(arg == "--clear")
            prunes = []
        else:
            prunes = [*old.prunes, (arg, prune_words(arg))]
        return {**slices.remake(old, prunes).about(), "before": old.result["instructions"]}

    def show(self, result):
        if "prunes" in result:
            say_columns([(one["what"], one["where"]) for one in result["prunes"]])
            if not result["prunes"]:
                say("Nothing is pruned.")
            return
        say_slice(result)
        before = result["before"]
        say(f"before     {before} instructions" if result["instructions"] != before else
            "before     the same: nothing depended on it")
