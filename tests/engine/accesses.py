"""accesses.py - instructions with the memory accesses they make, written down by hand.

SPDX-License-Identifier: MIT

Before each case rbx, rsi, rdi, rbp and rsp hold addresses (SETUP); eax is 1, ecx 3, edx 0. A case is
its assembly, its accesses and perhaps notes. An access is REGISTER+OFFSET or SYMBOL+OFFSET, a size and
r, w or rw; those of one instruction come in the order of its operands. {n} is the case's own number;
`vec{n}` holds the address of the label behind the case. Notes: REGISTER=VALUE to set it before, or a
feature that the CPU must have.
"""
import re
import subprocess

SETUP = {"rbx": "data", "rsi": "data+64", "rdi": "data+128", "rbp": "data+256", "rsp": "stack",
         "rax": "1", "rcx": "3", "rdx": "0"}

CASES = [
    ("mov (%rbx), %rax", "rbx+0 8 r"),
    ("mov %al, 5(%rbx)", "rbx+5 1 w"),
    ("addq $1, (%rbx, %rcx, 4)", "rbx+12 8 rw"),
    ("mov (%ebx), %eax", "rbx+0 4 r"),
    ("mov %fs:8(%rbx), %ax", "rbx+8 2 r"),
    ("mov %gs:8(%rbx), %ax", "rbx+8 2 r"),
    ("mov data(%rip), %rax", "rbx+0 8 r"),
    ("movabs data+8, %al", "rbx+8 1 r"),
    ("lea 8(%rbx), %rax", ""),
    ("nopl 8(%rbx)", ""),
    ("cmovz (%rbx), %rax", "rbx+0 8 r"),
    ("cmp %rax, (%rbx)", "rbx+0 8 r"),
    ("mulq (%rbx)", "rbx+0 8 r"),
    ("xchg %rax, (%rbx)", "rbx+0 8 rw"),
    ("lock xadd %rax, (%rbx)", "rbx+0 8 rw"),
    ("cmpxchg %rdx, (%rbx)", "rbx+0 8 rw"),
    ("cmpxchg8b (%rbx)", "rbx+0 8 rw"),
    ("cmpxchg16b (%rbx)", "rbx+0 16 rw"),
    ("btl $70, (%rbx)", "rbx+0 4 r"),
    ("movnti %rax, (%rbx)", "rbx+0 8 w"),
    ("setz (%rbx)", "rbx+0 1 w"),
    ("push %rax", "rsp-8 8 w"),
    ("push $1", "rsp-8 8 w"),
    ("pushw %ax", "rsp-2 2 w"),
    ("pushfq", "rsp-8 8 w"),
    ("pop %rax", "rsp+0 8 r"),
    ("popfq", "rsp+0 8 r"),
    ("push (%rbx)", "rbx+0 8 r, rsp-8 8 w"),
    ("pop 8(%rbx)", "rbx+8 8 w, rsp+0 8 r"),
    ("call end{n}", "rsp-8 8 w"),
    ("call *%rax", "rsp-8 8 w", "rax=end{n}"),
    ("call *vec{n}", "vec{n}+0 8 r, rsp-8 8 w"),
    ("jmp *vec{n}", "vec{n}+0 8 r"),
    ("push vec{n}; ret", "vec{n}+0 8 r, rsp-8 8 w, rsp-8 8 r"),
    ("push vec{n}; ret $16", "vec{n}+0 8 r, rsp-8 8 w, rsp-8 8 r"),
    ("leave", "rbp+0 8 r"),
    ("enter $16, $0", "rsp-8 8 w"),
    ("movsb", "rdi+0 1 w, rsi+0 1 r"),
    ("rep movsb", "rdi+0 1 w, rsi+0 1 r"),
    ("rep stosq", "rdi+0 8 w"),
    ("lodsl", "rsi+0 4 r"),
    ("scasw", "rdi+0 2 r"),
    ("cmpsq", "rsi+0 8 r, rdi+0 8 r"),
    ("xlat", "rbx+1 1 r"),
    ("movups (%rbx), %xmm0", "rbx+0 16 r"),
    ("movaps %xmm0, 16(%rbx)", "rbx+16 16 w"),
    ("movss (%rbx), %xmm0", "rbx+0 4 r"),
    ("movq (%rbx), %xmm0", "rbx+0 8 r"),
    ("movhps %xmm0, (%rbx)", "rbx+0 8 w"),
    ("cvtsi2sdl (%rbx), %xmm0", "rbx+0 4 r"),
    ("cvtps2pd (%rbx), %xmm0", "rbx+0 8 r"),
    ("punpcklbw (%rbx), %xmm0", "rbx+0 16 r"),
    ("pinsrb $1, 3(%rbx), %xmm0", "rbx+3 1 r"),
    ("pextrd $1, %xmm0, (%rbx)", "rbx+0 4 w"),
    ("pmovzxbw (%rbx), %xmm0", "rbx+0 8 r"),
    ("ldmxcsr mxcsr", "mxcsr+0 4 r"),
    ("stmxcsr (%rbx)", "rbx+0 4 w"),
    ("fldl (%rbx)", "rbx+0 8 r"),
    ("fldt (%rbx)", "rbx+0 10 r"),
    ("fstpt (%rbx)", "rbx+0 10 w"),
    ("fildl (%rbx)", "rbx+0 4 r"),
    ("fnstcw (%rbx)", "rbx+0 2 w"),
    ("fnstenv (%rbx)", "rbx+0 28 w"),
    ("fxsave 512(%rbx)", "rbx+512 512 w"),
    ("vmovups (%rbx), %ymm0", "rbx+0 32 r", "avx"),
    ("vbroadcastss (%rbx), %ymm0", "rbx+0 4 r", "avx"),
    ("vinsertf128 $1, (%rbx), %ymm0, %ymm0", "rbx+0 16 r", "avx"),
    ("vfmadd231sd (%rbx), %xmm0, %xmm1", "rbx+0 8 r", "fma"),
    ("andn (%rbx), %rax, %rdx", "rbx+0 8 r", "bmi1"),
    ("pop 8(%rsp)", "rsp+16 8 w, rsp+0 8 r"),
    ("bt %rcx, (%rbx)", "rbx+24 8 r", "rcx=200"),
    ("bts %ecx, (%rbx)", "rbx+24 4 rw", "rcx=200"),
    ("bt %rcx, (%rbx)", "rbx-8 8 r", "rcx=-1"),
    ("prefetcht0 (%rbx)", ""),
    ("vpcmpeqd %xmm1, %xmm1, %xmm1; vpxor %xmm0, %xmm0, %xmm0; vpgatherdd %xmm1, (%rbx, %xmm0, 4), %xmm2",
     "rbx+0 4 r", "avx2"),  # operand.h: the base alone counts
]

