#!/usr/bin/env python3
"""remote_test.py GUI DRDEBUG SUBJECT SOURCE - a recording on another host, used as a person would.

SPDX-License-Identifier: MIT

A stand-in for ssh plays the hosts: it runs what it is told in an environment of its own, with another home, and writes down what
it was told."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import person
from person import check, wait

SSH = """#!/bin/sh
echo "$$ $*" >>"$ROOM/told"
while [ "$1" != -- ]; do
    case $1 in -o) case $2 in *=*) ;; *) exit 255 ;; esac; shift 2 ;; -S) shift 2 ;; -[Tx]) shift ;; *) exit 255 ;; esac
done
host=$2
shift 2
path=/usr/bin:/bin
case $host in
nowhere) echo 'ssh: Could not resolve hostname nowhere: Name or service not known' >&2; exit 255 ;;
old) path=$ROOM/old:$path ;;
noisy) path=$BUILD:$path; echo 'Welcome to noisy!' ;;
there) path=$BUILD:$path ;;
esac
cd "$ROOM/home"
exec env -i HOME="$ROOM/home" PATH="$path" /bin/sh -c "$*"
"""


def told(room):
    with open(os.path.join(room, "told"), encoding="utf-8") as file:
        return file.read()


def says_what_is_wrong_with_the_host(s):
    s.window = w = person.Window(s.gui)
    for host, words in (("nowhere", "Could not resolve hostname nowhere"), ("bare", "There is no drdebug on bare"),
                        ("old", r"old has drdebug 0\.0\.1, this machine drdebug \d"), ("noisy", "login shell of noisy prints.*Welcome"),
                        ("there", r"no\.pinball")):
        w.await_keyboard()
        w.key("ctrl+shift+n")
        w.find("text", "Open a Recording on Another Host")
        w.await_keyboard(dialog=True)
        w.type(f"{host}:no.pinball")
        w.key("Return")
        w.find("label", re.compile(words, re.S))
        w.press("OK")
        wait("the complaint goes", lambda: not list(w.all("label", re.compile(words, re.S))))


def opens_and_moves(s):
    w = s.window
    w.await_keyboard()
    w.key("ctrl+shift+n")
    w.find("text", "Open a Recording on Another Host")
    w.await_keyboard(dialog=True)
    w.type("there:race.pinball")
    w.key("Return")
    w.await_status(r"^T1 in main \(\) at racy_counter\.c:\d+")
    s.check_position()
    w.find("label", re.compile("on there$"))
    w.key("F10")
    w.await_status(r"main \(\) at racy_counter\.c:4[2-9]")
    s.check_position()
    check("'-i=mi3'" in told(s.room), "GDB was not started by ssh")
    check(re.search(r"head -c.*s/racy_counter\.c'$", told(s.room), re.M), "the source was not asked of the host")


def says_why(s):
    w = s.window
    w.key("ctrl+End")
    w.await_status(r"^T1 in main \(\) at racy_counter\.c:\d+, SIGABRT")
    w.key("ctrl+shift+w")
    w.find("table row", re.compile(r"^\d+ T\d+ racy_counter\.c:\d+ total = seen \+ 1"))
    s.check_position()


def interrupts_what_runs_there(s):
    w = s.window
    w.key("ctrl+F5")
    w.await_status(r"^T1 in main \(\)")
    w.gdb('break 32 if $_streq("a","b")', "Breakpoint")  # GDB looks at each of 8,000 times, and goes on
    w.key("F5")
    w.await_status("Running")
    w.key("Pause")
    w.await_status(r"^T\d+ in .*SIGINT")
    w.gdb("delete")
    s.check_position()


def survives_a_lost_connection(s):
    w = s.window
    before = s.check_position()
    lines = [line.split(None, 1) for line in told(s.room).splitlines()]
    keeper = max(int(pid) for pid, words in lines if "drdebug-link" in words)
    below = [pid for pid, _ in w.children()]
    os.kill(keeper, signal.SIGKILL)
    w.find("label", re.compile("The connection to there is lost"))
    wait("the end of what ran there", lambda: not any(person.is_alive(pid) for pid in below))
    w.click(w.find("push button", "Connect Again"))
    w.await_status(r"^T\d+ in ")
    wait("the same place", lambda: w.position() == before)
    check(s.check_position() == before, "it is elsewhere")


def leaves_nothing(s):
    w = s.window
    below = [pid for pid, _ in w.children()]
    check(below, "there was no ssh")
    s.close()
    wait("the end of all processes", lambda: not any(person.is_alive(pid) for pid in below))
    left = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("drdebug-gui-")]
    check(not left, f"left: {left}")


CASES = [says_what_is_wrong_with_the_host, opens_and_moves, says_why, interrupts_what_runs_there, survives_a_lost_connection,
         leaves_nothing]


def prepare(room, drdebug, source):
    """The host's home, with a program that was compiled and recorded there."""
    home, there = os.path.join(room, "home"), os.path.join(room, "home", "it's")
    for name in ("bin", "old", "tmp"):
        os.mkdir(os.path.join(room, name))
    os.makedirs(there)
    for name, text in (("bin/ssh", SSH), ("old/drdebug", "#!/bin/sh\necho drdebug 0.0.1\n")):
        with open(os.path.join(room, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(room, name), 0o755)
    shutil.copy(source, os.path.join(there, "racy_counter.c"))
    script = f"cd {shlex.quote(there)} && gcc -g -pthread racy_counter.c -o racy_counter && " \
             f"{shlex.quote(drdebug)} record -q --chaos --keep failed --retry 120s -o ../race.pinball -- ./racy_counter {' '.join(person.FEW)}"
    env = os.environ | {"HOME": home}
    subprocess.run(["sh", "-c", script], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    check(os.path.isdir(os.path.join(home, "race.pinball")), "no failure was recorded")
    os.environ.update(ROOM=room, BUILD=os.path.dirname(drdebug), PATH=f"{room}/bin:{os.environ['PATH']}", TMPDIR=f"{room}/tmp")
    tempfile.tempdir = f"{room}/tmp"
    return there


def main():
    gui, drdebug, _subject, source = map(os.path.abspath, sys.argv[1:5])
    with tempfile.TemporaryDirectory() as room:
        session = person.Session(gui, drdebug)
        session.room, session.there = room, prepare(room, drdebug, source)
        os.chdir(os.path.join(room, "tmp"))
        status = person.play(CASES, session)
    sys.exit(status)


main()
