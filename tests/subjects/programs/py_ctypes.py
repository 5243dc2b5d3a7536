"""py_ctypes.py - ctypes: calls into libc, callbacks through libffi's closures, mmap, signals."""
import ctypes
import mmap
import struct

libc = ctypes.CDLL(None)
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
values = (ctypes.c_int * 500)(*[(i * 7919) % 503 for i in range(500)])
libc.qsort(values, 500, ctypes.sizeof(ctypes.c_int), Compare(lambda a, b: a[0] - b[0]))
print(list(values) == sorted(values), values[0], values[499])
libc.strtod.restype = ctypes.c_double
print(libc.strtod(b"2.5e3", None), libc.abs(-5), libc.strlen(b"abc"))
libm = ctypes.CDLL("libm.so.6")
libm.pow.restype = ctypes.c_double
libm.pow.argtypes = [ctypes.c_double, ctypes.c_double]
print(libm.pow(2, 0.5))
code = bytes([0x8d, 0x47, 0x05, 0xc3])  # lea 5(%rdi), %eax; ret
buf = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
for add in (5, 9, 100):
    buf[:4] = code[:2] + struct.pack("B", add) + code[3:]
    fn = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(buf)))
    print(fn(10))
