#!/usr/bin/env python3
"""calls.py SOURCE - compares the tables of system calls and ioctl requests with this machine's kernel headers.

SPDX-License-Identifier: MIT

Every number of asm/unistd_64.h up to the table's last one has a row of that name (newer ones are answered with ENOSYS, as
all that has no row). Every ioctl row reads and writes as much as the request's number says or, where that says nothing, as
the kernel's structure has; where the kernel itself departs from its numbers, the row is in DEPARTS with what it does.
"""
import os
import re
import subprocess
import sys
import tempfile

SKIP = 77
HEADERS = ("asm/ioctls.h asm/termbits.h asm/termios.h linux/fiemap.h linux/fs.h linux/if_tun.h linux/ioctl.h linux/kd.h linux/loop.h "
           "linux/sockios.h linux/vt.h linux/if.h linux/route.h linux/if_arp.h linux/serial.h linux/hdreg.h linux/filter.h "
           "linux/if_bridge.h linux/blkzoned.h").split()

# Requests whose numbers hold no size: the structure that the kernel copies.
STRUCTURES = {
    "struct termios": "TCGETS TCSETS TCSETSW TCSETSF TIOCGLCKTRMIOS TIOCSLCKTRMIOS",
    "struct termio": "TCGETA TCSETA TCSETAW TCSETAF",
    "struct winsize": "TIOCGWINSZ TIOCSWINSZ",
    "int": "FIONREAD FIONBIO FIOASYNC TIOCGPGRP TIOCSPGRP TIOCGSID TIOCOUTQ TIOCMGET TIOCMBIS TIOCMBIC TIOCMSET TIOCGSOFTCAR "
           "TIOCSSOFTCAR TIOCSERGETLSR TIOCPKT TIOCSETD TIOCGETD KDGETMODE KDGKBMODE KDGKBMETA VT_OPENQRY FIOSETOWN SIOCSPGRP "
           "FIOGETOWN SIOCGPGRP SIOCATMARK SIOCOUTQNSD FIBMAP FIGETBSZ BLKROSET BLKROGET BLKSSZGET BLKIOMIN BLKIOOPT "
           "BLKALIGNOFF BLKPBSZGET BLKDISCARDZEROES",
    "char": "TIOCSTI KDGKBTYPE KDGETLED KDGKBLED",
    "struct serial_icounter_struct": "TIOCGICOUNT",
    "struct serial_struct": "TIOCGSERIAL TIOCSSERIAL",
    "struct serial_rs485": "TIOCGRS485 TIOCSRS485",
    "struct kbentry": "KDGKBENT KDSKBENT",
    "struct vt_mode": "VT_GETMODE VT_SETMODE",
    "struct vt_stat": "VT_GETSTATE",
    "struct rtentry": "SIOCADDRT SIOCDELRT",
    "struct arpreq": "SIOCGARP SIOCSARP SIOCDARP",
    "struct ifreq": "SIOCGIFNAME SIOCGIFFLAGS SIOCSIFFLAGS SIOCGIFADDR SIOCSIFADDR SIOCGIFDSTADDR SIOCSIFDSTADDR "
                    "SIOCGIFBRDADDR SIOCSIFBRDADDR SIOCGIFNETMASK SIOCSIFNETMASK SIOCGIFMETRIC SIOCSIFMETRIC SIOCGIFMTU "
                    "SIOCSIFMTU SIOCSIFNAME SIOCGIFHWADDR SIOCSIFHWADDR SIOCGIFINDEX SIOCGIFPFLAGS SIOCGIFTXQLEN "
                    "SIOCSIFTXQLEN SIOCGIFMAP SIOCADDMULTI SIOCDELMULTI SIOCGMIIPHY SIOCGMIIREG SIOCBRADDIF SIOCBRDELIF",
    "char[16]": "SIOCBRADDBR SIOCBRDELBR",
    "long long": "FIOQSIZE",
    "long": "BLKGETSIZE BLKRAGET BLKFRAGET",
    "short": "BLKSECTGET BLKROTATIONAL",
    "unsigned long long[2]": "BLKDISCARD BLKSECDISCARD BLKZEROOUT",
    "long[2]": "SIOCGSTAMP_OLD SIOCGSTAMPNS_OLD",
    "struct loop_info64": "LOOP_SET_STATUS64 LOOP_GET_STATUS64",
    "struct loop_config": "LOOP_CONFIGURE",
}

