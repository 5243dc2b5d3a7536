"""ask.py - `pin ask' and the questions that have a command of their own. SPDX-License-Identifier: MIT"""

# Those that are about an expression: it is meant here, in this frame.
ASK_HERE = ("values", "accesses", "heap")


class PinAsk(PinCommand):
    """Ask the recording a question.
Usage: pin ask QUESTION [ARGUMENT...] [--OPTION...]

The questions and options are those of `drdebug ask' (`pin ask help' lists
them), options last; an expression is meant as it is here. `pin goto #N' goes
to row N of the answer."""

    name = "ask"
    question = None
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        slices.check_connection()
        words = gdb.string_to_argv(arg)
        question = self.question or (words.pop(0) if words else None)
        self.check(question)
        if question == "help":
            return {"help": run_drdebug("help", words=("ask",), path=False)}
        first = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
        words, options = words[:first], words[first:]
        if question in ASK_HERE and words and "at" not in words:
            words = [*words, "at", *place_now().split()]
        if question == "locks" and not words and not ask("when")["at_end"]:
            words = ["at", ask("when")["position"]]
        text = run_drdebug("ask", "--json", *options, words=(question, *words))
        first, *rows, last = [json.loads(line) for line in text.splitlines()]
        if first["version"] != JSON_VERSION:
            raise gdb.GdbError("This drdebug.py and drdebug are of different versions.")
        answered[:] = rows
        return {"question": question, "columns": first["columns"], "rows": rows, "count": last["rows"],
                "complete": last["complete"], "notes": last["notes"]}

    def show(self, answer):
        if "help" in answer:
            say(answer["help"].rstrip())
            return
        if not answer["rows"]:
            say(str(answer["count"]) if answer["count"] else "Nothing.")
            return
        shown = [name for name in answer["columns"] if any(row[name] not in (None, False) for row in answer["rows"])]
        say_columns([("", *shown), *((f"#{row['row']}", *(cell_text(name, row[name]) for name in shown))
                                     for row in answer["rows"])])
        for note in answer["notes"]:
            say(plain(note))


def cell_text(name, cell):
    """A place is an object; a flag is the column's name."""
    if cell is None or cell is False:
        return ""
    if cell is True:
        return name
    text = plain(str(cell["text"] if isinstance(cell, dict) else cell))
    return text if len(text) <= 60 else text[:57] + "..."


class PinValues(PinAsk):
    """Show all values that something in memory had, and who wrote each.
Usage: pin values EXPRESSION [at WHERE] [--follow] [--OPTION...]

It is meant as it is here, if not said otherwise. `pin goto #N' goes to row N."""

    name = "values"
    question = name


class PinAccesses(PinAsk):
    """Show who read and wrote something in memory, with the values.
Usage: pin accesses EXPRESSION|0xADDRESS BYTES [at WHERE] [--reads|--writes]

It is meant as it is here, if not said otherwise. `pin goto #N' goes to row N."""

    name = "accesses"
    question = name


class PinWhyNot(PinAsk):
    """Show which branches kept a line from being executed, and why.
Usage: pin why-not FILE:LINE

`pin goto #N' goes to the last time that the branch of row N went elsewhere."""

    name = "why-not"
    question = name
    completer = gdb.COMPLETE_LOCATION


class PinCalls(PinAsk):
    """Show every execution of a function: when, by whom, with what, how long.
Usage: pin calls FUNCTION [--where COND] [--print EXPR,...]

FUNCTION is [MODULE!]NAME, with * and ?. `pin goto #N' goes to row N."""

    name = "calls"
    question = name


class PinLines(PinAsk):
    """Show every execution of a line, as if a printf had been there.
Usage: pin lines FILE:LINE [--print EXPR,...] [--where COND]

`pin goto #N' goes to row N."""

    name = "lines"
    question = name


class PinRaces(PinAsk):
    """Show all races, each pair of lines once.
Usage: pin races [--locksets]

`pin goto #N' goes to row N."""

    name = "races"
    question = name


class PinHeap(PinAsk):
    """Show the blocks of the heap, or the one that a pointer is in.
Usage: pin heap [POINTER]

`pin goto #N' goes to row N."""

    name = "heap"
    question = name


class PinErrors(PinAsk):
    """Show what was done wrong with memory: freed, behind its end, undefined.
Usage: pin errors [--OPTION...]

`pin goto #N' goes to row N."""

    name = "errors"
    question = name


class PinLeaks(PinAsk):
    """Show the blocks that nothing points to at the end.
Usage: pin leaks [--OPTION...]

`pin goto #N' goes to row N."""

    name = "leaks"
    question = name


class PinLocks(PinAsk):
    """Show who holds and waits for which lock here, and orders that could deadlock.
Usage: pin locks [at POSITION]

`pin goto #N' goes to row N."""

    name = "locks"
    question = name


class PinWaits(PinAsk):
    """Show what each thread waits for at the end.
Usage: pin waits

`pin goto #N' goes to row N."""

    name = "waits"
    question = name


class PinDiff(PinAsk):
    """Show where this recording and another one of the same program differ.
Usage: pin diff DIR [--OPTION...]

`pin goto #N' goes to where this one went its own way."""

    name = "diff"
    question = name
    completer = gdb.COMPLETE_FILENAME
