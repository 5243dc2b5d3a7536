#!/bin/bash
# run_options.sh DRDEBUG - the options of `drdebug run`, and where they end.
drdebug=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

expect 0 "a b" "" "$drdebug" run echo a b
expect 0 "a b" "" "$drdebug" run -- echo a b
expect 0 "--stats -- x" "" "$drdebug" run echo --stats -- x
expect 7 "" "" "$drdebug" run -- sh -c 'exit 7'
expect 143 "" "*" bash -c '"$0" run -- sh -c "kill -TERM \$\$"' "$drdebug"
expect 0 "sh" "" "$drdebug" run sh -c 'echo $0'
expect 0 "$work/out" "" "$drdebug" run readlink /proc/self/fd/1
expect 0 "a" "drdebug: stats: ticks=[1-9]* threads=1 *" "$drdebug" run --stats sh -c 'echo a'
expect 0 "a" "" "$drdebug" run --no-link -- echo a
expect 0 "a" "" "$drdebug" run --cache-size 1M echo a
expect 0 "a" "" "$drdebug" run --cache-size=262144 --engine link=0 --engine link=1 echo a

expect 0 "a" "drdebug: stats: *" env DRDEBUG_ENGINE=link=0,stats=1 "$drdebug" run echo a
expect 2 "" "drdebug: DRDEBUG_ENGINE: 'link' is not KEY=VALUE" env DRDEBUG_ENGINE=stats=1,link "$drdebug" run echo a
# What glibc's loader says of the CPU: no more than the level, whatever this one is.
loader=/lib64/ld-linux-x86-64.so.2
for level in 2 3; do
    above=$("$drdebug" run --engine cpu=$level -- $loader --help | grep -c "x86-64-v$((level + 1)) (supported")
    [ "$above" = 0 ] || fail "cpu=$level: the loader sees more"
    "$drdebug" run --engine cpu=$level -- $loader --help | grep -q "x86-64-v2 (supported" ||
        fail "cpu=$level: the loader sees less than x86-64-v2"
done

hint=$'\nhint: *'
expect 2 "" "drdebug: run: no program given$hint" "$drdebug" run
expect 2 "" "drdebug: run: no program given$hint" "$drdebug" run --stats --
expect 2 "" "drdebug: run: --frob: unknown option$hint" "$drdebug" run --frob echo
expect 2 "" "drdebug: run: -x: unknown option$hint" "$drdebug" run -x echo
expect 2 "" "drdebug: run: --stats=1: takes no value$hint" "$drdebug" run --stats=1 echo
expect 2 "" "drdebug: run: --cache-size: needs a value$hint" "$drdebug" run --cache-size
for size in "" 0 K -1 1T 12x 99999999999999999999 18446744073709551615M; do
    expect 2 "" "drdebug: run: --cache-size: '$size' is not a size such as *" \
        "$drdebug" run --cache-size "$size" echo
done
for option in link =1 a=1,b=2; do
    expect 2 "" "drdebug: run: --engine: '$option' is not KEY=VALUE" \
        "$drdebug" run --engine "$option" echo
done
expect 2 "" "drdebug: run: too many engine options" "$drdebug" run --engine "x=$(printf '%02000d' 0)" echo

finish
