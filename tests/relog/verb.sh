#!/bin/bash
# verb.sh - `drdebug relog`: verb.sh DRDEBUG RELOG_FLIP SUMMING. SPDX-License-Identifier: MIT
set -u
drdebug=$1 flip=$2 summing=$3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1
export XDG_CACHE_HOME=$room/cache XDG_STATE_HOME=$room/state
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# refuses WORDS STATUS ARGUMENT...: the message has the words, and nothing is left behind.
refuses() {
    local words=$1 status=$2 said
    shift 2
    said=$("$drdebug" relog "$@" 2>&1)
    [ $? -eq "$status" ] || fail "relog $*: another status: $said"
    [[ $said == *"$words"* ]] || fail "relog $*: says: $said"
    [ ! -e refused ] || fail "relog $*: left something behind"
}

"$drdebug" record -o whole -- "$summing" >/dev/null 2>&1
end=$("$drdebug" info whole | sed -n 's/^position *//p')

# A failure's slice ends in the same failure, at the same instruction; with gaps of any length.
for gap in 0 20000; do
    "$drdebug" relog whole --at failure --gap $gap -o "slice.$gap" >out || fail "gap $gap: $(cat out)"
    grep -q 'instructions kept' out || fail "gap $gap: says: $(cat out)"
    "$drdebug" verify "slice.$gap" >out 2>&1 || fail "gap $gap: verify: $(cat out)"
    "$drdebug" replay "slice.$gap" 2>&1 | grep -q 'SIGABRT in thread 1' || fail "gap $gap: another end"
    [ "$("$drdebug" info "slice.$gap" | sed -n 's/^position *//p')" = "$end" ] || fail "gap $gap: ends elsewhere"
done
"$drdebug" info slice.0 | grep -q '^left out .* gaps*$' || fail 'info does not tell of gaps'

# Kept by name; the same slice again gives the same statements.
"$drdebug" slice whole --at failure -o kept >/dev/null || fail 'slice -o'
"$drdebug" relog whole --slice kept --gap 0 -o named >out || fail 'by name'
sed 's/^named/slice.0/' out >named.out
"$drdebug" relog whole --at failure --gap 0 -o again | sed 's/^again/slice.0/' | cmp -s - named.out || fail 'by name: not the same'

# What is put in is what is read: a byte of `table`, which a gap holds, changes what `sum` makes of it.
at=$("$drdebug" debug whole -- -batch -ex 'print &table[3]' 2>/dev/null | sed -n 's/.*\(0x[0-9a-f]*\).*/\1/p' | tail -1)
"$drdebug" relog whole --exclude fill --gap 0 -o filled >out || fail "exclude: $(cat out)"
FLIP_AT=$at "$flip" filled 3 2 || fail "flip at $at"
show() {
    "$drdebug" debug "$1" -- -batch -ex 'break abort' -ex continue -ex up -ex 'print total' 2>/dev/null | sed -n 's/^\$1 = //p'
}
[ "$(show filled)" = 30 ] || fail "the total is $(show filled)"
[ "$(show filled.flipped)" = 29 ] || fail "the total of the flipped one is $(show filled.flipped)"

# What is left out is quiet, whether it is put in or runs, unless its output is wanted; also once more.
for gap in 0 20000 1000000000; do
    "$drdebug" relog whole --at failure --gap $gap -o quiet >out && "$drdebug" replay quiet >said 2>/dev/null
    [ -s said ] && fail "gap $gap is not quiet: $(cat said)"
    "$drdebug" relog whole --at failure --gap $gap --output -o loud >out && "$drdebug" replay loud >said 2>/dev/null
    [ "$(cat said)" = $'wasted 30000\nwasted 40000\nwasted 3000' ] || fail "gap $gap, --output: says $(cat said)"
    "$drdebug" relog loud --slice made-of --gap 0 --output -o louder >out && "$drdebug" replay louder 2>/dev/null | cmp -s - said ||
        fail "gap $gap, --output once more: says $("$drdebug" replay louder 2>&1)"
    "$drdebug" relog loud --slice made-of --gap 0 -o hushed >out && [ -z "$("$drdebug" replay hushed 2>/dev/null)" ] ||
        fail "gap $gap, --output and then without it: is not quiet"
    [ "$("$drdebug" debug loud -- -batch -ex continue -ex 'pin output' 2>/dev/null | grep -c 'T1:.*| wasted')" = 3 ] ||
        fail "gap $gap, pin output: $("$drdebug" debug loud -- -batch -ex continue -ex 'pin output' 2>&1)"
    rm -rf quiet loud louder hushed
done

# Packed, verified, cut; and relogged with nothing to leave out it is the whole.
"$drdebug" pack slice.0 >/dev/null 2>&1 && "$drdebug" verify slice.0.packed.pinball >out 2>&1 || fail "packed: $(cat out 2>&1)"
"$drdebug" relog whole --only-thread 1 -o all >out || fail 'only-thread 1'
grep -q ' 0 left out in 0 gaps' out || fail "nothing is excluded: $(cat out)"
"$drdebug" replay whole >said 2>end && "$drdebug" replay all 2>end.all | cmp -s - said || fail 'all: writes something else'
[ "$(sed s/^whole// end)" = "$(sed s/^all// end.all)" ] || fail "all: $(cat end.all), and not $(cat end)"
"$drdebug" verify all >out 2>&1 || fail "all: $(cat out)"

