"""interp.py - a small pure-Python program: objects, dictionaries, strings, generators, exceptions.

SPDX-License-Identifier: MIT"""


class Body:
    __slots__ = ("x", "v", "mass")

    def __init__(self, x, v, mass):
        self.x, self.v, self.mass = x, v, mass

    def move(self, dt):
        self.x += self.v * dt


def bodies(steps):
    crowd = [Body(float(i), float(i * 7 % 11) - 5.0, 1.0 + i % 3) for i in range(40)]
    for _ in range(steps):
        for body in crowd:
            body.move(0.01)
            if body.x < 0.0 or body.x > 40.0:
                body.v = -body.v
    return sum(body.x * body.mass for body in crowd)


def words(count):
    text = []
    seed = 1
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        text.append("w%d" % (seed >> 16 & 0x3FFF))
    table = {}
    for word in text:
        table[word] = table.get(word, 0) + 1
    common = sorted(table.items(), key=lambda item: (-item[1], item[0]))[:5]
    return " ".join("%s:%d" % item for item in common)


def queens(n):
    def place(row, columns, down, up):
        if row == n:
            yield 1
            return
        for column in range(n):
            if column in columns or row + column in up or row - column in down:
                continue
            taken = columns | {column}
            yield from place(row + 1, taken, down | {row - column}, up | {row + column})

    return sum(place(0, frozenset(), frozenset(), frozenset()))


def failures(count):
    caught = 0
    for i in range(count):
        try:
            if not 1000 % (i % 50):
                caught += 2
        except ZeroDivisionError:
            caught += 1
    return caught


print("%.6f" % bodies(20000))
print(words(700000))
print(queens(8))
print(failures(1200000))
