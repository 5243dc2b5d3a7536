"""cases.py - the table of all cases that compare.py runs and CMakeLists.txt builds.

A subject row builds one program of this folder and makes a case of it; further rows with `of=` run
the same program with other arguments. A program row runs a real program with fixed input. In argv,
set-up and environment {bin} is where subjects are built, {src} this folder, {work} the working
directory. Labels group cases by the part of the engine they press on.
"""


class Build:
    def __init__(self, name, sources, flags, kind="program"):
        self.name, self.sources, self.flags, self.kind = name, sources, flags, kind


class Case:
    """One comparison. limit: seconds under the engine; norm: (pattern, replacement) for both
    outputs; status: the native one must be this, negative for a signal, None for any; setup: shell text run natively before each run; files: copied into the working directory;
    expect: no native run, drdebug itself must answer so; shows_cpu: the output tells what the CPU has."""

    def __init__(self, name, argv, labels, nolink, stdin="", env=None, setup="", files=None, needs=(),
                 norm=(), ignore_files=(), limit=120, status=None, expect=None, shows_cpu=False):
        self.name, self.argv, self.labels, self.nolink = name, argv, labels, nolink
        self.stdin, self.env, self.setup, self.files = stdin, env or {}, setup, files or {}
        self.needs, self.norm, self.ignore_files = needs, norm, ignore_files
        self.limit, self.status, self.expect, self.shows_cpu = limit, status, expect, shows_cpu


BUILDS, CASES = [], []
PIE = "-fPIE -pie"
THREADS = "-pthread"


def build(name, sources, flags="", kind="program"):
    if kind == "program" and not any(w in flags for w in ("-static", "-no-pie", "-pie", "-shared")):
        flags = f"{PIE} {flags}"
    if kind == "program" and "-O" not in flags:
        flags = f"-O2 {flags}"
    BUILDS.append(Build(name, sources.split(), flags, kind))


def subject(name, source, flags="", args=(), labels=None, **more):
    """Builds `source` as `name` and runs it."""
    build(name, source, flags)
    again(name, name, args, labels or source.split("/", maxsplit=1)[0], **more)


def again(name, of, args, labels, **more):
    """Runs a built subject with other arguments."""
    more.setdefault("nolink", True)
    more.setdefault("status", 0)
    CASES.append(Case(name, [f"{{bin}}/{of}", *args], labels, **more))


def program(name, argv, labels="program", **more):
    """Runs a real program; argv is a list, or text split at blanks."""
    argv = argv.split() if isinstance(argv, str) else argv
    more.setdefault("nolink", False)
    more.setdefault("needs", (argv[0],))
    CASES.append(Case(name, argv, labels, **more))


def bad(name, argv, status, stderr, **more):
    """drdebug itself must answer with one line."""
    CASES.append(Case(name, argv, "bad", False, expect={"status": status, "stderr": stderr}, **more))


# Executable kinds.
HELLO = dict(args=("one", "two words", "", "-x", "--"), status=7)
subject("hello_static", "kind/hello.c", "-static", **HELLO)
subject("hello_static_O0", "kind/hello.c", "-static -O0", **HELLO)
subject("hello_static_pie", "kind/hello.c", "-fPIE -static-pie", **HELLO)
subject("hello_pie", "kind/hello.c", PIE, **HELLO)
subject("hello_pie_O0", "kind/hello.c", PIE + " -O0 -Wl,-z,lazy", **HELLO)
subject("hello_no_pie", "kind/hello.c", "-fno-pie -no-pie", **HELLO)
subject("hello_avx2", "kind/hello.c", "-O3 -fPIE -pie -fcf-protection=full -Wl,-z,now", **HELLO)
subject("hello_low", "kind/hello.c", "-static -Wl,-Ttext-segment=0x10000", **HELLO)
subject("nolibc_static", "kind/nolibc.S", "-nostdlib -static", ("b", "c"), status=5)
subject("nolibc_static_pie", "kind/nolibc.S", "-nostdlib -static-pie", ("b", "c"), status=5)
subject("nolibc_high", "kind/nolibc.S", "-nostdlib -static -Wl,-Ttext-segment=0x200000000000", ("b", "c"), status=5)
subject("bigbss", "kind/bigbss.c", "-static -Wl,--section-start=.far_text=0x50000000")
subject("bigbss_pie", "kind/bigbss.c")
subject("throw", "kind/throw.cc", THREADS, status=4)
subject("throw_static", "kind/throw.cc", "-static -pthread", status=4)
subject("throw_O0", "kind/throw.cc", "-O0 -pthread", status=4)
subject("terminate", "kind/terminate.cc", status=-6)
again("terminate_noexcept", "terminate", ("x",), "kind", status=-6)
build("libthrow.so", "kind/throw_lib.cc", "-fPIC -shared -O2")
subject("throw_dlopen", "kind/throw_dlopen.cc", "-rdynamic", ("{bin}/libthrow.so",))
subject("throw_signal", "kind/throw_signal.cc", "-fnon-call-exceptions")
subject("cxx_threads", "kind/cxx_threads.cc", THREADS)
build("script", "kind/script.sh", kind="copy")
build("script_awk", "kind/script.awk", kind="copy")
build("script_nested", "kind/script_nested.sh", kind="copy")
build("script_inner", "kind/script_inner.sh", kind="copy")
again("script", "script", ("a", "b c", ""), "kind", status=9)
again("script_awk", "script_awk", ("x", "y"), "kind", status=3)
program("script_nested", ["./nested", "arg"], "kind", needs=(),
        files={"nested": "{bin}/script_nested", "script_inner": "{bin}/script_inner"}, nolink=True)
