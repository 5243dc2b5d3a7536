#!/usr/bin/env python3
"""english.py - comments and pages are in plain order: no sentence begins with "Of ..." or "Who ...".

SPDX-License-Identifier: MIT

Such a sentence hides who does what: not "Of positions of several threads the replay alone can say" but "Only a replay
can order positions of different threads". Questions are allowed, and so are headings and tables of a page.
"""
import re

import tree

LEFT_OUT = ("tests/", "bench/", "demo/")
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
BEGIN = re.compile(r"(?:^|[.:;?!]\)? )((?:Of|Who|Whoever|To who|For who) [^.;?]*[.;?]?|(?:who|whoever) \w+[^.;?]*[.;?]?)")
BEFORE_WHO = re.compile(r"\b(?:to|for|from|by|of) who\b")


def sentences(text):
    """What is wrong in a text: sentences, cut to a few words."""
    found = [m.group(1) for m in BEGIN.finditer(text)] + [m.group() for m in BEFORE_WHO.finditer(text)]
    return [" ".join(sentence.split()[:6]) for sentence in found if not sentence.endswith("?")]


def comments(text):
    """Pairs (line, text of a comment on one line). A comment that begins in lower case is no sentence."""
    for m in COMMENT.finditer(text):
        words = re.sub(r"\s*\n\s*\* ?", " ", m.group(1)).strip()
        if words[:1].isupper() or ". " in words.removeprefix("..."):
            yield text.count("\n", 0, m.start()) + 1, words


def paragraphs(text):
    """Pairs (line, paragraph on one line) of a page, without code, headings and tables."""
    text = re.sub(r"```.*?```", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL)
    for m in re.finditer(r"(?:^(?![|#\n]).+\n?)+", text, re.MULTILINE):
        words = re.sub(r"^(?:[-*]|\d+\.) |\*\*", "", " ".join(m.group().split()))
        yield text.count("\n", 0, m.start()) + 1, words


def check(project):
    complaints = []
    for path, text in sorted(project.files.items()):
        if path.startswith(LEFT_OUT):
            continue
        parts = paragraphs(text) if path.endswith(".md") else comments(text) if path.endswith((".c", ".h", ".S", ".def")) else ()
        complaints += [f'{path}:{line}: "{wrong}": name who does it, subject first'
                       for line, words in parts for wrong in sentences(words)]
    return complaints


FIXTURES = [
    ("plain", {"a/a.c": "/* The caller frees it. */\nint a; /* of the block */\n", "a.md": "It runs. The user, who waits, sees it.\n"}, None),
    ("a question", {"a/a.c": "/* Who has the baton? */"}, None),
    ("a heading, a table, code", {"a.md": "## Who may know whom\n\n| Of all | x |\n|---|---|\n\n```\nOf code.\n```\n"}, None),
    ("not a source", {"a/a.py": "# Of all.\n"}, None),
    ("of", {"a/a.c": "int a;\n/* It is. Of two the first counts. */"}, 'a/a.c:2: "Of two the first counts."'),
    ("of, over two lines", {"a/a.h": "/* It is so for all. Of\n * two the first counts. */"}, "Of two the first counts."),
    ("who", {"a/a.c": "/* Who reads it checks it. */"}, "Who reads it checks it."),
    ("who, after a colon", {"a/a.c": "/* It is a lock: who wants it waits. */"}, "who wants it waits."),
    ("who, after brackets", {"a/a.c": "/* It is. (Or so.) Who reads it checks it. */"}, "Who reads it"),
    ("for who", {"a/a.c": "/* A list for who fills it. */"}, "for who"),
    ("in a page", {"a.md": "Text.\n\n- Of two lines\n  the first counts.\n"}, "a.md:3"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
