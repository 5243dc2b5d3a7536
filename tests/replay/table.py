"""table.py - the table of all that replay_case.py records and CMakeLists.txt builds.

SPDX-License-Identifier: MIT

A row is a case as tests/subjects/cases.py has them, and how its recording is judged. Every case of
that table is here, too; then programs of this folder (rules/, races/), sanitizer builds, and real
programs with more than one thread. Names of tests: replay.NAME.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SUBJECTS = os.path.join(os.path.dirname(HERE), "subjects")
sys.path.insert(0, SUBJECTS)
import cases  # noqa: E402  pylint: disable=wrong-import-position

SOAK = os.environ.get("DRDEBUG_SOAK") == "1"


class Row:
    """parts: children or a new program image write, too, and are not in the recording: what replay
    writes is a part of what was seen. varies: no two runs are alike, so there is nothing native to
    compare with. own: the case's programs are built by this folder. fails: FAIL in the output is
    what the program says when it was wrong. nolink: a test with block linking off. sanitizer: a key of
    SANITIZERS. soak: only there. any_end: how it ends is a matter of chance."""

    def __init__(self, case, parts=False, varies=False, own=False, sanitizer="", nolink=False, fails=True, soak=False,
                 any_end=False):
        self.case, self.name, self.varies, self.own = case, case.name, varies, own
        self._parts = parts  # or a function that says so
        self.sanitizer, self.nolink, self.fails, self.soak, self.any_end = sanitizer, nolink, fails, soak, any_end
        self.labels = case.labels

    @property
    def parts(self):
        return self._parts() if callable(self._parts) else self._parts


ROWS, BUILDS = [], []
COMMON = "-O2 -fPIE -pie -pthread"
SOAK_ONLY = "soak"

# Seen with strace: in these somebody else than the recorded program writes to the standard outputs. The
# rest must come back byte by byte.
PARTS = set("""
    script_nested signal_io_signal process_forks process_vfork process_spawn process_shell process_vfork_static
    memory_fork_code insn_fork_vector env_limits env_seccomp env_close_all perl bash bash_jobs sh_pipeline git gcc
    gcc_error sqlite3_file openssl_rsa tar xz_threads find make ps cat_maps xargs thread_futex_fork process_pipes
    process_exec script script_relative signal_masks
