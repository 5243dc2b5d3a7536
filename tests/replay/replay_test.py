"""replay_test.py - what the tests of this folder share: recording, replaying, and the judge of both.

SPDX-License-Identifier: MIT

The judge knows the verbs only from outside: what the program wrote while it was recorded, byte by byte
and apart for both outputs, is what every replay must write; the line that says how it ended must be
true. A replay gets another environment, another working directory (which must stay empty), no input,
and by then neither the program nor its files are there.
"""
import argparse
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "subjects"))
import compare  # noqa: E402  pylint: disable=wrong-import-position

SOAK = os.environ.get("DRDEBUG_SOAK") == "1"
SKIP = 77
LIMIT = 120
MANY_TICKS = 20_000_000  # too many for a replay without links
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
INFO_KEYS = ("threads", "ticks", "events", "signals", "bytes|size", "program", "machine", "end")


class Skipped(Exception):
    """The machine lacks what the test needs; the text says what."""


class Done:
    """A run that ended: status as subprocess has it, None at the time limit; outputs as bytes."""

    def __init__(self, status, out, err, note=""):
        self.status, self.out, self.err, self.note = status, out, err, note

    def text(self):
        return f"{compare.status_text(self.status)}; said: {tail(self.err)} {self.note}"


class Recording:
    """A run of `record`. out and err are the program's own; said: drdebug's lines; ended: how it
    says the program ended; whole: both lines of its summary were there."""

    def __init__(self, path, done):
        self.path, self.status, self.out, self.note = path, done.status, done.out, done.note
        self.raw = done.err
        self.err, self.said, self.ended, self.whole = split_record(done.err, path)

    def text(self):
        return f"{compare.status_text(self.status)}; said: {tail(self.raw)} {self.note}"


class Replay:
    """A run of `replay`, split the same way."""

    def __init__(self, path, done):
        self.path, self.status, self.out, self.note = path, done.status, done.out, done.note
        self.raw = done.err
        self.err, self.said, self.ended = split_replay(done.err, path)

    def text(self):
        return f"{compare.status_text(self.status)}; said: {tail(self.raw)} {self.note}"


def tail(data, most=400):
    text = data.decode("latin-1").strip()
    return text if len(text) <= most else "..." + text[-most:]


def own_lines(err):
    """(the program's text, drdebug's lines): drdebug's begin with its name, at a line's start."""
    said = re.findall(rb"(?m)^drdebug: [^\n]*\n", err)
    return re.sub(rb"(?m)^drdebug: [^\n]*\n(?:hint: [^\n]*\n)?", b"", err), [s.decode("latin-1") for s in said]


def split_record(err, path):
    """The summary follows whatever the program wrote last, which may have been no whole line."""
    name = re.escape(path.encode())
    found = re.search(rb"%s: [\d.]+(?: [kMG])? threads?, [^\n]*\n(?:[^\n]+\n)*?(?:%s: )?(program ended: [^\n]*)\n(?:[^\n]*\n)*\Z"
                      % (name, name), err)
    err, said = own_lines(err[:found.start()] if found else err)
    return err, said, found[1].decode("latin-1") if found else "", bool(found)


def split_replay(err, path):
    found = re.search(rb"%s: ([^\n]+)\n\Z" % re.escape(path.encode()), err)
    err, said = own_lines(err[:found.start()] if found else err)
    return err, said, found[1].decode("latin-1") if found else ""


def signal_names(number):
    """The ways to say it. Some have two names, real-time signals none of their own."""
    names = [name for name in dir(signal) if re.fullmatch(r"SIG[A-Z0-9]+", name) and getattr(signal, name) == number]
    if number >= signal.SIGRTMIN or not names:
        names += [f"signal {number}", f"SIGRTMIN+{number - signal.SIGRTMIN}", f"SIG{number}"]
    return names


def says_end(text, status):
    """Does a line tell this wait status? 128+N in the place of a signal is the caller's to sort out."""
    if status is None:
        return False
    if status < 0:
        return any(re.search(rf"\b{re.escape(n)}\b", text) for n in signal_names(-status))
    return re.search(rf"\bexit(ed)?( with)? status {status}\b", text) is not None


def subsequence(part, whole):
    """Are the bytes of `part` in `whole` in this order? What children wrote is in between."""
    at = 0
    for line in part.splitlines(keepends=True):
        found = whole.find(line, at)
        if found < 0:  # not in one piece: byte by byte
            rest = iter(whole[at:])
            if not all(byte in rest for byte in line):
                return False
            found = len(whole) - sum(1 for _ in rest) - len(line)
        at = found + len(line)
    return True