HEAD = """
    .globl _start
_start:
"""
TAIL = """
    mov $60, %eax
    xor %edi, %edi
    syscall
    .data
    .balign 64
    .skip 64
data:
    .skip 4096
stack:
    .skip 64
mxcsr:
    .long 0x1f80
"""


class Case:
    def __init__(self, number, asm, accesses, notes=""):
        self.asm, self.number = asm.replace("{n}", str(number)), number
        self.accesses = [a.split() for a in accesses.replace("{n}", str(number)).split(",") if a]
        words = notes.split()
        self.set = SETUP | dict(word.replace("{n}", str(number)).split("=") for word in words if "=" in word)
        self.needs = {word for word in words if "=" not in word}

    def text(self):
        setup = "".join(f"    movabs ${value}, %{reg}\n" for reg, value in self.set.items())
        return (f"{setup}    {self.asm}\nend{self.number}:\n    .pushsection .data\n"
                f"vec{self.number}: .quad end{self.number}\n    .popsection\n")


def cases():
    """Those that this CPU can run."""
    with open("/proc/cpuinfo", encoding="ascii") as f:
        has = set(re.search(r"flags\s*: (.*)", f.read())[1].split())
    made = [Case(number, *row) for number, row in enumerate(CASES)]
    return [case for case in made if case.needs <= has]


def build(chosen, path):
    """Makes a program of them; returns its symbols."""
    source = HEAD + "".join(case.text() for case in chosen) + TAIL
    subprocess.run(["gcc", "-x", "assembler", "-", "-nostdlib", "-static", "-o", path],
                   input=source.encode(), check=True)
    lines = subprocess.run(["nm", path], capture_output=True, check=True, text=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines}


def expected(chosen, symbols):
    """What tool=memory must say: loads, stores, bytes and the hash of all addresses in order."""
    loads = stores = total = digest = 0
    for case in chosen:
        for where, size, how in case.accesses:
            base, offset = re.fullmatch(r"(\w+)([+-]\d+)", where).groups()
            base, _, more = case.set.get(base, base).partition("+")
            address = symbols[base] + int(more or 0) + int(offset)
            loads, stores, total = loads + ("r" in how), stores + ("w" in how), total + int(size)
            digest = (digest ^ address ^ int(size) << 56) * 1099511628211 % 2**64
    return {"loads": str(loads), "stores": str(stores), "bytes": str(total), "hash": f"{digest:x}"}