""".split())

# Spins on memory that a child process writes: only what system calls order is recorded of such memory, and the
# recorder warns of it (rule_shared_child is the part that works).
NOT_RECORDED = {"process_shared_memory"}

# Numbers or times in the output that differ from run to run, whatever runs them.
VARIES = {"openssl_speed", "ps", "dd"}

for _case in cases.CASES:
    if _case.name not in NOT_RECORDED:
        ROWS.append(Row(_case, _case.name in PARTS, _case.name in VARIES, nolink=_case.nolink))


def own(name, source, flags="", args=(), labels="rule", sanitizer="", **more):
    """Builds a program of this folder, or of tests/subjects, and makes a row of it."""
    row = {k: more.pop(k) for k in ("parts", "nolink", "fails", "soak", "any_end") if k in more}
    BUILDS.append(("own_" + name, source, f"{COMMON} {flags}", sanitizer, SOAK_ONLY if row.get("soak") else ""))
    case = cases.Case(name, ["{bin}/own_" + name, *args], labels, False, **more)
    ROWS.append(Row(case, varies=True, own=True, sanitizer=sanitizer, **row))


def program(name, argv, **more):
    """A real program whose output may differ from run to run."""
    row = {k: more.pop(k) for k in ("parts", "varies", "nolink", "own") if k in more}
    argv = argv.split() if isinstance(argv, str) else argv
    more.setdefault("needs", (argv[0],))
    ROWS.append(Row(cases.Case(name, argv, "program", False, **more), **row))


# Rules of exact recording, one program each.
for _name in """xinuse cpu_number vdso madv_free kernel_async futex_private futex_shared shared_child shared_own spawn_writes robust_exit
        clear_tid timers_sigev signal_spin restarted_call vfork_writes spawn_missing close_range proc_fds
        ptrace_refused self_modifying code_by_call pwrite_mapped aliases memfd sparse shm_open sysv_shm
        mremap_grow map_fixed brk_moves deep_recursion beyond_eof truncate_mapped vector_io fd_passing epoll
        eventfd timerfd signalfd inotify scribbled_buffer fork_wait system_popen proc_self cpu_values
        kernel_copy usage_numbers tcp directory large_reads many_threads rep_signal ioctls poll_select
        sync_faults x87_pointers mremap_pieces partial_calls stack_growth refusals
        read_implies_exec dontneed_image dontneed_changed mremap_large pwrite_append high_numbers
        file_windows private_first""".split():
    own(f"rule_{_name}", f"rules/{_name}.c", "-lrt", status=0, nolink=True)
own("rule_unsupported", "rules/unsupported.c", status=-4, nolink=True)
own("rule_dumpable", "rules/dumpable.c", status=12, nolink=True)
own("rule_setuid", "rules/setuid.c", status=13, nolink=True)
own("rule_seccomp_filter", "rules/seccomp_filter.c", status=-31, nolink=True)
for _name, _count in (("sigsuspend", 10000), ("ppoll", 7000), ("read", 3000)):
    own(f"rule_signals_{_name}", f"rules/signals_{_name}.c", args=(str(_count * 50 if SOAK else _count),), status=0)

# The racy programs; races.py records and replays them more often.
RACES = """lost_update use_after_free order_violation lost_wakeup abba_deadlock double_checked signal_thread
    atomicity ambient""".split()
for _name in RACES:
    BUILDS.append((f"race_{_name}", f"races/{_name}.c", "-O1 -fPIE -pie -pthread", "", ""))

# Hot loops; hot.py records and replays them in superblocks and without.
for _name in ("signals", "faults", "racy"):
    BUILDS.append((f"hot_{_name}", f"hot/{_name}.c", f"{COMMON} -lrt", "", ""))
BUILDS.append(("hot_two_ways", "hot/two_ways.S", "-nostdlib -static", "", ""))

# Sanitizer builds of all subjects, in a soak; of these, always.
SANITIZERS = {"asan": "-fsanitize=address", "ubsan": "-fsanitize=undefined", "tsan": "-fsanitize=thread"}
SANITIZED = """thread_tls thread_sync thread_cancel thread_atomics thread_create_many thread_mutex_kinds signal_masks
    signal_handler_calls signal_longjmp memory_files context_setjmp process_fork_threads process_pipes sys_sockets""".split()
ALWAYS = {"asan": SANITIZED, "tsan": SANITIZED, "ubsan": ["thread_sync", "signal_longjmp", "memory_files"]}

# A sanitizer's library is shared, wants an entry of its own, and keeps the address space in order that these disturb.
NOT_SANITIZED = re.compile(r"-static|-nostdlib|-Wl,|-fsanitize|execstack")
# Natively they do not end, either, or not always: TSan holds signals back until a call that it knows, and futexes and
# clone() by number it does not know; ASan's own calls are not in the seccomp filter, and a child of fork() that makes a thread
# waits for a lock of ASan's that another thread of the parent may have had. 2 GB are 10 under TSan.
LEFT_OUT = {("asan", "env_seccomp"), ("asan", "process_fork_threads"), *(("tsan", _name) for _name in """signal_handler_calls signal_longjmp signal_tiny_stack
    signal_tgkill signal_timers signal_switch_state signal_switch_ymm signal_read_race thread_futex_signals thread_futex_fork
    thread_futex_pi thread_clone_raw process_pidfd process_vfork_killed memory_heap_2g""".split())}
CHILDREN = re.compile(r"fork|\bclone\(|spawn|system\(|popen\(")  # who report, too
CASES_OF = {}  # by program
for _case in cases.CASES:
    CASES_OF.setdefault(_case.argv[0], []).append(_case)


def has_children(build):
    return any(CHILDREN.search(open(os.path.join(SUBJECTS, source), encoding="utf-8").read()) for source in build.sources)


def sanitized(build, kind):
    """The build's rows under one sanitizer. What a sanitizer changes in a run is compared with the same build's native
    status; its reports come back in replay byte by byte."""
    name = f"{kind}_{build.name}"
    BUILDS.append(("own_" + name, " ".join(f"../subjects/{source}" for source in build.sources),
                   f"{build.flags} -mcx16 {SANITIZERS[kind]}", kind, SOAK_ONLY if build.name not in ALWAYS[kind] else ""))
    for case in CASES_OF.get(f"{{bin}}/{build.name}", ()):
        if (kind, case.name) in LEFT_OUT or case.name in NOT_RECORDED:
            continue
        argv = [f"{{bin}}/own_{name}", *case.argv[1:]]
        own_case = cases.Case(f"{kind}_{case.name}", argv, "sanitizer", False, stdin=case.stdin, env=case.env, setup=case.setup,
                              files=case.files, needs=case.needs, limit=120)
        ROWS.append(Row(own_case, varies=True, own=True, sanitizer=kind, fails=False,
                        parts=lambda: has_children(build), soak=case.name not in ALWAYS[kind]))


for _kind, _flag in SANITIZERS.items():
    _seen = set()
    for _build in cases.BUILDS:
        _text = " ".join(_build.sources)
        if _build.kind == "program" and _text not in _seen and not NOT_SANITIZED.search(_build.flags):
            _seen.add(_text)
            sanitized(_build, _kind)
    for _name in RACES:  # the deadlock has no end of its own, and TSan changes that of the lost wake-up
        if _name not in ("abba_deadlock", "lost_wakeup"):
            own(f"{_kind}_race_{_name}", f"races/{_name}.c", _flag, labels="sanitizer", sanitizer=_kind, fails=False,
                limit=120, soak=_kind == "ubsan", any_end=True)

# Programs for ends.py and its neighbours.
for _name in ("ends", "compute", "threads", "calls", "interrupted", "stopped", "deadlock", "group"):
    BUILDS.append((f"end_{_name}", f"ends/{_name}.c", "-O1 -fPIE -pie -pthread", "", ""))
BUILDS.append(("end_throw", "ends/throw.cc", "-O1 -fPIE -pie -pthread", "", ""))
for _name in ("maps_shared", "opens_output", "other_numbers", "shares_file", "net_namespace"):
    BUILDS.append((_name, f"rules/{_name}.c", COMMON, "", ""))
BUILDS.append(("show_ids", "rules/show_ids.c", COMMON, "", ""))
BUILDS.append(("sqlite_threads", "programs/sqlite_threads.c", "-O2 -pthread -lsqlite3", "sqlite3", ""))

# Real programs. Each reads a file of its own that is gone before replay; nothing is piped through a shell,
# so the recorded process does the work.
LINES = "awk 'BEGIN { for (i = 1; i <= 60000; i++) print (i * 7919) % 65537, \"text\", i % 97 }' > input"
PYTHON = "/usr/bin/python3"
program("xz_T2", "xz -T2 -1 --block-size=150000 -c input", setup=LINES, nolink=True)
program("xz_d_T2", "xz -dc -T2 input.xz", setup=LINES + "; xz -T2 -1 --block-size=150000 input")
program("pigz", "pigz -p 3 -b 128 -n -c input", setup=LINES, nolink=True)
program("pigz_d", "pigz -dc input.gz", setup=LINES + "; pigz -n input", needs=("pigz",))
program("pbzip2", "pbzip2 -p2 -b1 -c input", setup=LINES)
program("lbzip2", "lbzip2 -n 2 -c input", setup=LINES)
program("zstd_T2", "zstd -q -T2 -B131072 -5 -c input", setup=LINES, nolink=True)
program("sqlite_file", ["sqlite3", "file.db"], stdin="""
pragma journal_mode=wal;
create table t(a integer primary key, b text, c);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
  insert into t select i, hex(randomblob(8)), random() from n;
