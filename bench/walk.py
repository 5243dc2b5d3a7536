"""walk.py - runs inside GDB: times the commands of a session on a recording, for bench/gdb.

SPDX-License-Identifier: MIT

The words of the session are in the environment: WALK_SERVE, the command that serves the recording; WALK_DO, what to
measure. Prints one line of JSON: a list of seconds for each measurement."""

import json
import os
import time

import gdb


def run(command):
    return gdb.execute(command, to_string=True)


def timed(command):
    start = time.monotonic()
    run(command)
    return time.monotonic() - start


def packet(text):
    reply = gdb.selected_inferior().connection.send_packet(b"qDrdebug," + text.encode())
    return json.loads(bytes.fromhex(reply.decode()))


def must_be(where):
    now = packet("when")
    if not now[where]:
        raise gdb.GdbError(f"{now['position']} is not {where}")


def connect():
    for setting in ("pagination off", "confirm off", "width 0", "breakpoint pending on"):
        run("set " + setting)
    run("set remotetimeout 100000")
    run("target extended-remote | " + os.environ["WALK_SERVE"])
    run("tbreak main")
    run("continue")


def to_end():
    """Seconds for `continue` to the end; other stops than the end are an error."""
    seconds = timed("continue")
    must_be("at_end")
    return seconds


def plain():
    return [to_end()]


def unhit():
    run("break never")
    return [to_end()]


def condition():
    run("break small_step if n == 123456789012345")
    return [to_end()]


def watch():
    """A watchpoint that is hit once, when all is done."""
    run("watch finished")
    seconds = timed("continue")
    if packet("when")["at_end"]:
        raise gdb.GdbError("the watchpoint was not hit")
    run("delete")
    return [seconds + to_end()]


def hits():
    """A watchpoint that is hit in each round, with a condition that GDB finds false."""
    run("watch rounds_done if rounds_done == -1")
    seconds = to_end()
    return [seconds, int(gdb.parse_and_eval("rounds_done"))]


def median(values):
    return sorted(values)[len(values) // 2]


def back():
    """After the whole recording was replayed."""
    forward = to_end()
    result = {"forward": forward}
    result["stepi"] = [timed("reverse-stepi") for _ in range(40)]
    run("tbreak round_done")
    result["to_break"] = timed("reverse-continue")
    run("reverse-finish")
    result["next"] = [timed("reverse-next") for _ in range(20)]
    result["stepi_mid"] = [timed("reverse-stepi") for _ in range(20)]
    run("delete")
    result["to_begin"] = timed("reverse-continue")
    must_be("at_begin")
    return result


def goto(where):
    direction = packet("goto " + where).get("direction")
    if direction == "here":
        return 0.0
    return timed("continue" if direction == "forward" else "reverse-continue")


def jump():
    """pin goto to places all over the recording: first cold, then with all of it replayed."""
    start = time.monotonic()
    goto("end")
    whole = time.monotonic() - start
    ticks = packet("when")["ticks"]
    places = []
    for part in (0.13, 0.77, 0.41, 0.92, 0.05, 0.66):
        goto("begin")
        goto("+%d" % int(ticks * part))
        places.append(packet("when")["position"])
        goto("begin")
    warm = []
    for place in places:
        warm.append(goto(place))
        goto("begin")
    return {"whole": whole, "warm": warm}


def cold():
    """pin goto end as the first thing: nothing was replayed before."""
    return [goto("end")]


connect()
print("WALK " + json.dumps(globals()[os.environ["WALK_DO"]]()))
