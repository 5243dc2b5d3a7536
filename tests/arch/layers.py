#!/usr/bin/env python3
"""layers.py - who may include whom: the table of docs/architecture.md, "Who may know whom", checked.

SPDX-License-Identifier: MIT

A row of the table is one line: | `folder/` | what it is | inside or outside a target | `what/`, `it/may.h`, `include/` |
Its files may include their own folder's headers and what the last cell names: folders, single headers, or "-" for
nothing. Subfolders without a row of their own belong to the row above them. A source file may have a row, too: it says
what that file may include besides what its folder may. Nobody can include a source, so it may stand above its folder.
Includes are written from the project's top.
"""
import graphlib
import itertools
import pathlib
import posixpath
import re

import tree

PAGE = "docs/architecture.md"
HEADING = "## Who may know whom"
COLUMNS = ["Folder", "What", "Runs", "May include"]
NAME = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`$")

# Not part of the product: may look at anything, and at their neighbours by bare names.
FREE = ["tests", "bench", "demo"]

# Code that runs inside a target finds no libc there: it may include only what needs none.
FREESTANDING = re.compile(
    r"(std(arg|bool|def|int|align|atomic|noreturn)|limits|float|iso646|elf|cpuid|x86intrin|immintrin)\.h$"
    r"|(linux|asm|asm-generic|Zydis|Zycore)/"
)

# System headers that only one folder may include.
RESERVED = [(re.compile(r"(gtk|gdk|adwaita|gtksourceview)"), "gui/view")]

# Headers of memory that a stranger writes to. Nobody else may see its layout, not through another
# header either: what the supervisor reads of it passes through one file.
SEALED = {"debug/mailbox.h": ["debug/inbox.c", "debug/target", "replayer/target", "live/target"]}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def table_lines(page):
    """The lines of the first table below the heading."""
    section = page.partition(HEADING + "\n")[2].partition("\n## ")[0]
    begun = itertools.dropwhile(lambda line: not line.startswith("|"), section.splitlines())
    return itertools.takewhile(lambda line: line.startswith("|"), begun)


def names(cell):
    """The names in a cell, without their slashes, or None if the cell is not made of names."""
    if cell == "-":
        return []
    found = [NAME.match(part.strip()) for part in cell.split(",")]
    return [match.group(1).rstrip("/") for match in found] if all(found) else None


class Layers:
    """The table: for each row what it may include and whether it runs inside a target."""

    def __init__(self, page):
        self.rows, self.in_target, self.complaints = {}, set(), []
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table_lines(page)]
        if not lines or lines[0] != COLUMNS:
            self.complaints.append(f'{PAGE}: no table "{" | ".join(COLUMNS)}" below "{HEADING}"')
            return
        for cells in lines[2:]:
            self.add(cells)
        for row, entries in self.rows.items():
            if self.is_file(row):
                entries += self.rows.get(str(pathlib.PurePosixPath(row).parent), [])

    @staticmethod
    def is_file(name):
        return bool(pathlib.PurePosixPath(name).suffix)

    def add(self, cells):
        row = names(cells[0])
        entries = names(cells[-1])
        if len(cells) != len(COLUMNS) or not row or len(row) != 1 or entries is None:
            self.complaints.append(f"{PAGE}: a row that cannot be read: {' | '.join(cells)}")
        elif row[0] in self.rows:
            self.complaints.append(f"{PAGE}: {row[0]} has two rows")
        elif cells[2] not in ("inside", "outside"):
            self.complaints.append(f"{PAGE}: {row[0]} runs neither inside nor outside a target: {cells[2]}")
        else:
            self.rows[row[0]] = entries
            if cells[2] == "inside":
                self.in_target.add(row[0])

    def layer_of(self, path):
        """The longest row that the file is in, or None."""
        return max((row for row in self.rows if inside(path, row)), key=len, default=None)

    def allowed(self, layer, target):
        own = str(pathlib.PurePosixPath(layer).parent) if self.is_file(layer) else layer
        if self.layer_of(target) in (layer, own):
            return True
        return any(entry == target or inside(target, entry) for entry in self.rows[layer])

    def rows_below(self, row, entry):
        """The rows that an entry of a row opens. A folder inside another may see that one's header."""
        if self.is_file(entry) and inside(row, self.layer_of(entry) or entry):
            return []
        return [r for r in self.rows if r == self.layer_of(entry) or inside(r, entry) and not self.is_file(r)]

    def check(self):
        """Every entry names something that has a row, and no row leads back to itself."""
        complaints = self.complaints + [
            f"{PAGE}: {row} may include {entry}, which has no row"
            for row, entries in self.rows.items()
            for entry in entries
            if not any(inside(r, entry) or inside(entry, r) for r in self.rows)
        ]
        graph = {row: {r for entry in self.rows[row] for r in self.rows_below(row, entry)} for row in self.rows}
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            complaints.append(f"{PAGE}: a cycle: " + ", ".join(error.args[1]))
        return complaints


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


def check_file(path, files, layers):
    layer = layers.layer_of(path)
    if layer is None:
        return [f"{path}: its folder has no row in {PAGE}"]
    complaints = []
    for system, name in includes(files[path]):
        if system:
            complaints += [
                f"{path}: <{name}> belongs to {owner}"
                for pattern, owner in RESERVED
                if pattern.match(name) and not inside(path, owner)
            ]
        elif posixpath.normpath(name) != name or layers.layer_of(name) is None:
            complaints.append(f'{path}: "{name}" is not written from the project\'s top')
        elif not layers.allowed(layer, name):
            complaints.append(f'{path}: "{name}": {layer} may not include it')
    complaints += check_sealed(path, files)
    if layer in layers.in_target:
        for name, via in hosted_headers(path, files, set()):
            how = "" if via == path else f", through {via}"
            complaints.append(f"{path}: <{name}>{how}: code inside a target has no libc")
    return complaints


def check(project):
    layers = Layers(project.files.get(PAGE, ""))
    complaints = layers.check()
    for path, _ in project.sources():
        if pathlib.PurePosixPath(path).parts[0] not in FREE:
            complaints += check_file(path, project.files, layers)
    return complaints


HEAD = f"""# A page
{HEADING}
Words.

| Folder | What | Runs | May include |
|---|---|---|---|
"""

# A small project's table, in the order of the real one.
ROWS = """| `base/` | errors | outside | - |
| `engine/rt/` | a small libc | inside | `base/` |
| `engine/x86/` | instructions | inside | `base/`, `engine/rt/` |
| `engine/core/` | translation | inside | `base/`, `engine/rt/`, `engine/x86/` |
| `engine/os/` | system calls | inside | `base/`, `engine/rt/`, `engine/x86/`, `engine/core/` |
| `engine/core/dispatch.c` | the loop | inside | `engine/os/` |
| `engine/host/` | starts a target | outside | `base/`, `engine/rt/` |
| `pinball/` | recordings | outside | `base/` |
| `debug/` | the mailbox | outside | `base/` |
| `debug/target/` | stops | inside | `engine/`, `debug/mailbox.h` |
| `debug/gdbstub/` | the stub | outside | `base/`, `debug/debuggee.h` |
| `replayer/target/` | repeats the log | inside | `engine/`, `debug/mailbox.h`, `debug/target/` |
| `logger/` | the recorder | outside | `base/`, `pinball/`, `engine/` |
| `replayer/` | the supervisor | outside | `base/`, `pinball/`, `engine/`, `debug/` |
| `trace/` | traces | outside | `base/`, `pinball/`, `engine/x86/`, `replayer/replay.h` |
| `gui/` | the window | outside | `base/` |
| `cli/` | the verbs | outside | `base/`, `engine/host/`, `logger/`, `replayer/`, `trace/` |
"""


def project(files, rows=ROWS, head=HEAD):
    return {PAGE: head + rows + "\n| more | words |\n## Next\n| `else/` | no row | outside | - |\n"} | files


FIXTURES = [(name, project(files), expected) for name, files, expected in [
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
    ("the replayer from the stub", {
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
        "debug/target/post.c": '#include "debug/target/post.h"\n',
    }, None),
    ("a bare name", {"engine/core/cache.c": '#include "cache.h"\n'}, "from the project's top"),
    ("a way around", {"engine/core/cache.c": '#include "engine/rt/../host/launch.h"\n'}, "from the project's"),
    ("a folder without a row", {"misc/util.c": ""}, "has no row"),
    ("an engine file outside the parts", {"engine/util.c": ""}, "has no row"),
]] + [
    ("no page", {"base/err.c": ""}, "no table"),
    ("another table first", project({}, head=HEAD.replace("What", "Contents")), "no table"),
    ("no such heading", project({}, head=HEAD.replace(HEADING, "## Who knows")), "no table"),
    ("a name without its quotes", project({}, ROWS + "| `misc/` | | outside | base |\n"), "cannot be read: `misc/`"),
    ("words between the names", project({}, ROWS + "| `misc/` | | outside | `base/` and `cli/` |\n"), "cannot be read"),
    ("two folders in a row", project({}, ROWS + "| `misc/`, `more/` | | outside | `base/` |\n"), "cannot be read"),
    ("a row without a folder", project({}, ROWS + "| - | | outside | `base/` |\n"), "cannot be read"),
    ("a cell too few", project({}, ROWS + "| `misc/` | outside | `base/` |\n"), "cannot be read"),
    ("a cell too many", project({}, ROWS + "| `misc/` | | outside | `base/` | `cli/` |\n"), "cannot be read"),
    ("neither inside nor outside", project({}, ROWS + "| `misc/` | | both | `base/` |\n"), "misc runs neither"),
    ("two rows for a folder", project({}, ROWS + "| `trace/` | | outside | - |\n"), "trace has two rows"),
    ("an entry without a row", project({}, ROWS + "| `misc/` | | outside | `lost/` |\n"), "lost, which has no row"),
    ("a cycle", project({}, ROWS.replace("outside | - |", "outside | `cli/` |")), "a cycle"),
    ("a row in another section", project({"else/a.c": ""}), "else/a.c: its folder has no row"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