program("script_relative", ["./here", "arg"], "kind", needs=(), files={"here": "{bin}/script"})
program("ld_so", ["/lib64/ld-linux-x86-64.so.2", "/bin/echo", "through", "the", "loader"], "kind")
program("ldd", "env LD_TRACE_LOADED_OBJECTS=1 /bin/ls", "kind",
        norm=[(r"0x[0-9a-f]+", "ADDRESS")])
program("preload", "env LD_PRELOAD=libm.so.6 /bin/echo preloaded", "kind")
program("bind_now", "env LD_BIND_NOW=1 LD_DEBUG=statistics /bin/echo bound", "kind", norm=[(r"(?m)^ *\d+:.*\n", "")])

# Threads.
for _name in ("tls", "clone_settls", "robust", "robust_process", "sync", "mutex_kinds", "mutex_pi",
              "futex_ops", "outputs", "futex_private", "futex_times", "futex_signals", "futex_fork", "futex2",
              "futex_pi", "broadcast", "robust_wait", "sync_stress", "exit_last", "cancel", "spin_pair",
              "spin_stop", "spin_ways", "create_many", "ids", "fairness", "affinity", "kernel_state"):
    subject(f"thread_{_name}", f"thread/{_name}.c", THREADS)
subject("thread_short_lived", "thread/short_lived.c", THREADS, nolink=False)
subject("thread_clone_raw", "thread/clone_raw.c", "-fno-stack-protector")
subject("thread_atomics", "thread/atomics.c", "-pthread -mcx16")
subject("thread_tls_static", "thread/tls.c", "-static -pthread")
subject("thread_sync_static", "thread/sync.c", "-static -pthread")
subject("thread_exit_main", "thread/exit_group.c", THREADS, ("main",), status=21)
for _how in ("thread", "thread-main-spins", "thread-main-gone"):
    again(f"thread_exit_{_how.replace('-', '_')}", "thread_exit_main", (_how,), "thread", status=22)
subject("thread_die_term", "thread/die_in_thread.c", THREADS, ("term",), status=-15)
for _how, _sig in (("segv", 11), ("abort", 6), ("ill", 4)):
    again(f"thread_die_{_how}", "thread_die_term", (_how,), "thread", status=-_sig)

# Signals.
for _name in ("fields", "onstack", "flags", "segv_map", "ucontext_edit", "fault_registers", "longjmp",
              "bus", "status", "masks", "raw_sigreturn", "singlestep", "trap", "tiny_stack", "io_signal",
              "handler_calls", "waiting"):
    subject(f"signal_{_name}", f"signal/{_name}.c")
for _name in ("restart", "tgkill", "read_race"):
    subject(f"signal_{_name}", f"signal/{_name}.c", THREADS)
