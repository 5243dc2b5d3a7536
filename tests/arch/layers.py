#!/usr/bin/env python3
"""layers.py - who may include whom. The rule is docs/design.md's: dependencies point one way.

SPDX-License-Identifier: MIT

A row of LAYERS names a folder and what its files may include besides their own folder's: folders, or
single headers. Subfolders without a row of their own belong to the row above them. A source file may
have a row, too: nobody can include it, so it may stand above its folder. Includes are written from the
project's top.
"""
import graphlib
import pathlib
import posixpath
import re

import tree

LAYERS = {
    "base": [],
    # Inside the target. From the runtime's own small libc up.
    "engine/rt": ["base"],
    "engine/x86": ["base", "engine/rt"],
    "engine/core": ["base", "engine/rt", "engine/x86"],
    # Who runs, for how long; how the runtime gets into a process. What a turn or a start needs of the system is
    # known to their sources alone, so the system's part can use both.
    "engine/sched": ["base", "engine/rt", "engine/x86", "engine/core"],
    "engine/start": ["base", "engine/rt", "engine/x86", "engine/core"],
    "engine/os": ["base", "engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/start"],
    "engine/sched/baton.c": ["base", "engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/os"],
    "engine/sched/look.c": ["base", "engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/os"],
    "engine/start/exec.c": ["base", "engine/rt", "engine/core", "engine/sched", "engine/start", "engine/os"],
    "engine/start/start.c": ["base", "engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/start", "engine/os"],
    # The loop in which all parts of the runtime meet; and hashes, of the vector registers, too.
    "engine/core/dispatch.c": ["base", "engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/os", "engine/start"],
    "engine/core/session.c": ["base", "engine/rt", "engine/core", "engine/sched", "engine/os"],
    # The side that starts a target.
    "engine/host": ["base", "engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/os", "engine/start"],
    "pinball": ["base"],
    # Their other halves, inside the target.
    "logger/target": ["engine", "pinball/record.h", "pinball/ring.h"],
    "replayer/target": ["engine", "pinball/record.h", "pinball/record_state.h", "pinball/records.def",
                        "debug/event.h", "debug/flow.h", "debug/mailbox.h", "debug/messages.h", "debug/stop.h",
                        "debug/target"],
    # What stops a program and looks into it, alive or replayed.
    "debug": ["base", "pinball"],
    "debug/target": ["engine", "debug/flow.h", "debug/mailbox.h", "debug/messages.h", "debug/stop.h"],
    "debug/gdbstub": ["base", "debug/debuggee.h", "debug/event.h", "debug/program.h", "debug/stop.h"],
    "logger": ["base", "pinball", "engine"],
    "replayer": ["base", "pinball", "engine", "debug"],
    "source": ["base", "pinball", "engine/rt/types.h", "engine/x86", "debug/program.h"],
    "trace": ["base", "pinball", "engine/rt/types.h", "engine/x86", "engine/os/syscalls.def", "replayer/replay.h",
              "debug/flow.h", "debug/flow_note.h", "source/frame.h"],
    "study": ["base", "pinball", "replayer/replay.h", "source", "trace"],
    "facts": ["base", "pinball", "engine/x86", "source", "trace", "study"],
    "slicer": ["base", "pinball", "engine/rt/types.h", "engine/x86", "source", "trace", "study", "facts"],
    "relogger": ["base", "pinball", "engine", "replayer", "trace", "slicer"],
    "maple-bridge": ["base", "pinball", "engine", "logger", "facts"],
    # Speaks to child processes; reads slice files.
    "gui": ["base"],
    "cli": ["base", "pinball", "engine/host", "debug", "logger", "replayer", "source", "trace", "study", "facts", "slicer",
            "relogger", "maple-bridge"],
}

# Not part of the product: may look at anything, and at their neighbours by bare names.
FREE = ["tests", "bench", "demo"]

# Code that runs inside a target finds no libc there: it may include only what needs none.
IN_TARGET = ["engine/rt", "engine/x86", "engine/core", "engine/sched", "engine/os", "engine/start", "logger/target", "debug/target",
             "replayer/target"]
