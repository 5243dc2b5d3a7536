"""py_json.py - json, re, zlib, hashlib, sqlite-free library work with a stable result."""
import collections
import decimal
import hashlib
import heapq
import itertools
import json
import re
import zlib

data = [{"n": i, "s": str(i) * (i % 7), "f": i / 7, "l": list(range(i % 5))} for i in range(3000)]
text = json.dumps(data, sort_keys=True)
assert json.loads(text) == data
print(len(text), hashlib.sha256(text.encode()).hexdigest())
print(len(zlib.compress(text.encode(), 6)), zlib.crc32(text.encode()))
print(sum(int(m) for m in re.findall(r'"n": (\d+)', text)))
print(collections.Counter(text).most_common(4))
print(heapq.nlargest(3, (d["f"] for d in data)))
decimal.getcontext().prec = 60
print(decimal.Decimal(2).sqrt(), 3 ** 500 % 10 ** 20)
print(sum(1 for _ in itertools.permutations(range(7))))


def deep(n):
    return deep(n + 1)


try:
    deep(0)
except RecursionError as e:
    print("RecursionError", str(e)[:20])