subject("signal_suspend_race", "signal/suspend_race.c", "", ("20000",), nolink=False)
subject("signal_timers", "signal/timers.c", THREADS, nolink=False)
subject("signal_profiler", "signal/profiler.c", THREADS, nolink=False)
subject("signal_alarm_default", "signal/alarm_default.c", status=-14)
subject("signal_overflow", "signal/overflow.c", "-O1 -fno-optimize-sibling-calls -pthread", status=-11)
subject("signal_frame", "signal/frame.c", "-O2 -fno-omit-frame-pointer -static")
subject("signal_prof_state", "signal/prof_state.c signal/state_loop.S", "-static -lm", nolink=False)
subject("signal_switch_state", "signal/switch_state.c signal/state_loop.S", THREADS)
subject("signal_switch_ymm", "signal/switch_state.c signal/state_loop.S", "-DYMM -mavx2 -pthread")
subject("die_term", "signal/die.c", "", ("15",), status=-15)
for _how, _sig in (("1", 1), ("2", 2), ("3", 3), ("6", 6), ("9", 9), ("10", 10), ("14", 14), ("24", 24),
                   ("31", 31), ("34", 34), ("64", 64), ("abort", 6), ("null", 11), ("divide", 8),
                   ("ud2", 4), ("int3", 5), ("pipe", 13), ("nested", 11), ("blocked", 11),
                   ("ignored", 11), ("nostack", 11)):
    again(f"die_{_how}", "die_term", (_how,), "signal", nolink=False, status=-_sig)

subject("signal_fatal", "signal/fatal.c", THREADS, limit=120)
subject("signal_held", "signal/held.c", THREADS)
subject("signal_refused", "signal/refused.c", THREADS, status=-40)
again("signal_refused_room", "signal_refused", ("room",), "signal", nolink=False, status=-40)
for _row, _status in (("kill s - 15", -15), ("kill s - 11", -11), ("kill s st 10", -10), ("kill s msot 10", 101), ("kill s msot 11", 101),
                      ("kill s msou 8", -8), ("kill m m 8", -8), ("tgkill_o m - 3", -3), ("tgkill_m s - 40", -40),
                      ("tgkill_o s o 11", 100), ("queue s m 11", -11), ("pidfd s - 1", -1)):
    again("signal_fatal_" + _row.replace(" ", "_").replace("-", "none"), "signal_fatal", _row.split(), "signal", nolink=False,
          status=_status)

# Processes.
for _name in ("forks", "vfork", "spawn", "pidfd", "pipes", "clear_handlers", "exec_stop"):
    subject(f"process_{_name}", f"process/{_name}.c")
subject("process_exec", "process/exec.c", status=17)
subject("process_exec_thread", "process/exec_thread.c", THREADS, status=23)
for _name in ("fork_threads", "shell", "shared_memory", "vfork_killed", "side_killed"):
    subject(f"process_{_name}", f"process/{_name}.c", THREADS)
subject("process_vfork_static", "process/vfork.c", "-static")
subject("exit_0", "process/exit_codes.c", "", ("return", "0"))
for _how, _code in (("return", "255"), ("exit", "3"), ("_exit", "77"), ("quick", "128"), ("exit", "300")):
    again(f"exit_{_how}_{_code}", "exit_0", (_how, _code), "process", nolink=False,
          status=int(_code) % 256)

# Contexts and stacks.
for _name in ("setjmp", "swapcontext", "asm_switch", "odd_returns", "stack_growth"):
    subject(f"context_{_name}", f"context/{_name}.c")
subject("context_coroutines", "context/coroutines.c", THREADS)

# Memory and code that changes.
for _name in ("maps_calls", "files", "code_rewrite", "code_two_maps", "code_by_call", "code_remap",
              "code_edges", "code_rights", "code_handler", "code_data_page", "code_rep", "fork_code", "foreign_ranges", "reserve"):
    subject(f"memory_{_name}", f"memory/{_name}.c")
subject("memory_heap_2g", "memory/heap_2g.c", nolink=False)
subject("memory_many_maps", "memory/many_maps.c", nolink=False)
subject("memory_code_threads", "memory/code_threads.c", THREADS)
subject("memory_nested_function", "memory/nested_function.c", "-Wl,-z,execstack")
build("libone.so", "memory/lib_one.c", "-fPIC -shared -O2")
build("libtwo.so", "memory/lib_one.c", "-fPIC -shared -O2 -DSECOND")
subject("memory_dlopen_swap", "memory/dlopen_swap.c", "", ("{bin}/libone.so", "{bin}/libtwo.so"))

# Instructions.
for _name in ("rip_relative", "rep", "branches", "overlap", "timestamp", "cpuid", "random", "xsave",
              "fork_vector", "vectors", "x87", "far", "wide_cas", "alignment_check", "avx512"):
    subject(f"insn_{_name}", f"insn/{_name}.c", "-lm -pthread", shows_cpu=_name in ("cpuid", "xsave", "vectors"))