FREESTANDING = re.compile(
    r"(std(arg|bool|def|int|align|atomic|noreturn)|limits|float|iso646|elf|cpuid|x86intrin|immintrin)\.h$"
    r"|(linux|asm|asm-generic|Zydis|Zycore)/"
)

# System headers that only one folder may include.
RESERVED = [(re.compile(r"(gtk|gdk|adwaita|gtksourceview)"), "gui/view")]

# Headers of memory that a stranger writes to. Nobody else may see its layout, not through another
# header either: what the supervisor reads of it passes through one file.
SEALED = {"debug/mailbox.h": ["debug/inbox.c", "debug/target", "replayer/target"]}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer_of(path):
    """The longest row that the file is in, or None."""
    return max((row for row in LAYERS if inside(path, row)), key=len, default=None)


def allowed(layer, target):
    if layer_of(target) == layer:
        return True
    for entry in LAYERS[layer]:
        if entry == target or inside(target, entry) and not entry.endswith(".h"):
            return True
    return False


def includes(text):
    """Pairs (is a system header, name)."""
    return [(mark == "<", name) for mark, name in INCLUDE.findall(text)]


def hosted_headers(path, files, seen):
    """Pairs (header that needs a libc, file that includes it) for all that `path` pulls in."""
    for system, name in includes(files.get(path, "")):
        if system:
            if not FREESTANDING.match(name):
                yield name, path
        elif name not in seen:
            seen.add(name)
            yield from hosted_headers(name, files, seen)


def pulled_in(path, files, seen):
    """Pairs (header of the project, file that includes it) for all that `path` pulls in."""
    for system, name in includes(files.get(path, "")):
        if not system and name not in seen:
            seen.add(name)
            yield name, path
            yield from pulled_in(name, files, seen)


def check_sealed(path, files):
    complaints = []
    for name, via in pulled_in(path, files, set()):
        if path != name and not any(inside(path, user) for user in SEALED.get(name, [path])):
            how = "" if via == path else f", through {via}"
            complaints.append(f'{path}: "{name}"{how}: only for {" and ".join(SEALED[name])}')
    return complaints


def check_file(path, files):
    layer = layer_of(path)
    if layer is None:
        return [f"{path}: its folder has no row in tests/arch/layers.py"]
    complaints = []
    for system, name in includes(files[path]):
        if system:
            complaints += [
                f"{path}: <{name}> belongs to {owner}"
                for pattern, owner in RESERVED
                if pattern.match(name) and not inside(path, owner)
            ]
        elif posixpath.normpath(name) != name or layer_of(name) is None:
            complaints.append(f'{path}: "{name}" is not written from the project\'s top')
        elif not allowed(layer, name):
            complaints.append(f'{path}: "{name}": {layer} may not include it')
    complaints += check_sealed(path, files)
    if any(inside(path, folder) for folder in IN_TARGET):
        for name, via in hosted_headers(path, files, set()):
            how = "" if via == path else f", through {via}"
            complaints.append(f"{path}: <{name}>{how}: code inside a target has no libc")
    return complaints


def rows_below(row, entry):
    """The rows that an entry of a row opens. A folder inside another may see that one's header."""
    if entry.endswith(".h") and inside(row, layer_of(entry) or entry):
        return []
    return [r for r in LAYERS if r == layer_of(entry) or inside(r, entry) and not r.endswith(".c")]


def check_table():
    """Every entry names something that has a row, and no row leads back to itself."""
    complaints = [
        f"tests/arch/layers.py: {row} may include {entry}, which has no row"
        for row, entries in LAYERS.items()
        for entry in entries
        if not any(inside(r, entry) or inside(entry, r) for r in LAYERS)
    ]
    graph = {row: {r for entry in LAYERS[row] for r in rows_below(row, entry)} for row in LAYERS}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        complaints.append("tests/arch/layers.py: a cycle: " + ", ".join(error.args[1]))
    return complaints


def check(project):
    complaints = check_table()
    for path, _ in project.sources():
        top = pathlib.PurePosixPath(path).parts[0]
        if top not in FREE:
            complaints += check_file(path, project.files)
    return complaints


