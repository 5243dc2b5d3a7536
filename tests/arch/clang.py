#!/usr/bin/env python3
"""clang.py - the second compiler finds nothing to warn of in the program's sources.

SPDX-License-Identifier: MIT

    clang.py TOP BUILD DIR

clang reads each source as BUILD/compile_commands.json has gcc compile it, but makes no code of it: it warns before that.
DRDEBUG_SOAK=1: it builds the program in DIR. Status: 0 clean, 1 not, 77 skipped.
"""
import concurrent.futures
import os
import shlex
import shutil
import subprocess
import sys

from lint import of_the_program, one_command_each

# Options of gcc's that clang does not know make no finding.
WORDS = ["clang", "-fsyntax-only", "-Werror", "-Wno-unknown-warning-option", "-Wno-unused-command-line-argument",
         "-Wno-ignored-optimization-argument"]
PIECE = 12  # sources that one process reads


def options_of(entry):
    """A command's options, without the files that it reads and writes."""
    words = shlex.split(entry["command"])
    words = words[next(n for n, word in enumerate(words) if word.startswith("-")):]  # after the compiler, or what launches it
    for word in ("-o", "-MT", "-MF"):
        if word in words:
            at = words.index(word)
            del words[at:at + 2]
    return tuple(word for word in words if word not in ("-c", "-MD", entry["file"]))


def syntax(options, folder, files):
    """What clang says about sources that have the same options, if anything. Its first pass reads them all in one process: most
    of a short source's time is clang's start."""
    driver = subprocess.run([*WORDS, "-###", *options, files[0]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False).stdout
    first = next(shlex.split(line) for line in driver.splitlines() if '"-cc1"' in line)
    one = first.index("-main-file-name")
    del first[one:one + 2]
    done = subprocess.run([*(word for word in first if word != files[0]), *files], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout or f"clang: status {done.returncode}: {files}" if done.returncode else ""


def syntax_of_all(top, build):
    chosen = one_command_each(top, build)
    entries = [entry for path, entry in sorted(chosen.items()) if of_the_program(top, path)]
    alike = {}
    for entry in entries:
        alike.setdefault((options_of(entry), entry["directory"]), []).append(entry["file"])
    pieces = [(*key, files[n:n + PIECE]) for key, files in alike.items() for n in range(0, len(files), PIECE)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [said for said in pool.map(lambda piece: syntax(*piece), pieces) if said]
    print(*found, f"{len(entries)} sources, {len(found)} pieces with findings", sep="\n")
    return 1 if found or not entries else 0


def build_all(top, folder):
    configured = subprocess.run(["cmake", "-S", top, "-B", folder, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang",
                                 "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"], check=False).returncode
    return configured or subprocess.run(["cmake", "--build", folder, "--target", "drdebug", "-j", "2"], check=False).returncode


def main():
    if not shutil.which("clang"):
        print("skipped: clang is not installed")
        return 77
    top, build, folder = (os.path.realpath(name) for name in sys.argv[1:4])
    return build_all(top, folder) if os.environ.get("DRDEBUG_SOAK") == "1" else syntax_of_all(top, build)


if __name__ == "__main__":
    sys.exit(main())
