"""events.py - `pin events'. SPDX-License-Identifier: MIT"""

EVENT_KINDS = ["call", "signal", "thread", "output", "exec", "exit"]


class PinEvents(PinCommand):
    """List what happened: system calls, signals, threads, output.
Usage: pin events [FILTER]

FILTER is call, signal, thread, output, exec, exit, or a system call's name or
number. An arrow marks what is next. What was not executed yet since the
recording was opened is not known: `pin goto end' executes all of it."""

    name = "events"
    kind = gdb.COMMAND_STATUS

    def complete(self, text, word):
        return matching(EVENT_KINDS + sorted(SYSCALLS.values()), word)

    def run(self, arg):
        self.check(len(arg.split()) <= 1)
        now, events = ask("when")["events"], list(pages(f"events {self.filter(arg)}".rstrip()))
        following = next((event["number"] for event in events if event["number"] >= now), None)
        return {"events": [{**event, "about": describe(event), "next": event["number"] == following}
                           for event in events]}

    def show(self, result):
        for event in result["events"]:
            mark = "=>" if event["next"] else ""
            say(f"{mark:2} {event['number']:>6}  {event['position']:<26}  {event['about']}")

    @staticmethod
    def filter(word):
        if word == "" or word in EVENT_KINDS:
            return word
        number = next((n for n, name in SYSCALLS.items() if name == word), word)
        if not str(number).isdecimal():
            raise gdb.GdbError(f"{plain(word)}: neither a kind of event nor a system call.")
        return f"call:{number}"


def describe(event):
    """An event in words: `openat = -1 ENOENT`, `SIGSEGV`."""
    kind = event["kind"]
    if kind == "call":
        name = SYSCALLS.get(event["call"], f"system call {event['call']}")
        return f"{name} = {describe_result(event['result'])}"
    if kind == "signal":
        return signal_name(event["signal"])
    if kind == "output":
        return f"output to {event['fd']}: {plain(event['text'].rstrip())}"
    return {"thread": "the thread begins", "exec": "another program begins",
            "exit": "the thread ends"}.get(kind, plain(kind))


def describe_result(result):
    if -4096 < result < 0:
        return "-1 " + errno.errorcode.get(-result, f"error {-result}")
    return str(result) if result < 1 << 32 else hex(result)
