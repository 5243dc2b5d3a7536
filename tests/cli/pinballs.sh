#!/bin/bash
# pinballs.sh DRDEBUG TOP - info and pack on pinballs that are there, damaged or not there.
drdebug=$(realpath "$1")
top=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint=$'\nhint: *'
expect 1 "" "drdebug: info: no pinball named, and none here" "$drdebug" info
cp "$top/tests/fuzz/corpus_pinball/files" a.pinball

# The head holds a newline and a control character: they do not reach the terminal.
expect 0 $'a.pinball: 0 threads, 6 instructions, 1 event, 2.4 KiB\nprogram ended: exit status 0
program    /bin/a\\\\nb\narguments  x $\'\\\\\\\\y\\\\x01\'\nmade       by a stranger: *\nfiles *' "" "$drdebug" info a.pinball
named=$out
expect 0 "*" "" "$drdebug" info
[ "$out" = "$named" ] || fail "info without a name: $out"
expect 0 "{*" "" "$drdebug" info --json a.pinball
python3 - out <<'PYTHON' || fail "info --json"
import json, sys
info = json.load(open(sys.argv[1]))
assert info["program"] == "/bin/a\nb", info
assert info["arguments"] == ["x", "\\y\x01"], info
assert info["events"] == 1 and info["instructions"] == 6 and info["packed"], info
assert info["own"] is False, info
assert [f["number"] for f in info["files"]] == [0, 1, 2], info
PYTHON

# A program that was made just now is kept anew with each of its mappings, and named once.
cp /bin/true young
expect 0 "" "*" "$drdebug" record -o young.pinball ./young
expect 0 "*" "" "$drdebug" info young.pinball
[ "$(grep -c "/young, " <<<"$out")" = 1 ] || fail "info names a file more than once: $out"
rm -r young.pinball

expect 0 "b: 2.4 KiB, 0 debug files, 0 source files" "" "$drdebug" pack -o b a.pinball
expect 0 "b2: 2.4 KiB, 0 debug files, 0 source files" "" "$drdebug" pack -o b2 b
cmp b b2 || fail "packed twice, it differs"
expect 1 "" "drdebug: b: File exists" "$drdebug" pack -o b a.pinball
expect 0 "a.packed.pinball: *" "*is a stranger's recording: *" "$drdebug" pack --no-debug --sources a.pinball
expect 0 "a.packed.2.pinball: *" "" "$drdebug" pack a.pinball

expect 1 "" "drdebug: none: No such file or directory" "$drdebug" info none
expect 1 "" "drdebug: dir: not a pinball" "$drdebug" info dir
expect 1 "" "drdebug: /bin/sh: not a pinball" "$drdebug" pack /bin/sh
expect 1 "" "drdebug: /dev/null: neither a directory nor a file" "$drdebug" info /dev/null
head -c 1000 a.pinball >cut
expect 1 "" "drdebug: cut: chunk [0-9]*: * cut off" "$drdebug" info cut
sed 's/arg x/arg y/' a.pinball >damaged
expect 1 "" "drdebug: damaged/head: chunk 0: checksum does not match" "$drdebug" info damaged
expect 1 "" "drdebug: damaged/head: chunk 0: checksum does not match" "$drdebug" pack damaged
# A version that is not there yet, whichever is the newest.
newest=$(sed -nE 's/.*PINBALL_VERSION = ([0-9]+).*/\1/p' "$top/pinball/format.h")
[ -n "$newest" ] || fail "format.h does not say which version is the newest"
printf 'DrPB\377\0' >newer
head -c 100 a.pinball | tail -c 94 >>newer
expect 1 "" "drdebug: newer: is version 255, this drdebug reads versions 1 to $newest" "$drdebug" info newer

for verb in info pack serve; do
    expect 2 "" "drdebug: $verb: takes one pinball, not 2" "$drdebug" "$verb" a b
    expect 2 "" "drdebug: $verb: --frob: unknown option$hint" "$drdebug" "$verb" --frob
    expect 2 "" "drdebug: $verb: -x: unknown option$hint" "$drdebug" "$verb" -x
    expect 2 "" "drdebug: $verb: --help=1: takes no value$hint" "$drdebug" "$verb" --help=1
    expect 0 "usage: drdebug $verb *" "" "$drdebug" "$verb" a --help
done
expect 2 "" "drdebug: pack: -o: needs a value$hint" "$drdebug" pack -o
"$drdebug" info a.pinball >/dev/full 2>full.err
[ $? = 1 ] || fail "info to a full device: status 0"

finish
