#!/usr/bin/env python3
"""frame.py - the top CMakeLists.txt stays short, and pages speak of folders and files that there are.

SPDX-License-Identifier: MIT

In a page, a folder is anything in backticks that ends in a slash, a file anything there that has a slash and ends like
one; a folder's README may name both from its own folder, and files there without a slash. Wherever else a page of docs/
is named, in comments for example, it must exist, too; and docs/README.md or docs/architecture.md names each page. Each folder
with sources has a README. CONTRIBUTING.md says "How to add" what with at most three files.
"""
import pathlib
import re

import tree

MAX_LINES = 100
MAX_FILES = 3
TOP_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
NO_README = ("tests/", "bench/")  # one for all of it
ENDS = r"\.(?:c|h|S|def|py|sh|md|bash|1)"
FOLDER = re.compile(r"`([^`\s]+)/`")
FILE = re.compile(rf"`([\w.-]+/[\w./-]*{ENDS})`")
OWN_FILE = re.compile(rf"`([\w./-]+{ENDS})`")
DOC = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.md\b")


def check_page(page, project):
    """Complaints about a page of the top or of docs/, whose names are written from the top."""
    text = project.files[page]
    return [f"{page}: {f}/ does not exist" for f in FOLDER.findall(text) if f not in project.folders] + [
        f"{page}: {f} does not exist" for f in FILE.findall(text) if f not in project.files
    ]


def check_readme(page, project):
    """Likewise about a folder's README, whose names are written from the folder or from the top."""
    text, folder = project.files[page], str(pathlib.PurePosixPath(page).parent)
    return [f"{page}: {f}/ does not exist" for f in FOLDER.findall(text)
            if not {f, f"{folder}/{f}"} & project.folders] + [
        f"{page}: {f} does not exist" for f in OWN_FILE.findall(text) if not {f, f"{folder}/{f}"} & set(project.files)
    ]


def check_folders(project):
    """Complaints about folders with sources and without a README."""
    folders = {str(pathlib.PurePosixPath(path).parent) for path, _ in project.sources()}
    return [f"{f}: has no README.md" for f in sorted(folders)
            if not f.startswith(NO_README) and f"{f}/README.md" not in project.files]


def check_index(project):
    """Complaints about pages of docs/ that its README does not name: those right in it, and those for developers, which
    architecture.md has."""
    complaints = []
    for page in sorted(p for p in project.files if p.startswith("docs/") and p.endswith(".md") and not p.endswith("README.md")):
        index = "docs/README.md" if page.count("/") == 1 else "docs/architecture.md"
        if f"`{page}`" not in project.files.get(index, ""):
            complaints.append(f"{index}: does not name {page}")
    return complaints


def check_additions(page, text):
    """What can be added: a row each, with its files in the second cell."""
    rows = re.findall(r"^\| (an? [^|]+|some[^|]+) \| ([^|]+) \|", text.partition("## How to add")[2], re.MULTILINE)
    complaints = [f"{page}: {what} needs {len(files)} files; {MAX_FILES} at most" for what, cell in rows
                  if len(files := set(FILE.findall(cell))) > MAX_FILES]
    return complaints if rows else [f"{page}: does not say how to add anything"]


def check(project):
    complaints = []
    lines = len(project.files.get("CMakeLists.txt", "").splitlines())
    if not 0 < lines < MAX_LINES:
        complaints.append(f"CMakeLists.txt: {lines} lines; there must be some, and fewer than {MAX_LINES}")
    if not FOLDER.search(project.files.get("README.md", "")):
        complaints.append("README.md: names no folder")
    complaints += check_folders(project)
    complaints += check_index(project)
    complaints += check_additions("CONTRIBUTING.md", project.files.get("CONTRIBUTING.md", ""))
    for page, text in sorted(project.files.items()):
        if page in TOP_PAGES or page.startswith("docs/") and page.endswith(".md"):
            complaints += check_page(page, project)
        elif page.endswith("/README.md"):
            complaints += check_readme(page, project)
        if not page.startswith("tests/arch/"):
            complaints += [f"{page}: {f} does not exist" for f in sorted(set(DOC.findall(text))) if f not in project.files]
    return complaints


GOOD = {"CMakeLists.txt": "x\n" * 99, "README.md": "see `base/`", "base/err.c": "/* docs/words.md */", "docs/words.md": "",
        "docs/README.md": "`docs/words.md`, `docs/architecture.md`", "docs/architecture.md": "`docs/in/b.md`", "docs/in/b.md": "",
        "CONTRIBUTING.md": "## How to add\n| What | Files |\n| an error | `base/err.c`, `base/sub/a.c` | |\n",
        "base/README.md": "`err.c`, `base/err.c`, `sub/`, `sub/a.c`", "base/sub/a.c": "",
        "base/sub/README.md": "`a.c`", "tests/unit/a.c": ""}
FOUR = "| a word | `base/err.c`, `base/sub/a.c`, `base/sub/b.c`, `base/sub/d.c` | |\n"

FIXTURES = [
    ("a good frame", GOOD, None),
    ("a long CMakeLists.txt", GOOD | {"CMakeLists.txt": "x\n" * 100}, "100 lines"),
    ("no CMakeLists.txt", GOOD | {"CMakeLists.txt": ""}, "0 lines"),
    ("a folder that is gone", GOOD | {"README.md": "`base/` and `util/`"}, "util/ does not exist"),
    ("a file that is gone", GOOD | {"CONTRIBUTING.md": "`base/err.c` and `base/log.c`"}, "base/log.c does not exist"),
    ("a file that is gone, in docs", GOOD | {"docs/in/a.md": "`base/log.c`"}, "docs/in/a.md: base/log.c does not exist"),
    ("a README's own file that is gone", GOOD | {"base/README.md": "`log.c`"}, "base/README.md: log.c does not exist"),
    ("a README's folder that is gone", GOOD | {"base/README.md": "`in/`"}, "base/README.md: in/ does not exist"),
    ("a page that is gone", GOOD | {"base/err.c": "/* docs/design.md, 3 */"}, "base/err.c: docs/design.md does not exist"),
    ("a page that is in no index", GOOD | {"docs/more.md": ""}, "docs/README.md: does not name docs/more.md"),
    ("an inner page that is in none", GOOD | {"docs/in/c.md": ""}, "docs/architecture.md: does not name docs/in/c.md"),
    ("a folder without a README", GOOD | {"base/in/b.c": ""}, "base/in: has no README.md"),
    ("too many files", GOOD | {"CONTRIBUTING.md": GOOD["CONTRIBUTING.md"] + FOUR}, "a word needs 4 files"),
    ("nothing to add", GOOD | {"CONTRIBUTING.md": "# Words\n"}, "how to add anything"),
    ("no folders", GOOD | {"README.md": "hello"}, "names no folder"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