subject("insn_flags", "insn/flags_main.c insn/flags.S")
subject("insn_stack_forms", "insn/stack_forms_main.c insn/stack_forms.S", "-fno-pie -no-pie")
subject("insn_syscall_edge", "insn/syscall_edge.S", "-nostdlib -static", status=33)
subject("insn_segment_base", "insn/segment_base.c", "-mfsgsbase -pthread")
subject("insn_vector_state", "insn/vector_state.c", THREADS)
subject("insn_many_blocks", "insn/many_blocks.c", nolink=False)

# What the program sees of itself.
for _name in ("maps", "maps_code", "maps_reread", "fds", "identity", "brk", "clocks", "limits", "limit_as",
              "process_attributes", "argv_env", "vsyscall"):
    subject(f"env_{_name}", f"env/{_name}.c")
subject("env_seccomp", "env/seccomp.c", THREADS)
again("env_seccomp_threads", "env_seccomp", ("threads",), "env", status=-31)
subject("env_limit_cpu", "env/limit_cpu.c", nolink=False, status=-24)
again("env_identity_args", "env_identity", ("a", "b c", ""), "env", nolink=False)
again("env_argv", "env_argv_env", ("-x", "--", "--no-link", "run"), "env", nolink=False)
subject("env_identity_no_pie", "env/identity.c", "-fno-pie -no-pie")
subject("env_brk_static", "env/brk.c", "-static")
subject("env_brk_no_pie", "env/brk.c", "-fno-pie -no-pie")
subject("env_maps_static", "env/maps.c", "-static")
subject("env_close_all", "env/close_all.c", THREADS)
subject("env_backtrace", "env/backtrace.c", "-rdynamic -O1 -fno-optimize-sibling-calls")
subject("env_return_addresses", "env/return_addresses.c", "-static")
program("env_maps_exact", "setarch -R cat /proc/self/maps", "env")
program("env_exact_stack", ["setarch", "-R", "{bin}/env_identity", "x"], "env", needs=("setarch",))

# System calls in breadth.
for _name in ("files", "events", "times"):
    subject(f"sys_{_name}", f"sys/{_name}.c")
for _name in ("sockets", "ipc"):
    subject(f"sys_{_name}", f"sys/{_name}.c", "-pthread -lrt", nolink=False)
subject("sys_pty", "sys/pty.c", "-lutil")
subject("sys_stdio", "sys/stdio.c", "-lm")

# Sanitizers keep large fixed ranges of the address space for themselves.
SANITIZER_NORM = [(r"==\d+==", "==PID=="), (r"0x[0-9a-f]+", "ADDRESS"), (r"pid=\d+", "pid"),
                  (r"\(BuildId: [0-9a-f]+\)", ""), (r"T\d+|tid=\d+", "T")]
subject("asan_clean", "sys/stdio.c", "-fsanitize=address,undefined -lm", labels="sanitizer", nolink=False)
subject("asan_bug", "programs/use_after_free.c", "-fsanitize=address -O0", labels="sanitizer", nolink=False, status=1,
        norm=SANITIZER_NORM)
subject("ubsan_bug", "programs/overflow.c", "-fsanitize=undefined -O0", labels="sanitizer", nolink=False)
subject("tsan_clean", "thread/sync.c", "-fsanitize=thread -pthread", labels="sanitizer", nolink=False)

# Real programs with fixed input.
LINES = "seq 1 40000 | awk '{ print ($1 * 7919) % 65537, \"text\", $1 % 97 }' > input"
PYTHON = "/usr/bin/python3"
for _name in ("json", "threads", "subprocess", "multiprocessing", "ctypes", "asyncio"):
    program(f"python_{_name}", [PYTHON, "-B", f"{{src}}/programs/py_{_name}.py"])
