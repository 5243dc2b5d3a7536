#!/usr/bin/env python3
"""probes_edges_test.py DRDEBUG DUMP MIXED - probes that are odd: conditions, failures, two at one place, very many.

SPDX-License-Identifier: MIT

MIXED is probes/mixed.c, not position-independent.
"""
import struct
import subprocess
import sys
import tempfile

from probes_test import CUT, MEMORY, REGISTER, UNREADABLE, Failed, Recorded

VALUE, FAILED = 4, 5
DONE, IS_UNREADABLE, DIVISION, NO_REGISTER, TOO_LONG, ROW_FULL = 0, 7, 6, 8, 9, 10
RSI, XMM0, XMM1 = 4, 40, 41
ROW_BYTES, ROW_HEADER, PIECE_HEADER = 256 << 10, 48, 16
TAKE_RSI = "80000427"


def check(good, what):
    if not good:
        raise Failed(what)


class Edges:
    def __init__(self, recorded, symbols):
        self.recorded, self.symbol = recorded, symbols

    def rows(self, *probes):
        return self.recorded.rows(probes)[0]

    def error(self, *probes):
        try:
            self.rows(*probes)
        except Failed as error:
            return str(error)
        raise Failed("was not refused")

    def two_at_one_place(self):
        pc = self.symbol["look"]
        rows = self.rows((pc, "-", "260005" "27"), (self.symbol["scale"], "-", "-"), (pc, "-", TAKE_RSI))
        look = [row for row in rows if row.pc == pc]
        check([row.probe for row in look] == [0, 2] * (len(look) // 2), "not by turns")
        check(all(a[1:5] == b[1:5] for a, b in zip(look[::2], look[1::2])), "not at the same position")
        check(sum(row.probe == 1 for row in rows) == 20, "scale is called 20 times")
        return [int.from_bytes(bytes.fromhex(row.pieces[0][3]), "little") for row in look[1::2]]

    def conditions(self, arguments):
        pc = self.symbol["look"]
        rows = self.rows((pc, "2202" "260004" "14" "27", TAKE_RSI))  # 2 < rsi
        got = [int.from_bytes(bytes.fromhex(row.pieces[0][3]), "little") for row in rows]
        check(got == [n for n in arguments if n > 2] and got, f"rsi > 2: {got}")
        check(not self.rows((pc, "2200" "27", TAKE_RSI)), "rows where 0 holds")
        rows = self.rows((pc, "2210" "19" "27", TAKE_RSI))  # *(int *)16
        check(len(rows) == len(arguments), "a condition that fails makes a row")
        check(all(row.when == IS_UNREADABLE and not row.pieces for row in rows), "a condition that fails is told")

    def failures(self, arguments):
        pc = self.symbol["look"]
        first = arguments.index(2)  # look((const char *)16, 2)
        rows = self.rows((pc, "-", "800004" "260005" "17" "81" "27"))
        check(rows[first].take == IS_UNREADABLE and len(rows[first].pieces) == 1, f"*16: {rows[first]}")
        check(rows[0].take == DONE and rows[0].pieces[1] == (VALUE, 0, 0, f"{ord('a'):02x}" + "00" * 7), str(rows[0]))
        rows = self.rows((pc, "-", "820008" "260005" "17" "81" "800004" "27"))
        check(rows[first].take == DONE and rows[first].pieces[0] == (FAILED, IS_UNREADABLE, 0, ""), str(rows[first]))
        check(rows[first].pieces[1][:2] == (REGISTER, RSI), "behind `try` it goes on")
        rows = self.rows((pc, "-", "2201" "2200" "05" "27"))
        check(all(row.take == DIVISION for row in rows), "1 / 0")
        rows = self.rows((pc, "-", "21" "0000"))
        check(all(row.take == TOO_LONG for row in rows), "a loop without end")

    def memory(self, arguments):
        pc = self.symbol["look"]
        rows = self.rows((pc, "-", "260005" "0d06" "27"))
        row = rows[arguments.index(3)]
        check(row.pieces == [(MEMORY, row.value, UNREADABLE, "")] and row.value, f"a page without rights: {row}")
        row = rows[arguments.index(4)]
        check(row.pieces == [(MEMORY, row.value, 0, "65" * 6)], f"the page: {row}")
        text = self.symbol["_start"] & ~4095
        rows = self.rows((pc, "-", f"24{text:08x}" "2400090000" "0c" "800004" "27"))
        most = ROW_BYTES - ROW_HEADER - PIECE_HEADER
        for row in rows:
            check(row.pieces[0][:3] == (MEMORY, text, CUT) and len(row.pieces[0][3]) == 2 * most, "a row that is full")
            check(row.take == ROW_FULL and len(row.pieces) == 1, "no piece behind that")

    def floats(self):
        rows = self.rows((self.symbol["scale"], "-", "".join(f"80{n:04x}" for n in (XMM0, XMM1)) + "27"))
        for i, row in enumerate(rows):
            by, more = (bytes.fromhex(piece[3]) for piece in row.pieces)
            check(struct.unpack("<d", by[:8])[0] == i * 1.5 and struct.unpack("<f", more[:4])[0] == i / 4, str(row))

    def very_many(self, arguments):
        """More than a message holds."""
        code = [f"24{i:08x}" + "220129" * 1360 + "27" for i in range(2200)]
        probes = [(self.symbol["look"] if i % 500 == 0 else 0x10000 + i, "-", take) for i, take in enumerate(code)]
        for options in ((), ("--confined",)):
            rows, _ = self.recorded.rows(probes, *options)
            check([row.value for row in rows] == list(range(0, 2200, 500)) * len(arguments), f"{options}: not all")

    def refused(self):
        pc = self.symbol["look"]
        for probe, words in (((pc, "-", "ff"), "an unknown operation"), ((pc, "0c27", "-"), "tracepoints"),
                             ((pc, "-", "2200"), "leads out of its code"), ((pc, "-", "80ffff27"), "unknown register"),
                             ((pc, "-", "26002827"), "unknown register"), ((pc, "-", "82000127"), "no operation")):
            said = self.error(probe)
            check(words in said, f"{probe}: {said}")
        check("too many probes at one place" in self.error(*[(pc, "-", "-")] * 65), "65 at one place")
        check(len(self.rows(*[(pc, "-", "-")] * 64)) % 64 == 0, "64 at one place")

    def all(self):
        arguments = self.two_at_one_place()
        check(arguments[:4] == [1, 2, 3, 4], f"look's arguments: {arguments}")
        self.conditions(arguments)
        self.failures(arguments)
        self.memory(arguments)
        self.floats()
        self.very_many(arguments)
        self.refused()


def main():
    drdebug, dump, mixed = sys.argv[1:]
    shown = subprocess.run(["nm", mixed], stdout=subprocess.PIPE, text=True, timeout=20, check=True).stdout
    symbols = {row[2]: int(row[0], 16) for row in map(str.split, shown.splitlines()) if len(row) == 3}
    with tempfile.TemporaryDirectory() as folder:
        try:
            Edges(Recorded(drdebug, dump, folder, [mixed]), symbols).all()
        except Failed as error:
            print(f"FAILED: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