def difference(what, want, got, most=12):
    """Lines that show where two outputs differ; none if they agree."""
    if want == got:
        return []
    import difflib  # takes as long as a small case
    diff = difflib.unified_diff(want.decode("latin-1").splitlines(), got.decode("latin-1").splitlines(),
                                f"recorded {what}", f"replayed {what}", lineterm="", n=1)
    lines = [line[:200] for line in diff][:most]
    return lines or [f"{what}: {len(want)} bytes recorded, {len(got)} replayed; only line ends differ"]


def stop_group(child):
    """Ends a run that we started, with its session."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass
    child.kill()


def execute(argv, cwd=None, env=None, stdin=subprocess.DEVNULL, limit=LIMIT, before=None, tidy=True):
    """Runs to the end or the limit, in a session of its own, with both outputs in files of their own. tidy: what it left
    running is ended, and with it all other children of ours."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        compare.append_only(out)
        compare.append_only(err)
        child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err,
                                 start_new_session=True, preexec_fn=before)
        note = ""
        try:
            status = compare.wait_end(child, limit)
        except subprocess.TimeoutExpired:
            note = compare.where_it_hangs(child.pid)
            stop_group(child)
            child.wait()
            status = None
        if tidy:
            compare.end_leftovers()
        for f in (out, err):
            f.seek(0)
        return Done(status, out.read(), err.read(), note)