program("python_version", [PYTHON, "-VV"])
program("python_stdin", [PYTHON, "-"], stdin="import sys\nprint(sys.argv, 2 ** 200)\nsys.exit(5)\n")
program("python_traceback", [PYTHON, "-c", "def f(n): return f(n - 1) if n else [][1]\nf(3)"])
program("perl", "perl {src}/programs/work.pl")
program("perl_fork", ["perl", "-e", "$|=1; for (1..5) { if (!fork) { exit $_ } wait; print $? >> 8, qq(\\n) }"])
program("bash", "bash {src}/programs/work.bash")
program("bash_jobs", "bash {src}/programs/jobs.bash")
program("sh_pipeline", ["sh", "-c", "seq 1 500 | grep 7 | sed 's/7/seven/' | sort -r | head -5 | cat -n"])
program("git", "sh {src}/programs/git.sh", needs=("git",), ignore_files=[r"\.git/"])
program("gcc", "sh {src}/programs/gcc.sh", needs=("g++",))
program("gcc_error", ["gcc", "-c", "broken.c"], setup="echo 'int main( { return x; }' > broken.c")
program("sqlite3", "sqlite3 :memory:", stdin="""
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, printf('%05d', i * 7919 % 65537) from n;
create index tb on t(b);
select count(*), sum(a), min(b), max(b) from t;
select b from t order by b desc limit 5;
select substr(b, 1, 2) k, count(*) from t group by k having count(*) > 600 order by k;
select * from nothing;
""")
program("sqlite3_file", ["sh", "-c", "sqlite3 db 'create table t(a); insert into t values(1),(2); "
                         "select sum(a) from t;' && sqlite3 db .dump"], needs=("sqlite3",), ignore_files=["db"])
program("openssl_dgst", "openssl dgst -sha256 input", setup=LINES)
program("openssl_enc", "openssl enc -aes-256-ctr -K 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff "
        "-iv 000102030405060708090a0b0c0d0e0f -in input -out output", setup=LINES)
program("openssl_speed", "openssl speed -seconds 1 -bytes 256 sha256", norm=[(r"(?s).+", "")])
program("openssl_rsa", ["sh", "-c", "openssl genrsa -out key 1024 2>/dev/null && openssl rsa -in key -check -noout && "
                        "echo text | openssl dgst -sha256 -sign key -out sig && openssl rsa -in key -pubout -out pub && "
                        "echo text | openssl dgst -sha256 -verify pub -signature sig"],
        needs=("openssl",), ignore_files=["key", "sig", "pub"])
build("gdb_target", "programs/gdb_target.c", "-O0 -fno-pie -no-pie")
GDB_SETUP = ("gdb -nx -batch -ex run -ex 'generate-core-file core' {bin}/gdb_target > log 2>&1 || true; "
             "rm -f log; [ -s core ] || { echo no core could be made; exit 77; }")
program("gdb_symbols", ["gdb", "-nx", "-batch", "-ex", "ptype struct item", "-ex", "info line walk", "-ex",
                        "info scope walk", "-ex", "list walk", "-ex", "print sizeof(struct item)", "-ex",
                        "disassemble /r walk", "{bin}/gdb_target"])
program("gdb_core", ["gdb", "-nx", "-batch", "-ex", "bt full", "-ex", "info registers rip rsp", "-ex",
                     "print *head", "-ex", "info threads", "{bin}/gdb_target", "core"],
        setup=GDB_SETUP, ignore_files=["core"], norm=[(r"0x[0-9a-f]+", "ADDRESS"), (r"(LWP|process) \d+", "LWP"), (r" +", " ")])
program("tar", ["sh", "-c", "tar cf a.tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner d && "
                "tar tvf a.tar && mkdir x && tar xf a.tar -C x && diff -r d x/d && "
                "tar czf - --mtime=@0 d | tar tzf - | sort"],
        setup="mkdir -p d/e; seq 1 1000 > d/one; seq 1 50 > d/e/two; ln -s one d/link", needs=("tar",),
        ignore_files=[r"a\.tar"])
program("sort_parallel", "sort --parallel=4 -S 20M -k3,3n -k1,1n input -o sorted", setup=LINES)
program("xz_threads", ["sh", "-c", "xz -T2 -2 --block-size=100000 -k input && xz -l input.xz | tail -1 && "
                       "xz -dc -T2 input.xz | cmp - input"], setup=LINES, needs=("xz",))
program("gzip", ["sh", "-c", "gzip -9n < input > a.gz && gzip -dc a.gz | cmp - input && gzip -t a.gz"], setup=LINES)
program("bzip2", ["sh", "-c", "bzip2 -k input && bzip2 -dc input.bz2 | cmp - input"], setup=LINES, needs=("bzip2",))
program("zstd", "zstd -q -T2 -3 input -o out.zst", setup=LINES)
program("awk", ["awk", "{ s[$3] += $1; n++ } END { for (i = 0; i < 97; i += 12) print i, s[i]; print n, sin(1) }", "input"],
        setup=LINES)
