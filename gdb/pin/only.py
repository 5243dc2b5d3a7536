"""only.py - `pin only'. SPDX-License-Identifier: MIT"""


class PinOnly(PinCommand):
    """Limit slices to some threads, files or modules.
Usage: pin only [threads N[,N...]] [files GLOB...] [modules GLOB...]
       pin only all

Slices that are made from then on show lines of these only; what depends on what
stays the same, so a value that came through another file is still followed.
Files are those of debug information, modules the program and its libraries, both
by their names or paths. Alone it says what the limits are."""

    name = "only"
    kind = gdb.COMMAND_DATA
    WORDS = {"threads": "--only-thread", "files": "--only-file", "modules": "--only-module"}

    def complete(self, text, word):
        return matching(["all", *self.WORDS], word)

    def run(self, arg):
        slices.check_connection()
        words = gdb.string_to_argv(arg)
        if words == ["all"]:
            slices.only = []
        elif words:
            slices.only = self.options(words)
        names = {option: word for word, option in self.WORDS.items()}
        pairs = zip(slices.only[::2], slices.only[1::2])
        return {"only": [{"kind": names[option], "value": value} for option, value in pairs]}

    def show(self, result):
        limits = [f"{one['kind']} {plain(one['value'])}" for one in result["only"]]
        say(f"Slices show {', '.join(limits) or 'everything'}.")

    def options(self, words):
        found, option = [], None
        for word in words:
            if word in self.WORDS:
                self.check(option is None or option in found)  # a word without any
                option = self.WORDS[word]
                continue
            self.check(option and (option != "--only-thread" or re.fullmatch(r"\d+(,\d+)*", word)))
            found += [option, word]
        self.check(words[-1] not in self.WORDS)
        return found