# The kernel does something else than the number says: what it copies in and out, and why.
DEPARTS = {
    "FS_IOC_GETFLAGS": (0, 4), "FS_IOC_SETFLAGS": (4, 0), "FS_IOC_GETVERSION": (0, 4), "FS_IOC_SETVERSION": (4, 0),  # int, not long
    "BLKBSZGET": (0, 4), "BLKBSZSET": (4, 0), "BLKGETSIZE64": (0, 8),  # size_t is what their numbers say
    "TUNSETIFF": (40, 40), "TUNGETIFF": (0, 40), "TUNSETQUEUE": (40, 0),  # struct ifreq, where the number says int
    "TUNDETACHFILTER": (0, 0), "TUNGETFILTER": (0, 16),
    "TUNSETPERSIST": (0, 0), "TUNSETOWNER": (0, 0), "TUNSETGROUP": (0, 0), "TUNSETNOCSUM": (0, 0), "TUNSETOFFLOAD": (0, 0),
    "TUNSETDEBUG": (0, 0), "TUNSETLINK": (0, 0),  # the argument itself
    "TIOCSIG": (0, 0), "FICLONE": (0, 0), "FIFREEZE": (0, 0), "FITHAW": (0, 0),
    "TIOCSRS485": (32, 32), "TIOCGPTPEER": (0, 0),
    "SIOCGSTAMP_NEW": (0, 16), "SIOCGSTAMPNS_NEW": (0, 16),
}
# A size that depends on what the structure holds, or on more than the table of this test can say.
VARIES = set("TUNATTACHFILTER TIOCLINUX SIOCGIFCONF SIOCGIFCOUNT SIOCGIFBR SIOCSIFBR TUNSETTXFILTER FIDEDUPERANGE FS_IOC_FIEMAP".split())

CALL = re.compile(r"^SYSCALL\((\d+), (\w+), (\d+), (\w+),", re.MULTILINE)
NUMBER = re.compile(r"^#define __NR_(\w+)\s+(\d+)\s*$", re.MULTILINE)
ROW = re.compile(r"^ROW\(([A-Z]\w+), ((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*)\)", re.MULTILINE)
EFFECT = re.compile(r"\b(IN|OUT|INOUT)\(2, (?:BYTES|UP_TO)\((\d+)\)\)")


def compare_calls(table, header):
    """What is wrong with the table of calls."""
    rows = {int(number): name for number, name, _, _ in CALL.findall(table)}
    wrong = []
    for name, number in NUMBER.findall(header):
        mine = rows.get(int(number))
        if mine is None and int(number) <= max(rows):
            wrong.append(f"system call {number}, {name}, has no row")
        elif mine is not None and mine != name:
            wrong.append(f"system call {number} is {name}, its row says {mine}")
    return wrong if NUMBER.search(header) and rows else ["no numbers were found"]


def told(effects):
    """(bytes read, bytes written) that a row says."""
    into, out = 0, 0
    for kind, size in EFFECT.findall(effects):
        into = max(into, int(size) if kind != "OUT" else 0)
        out = max(out, int(size) if kind != "IN" else 0)
    return into, out


