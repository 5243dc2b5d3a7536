#!/usr/bin/env python3
"""pictures.py GUI DRDEBUG SOURCE FOLDER - pictures of the window, light and dark, for the guide.

SPDX-License-Identifier: MIT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import person


def picture(path):
    time.sleep(1.2)  # what moves comes to rest
    subprocess.run(["import", "-window", "root", "-strip", "-dither", "None", "-colors", "96", path], check=True)


def take(gui, recording, folder, dark):
    suffix = "-dark" if dark else ""
    w = person.Window(gui, recording)
    w.await_status("in main")
    if dark:
        w.key("ctrl+alt+d")
    picture(f"{folder}/main{suffix}.png")
    w.key("ctrl+End")
    w.await_status("SIGABRT")
    w.key("ctrl+shift+w")
    w.find("table row", re.compile(r"total = seen \+ 1"))
    w.key("ctrl+plus")
    w.find("push button", re.compile(r"^Activate"))
    picture(f"{folder}/why{suffix}.png")
    w.show_pane("Output")
    w.click(w.find("page tab", "Threads"))
    w.click(w.find("push button", re.compile(r"^Activate T[2-9]")))
    w.await_status("in door")
    picture(f"{folder}/cause{suffix}.png")
    w.close()
    w = person.Window(gui)
    if dark:
        w.key("ctrl+alt+d")
    picture(f"{folder}/start{suffix}.png")
    w.key("ctrl+n")
    w.find("text", "Environment")
    picture(f"{folder}/program{suffix}.png")
    w.key("Escape")
    w.close()
    w = person.Window(gui, "--", "./racy_counter")
    w.await_status("in main")
    if dark:
        w.key("ctrl+alt+d")
    w.click(w.find("page tab", "Terminal"))
    w.key("F5")
    w.await_status("in main .*SIGABRT")
    picture(f"{folder}/live{suffix}.png")
    w.close()


def main():
    gui, drdebug, source, folder = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        shutil.copy(source, "racy_counter.c")  # its messages then have no folder of this machine
        subprocess.run(["gcc", "-g", "-pthread", "racy_counter.c", "-o", "racy_counter"], check=True)
        subprocess.run([drdebug, "record", "-q", "--chaos", "--keep", "failed", "--retry", "120s", "-o", "race.pinball", "--", "./racy_counter"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for dark in (False, True):
            take(gui, os.path.join(room, "race.pinball"), folder, dark)


main()