FIXTURES = [
    ("a clean tree", {
        "base/err.h": "#include <stddef.h>\n",
        "base/err.c": '#include "base/err.h"\n#include <stdio.h>\n',
        "engine/core/cache.c": '#include "engine/x86/insn.h"\n#include <linux/mman.h>\n#include "base/err.h"\n',
        "engine/core/dispatch.c": '#include "engine/core/cache.h"\n#include "engine/os/maps.h"\n',
        "engine/x86/insn.h": "#include <Zydis/Zydis.h>\n#include <stdint.h>\n#include <elf.h>\n",
        "debug/gdbstub/stub.c": '#include "debug/debuggee.h"\n#include <stdio.h>\n',
        "replayer/replay.c": '#include "replayer/timeline.h"\n#include "engine/core/engine.h"\n',
        "cli/run.c": '#include "engine/host/launch.h"\n',
        "gui/view/window.c": "#include <gtk/gtk.h>\n",
        "tests/insn/rng.c": '#include "rng.h"\n#include "engine/core/cache.h"\n',
    }, None),
    ("upwards", {"base/err.c": '#include "engine/rt/rt.h"\n'}, "base may not include"),
    ("upwards inside the engine", {"engine/x86/insn.c": '#include "engine/core/cache.h"\n'}, "may not"),
    ("upwards beside the loop", {"engine/core/cache.c": '#include "engine/os/maps.h"\n'}, "may not"),
    ("libc in the loop", {"engine/core/dispatch.c": "#include <string.h>\n"}, "no libc"),
    ("upwards out of the engine", {"engine/core/cache.c": '#include "pinball/evlog.h"\n'}, "may not"),
    ("pinball and engine", {"pinball/image.c": '#include "engine/os/maps.h"\n'}, "may not"),
    ("logger and replayer", {"logger/log.c": '#include "replayer/replay.h"\n'}, "may not"),
    ("replayer and logger", {"replayer/replay.c": '# include  "logger/log.h"\n'}, "may not"),
    ("the stub and the replayer", {
        "debug/gdbstub/stub.c": '#include "replayer/timeline.h"\n'}, "debug/gdbstub may not"),
    ("slicer behind the one header", {"trace/graph/cfg.c": '#include "replayer/timeline.h"\n'}, "may not"),
    ("gui and engine", {"gui/model/tree.c": '#include "engine/x86/insn.h"\n'}, "gui may not"),
    ("the engine's inside from a verb", {"cli/run.c": '#include "engine/core/cache.h"\n'}, "cli may not"),
    ("GTK in the model", {"gui/model/tree.c": "#include <gtk/gtk.h>\n"}, "belongs to gui/view"),
    ("libc inside the target", {"engine/core/cache.c": "#include <stdio.h>\n"}, "no libc"),
    ("libc in an entry file", {"engine/core/entry.S": "#include <sys/syscall.h>\n"}, "no libc"),
    ("libc by a detour", {
        "base/text.h": "#include <string.h>\n",
        "engine/rt/rt.h": '#include "base/text.h"\n',
        "engine/os/maps.c": '#include "engine/rt/rt.h"\n',
    }, "engine/os/maps.c: <string.h>, through base/text.h"),
    ("the mailbox read from elsewhere", {
        "replayer/replay.c": '#include "debug/mailbox.h"\n'}, "only for debug/inbox.c"),
    ("the mailbox by a detour", {
        "replayer/replay_int.h": '#include "debug/mailbox.h"\n',
        "replayer/timeline.c": '#include "replayer/replay_int.h"\n',
    }, "replayer/timeline.c: \"debug/mailbox.h\", through replayer/replay_int.h"),
    ("the mailbox from the one file and the target", {
        "debug/inbox.c": '#include "debug/mailbox.h"\n',
        "debug/target/post.h": '#include "debug/mailbox.h"\n',
        "replayer/target/play.c": '#include "debug/target/post.h"\n',
    }, None),
    ("a bare name", {"engine/core/cache.c": '#include "cache.h"\n'}, "from the project's top"),
    ("a way around", {"engine/core/cache.c": '#include "engine/rt/../host/launch.h"\n'}, "from the project's"),
    ("a folder without a row", {"misc/util.c": ""}, "has no row"),
    ("an engine file outside the parts", {"engine/util.c": ""}, "has no row"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