commit;
create index tb on t(b);
select count(*), sum(a), min(b), max(b), sum(c % 1000) from t;
select b from t order by b desc limit 5;
delete from t where a % 3 = 0;
vacuum;
select strftime('%s', 'now'), changes(), count(*) from t;
""", varies=True, nolink=True)
program("sqlite_threads", ["{bin}/sqlite_threads", "threads.db"], needs=(), varies=True, own=True)
program("python_many_threads", [PYTHON, "-B", f"{HERE}/programs/threads.py"], varies=True, nolink=True)
program("python_random", [PYTHON, "-B", "-c", "import os, random, time, uuid, tempfile\n"
                          "print(random.random(), uuid.uuid4(), time.time(), os.getpid(), hash('text'))\n"
                          "print(id(object()), os.urandom(8).hex(), tempfile.mkdtemp(), sorted(os.environ))"], varies=True)
program("perl_values", ["perl", "-MTime::HiRes=time,sleep", "-e",
                        "$SIG{ALRM} = sub { $n++ }; alarm 1; my %h = map { $_ => rand } 1..500; print join(',', %h), time, $$, qq(\\n);"
                        "while (!$n) { $i++ } print qq($i\\n); open F, '<', 'input'; while (<F>) { $s += length } print qq($s\\n)"],
        setup=LINES, varies=True)
program("perl_threads", ["perl", "-e", "use threads; my $s :shared; my @t = map { my $i = $_; threads->create(sub { my $x = 0; "
                         "$x += $_ * $i for 1..20000; print STDOUT qq($i $x\\n); $x }) } 1..3; $s += $_->join for @t; print qq($s\\n)"],
        varies=True)
program("openssl_genrsa", "openssl genrsa 1024", varies=True, nolink=True)
program("openssl_rand", "openssl rand -hex 64", varies=True)
program("openssl_digest", "openssl dgst -sha512 input", setup=LINES)
program("openssl_encrypt", "openssl enc -aes-256-cbc -pbkdf2 -pass pass:words -in input -base64", setup=LINES, varies=True)
program("openssl_ecdsa", "openssl ecparam -name prime256v1 -genkey", varies=True)

BY_NAME = {row.name: row for row in ROWS}
assert len(BY_NAME) == len(ROWS), "two rows of one name"
