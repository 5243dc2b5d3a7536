"""tree.py - the project's source files, for the checks in this folder.

SPDX-License-Identifier: MIT

A check is a function from a Tree to a list of complaints. main() runs it on the project, or with
--selftest on its fixtures: small trees made of {path: text}, each with a word that the complaint about
it must hold, or with None where there must be none.
"""
import pathlib
import sys

SOURCES = {".c", ".h", ".S", ".cc", ".cpp", ".hpp", ".inc", ".def"}
TEXTS = {".md", ".py", ".sh", ".bash", ".1"}  # read, too, but no sources
SKIPPED = {".git", "build", "__pycache__"}


class Tree:
    """Maps paths relative to the top ("engine/core/cache.c") to texts."""

    def __init__(self, files, folders=None):
        self.files = files
        self.folders = folders or {
            str(parent) for path in files for parent in pathlib.PurePosixPath(path).parents
        }

    @classmethod
    def read(cls, top):
        files, folders = {}, set()
        for entry in walk(pathlib.Path(top)):
            path = entry.relative_to(top).as_posix()
            if entry.is_dir():
                folders.add(path)
            elif entry.suffix in SOURCES | TEXTS or entry.name == "CMakeLists.txt":
                files[path] = entry.read_text(errors="replace")
        return cls(files, folders)

    def sources(self):
        """Pairs (path, text), sorted."""
        return sorted((p, t) for p, t in self.files.items() if pathlib.PurePosixPath(p).suffix in SOURCES)


def walk(folder):
    for entry in sorted(folder.iterdir()):
        if entry.name in SKIPPED or entry.name.startswith("build-"):
            continue
        yield entry
        if entry.is_dir() and not entry.is_symlink():
            yield from walk(entry)


def selftest(check, fixtures):
    failures = []
    for name, files, expected in fixtures:
        complaints = check(Tree(files))
        if expected is None and complaints:
            failures.append(f"{name}: unexpected: {complaints[0]}")
        elif expected is not None and not any(expected in c for c in complaints):
            failures.append(f"{name}: no complaint with '{expected}', but {complaints}")
    return failures


def main(check, fixtures):
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} TOP | --selftest")
    if sys.argv[1] == "--selftest":
        complaints, count = selftest(check, fixtures), f"{len(fixtures)} fixtures"
    else:
        tree = Tree.read(sys.argv[1])
        complaints, count = check(tree), f"{len(tree.sources())} sources"
    for complaint in complaints:
        print(complaint)
    print(f"{count}, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)
