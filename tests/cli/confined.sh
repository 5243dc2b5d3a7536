#!/bin/bash
# confined.sh DRDEBUG TOP RACY_COUNTER - debug --confined: debugging works, and GDB reaches nothing outside.
drdebug=$(realpath "$1")
racy=$(realpath "$3")
# shellcheck source=tests/cli/lib.sh
. "$2/tests/cli/lib.sh"

"$drdebug" record -q -o r -- "$racy" 1 10 >/dev/null 2>&1
touch mine
tried=0
for way in landlock bwrap; do
    if ! "$drdebug" debug --confined=$way r -- -batch >/dev/null 2>why; then
        echo "SKIPPED: $way: $(tail -1 why)"
        continue
    fi
    tried=$((tried + 1))
    checks=$((checks + 1))
    timeout -k 5 100 "$drdebug" debug --confined=$way r -- -nx -batch -ex "print 40 + 2" -ex "pin when" \
        -ex "break door" -ex "continue" -ex "reverse-finish" -ex "pin checkpoint here" \
        -ex "shell touch $work/canary; echo touch \$?" -ex "shell rm -f $work/mine; echo rm \$?" \
        -ex "shell chmod 777 $work/mine; echo chmod \$?" -ex "shell : >>$work/mine && echo appended" \
        -ex "shell echo x >\$TMPDIR/own && echo room" \
        -ex "python import socket" -ex "python socket.socket(socket.AF_INET)" -ex "python socket.socket(socket.AF_UNIX)" \
        -ex "shell kill -0 $$ && echo signalled" -ex "shell kill -0 $PPID && echo signalled" \
        -ex "python import ctypes, os; libc = ctypes.CDLL(None)" \
        -ex "python print('limits', libc.prlimit(os.getpid(), 7, None, ctypes.create_string_buffer(16)))" \
        -ex "python print('own limits', libc.prlimit(0, 7, None, ctypes.create_string_buffer(16)))" \
        -ex "python print('priority', libc.setpriority(0, 0, 19))" \
        -ex "python print('written', os.write(7, b'inherited'))" \
        -ex "pin slice total" >log 2>&1 </dev/null 7>>mine
    status=$?
    [ $status = 0 ] || fail "$way: status $status: $(tail -5 log)"
    # shellcheck disable=SC2016 # GDB's words
    for line in '$1 = 42' 'The recording begins here.\|T1:[0-9]' 'hit Breakpoint ' 'Checkpoint [0-9]* at' 'touch 1' 'rm 1' 'chmod 1' \
        '^room' '^slice  ' '^limits -1' '^own limits 0' '^priority -1'; do
        grep -q -- "$line" log || fail "$way: no '$line' in $(cat log)"
    done
    [ "$(grep -c "PermissionError" log)" = 2 ] || fail "$way: a socket was made: $(cat log)"
    DRDEBUG_REPLAY_MEMORY=400 timeout -k 5 100 "$drdebug" debug --confined=$way r -- -nx -batch -ex "frame" \
        -ex "python print('taken', len(bytearray(900 << 20)))" >log2 2>&1 </dev/null
    grep -q "^#0 " log2 && grep -q MemoryError log2 || fail "$way: memory has no limit: $(cat log2)"
    ! grep -q "signalled\|appended\|^written" log || fail "$way: $(cat log)"
    [ ! -e canary ] && [ -e mine ] && [ ! -s mine ] || fail "$way: files were changed"
done
expect 1 "" "drdebug: debug: --confined needs Landlock *" "$drdebug" debug --confined=nothing r -- -batch
[ "$tried" -gt 0 ] || echo "SKIPPED: neither Landlock nor bubblewrap is here"
finish
