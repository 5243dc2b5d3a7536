"""gdb_reads.py - what an expression reads, by GDB: an oracle for source/expression.c. Sourced by GDB behind drdebug.py.

SPDX-License-Identifier: MIT

It cuts an expression into operands and lets GDB say what each of them is. No line of it is shared with drdebug.
"""
import re

TOKEN = re.compile(r"""\s*(?:
    (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'(?!::))
    |(?P<number>\d[\w.]*)
    |(?P<name>(?:'[^']+')?(?:::)?\$?[A-Za-z_]\w*(?:::~?\w+)*|\$\w*)
    |(?P<operator>->|<<|>>|[<>=!]=|&&|\|\||\+\+|--|\S))""", re.VERBOSE)


class Reads:
    """The variables, members, elements and registers in an expression, each with its role: `value`,
    or `address` if it only says where the value is. Read as C: operands, and what is between them."""

    def __init__(self, expression):
        self.source, self.place = expression, 0
        self.found = {}  # criterion: (role, text)
        self.muted = 0
        self.operands("value")  # before GDB evaluates it: that may call functions
        if self.place < len(self.source.rstrip()):
            self.refuse("is not understood here")
        gdb.parse_and_eval(expression)
        if not self.found:
            raise gdb.GdbError(f"{expression}: reads no variable, memory or register: it is a constant.")

    def refuse(self, why):
        raise gdb.GdbError(f"{self.source}: {why}; say a variable, a member, %REGISTER or 0xADDRESS BYTES.")

    # -- words --

    def peek(self):
        """(kind, word) of what is next; ('', '') at the end."""
        word = TOKEN.match(self.source, self.place)
        return (word.lastgroup, word[word.lastgroup]) if word else ("", "")

    def next(self):
        word = TOKEN.match(self.source, self.place)
        if not word:
            self.refuse("ends early")
        self.place = word.end()
        return word.lastgroup, word[word.lastgroup]

    def start(self):
        word = TOKEN.match(self.source, self.place)
        return word.start(word.lastgroup) if word else self.place

    def closing(self, at):
        """The place of the bracket that closes the one at `at`."""
        depth, place = 0, at
        while word := TOKEN.match(self.source, place):
            text, place = word[word.lastgroup], word.end()
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 0:
                return place - 1
        return self.refuse("has a bracket that is not closed")

    # -- the grammar --

    def operands(self, role):
        """Operands with anything that is between two, up to a closing bracket."""
        while True:
            self.operand(role)
            kind, word = self.peek()
            if not kind or word in (")", "]", "}"):
                return
            if word in ("=", "++", "--"):
                self.refuse("changes something")
            self.next()

    def operand(self, role):
        begin = self.start()
        kind, word = self.next()
        if word in ("-", "+", "!", "~"):
            self.operand(role)
        elif word == "*":
            self.operand("address")
            self.take(begin, role)
        elif word == "&":
            self.operand(None)
        elif word == "{":  # {TYPE} ADDRESS
            self.place = self.closing(begin) + 1
            self.operand("address")
            self.take(begin, role)
        elif word in ("sizeof", "alignof", "_Alignof"):
            self.muted += 1
            self.operand(None)
            self.muted -= 1
        elif word == "(":
            self.bracket(begin, role)
        elif kind in ("name", "number", "text"):
            self.chain(begin, role, is_data=kind == "name")
        else:
            self.refuse("is not understood here")

    def bracket(self, begin, role):
        """A cast, or an expression; behind that there may be members and elements."""
        end = self.closing(begin)
        if is_type(self.source[begin + 1:end]):
            self.place = end + 1
            self.operand(role)
            return
        behind = TOKEN.match(self.source, end + 1)
        behind = behind[behind.lastgroup] if behind else ""
        inner = {"->": "address", "[": "address", ".": None}.get(behind, role)
        self.operands(inner)
        self.place = end + 1
        self.chain(begin, role, is_data=behind in ("->", "[", "."), bracket=True)

    def chain(self, begin, role, is_data, bracket=False):
        """What follows a name or a bracket: `->next`, `.key`, `[i]`."""
        simple = bracket  # the bracket has been read
        while (word := self.peek()[1]) in ("->", ".", "[", "("):
            if word == "(":
                self.refuse("calls a function")
            if word != "." and not simple:
                self.take(begin, "address")
            simple = False
            self.next()
            if word == "[":
                self.operands("address")
            self.next()  # the member, or the bracket
        if is_data and role:
            self.take(begin, role)

    # -- what was found --

    def take(self, begin, role):
        text = self.source[begin:self.place].strip()
        if self.muted or not role:
            return
        register = re.match(r"\$\w*", text)
        if register and (register[0] == text or is_register(register[0][1:])):
            self.take_register(register[0], role)
            return
        if is_of_this(re.match(r"\w*", text)[0]):
            self.take_text("this", "address")
        self.take_text(text, role)

    def take_text(self, text, role):
        value = gdb.parse_and_eval(text)
        if value.type.code == gdb.TYPE_CODE_FUNC or (
                role == "address" and value.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY):
            return  # nothing is read for its address
        if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
        if value.is_optimized_out:
            raise gdb.GdbError(f"{text}: optimized out here; where a line has just used it, it may be there.")
        if value.address is not None:
            memory = Memory(text)
            self.add(f"{memory.start:#x} {memory.size}", role, text)
        else:
            self.take_name(re.match(r"[\w:']+", text), role)

    def take_name(self, name, role):
        """A variable that is no memory: drdebug finds where it is, in the innermost frame."""
        symbol = gdb.lookup_symbol(name[0])[0] if name else None
        if symbol is None:
            return  # calculated: what it is made of has been taken
        if symbol.addr_class == gdb.SYMBOL_LOC_CONST:
            return
        check_innermost(f"{name[0]} is in a register")
        self.add(name[0], role, name[0])

    def take_register(self, text, role):
        name = {"sp": "rsp", "fp": "rbp"}.get(text[1:], text[1:])
        if name in ("pc", "rip") or not is_register(name):
            return  # a convenience variable
        check_innermost(f"{text} is a register")
        self.add("%" + re.sub(r"^(r\d+)l$", r"\1b", name), role, text)

    def add(self, criterion, role, text):
        if self.found.get(criterion, ("", ""))[0] != "value":
            self.found[criterion] = role, text

    # -- for the command line --

    def criterion(self, values_only=False):
        some = [c for c, (role, _) in self.found.items() if role == "value" or not values_only]
        return ", ".join(some or self.found)