def environment(work):
    machine = {name: os.environ[name] for name in ("DRDEBUG_ENGINE", "GLIBC_TUNABLES") if name in os.environ}
    return {"PATH": PATH, "HOME": work, "TMPDIR": work, "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "PYTHONDONTWRITEBYTECODE": "1", **machine}


class Test:
    """Collects failures; main() makes one and gives it to the test's function."""

    def __init__(self, options):
        self.options = options
        self.drdebug, self.bin = options.drdebug, options.bin
        self.work = tempfile.mkdtemp(prefix="replay_test.")
        self.failures, self.complaints = 0, []
        self.made = 0

    def fresh(self, name):
        """A path in the test's directory that nothing has yet."""
        self.made += 1
        return os.path.join(self.work, f"{self.made}.{name}")

    def folder(self, name):
        path = self.fresh(name)
        os.mkdir(path)
        return path

    def program(self, name):
        """A copy of a built program, to be deleted before replay."""
        source = os.path.join(self.bin, name)
        if not os.path.exists(source):
            raise Skipped(f"{name} could not be built here")
        return shutil.copy(source, os.path.join(self.folder("bin"), os.path.basename(name)))

    def check(self, good, text):
        if not good:
            self.failures += 1
            self.complaints.append(text)
            print(f"FAIL: {text}")
        return good

    def equal(self, got, want, text):
        return self.check(got == want, f"{text}: got {got!r}, expected {want!r}")

    def verb(self, *words, cwd=None, limit=LIMIT, env=None, before=None, stdin=subprocess.DEVNULL):
        env = env or {"PATH": "/usr/bin:/bin", "OTHER": "environment"}
        return execute([self.drdebug, *words], cwd or self.work, env, stdin, limit, before)

    def record(self, argv, options=(), path=None, limit=LIMIT, cwd=None, env=None, before=None,
               stdin=subprocess.DEVNULL):
        path = path or self.fresh("pinball")
        cwd = cwd or self.folder("cwd")
        done = execute([self.drdebug, "record", "-o", path, *options, "--", *argv], cwd,
                       env or environment(cwd), stdin, limit, before)
        return Recording(path, done)

    def replay(self, path, options=(), limit=LIMIT, before=None):
        """In an empty directory, which must stay so."""
        cwd = self.folder("cwd")
        replay = Replay(path, self.verb("replay", *options, path, cwd=cwd, limit=limit, before=before))
        left = os.listdir(cwd)
        self.check(not left, f"replay left files behind: {left}")
        shutil.rmtree(cwd)
        return replay

    def same(self, recording, replay, text, children=False):
        """Is this what was recorded? With children only the program's own part is there."""
        said = []
        if replay.status != 0:
            said.append(f"status: {replay.text()}")
        for what in ("out", "err"):
            want, got = getattr(recording, what), getattr(replay, what)
            if not children:
                said += difference("std" + what, want, got)
            elif not subsequence(got, want):
                said += [f"std{what} holds what was not recorded", *difference("std" + what, want, got)]
        if not replay.ended:
            said.append(f"no line says how the program ended: {tail(replay.raw)}")
        elif recording.ended and replay.ended != recording.ended:
            said.append(f"replay says `{replay.ended}`, record said `{recording.ended}`")
        return self.check(not said, "\n    ".join([f"{text}: replay differs"] + said))

    def recorded(self, recording, text):
        """Did record do what it must: the program's status, the summary, a true end?"""
        good = self.check(recording.status is not None, f"{text}: record hangs: {recording.note}")
        good = good and self.check(recording.whole, f"{text}: no summary by record: {recording.text()}")
        if good:
            status = recording.status
            true = says_end(recording.ended, status) or status > 128 and says_end(recording.ended, 128 - status)
            good = self.check(true, f"{text}: `{recording.ended}`, but it {compare.status_text(status)}")
            good &= self.check(os.path.isdir(recording.path), f"{text}: no pinball was made")
        return good

    def verify(self, path, text, want=0, limit=4 * LIMIT):
        done = self.verb("verify", path, limit=limit)
        return self.check(done.status == want, f"{text}: verify, expected {want}: {done.text()}")

    def info(self, path, text):
        """The parsed answer, with all keys there, or None. The text form must work as well."""
        done, plain = self.verb("info", "--json", path), self.verb("info", path)
        if not self.check(done.status == 0 and plain.status == 0,
                          f"{text}: info: {done.text()} / {plain.text()}"):
            return None
        try:
            answer = json.loads(done.out)
        except ValueError:
            self.check(False, f"{text}: info --json is no JSON: {tail(done.out)}")
            return None
        lacks = [key for key in INFO_KEYS if not any(k in answer for k in key.split("|"))]
        self.check(not lacks, f"{text}: info --json lacks {lacks}: {tail(done.out)}")
        answer["text"] = plain.out.decode("latin-1")
        return answer

    def info_end(self, path, recording, text):
        answer = self.info(path, text)
        if answer is None or recording.status is None:
            return None
        statuses = [recording.status] + ([128 - recording.status] if recording.status > 128 else [])
        end = json.dumps(answer.get("end"))
        json_true = any(says_end(end, s) or answer.get("end") == ("signal" if s < 0 else "exit")
                        and answer.get("status") == abs(s) for s in statuses)
        self.check(json_true, f"{text}: info --json says {end}, {answer.get('status')}, but it {recording.text()}")
        self.check(any(says_end(answer["text"], s) for s in statuses),
                   f"{text}: info does not say that it {compare.status_text(recording.status)}: {answer['text']}")
        return answer

    def ticks(self, path):
        try:
            return json.loads(self.verb("info", "--json", path).out)["ticks"]
        except (ValueError, KeyError):
            return 0

    def all_replays(self, recording, times, text, children=False, engine=True):
        """Replays and compares; the second time with block linking off, if that is asked for and does not take
        forever."""
        engine = engine and times > 1 and self.ticks(recording.path) < MANY_TICKS
        for n in range(times):
            options = ("--engine", "link=0") if engine and n == 1 else ()
            if not self.same(recording, self.replay(recording.path, options, 3 * LIMIT),
                             f"{text}, replay {n + 1} of {times} {' '.join(options)}".rstrip(), children):
                return False
        return True


def wait_for(condition, seconds, step=0.01):
    """True as soon as the condition holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step)
    return bool(condition())


def prefer_defaults():
    compare.default_signals()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def remove(folder):
    """Also what the test may not read or write."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def parser_of(doc):
    parser = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    parser.add_argument("--drdebug", default=os.environ.get("DRDEBUG", "drdebug"))
    parser.add_argument("--bin", default=os.getcwd(), type=os.path.abspath, help="where the programs are")
    return parser


def main(function, parser):
    """$DRDEBUG wins over --drdebug, so that ctest can be pointed at another program."""
    options = parser.parse_args()
    options.drdebug = os.environ.get("DRDEBUG") or options.drdebug
    if os.sep in options.drdebug:
        options.drdebug = os.path.abspath(options.drdebug)
    sys.stdout.reconfigure(line_buffering=True)
    prefer_defaults()
    test = Test(options)
    try:
        function(test)
    except Skipped as reason:
        print(f"skipped: {reason}")
        sys.exit(1 if test.failures else SKIP)
    finally:
        compare.end_leftovers()
        remove(test.work)
    print(f"{test.failures} failures" if test.failures else "ok")
    sys.exit(test.failures > 0)
