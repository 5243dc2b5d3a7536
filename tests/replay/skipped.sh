#!/bin/bash
# skipped.sh DRDEBUG SPRINKLE SUBJECTS - records of kinds from 128 on, which nobody knows, are passed over; smaller
# ones are refused by their number, and so are known ones that are too small. SPDX-License-Identifier: MIT
set -u
drdebug=$1 sprinkle=$2 subjects=$3 failed=0
room=$(mktemp -d) && trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1
fail() { echo "FAILED: $*" && failed=1; }

# is_same WAY PINBALL: it does what the recorded program did.
is_same() {
    "$drdebug" verify "$2" >said 2>&1 || fail "$1: verify: $(cat said)"
    "$drdebug" replay "$2" >out 2>err || fail "$1: replay: $(cat err)"
    cmp -s out want || fail "$1: the replay's output differs"
}

for program in hello_pie thread_sync signal_restart; do
    for way in "" --chaos=3; do
        rm -rf one many few part packed small whole
        "$drdebug" record -q $way -o one -- "$subjects/$program" >want 2>/dev/null </dev/null
        "$sprinkle" one many 200 || fail "$program $way: cannot add records"
        is_same "$program $way" many
        "$drdebug" pack many -o packed >said 2>&1 || fail "$program $way: pack: $(cat said)"
        is_same "$program $way, packed" packed
        from=$("$drdebug" info --json one | sed -n 's/.*"position": *"\(T[^"]*\)".*/\1/p')
        "$drdebug" replay -q --until "$from" many >said 2>&1 || fail "$program $way: replay --until: $(cat said)"
        "$drdebug" cut --from "$from" -o part many >said 2>&1 || fail "$program $way: cut: $(cat said)"
        "$drdebug" verify part >said 2>&1 || fail "$program $way: verify the part: $(cat said)"
        "$sprinkle" one few 100 || fail "$program $way: cannot add records"
        for verb in verify replay; do
            "$drdebug" $verb few >said 2>&1 && fail "$program $way: $verb takes a kind that it does not know"
            grep -q "few/events: chunk 0: record 0, at byte 0, is of kind 100, which is unknown" said ||
                fail "$program $way: $verb: $(cat said)"
        done
        "$sprinkle" one small 21 1 || fail "$program $way: cannot add records"
        for verb in "pack -o whole" verify replay; do
            "$drdebug" $verb small >said 2>&1 && fail "$program $way: $verb takes a process of a few bytes"
            grep -q "^drdebug: small: cannot be replayed: event 1: not a record$" said ||
                fail "$program $way: $verb: $(cat said)"
        done
        [ ! -e whole ] || fail "$program $way: pack has written what cannot be replayed"
    done
done
exit $failed
