#!/usr/bin/env python3
"""source_test.py --probe PROBE --top TOP --bin DIR CASE - source/ against other readers of debug information.

SPDX-License-Identifier: MIT

Programs are made by gcc and clang at several levels. What source/ says about them is compared with GDB
(breakpoints, lines, variables of a live run, locations), with addr2line (inlined calls), with readelf (call
frames), and with the markers in facts.c. Where a compiler or tool is missing, its part is skipped and named.
"""
import argparse
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FACTS = os.path.join(HERE, "facts.c")
SHOP = os.path.join(HERE, "shop.cc")
SOAK = bool(os.environ.get("DRDEBUG_SOAK"))
SKIP = 77
LEVELS = ["-O0", "-Og", "-O2"]
REGISTERS = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"] + [f"r{n}" for n in range(8, 16)]
MAPPED_AT = 0x7F0000000000
CFA = 0x7FFC00001000


class Test:
    """What a case needs, and its count of comparisons and complaints."""

    def __init__(self, args):
        self.args, self.checks, self.failures = args, 0, []
        self.compilers = [cc for cc in ("gcc", "clang") if shutil.which(cc)]
        for cc in {"gcc", "clang"} - set(self.compilers):
            print(f"skipped: what {cc} makes, which is not installed")

    def check(self, what, have, want):
        self.checks += 1
        if have != want:
            self.failures.append(f"{what}: {have!r}, expected {want!r}")

    def need(self, tool):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            sys.exit(SKIP)

    def build(self, source, cc, *flags, name=None):
        """The path of a program, or None if it does not build by itself."""
        stem = os.path.splitext(os.path.basename(source))[0]
        path = os.path.join(self.args.bin, name or stem + "-" + cc + "".join(f for f in flags if f[:2] != "-W"))
        include = os.path.join(self.args.top, "tests", "subjects")
        driver = {"gcc": "g++", "clang": "clang++"}[cc] if source.endswith(".cc") else cc
        if not shutil.which(driver):
            print(f"skipped: {os.path.basename(path)}: {driver} is not installed")
            return None
        command = [driver, "-g", "-w", "-pthread", *flags, "-I", include, "-o", path, source, "-lm", "-ldl", "-lrt"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{os.path.basename(path)}: not built")
            return None
        return path

    def programs(self, source, levels=None):
        for cc in self.compilers:
            for level in levels or LEVELS:
                path = self.build(source, cc, level)
                if path:
                    yield path

    def ask(self, *lines):
        """The probe's answers, one for each line."""
        done = subprocess.run([self.args.probe], input="\n".join(lines) + "\n", capture_output=True, text=True,
                              check=True, timeout=300)
        return done.stdout.split("\n")[:-1]

    def ask_about(self, program, lines):
        return self.ask(f"module {program} 0", *lines)[1:]

    def gdb(self, program, what, argument):
        task = program + ".task"
        with open(task, "w", encoding="utf-8") as file:
            json.dump([what, argument], file)
        done = subprocess.run(["gdb", "-nx", "-batch", "-x", os.path.join(HERE, "gdb_side.py"), program],
                              capture_output=True, text=True, timeout=280, check=False, errors="replace",
                              env=dict(os.environ, DRDEBUG_TASK=task, DEBUGINFOD_URLS=""))
        for line in done.stdout.split("\n"):
            if line.startswith("ANSWER "):
                return json.loads(line[7:])
        sys.exit(f"GDB gave no answer: {done.stdout[-500:]} {done.stderr[-500:]}")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout


def markers(path):
    """Lines by their markers."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            mark = re.search(r"/\* ([A-Z][A-Z ]*) \*/\s*$", line)
            if mark:
                found[mark.group(1)] = number
    return found


def functions(program):
    """(name, address, size) of a program's own functions."""
    found = []
    for line in output("nm", "-S", "--defined-only", program).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT" and not words[3].startswith("_"):
            found.append((words[3], int(words[0], 16), int(words[1], 16)))
    return found


def some_pcs(program, count, seed):
    """Addresses in a program's functions, in the middle of instructions too."""
    chance = random.Random(seed)
    places = [(a, n) for _, a, n in functions(program) if n]
    return [a + chance.randrange(n) for a, n in chance.choices(places, k=count)]


# ---- breakpoints ----

CXX_NAMES = ["main", "hidden", "shop::hidden", "largest", "shop::largest", "largest<int>", "item", "item::item", "total",
             "shop::item::total", "nothing::total"]


def breaks(test):
    """Every line and every function of subjects, against GDB."""
    test.need("gdb")
    sources = sorted(glob.glob(os.path.join(test.args.top, "tests", "subjects", "*", "*.c")))
    sources = (sources if SOAK else sources[5::40]) + [FACTS, SHOP]
    for source in sources:
        with open(source, encoding="utf-8") as file:
            lines = len(file.readlines())
        name = os.path.basename(source)
        programs = list(test.programs(source))
        specs = {program: [f"{name}:{n}" for n in range(1, lines + 3)] +
                 (CXX_NAMES if source == SHOP else [f for f, _, _ in functions(program) if "." not in f]) for program in programs}
        for program, wanted in zip(programs, test.gdb(programs[0], "breaks_of", list(specs.items()))):
            for spec, answer in zip(specs[program], test.ask_about(program, [f"breaks {s}" for s in specs[program]])):
                have = None if answer.startswith("error") else [int(a, 16) for a in answer.split()]
                test.check(f"{os.path.basename(program)} {spec}", have, wanted[spec])
            os.unlink(program)


# ---- lines ----

def lines_match(test):
    """Random addresses: file and line against GDB, functions and inlined calls against addr2line."""
    test.need("gdb")
    test.need("addr2line")
    for program in [*test.programs(FACTS), *test.programs(SHOP)]:
        pcs = some_pcs(program, 3000 if SOAK else 300, program)
        ours = test.ask_about(program, [f"line {pc:x}" for pc in pcs])
        calls = test.ask_about(program, [f"calls {pc:x}" for pc in pcs])
        for pc, line, wanted in zip(pcs, ours, test.gdb(program, "lines", pcs)):
            words = line.split()
            have = [os.path.normpath(words[0]), int(words[1])] if words[4] == "1" else None
            test.check(f"{program} {pc:x} line", have, wanted)
        if os.path.basename(program).startswith("shop"):
            continue  # addr2line has other names for C++
        told = output("addr2line", "-a", "-f", "-i", "-e", program, *[hex(pc) for pc in pcs])
        for pc, line, call, block in zip(pcs, ours, calls, re.split(r"^0x[0-9a-f]+\n", told, flags=re.M)[1:]):
            names = block.splitlines()[0::2]
            words = call.split()
            ours_names = words[1::2] + [line.split()[6]]
            test.check(f"{program} {pc:x} functions", ours_names, names)
            sites = [re.sub(r" \(disc.*", "", place).split(":")[-1] for place in block.splitlines()[3::2]]
            test.check(f"{program} {pc:x} calls", [w.split(":")[-1] for w in words[2::2]], sites)


# ---- facts ----

def facts(test):
    """Modules of all kinds; what there is without debug information; errors; text."""
    marks = markers(FACTS)
    for cc in test.compilers:
        program = test.build(FACTS, cc, "-O0")
        fixed = test.build(FACTS, cc, "-O0", "-no-pie", "-fno-pie")
        library = test.build(FACTS, cc, "-O0", "-shared", "-fPIC")
        for path, bias in ((program, 0x555555554000), (fixed, 0), (library, MAPPED_AT)):
            for how in ("file", "bytes"):
                one_module(test, path, bias, how, marks)
        dense = test.build(FACTS, cc, "-O0", "-Wl,-z,noseparate-code", name=f"dense-{cc}")
        for path in (program, dense):
            by_mappings(test, path, marks, 1)
            by_mappings(test, path, marks, -1)
        without_debug(test, cc, program)
        names_of_cxx(test, cc)
        errors(test, program, marks)


def one_module(test, path, bias, how, marks):
    work = next(a for f, a, _ in functions(path) if f == "work")
    pc, entry = test.ask(f"module {path} {bias:x} {how}", f"breaks facts.c:{marks['SUM']}", "breaks work")[1:]
    pc = int(pc, 16)
    line, name, text, start = test.ask(
        f"module {path} {bias:x} {how}", f"line {pc:x}", f"name {pc:x}", f"text {FACTS} {marks['SUM']}",
        f"function {pc:x}")[1:]
    words = line.split()
    test.check(f"{path} at {bias:x} from {how}", (words[0], int(words[1]), words[3:7], words[9]),
               (FACTS, marks["SUM"], ["1", "1", "work", "work"], path))
    test.check(f"{path} offset", int(words[8], 16), pc - bias - work)
    test.check(f"{path} name", name, f"facts.c:{marks['SUM']} in work")
    test.check(f"{path} text", "/* SUM */" in text, True)
    test.check(f"{path} function", int(start.split()[1], 16), work + bias)
    test.check(f"{path} entry", work + bias < int(entry, 16) < work + bias + 60, True)


def segments(path):
    """(offset, address, size in the file, size) of what is loaded."""
    found = re.findall(r"LOAD\s+(0x\w+) (0x\w+) 0x\w+\s+(0x\w+) (0x\w+)", output("readelf", "-lW", path))
    return [tuple(int(x, 16) for x in row) for row in found]


def by_mappings(test, path, marks, order):
    """As /proc/PID/maps has them: whole pages, without the zeroed pages."""
    bias, words = 0x7FFFF0000000, []
    for offset, addr, size, _ in segments(path):
        low = addr & ~0xFFF
        words.append(f"{bias + low:x} {bias + ((addr + size + 0xFFF) & ~0xFFF):x} {offset - (addr - low):x}")
    mapped = f"mapped {path} " + " ".join(words[::order])
    answers = test.ask(mapped, f"breaks facts.c:{marks['END']}", "mapped [vdso] 7fffffff0000 7fffffff2000 0",
                       "name 7fffffff0123", f"mapped /other {words[1]}", "name 1234")
    want = test.ask_about(path, [f"breaks facts.c:{marks['END']}"])[0]
    test.check("bias by mappings", int(answers[1], 16), int(want, 16) + bias)
    test.check("a module without a file", answers[3], "[vdso]+0x123")
    test.check("two modules at one place", answers[4].startswith("/other: "), True)
    test.check("no module", answers[5], "0x1234")


def without_debug(test, cc, program):
    """Symbols only, nothing at all, and debug information in another file."""
    work = next(a for f, a, _ in functions(program) if f == "work")
    bare, naked, debug = (program + suffix for suffix in (".bare", ".naked", ".debug"))
    subprocess.run(["strip", "-g", "-o", bare, program], check=True)
    subprocess.run(["strip", "-o", naked, program], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    test.check(f"{cc}: symbols", test.ask_about(bare, [f"name {work + 3:x}"]),
               [f"work+0x3 in {os.path.basename(bare)}"])
    plt = re.findall(r"^([0-9a-f]+) <(\w+)@plt>:", output("objdump", "-d", program), flags=re.M)
    name, line, *stubs = test.ask_about(naked, [f"name {work + 3:x}", f"line {work:x}"] +
                                        [f"noreturn {addr}" for addr, _ in plt])
    test.check(f"{cc}: no symbols", name, f"{os.path.basename(naked)}+0x{work + 3:x}")
    test.check(f"{cc}: own", line.split()[4], "0")
    for (_, name), answer in zip(plt, stubs, strict=True):
        test.check(f"{cc}: {name}@plt", answer, "1" if name in ("exit", "abort", "__stack_chk_fail") else "0")
    questions = ["breaks facts.c:60", "breaks work", "at 0 0 0 total", f"saves {work + 9:x}"]
    own = [(name, addr) for name, addr, _ in functions(program) if name in ("work", "look", "give_up", "main")]
    separate = test.ask(f"module {naked} 0 file {debug}", *questions)[1:]
    answers = test.ask_about(program, questions + [f"noreturn {addr:x}" for _, addr in own])
    for question, have, want in zip(questions, separate, answers):
        test.check(f"{cc}: separate: {question}", have, want)
    for (name, _), answer in zip(own, answers[len(questions):], strict=True):
        test.check(f"{cc}: {name} returns", answer, "1" if name == "give_up" else "0")


def names_of_cxx(test, cc):
    program = test.build(SHOP, cc, "-O0")
    if not program:
        return
    nm = {w[-1]: w[0] for w in map(str.split, output("nm", program).splitlines()) if len(w) == 3}
    total, sold, stock = nm["_ZNK4shop4item5totalEi"], nm["_ZN4shop4soldE"], int(nm["_ZN4shopL5stockE"], 16)
    answers = test.ask_about(program, [f"line {total}", f"var {total} 0 0 {sold} 4", f"atomic {sold}",
                                       f"var {total} 0 0 {stock + 8:x} 4", f"atomic {stock:x}", "at 0 0 0 made"])
    test.check(f"{cc}: method", answers[0].split()[5], "shop::item::total")
    test.check(f"{cc}: variables", answers[1:5], ["shop::sold", "1", "shop::stock[2]", "0"])
    test.check(f"{cc}: static member", answers[5].strip(), f"memory {int(nm['_ZN4shop4item4madeE'], 16):x} 4")


def errors(test, program, marks):
    line, file, function, text, variable = test.ask_about(program, [
        "breaks facts.c:4000", "breaks fact.c:12", "breaks nowhere", f"text facts.c {marks['SUM']}",
        "at 0 0 0 nothing"])
    test.check("no line", re.sub(r"\d+$", "", line),
               "error 2 facts.c:4000: there is no code for this line; the last line that has is ")
    test.check("no file", file.startswith("error 1 fact.c: no such source file; there are facts.c"), True)
    test.check("no function", function, "error 3 nowhere: no such function")
    test.check("no text", text, "(none)")
    test.check("no variable", variable, "error 4 nothing: no such variable")
    found = test.ask_about(program, [f"folder {HERE}", f"text /elsewhere/x/facts.c {marks['SUM']}"])[1]
    test.check("text in a folder", "/* SUM */" in found, True)


# ---- variables ----

def variables(test):
    """All parts of all variables that a live run has in memory, against GDB's addresses."""
    test.need("gdb")
    marks = markers(FACTS)
    stops = [f"facts.c:{marks[m]}" for m in ("LOOK", "WORK", "LOOP", "SUM", "TEXT", "SINK", "RETURN", "END")]
    names = ["table", "total", "plain", "flag", "counted", "mine", "spot", "sink"]
    for program in test.programs(FACTS):
        main = next(a for f, a, _ in functions(program) if f == "main")
        for stop in test.gdb(program, "variables", {"breaks": stops, "globals": names}):
            bias = stop["main"] - main
            where = f"{stop['pc']:x} {stop['cfa']:x} {stop['fs']:x}"
            found = [f for f in stop["found"] if f[2]]
            lines = [f"var {where} {addr:x} {size:x}" for _, addr, size in found]
            lines += [f"at {where} {name}" for name, _, _ in found if re.fullmatch(r"\w+", name)]
            answers = test.ask(f"module {program} {bias:x}", *lines)[1:]
            for (name, addr, _), answer in zip(found, answers):
                test.check(f"{os.path.basename(program)} {stop['pc'] - bias:x} {addr:x}", answer, name)
            simple = [f for f in found if re.fullmatch(r"\w+", f[0])]
            for (name, addr, size), answer in zip(simple, answers[len(found):]):
                visible = stop["named"][name] == addr
                test.check(f"{os.path.basename(program)} {stop['pc'] - bias:x} &{name}", answer.strip(),
                           f"memory {addr:x} {size}" if visible else f"error 4 {name}: no such variable is visible here")
        places(test, program)


def places(test, program):
    """Parts that are accessed in one go, atomic ones, and what cannot be known."""
    nm = {w[-1]: int(w[0], 16) for w in map(str.split, output("nm", program).splitlines()) if len(w) == 3}
    table, counted, flag = nm["table"], nm["counted"], nm["flag"]
    work = nm["work"]
    node = int(re.search(r"^\w+ (\w+) \w table$", output("nm", "-S", program), flags=re.M).group(1), 16) // 4
    have = test.ask_about(program, [
        f"var {work:x} 0 0 {table + 3 * node:x} 8", f"var {work:x} 0 0 {table + 2 * node + 16:x} 8",
        f"var {work:x} 0 0 {table + 2 * node + 20:x} 8", f"var {work:x} 0 0 {table:x} 40",
        f"atomic {flag:x}", f"atomic {counted:x}", f"atomic {counted + 24 + 8:x}", f"atomic {table:x}",
        f"var {work:x} 0 0 7ffc12345678 8"])
    test.check(f"{program} parts", have,
               ["table[3].next", "table[2].at[1]", "table[2].at", "table[0]", "1", "0", "1", "0", "-"])


def locations(test):
    """Registers and constants by location lists, against what GDB says about the scope."""
    test.need("gdb")
    for program in test.programs(FACTS, ["-Og", "-O2"]):
        pcs = sorted(set(some_pcs(program, 600 if SOAK else 60, "locations")))
        asked = []
        for pc, text in zip(pcs, test.gdb(program, "scopes", pcs)):
            parts = [part.split(" is ", 1) for part in re.split(r"^Symbol ", text, flags=re.M)[1:]]
            for name, rest in reversed(dict(reversed(parts)).items()):  # the innermost of a name
                asked.append((pc, name, rest))
        at = test.ask_about(program, [f"at {pc:x} {CFA:x} 0 {name}" for pc, name, _ in asked])
        rules = test.ask_about(program, [f"cfa {pc:x}" for pc, _, _ in asked])
        registers = [check_location(test, f"{program} {one[0]:x} {one[1]}", one, answer, rule)
                     for one, answer, rule in zip(asked, at, rules)]
        inside = [(one, number) for one, number in zip(asked, registers) if number is not None]
        names = test.ask_about(program, [f"reg {one[0]:x} {number:x}" for one, number in inside])
        for (one, number), name in zip(inside, names):
            test.check(f"{program} {one[0]:x} {REGISTERS[number]} has a variable", name != "-", True)


def check_location(test, what, one, answer, rule):
    """The number of the register that the variable is in, if it is."""
    pc, _, rest = one
    ranges = re.findall(r"Range (0x\w+)-(0x\w+): ((?:.*\n)(?:   .*\n)*)", rest)
    here = [r[2] for r in ranges if int(r[0], 16) <= pc < int(r[1], 16)] if ranges else [rest]
    if not here:
        test.check(what, answer.split()[:2], ["error", "5"])
        return None
    register = re.match(r"a variable in \$(\w+)", here[0])
    based = re.search(r"^\s+0: DW_OP_breg\d+ (-?\d+) \[\$(\w+)\]", here[0], flags=re.M)
    if register and register.group(1) in REGISTERS:
        number = REGISTERS.index(register.group(1))
        test.check(what, answer.split()[:2], ["register", f"{number:x}"])
        return number
    if re.match(r"constant|optimized out", here[0]):
        test.check(what, answer.split()[0], "constant" if here[0].startswith("constant") else "error")
    elif "DW_OP_entry_value" in here[0]:
        test.check(what, answer.split()[0] == "computed" and "reg@entry" in answer, True)
    elif based and here[0].count("DW_OP") == 1:
        known, number, offset = rule.split()
        test.check(what + ": frame", known, "1")
        if REGISTERS.index(based.group(2)) == int(number):
            test.check(what, answer.split()[:2], ["memory", f"{CFA - int(offset) + int(based.group(1)):x}"])
        else:
            test.check(what, answer.split()[:2], ["error", "6"])
    elif "DW_OP_stack_value" in here[0]:
        test.check(what, answer.split()[0] in ("constant", "computed"), True)
    return None


# ---- call frames ----

def frames(test):
    """All rows of call frame information, against readelf."""
    test.need("readelf")
    for program in test.programs(FACTS) if not SOAK else [*test.programs(FACTS), shutil.which("bash")]:
        text = output("readelf", "--debug-dump=frames-interp", program)
        for block in re.split(r"\n(?=[0-9a-f]{8} )", text):
            entry = re.search(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)\n\s+LOC\s+CFA\s*(.*)\n((?:.*\n?)*)", block)
            if entry:
                check_frame(test, program, entry)


def check_frame(test, program, entry):
    """A function's rows."""
    columns = entry.group(3).split()
    rows = [line.split() for line in entry.group(4).splitlines() if re.match(r"[0-9a-f]{16}", line)]
    saves = {}
    if any(row[1] == "exp" for row in rows):
        return  # the PLT's
    answers = test.ask_about(program, [f"cfa {row[0]}" for row in rows] +
                             [f"slots {rows[-1][0]}", f"saves {rows[-1][0]}"])
    for row, answer in zip(rows, answers):
        reg, offset = re.fullmatch(r"(\w+)([+-]\d+)", row[1]).groups()
        test.check(f"{program} {row[0]} CFA", answer, f"1 {REGISTERS.index(reg)} {int(offset)}")
        for name, rule in zip(columns, row[2:]):
            number = 16 if name == "ra" else REGISTERS.index(name)
            if rule.startswith("c"):
                saves.setdefault((number, int(rule[1:])), int(row[0], 16))
    have = {(int(r), int(o)): int(a, 16) for r, o, a in (s.split(":") for s in answers[-1].split())}
    test.check(f"{program} {rows[0][0]} saves", have, saves)
    test.check(f"{program} {rows[0][0]} slots", answers[-2].split(), [f"{r}:{o}" for r, o in sorted(saves)])


CASES = {"breaks": breaks, "lines": lines_match, "facts": facts, "variables": variables, "locations": locations,
         "frames": frames}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--probe", required=True)
    parser.add_argument("--top", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("case", choices=CASES)
    args = parser.parse_args()
    args.bin = os.path.join(args.bin, args.case)
    os.makedirs(args.bin, exist_ok=True)
    test = Test(args)
    CASES[args.case](test)
    for failure in test.failures[:40]:
        print(failure)
    print(f"{args.case}: {test.checks} comparisons, {len(test.failures)} differences")
    sys.exit(1 if test.failures or not test.checks else 0)


if __name__ == "__main__":
    main()