refuses 'say what to keep' 2 whole -o refused
refuses '-o is missing' 2 whole --at failure
refuses 'not a number from 0 on' 2 whole --at failure --gap x -o refused
refuses 'no function, module or line' 1 whole --exclude nothing_like_it -o refused
refuses 'whole' 1 whole --slice missing -o refused
refuses 'there is no such thread' 1 whole --at failure --only-thread 1,7 -o refused
refuses 'has no code' 1 whole 'nix at summing.c:1' -o refused
"$drdebug" relog whole --exclude main --exclude fill --exclude libc.so -o inner >out 2>&1 || fail "what is called there only: $(cat out)"
mkdir there && refuses 'there' 1 whole --at failure -o there

# A signal that ends it leaves nothing behind; killed, it is no recording. (It may have been faster.)
for signal in INT TERM KILL; do
    "$drdebug" relog whole --exclude waste --exclude fill --gap 0 -o ended >/dev/null 2>&1 &
    while [ ! -e ended/events ] && kill -0 $! 2>/dev/null; do :; done
    kill -$signal $! 2>/dev/null
    wait $! 2>/dev/null
    [ ! -e ended ] || "$drdebug" verify ended >out 2>&1 || { [ $signal = KILL ] && grep -Eq 'was stopped|not a pinball' out; } || fail "SIG$signal leaves $(ls ended): $(cat out)"
    rm -rf ended
done

# A recording that leaves something out is traced, sliced and relogged like any other: what is left out is one instruction.
"$drdebug" slice slice.0 --at failure --full >out 2>&1 || fail "a slice of it: $(cat out)"
grep -q 'ROOT CAUSE' out || fail "a slice of it lacks the cause: $(cat out)"
"$drdebug" slice filled --at failure --full >out 2>&1 || fail "a slice of one: $(cat out)"
grep -Eq '\(left out: [0-9]+ instructions\)' out || fail "a slice of one does not tell of gaps: $(cat out)"
"$drdebug" slice filled --at failure >out 2>&1 || fail "the story of one: $(cat out)"
grep -Eq '^  T1 +\(left out: [0-9]+ instructions\) +made there +table' out || fail "a story does not tell of gaps: $(cat out)"
"$drdebug" relog slice.20000 --at failure --gap 0 -o twice >out 2>&1 || fail "once more: $(cat out)"
"$drdebug" verify twice >out 2>&1 || fail "once more: $(cat out)"
[ "$("$drdebug" info twice | sed -n 's/^position *//p')" = "$end" ] || fail 'once more: ends elsewhere'
[ "$(grep -c . <("$drdebug" replay twice 2>&1 | grep 'SIGABRT in thread 1'))" = 1 ] || fail 'once more: another end'
# The slice goes along, and makes the same recording again.
"$drdebug" slice slice.20000 --show made-of >out 2>&1 && grep -q 'ROOT CAUSE' out || fail "the slice is not there: $(cat out)"
"$drdebug" relog slice.20000 --slice made-of --gap 0 -o same >out 2>&1 || fail "the same again: $(cat out)"
[ "$("$drdebug" info same | grep '^left out')" = "$("$drdebug" info slice.0 | grep '^left out')" ] || fail 'the same again: other gaps'
cp -r slice.0 foreign
"$drdebug" relog whole 'total at end' -o other >/dev/null 2>&1 || "$drdebug" relog whole 'total at summing.c:37' -o other >out || fail "another: $(cat out)"
cp other/slices/made-of foreign/slices/made-of
refuses 'is not a slice of this recording' 1 foreign --slice made-of -o refused

# Questions: about what was kept, or not at all.
"$drdebug" ask slice.0 calls sum >out 2>&1 || fail "ask calls: $(cat out)"
grep -q 'gaps of this recording ([0-9]*) does not count' out || fail "ask calls says nothing of gaps: $(cat out)"
"$drdebug" ask slice.0 leaks >out 2>&1 && fail "ask leaks: $(cat out)"
grep -q 'leaves instructions out' out || fail "ask leaks: $(cat out)"

# Regions: what is left out, written down and read.
"$drdebug" relog whole --at failure --gap 0 --write-regions regions >out || fail "regions: $(cat out)"
"$drdebug" relog whole --regions regions --write-regions regions.2 --gap 0 -o regional >out || fail "of regions: $(cat out)"
cmp -s regions regions.2 || fail 'regions: others'
[ "$("$drdebug" info regional | grep '^left out')" = "$("$drdebug" info slice.0 | grep '^left out')" ] || fail 'of regions: other gaps'
cat regions <(sed -n 2p regions) >overlap && refuses 'overlaps that of line 2' 1 whole --regions overlap -o refused
sed -n '1s/, \(0x[0-9a-f]*\):/, \1:999/p' regions >endless && refuses 'never ends' 1 whole --regions endless -o refused
sed -n '1s/\[\(0x[0-9a-f]*\):/[\1:999/p' regions >never && refuses 'does not begin' 1 whole --regions never -o refused
echo '[0x401136:3:1, 0x40114a:7:2)' >bad && refuses 'not a region' 2 whole --regions bad -o refused
refuses 'No such file' 1 whole --regions missing -o refused
[ $failures -eq 0 ] && echo good
exit $failures