def is_of_this(name):
    """Is it a member of the object that a method belongs to, so that `this' is read for it?"""
    try:
        if not name or not gdb.lookup_symbol(name)[1]:
            return False
        return is_member(gdb.parse_and_eval("*this").type, name)
    except gdb.error:
        return False


def is_member(kind, name):
    for field in kind.strip_typedefs().fields():
        if field.is_base_class or not field.name:
            if is_member(field.type, name):
                return True
        elif field.name == name:
            return hasattr(field, "bitpos")  # else it is static
    return False


def is_type(text):
    base = re.sub(r"\b(const|volatile)\b", " ", text).strip().rstrip("*& \t")
    try:
        gdb.lookup_type(" ".join(base.split()))
    except gdb.error:
        return False
    return re.fullmatch(r"[\w:]+", base) is None or gdb.lookup_symbol(base)[0] is None or \
        gdb.lookup_symbol(base)[0].addr_class == gdb.SYMBOL_LOC_TYPEDEF


def is_register(name):
    """GDB does not list those that are parts of others."""
    if re.fullmatch(r"[er]?([abcd]x|[sd]i|[sb]p)|[abcd][hl]|([sd]i|[sb]p)l|r(8|9|1[0-5])[dwl]?|[xyz]mm\d+", name):
        return True
    return name in {register.name for register in gdb.selected_frame().architecture().registers()}


def check_innermost(what):
    """Registers are those of the thread that has stopped, in its innermost frame."""
    frame = gdb.selected_frame()
    if frame.pc() != gdb.newest_frame().pc():
        raise gdb.GdbError(f"{what}, of a frame that is not the innermost: go there first, with `finish' "
                           "or `reverse-finish'.")
    if gdb.selected_thread().ptid[1] != ask("when")["thread"]:
        raise gdb.GdbError(f"{what}, of a thread that has not stopped here: only memory is known of others.")
