#!/bin/bash
# retry.sh DRDEBUG TOP - record --keep and --retry: which runs are kept, how often there is another one, and what each gets.
drdebug=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# Notes each run; the third one ends as the argument says.
cat >third <<'SCRIPT'
#!/bin/sh
echo run >>runs
[ "$(wc -l <runs)" -lt 3 ] || eval "$1"
SCRIPT
chmod +x third

# runs COUNT KEPT: so many runs there were, and whether they left a recording; then all is as before.
runs() {
    [ "$(wc -l <runs)" = "$1" ] || fail "$(wc -l <runs) runs, not $1"
    [ "$2" = kept ] || [ ! -e third.pinball ] || fail "a recording was left"
    [ "$2" != kept ] || "$drdebug" replay -q third.pinball >/dev/null || fail "the recording does not replay"
    rm -rf runs third.pinball
}

expect 0 "" "not kept; program ended: exit status 0" "$drdebug" record --keep failed -- ./third
runs 1 none
expect 7 "" $'third.pinball: *\nprogram ended: exit status 7\nrun 3' "$drdebug" record --keep failed --retry 5 ./third 'exit 7'
runs 3 kept
expect 143 "" $'*\nprogram ended: SIGTERM*\nrun 3' "$drdebug" record --keep failed --retry 300s ./third 'kill $$'
runs 3 kept
expect 0 "" "2 runs, none kept; program ended: exit status 0" "$drdebug" record --keep failed --retry 2 -- ./third 'exit 7'
runs 2 none
expect 7 "" "3 runs, none kept; program ended: exit status 7" "$drdebug" record --keep status:8 --retry 3 -- ./third 'exit 7'
runs 3 none
expect 7 "" "*" "$drdebug" record --keep status:8 --keep status:7 --retry 5 -- ./third 'exit 7'
runs 3 kept
expect 143 "" "*" "$drdebug" record --keep signal:sigterm --retry 5 -- ./third 'kill $$'
runs 3 kept
expect 134 "" "3 runs, none kept; program ended: SIGABRT*" "$drdebug" record --keep signal:TERM --retry 3 ./third 'kill -ABRT $$'
runs 3 none
expect 0 "" "" "$drdebug" record -q --keep failed --retry 1 -- ./third
runs 1 none

# Seeds: each run has its own, and the recording says which.
expect 7 "" $'*\nrun 3, chaos seed 43' "$drdebug" record --chaos=41 --keep failed --retry 5 -- ./third 'exit 7'
expect 0 $'*\nschedule   chaos, seed 43\n*' "" "$drdebug" info third.pinball
runs 3 kept

# Each run reads the same input from its begin: a file from where it stood, a pipe that has not ended yet.
printf 'skipped\nfile\n' >file
{ read -r _ && "$drdebug" record -q --keep failed --retry 3 -- ./third cat; } <file >out 2>err
[ "$(cat out err)" = file ] || fail "the third run read '$(cat out err)' from a file"
runs 3 none
mkfifo more
(echo first && read -r _ <more && echo second) |
    "$drdebug" record -q --keep failed --retry 3 -- sh -c 'read -r a; [ -e more.said ] || echo >more; : >more.said; read -r b; echo $a $b' >out 2>err
[ "$(sort -u out | cat - err)" = "first second" ] && [ "$(wc -l <out)" = 3 ] || fail "runs read '$(cat out err)' from a pipe"
head -c 300000 /dev/urandom >large
sum=$(md5sum <large)
"$drdebug" record -q --keep failed --retry 2 -- md5sum < <(cat large) >out 2>err
[ "$(cat out err)" = "$sum"$'\n'"$sum" ] || fail "runs read something else from a pipe: $(cat out err)"

# A terminal is told how it goes; Ctrl-C ends the run under way, and there is no other one.
cat >terminal.py <<'PYTHON'
import os, pty, signal, subprocess, sys, time
drdebug = sys.argv[1]
def usual():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
main, other = pty.openpty()
done = subprocess.run([drdebug, "record", "-q", "--keep", "failed", "--retry", "2", "--", "sleep", "1.1"], stderr=other)
os.write(other, b"end\n")
said = ""
while not said.endswith("end\r\n"):
    said += os.read(main, 1000).decode()
assert done.returncode == 0 and said.startswith("drdebug: 1 run in ") and said.endswith("s, none kept\r\nend\r\n"), said
child = subprocess.Popen([drdebug, "record", "--keep", "failed", "--retry", "9", "-o", "hung.pinball", "--", "./third",
                          "exec sleep 1000"], stderr=subprocess.PIPE, preexec_fn=usual, start_new_session=True)
def hangs():
    names = [f"/proc/{p}/cmdline" for p in os.listdir("/proc") if p.isdigit()]
    for name in names:
        try:
            if open(name, "rb").read() == b"sleep\0001000\0" and os.getpgid(int(name.split("/")[2])) == child.pid:
                return True
        except OSError:
            pass
    return False
while child.poll() is None and not hangs():
    time.sleep(0.02)
os.killpg(child.pid, signal.SIGINT)
said = child.communicate()[1].decode()
assert child.returncode == 130 and "program ended: SIGINT" in said and said.endswith("run 3\n"), (child.returncode, said)
PYTHON
python3 terminal.py "$drdebug" || fail "on a terminal, or interrupted"
runs 3 none
"$drdebug" replay -q hung.pinball 2>err || fail "the run that hung does not replay: $(cat err)"

# Nothing can be written, and programs that cannot be run.
call bash -c 'ulimit -f 100 && exec "$0" record --keep failed --retry 5 -- ./third' "$drdebug"
[[ $status == 1 && ! -e runs && $err == "drdebug: third.pinball/ring: "* ]] || fail "no room: $status $err"
expect 127 "" "drdebug: nosuch: *" "$drdebug" record --keep failed --retry 5 -- nosuch

hint=$'\nhint: *'
for which in "" fail failed: status: status:256 status:x status:-1 signal: signal:NONE signal:0 signal:99; do
    expect 2 "" "drdebug: record: --keep: '$which' is not failed, *" "$drdebug" record --keep "$which" true
done
for limit in "" 0 s 0s x 3d -1 1.5s 99999999999999999999 99999999999s 3sm; do
    expect 2 "" "drdebug: record: --retry: '$limit' is neither *" "$drdebug" record --keep failed --retry "$limit" true
done
expect 2 "" "drdebug: record: --retry: needs --keep*$hint" "$drdebug" record --retry 3 true
expect 2 "" "drdebug: record: --keep: needs a value$hint" "$drdebug" record --keep

finish
