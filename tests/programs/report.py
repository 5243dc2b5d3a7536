#!/usr/bin/env python3
"""report.py RESULTS FILE - docs/programs.md from what program_case.py --results has left.

SPDX-License-Identifier: MIT
"""
import json
import os
import platform
import statistics
import sys

import catalogue

HEAD = """# Programs

Written by `./dev soak programs`. Each row is a Debian program that was run natively, under `drdebug run`, recorded and
replayed, up to three times each. Run and record are good when status, outputs and the files left behind are the native
ones (where no two native runs are alike: the status, and what clients of a server were answered); replay is good when
it shows what was recorded and `drdebug verify` agrees. Numbers are medians of wall time, divided by native wall time.

Natively most of these end after a few hundredths of a second. What the ratio shows then is the start: a program is
translated as it first runs, and a recording keeps a copy of every file that it maps. Servers and windows mostly wait;
a replay does not wait.

"""


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown")
    usable, load = len(os.sched_getaffinity(0)), os.getloadavg()[2]
    text = f"Measured on {usable} of {os.cpu_count()} processors, {model}, Linux {platform.release().split('-')[0]}, " \
           f"Debian {debian()}."
    if load > usable:
        text += f" The machine had other work at the time (load average {load:.0f}), so small times are rough."
    return text


def means(results):
    """Of all ratios: run, record, replay."""
    text = []
    for stage in ("run", "record", "replay"):
        ratios = [r["seconds"][stage] / r["seconds"]["native"] for r in results if stage in r["seconds"]]
        text.append(f"{stage} {statistics.geometric_mean(ratios):.1f}")
    return ", ".join(text)


def debian():
    with open("/etc/debian_version", encoding="utf-8") as f:
        return f.read().strip()


def read(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            result = json.load(f)
            found[result["name"]] = result
    return found


def cell(result, stage):
    if stage in result["wrong"]:
        return "**fails**"
    seconds = result["seconds"]
    return f"{seconds[stage] / seconds['native']:.1f}" if stage in seconds else "-"


def plain(text):
    return " ".join(text.split()).replace("|", "\\|")


def row_text(row, result):
    what = plain(row.what)
    if not result:
        return f"| {row.name} | {row.package} | {what} | not run | | | |"
    cells = [cell(result, stage) for stage in ("run", "record", "replay")]
    return f"| {row.name} | {row.package} {result['version']} | {what} | {result['seconds']['native']:.2f} | {' | '.join(cells)} |"


def main():
    results, path = read(sys.argv[1]), sys.argv[2]
    rows = sorted(catalogue.ROWS, key=lambda r: r.name)
    run = [r for r in rows if r.name in results]
    bad = [r for r in run if results[r.name]["wrong"]]
    lines = [HEAD + machine(), "", f"{len(run)} programs were run, {len(run) - len(bad)} of them without a fault. Geometric "
             f"means: {means(results.values())}.", "",
             "| program | package | what was run | native, s | run | record | replay |", "|---|---|---|---|---|---|---|",
             *(row_text(r, results.get(r.name)) for r in rows)]
    if bad:
        lines += ["", "What fails:", ""]
        lines += [f"- {r.name}, {stage}: {plain(text)[:300]}" for r in bad for stage, text in results[r.name]["wrong"].items()]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    print(f"{path}: {len(run)} programs, {len(bad)} with faults")


if __name__ == "__main__":
    main()