program("sed", ["sed", "-E", "-n", "s/([0-9]+) text ([0-9]{2})$/\\2-\\1/p; 100q", "input"], setup=LINES)
program("find", ["sh", "-c", "find . -name '*2*' -type f -size -2k -exec wc -l {} + | sort"],
        setup="mkdir -p a/b/c; for i in 1 2 3 12 22; do seq 1 $i > a/$i; seq 1 $i > a/b/c/$i; done", needs=("find",))
program("grep", ["grep", "-nE", "^(12|34)[0-9]* text 5", "input"], setup=LINES)
program("make", "make -s -j2 -f {src}/programs/work.mk")
program("ls", "ls -la --time-style=+%s d", setup="mkdir d; touch -d @1000 d/a d/b d; chmod 640 d/a; ln -s a d/l; "
        "touch -h -d @1000 d/l; touch -d @1000 d .")
program("ps", ["sh", "-c", "ps -o comm= -p $$; ps -o comm= --ppid $$; :"])
program("date", "date -u -d @1700000000")
program("dd", ["dd", "if=input", "of=output", "bs=1000", "conv=ucase"], setup=LINES, norm=[(r" copied, .*", " copied")])
program("diff", "diff -u a b", setup="seq 1 100 > a; sed 's/5$/five/' a > b; touch -d @0 a b")
program("md5sum", "md5sum input", setup=LINES)
program("cat_maps", ["sh", "-c", "cat /proc/self/maps | grep -c vdso; cat /proc/self/maps | grep -c rwx"])
program("timeout", "timeout 0.2 sleep 20")
program("timeout_kill", ["timeout", "-s", "KILL", "0.2", "sh", "-c", "while :; do :; done"])
program("xargs", ["sh", "-c", "seq 1 12 | xargs -P 4 -n 3 echo | sort"], needs=("xargs",))
program("env_i", "env -i A=1 /usr/bin/env")
program("nice", "nice -n 5 nice")
program("stdbuf", "stdbuf -o0 echo unbuffered")
program("busy_shell", ["bash", "-c", "i=0; while ((i < 60000)); do ((i++)); done; echo $i"])

# Not promised, but telling: just-in-time compilers with threads and signals of their own.
program("node", ["node", "{src}/programs/work.js"], "extra")
program("java", ["java", "-Xmx200m", "{src}/programs/Work.java"], "extra")

# Bad input: one line by drdebug itself, and a shell's status.
bad("bad_missing", ["./missing"], [127], r"^drdebug: .*missing")
bad("bad_missing_name", ["no-such-command-here"], [127], r"^drdebug: .*no-such-command-here")
bad("bad_mode", ["./plain"], [126], r"^drdebug: .*plain", setup="echo text > plain; chmod 644 plain")
bad("bad_directory", ["/usr"], [126], r"^drdebug: .*/usr")
bad("bad_text", ["./text"], [126], r"^drdebug: .*text", setup="echo just text > text; chmod 755 text")
bad("bad_empty", ["./empty"], [126], r"^drdebug: .*empty", setup=": > empty; chmod 755 empty")
bad("bad_truncated", ["./cut"], [126], r"^drdebug: .*cut", setup="head -c 100 /bin/true > cut; chmod 755 cut")
bad("bad_header_only", ["./cut"], [126], r"^drdebug: .*cut", setup="head -c 20 /bin/true > cut; chmod 755 cut")
bad("bad_32bit", ["./x32"], [126], r"^drdebug: .*x32.*32", setup="cp /bin/true x32; chmod 755 x32; "
    "printf '\\001' | dd of=x32 bs=1 seek=4 conv=notrunc status=none; "
    "printf '\\003' | dd of=x32 bs=1 seek=18 conv=notrunc status=none")
bad("bad_machine", ["./arm"], [126], r"^drdebug: .*arm", setup="cp /bin/true arm; chmod 755 arm; "
    "printf '\\267' | dd of=arm bs=1 seek=18 conv=notrunc status=none")
bad("bad_interpreter", ["./script"], [126, 127], r"^drdebug: .*script",
    setup="printf '#!/no/such/interpreter\\n' > script; chmod 755 script")

BY_NAME = {c.name: c for c in CASES}
assert len(BY_NAME) == len(CASES), "two cases of one name"