def compare_ioctls(table, sizes):
    """sizes: of the requests that the headers have, name to (direction, size): _IOC_WRITE is 1, _IOC_READ is 2."""
    wrong, seen = [], 0
    for name, effects in ROW.findall(table):
        if name not in sizes or name in VARIES:
            continue
        seen += 1
        direction, size = sizes[name]
        into, out = told(effects)
        if name in DEPARTS:
            want = DEPARTS[name]
        elif direction:
            want = (size if direction & 1 else 0, size if direction & 2 else 0)
        elif size:  # the structure's: in which direction the name of the request says to a reader only
            want = (size if into else 0, size if out else 0)
            want = want if into or out else (size, size)
        else:
            want = (0, 0)
        if (into, out) != want:
            wrong.append(f"ioctl {name} reads {into} and writes {out} bytes, not {want[0]} and {want[1]}")
    return wrong if seen > 100 else wrong + [f"only {seen} requests were compared"]


def find_header(compiler):
    done = subprocess.run([compiler, "-E", "-"], input="#include <asm/unistd_64.h>\n", capture_output=True, text=True, check=False)
    found = re.search(r'^# \d+ "(/[^"]*/asm/unistd_64\.h)"', done.stdout, re.MULTILINE)
    return found[1] if found else None


def compile_sizes(compiler, names):
    """Asks the compiler for the numbers of all requests, and for the structures of those that have none inside."""
    structure = {name: what for what, list_ in STRUCTURES.items() for name in list_.split()}
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f"#if __has_include(<{header}>)\n#include <{header}>\n#endif" for header in HEADERS]
    lines.append("int main(void) {")
    for name in names:
        size = f"sizeof({structure[name]})" if name in structure else "0"
        lines.append(f"#ifdef {name}\nprintf(\"%s %u %zu\\n\", \"{name}\", _IOC_SIZE({name}) ? _IOC_DIR({name}) : 0u, "
                     f"(size_t)(_IOC_SIZE({name}) && _IOC_DIR({name}) ? _IOC_SIZE({name}) : {size}));\n#endif")
    lines.append("}")
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "sizes.c"), os.path.join(work, "sizes")
        with open(source, "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
        done = subprocess.run([compiler, "-o", program, source], capture_output=True, text=True, check=False)
        if done.returncode:
            return None, done.stderr.splitlines()[:3]
        text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: (int(d), int(size)) for name, d, size in (line.split() for line in text.splitlines())}, []


def read(source, name):
    with open(os.path.join(source, "engine/os", name), encoding="utf-8") as f:
        return f.read()


def selftest():
    calls = "SYSCALL(0, read, 3, BLOCKS, 0)\nSYSCALL(1, wrote, 3, BLOCKS, 0)\nSYSCALL(3, close, 1, QUICK, 0)\n"
    header = "".join(f"#define __NR_{name} {n}\n" for n, name in enumerate(("read", "write", "open", "close", "stat")))
    assert len(compare_calls(calls, header)) == 2 and compare_calls(calls, "") != []
    rows = "ROW(TIOCGWINSZ, OUT(2, BYTES(9)))\nROW(FOO, INOUT(2, BYTES(8)))\nROW(BAR, IN(2, BYTES(8)))\n"
    wrong = compare_ioctls(rows, {"TIOCGWINSZ": (0, 8), "FOO": (3, 8), "BAR": (3, 8)})
    assert len(wrong) == 3 and "TIOCGWINSZ" in wrong[0] and "BAR" in wrong[1], wrong
    return 0


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    source, compiler = sys.argv[1], os.environ.get("CC", "cc")
    try:
        header = find_header(compiler)
    except OSError as e:
        print(f"skipped: no compiler: {e}")
        return SKIP
    if not header:
        print("skipped: there is no asm/unistd_64.h")
        return SKIP
    with open(header, encoding="utf-8") as f:
        wrong = compare_calls(read(source, "syscalls.def"), f.read())
    table = read(source, "ioctls.def")
    sizes, why = compile_sizes(compiler, [name for name, _ in ROW.findall(table)])
    if sizes is None:
        print("ioctl requests were not compared: the headers do not compile:", *why, sep="\n")
    else:
        wrong += compare_ioctls(table, sizes)
    print(*wrong, sep="\n")
    return SKIP if sizes is None and not wrong else bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
