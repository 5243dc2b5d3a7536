"""chop.py - `pin chop'. SPDX-License-Identifier: MIT"""


class PinChop(PinSlice):
    """Say how one value led to another: all that depends on the first and that the second depends on.
Usage: pin chop WHAT [at WHERE] to failure|WHAT [at WHERE]

The words are those of `pin slice'. Where one has no WHERE it is here and now;
`failure' is how the recording ended."""

    name = "chop"
    kind = gdb.COMMAND_DATA
    completer = gdb.COMPLETE_EXPRESSION

    def run(self, arg):
        parts = re.fullmatch(r"(.+?)\s+to\s+(.+)", arg)
        self.check(parts)
        slices.check_connection()
        label, criterion, options = find_criterion(self, parts[1])
        if parts[2] == "failure":
            to = to_label = "failure"
        else:
            to_label, to, _ = find_criterion(self, parts[2])
        made = slices.make(label, criterion, "--to", to, *options)
        made.to_label = to_label
        return {"number": slices.remember(made), **made.about()}
