"""events.py - `pin events'. SPDX-License-Identifier: MIT"""

EVENT_KINDS = ["call", "signal", "thread", "output", "exec", "mark", "exit"]


class PinEvents(PinCommand):
    """List what happened: system calls, signals, threads, output, marks.
Usage: pin events [FILTER]

FILTER is call, signal, thread, output, exec, mark, exit; a system call's name
or number; file, net, memory, process, ipc, time or %signal for calls of a kind;
fd=3; errno=ENOENT or failed; or a path with * and ?. `drdebug ask events'
shows the same. An arrow marks what is next. What was not executed yet since
the recording was opened is not known: `pin goto end' executes all of it."""

    name = "events"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(EVENT_KINDS + sorted(SYSCALLS.values()), word)

    def run(self, arg):
        self.check(len(arg.split()) <= 1)
        now, events = ask("when")["events"], list(pages(f"events {self.filter(arg)}".rstrip()))
        following = next((event["number"] for event in events if event["number"] >= now), None)
        return {"events": [{**event, "next": event["number"] == following} for event in events]}

    def show(self, result):
        for event in result["events"]:
            mark = "=>" if event["next"] else ""
            say(f"{mark:2} {event['number']:>6}  {event['position']:<26}  {plain(event['about'])}")

    @staticmethod
    def filter(word):
        """A number would be taken for a limit."""
        return SYSCALLS.get(int(word), word) if word.isdecimal() else word
