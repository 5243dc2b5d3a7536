#!/bin/bash
# usage.sh DRDEBUG - help, version, verbs that are not there.
drdebug=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

expect 0 "drdebug [0-9]*.[0-9]*.[0-9]*" "" "$drdebug" --version
for way in help --help -h; do
    expect 0 "usage: drdebug VERB*run  *record  *help*" "" "$drdebug" "$way"
done
expect 0 "usage: drdebug run *--stats*--no-link*--cache-size*" "" "$drdebug" help run
run_help=$out
for options in "--help" "--stats --help"; do
    # shellcheck disable=SC2086 # words
    expect 0 "usage: drdebug run *" "" "$drdebug" run $options
    [ "$out" = "$run_help" ] || fail "run $options differs from help run"
done
expect 0 "usage: drdebug help*" "" "$drdebug" help help

expect 2 "" $'drdebug: no verb given\nhint: *' "$drdebug"
expect 2 "" $'drdebug: frobnicate: unknown verb\nhint: *' "$drdebug" frobnicate
expect 2 "" $'drdebug: frobnicate: unknown verb\nhint: *' "$drdebug" help frobnicate
expect 2 "" $'drdebug: --frobnicate: unknown option\nhint: *' "$drdebug" --frobnicate
expect 2 "" "drdebug: help: takes one verb, not 2" "$drdebug" help run help
expect 2 "" $'drdebug: : unknown verb\nhint: *' "$drdebug" ""

for verb in record replay debug serve live info ls verify pack trace slice relog maple convert gui; do
    if "$drdebug" help "$verb" | grep -q 'not in this version'; then
        expect 1 "" "drdebug: $verb: not in this version" "$drdebug" "$verb" x
        expect 0 "usage: drdebug $verb *not in this version?" "" "$drdebug" "$verb" --help
    fi
done

"$drdebug" help >/dev/full 2>full.err
[ $? = 1 ] || fail "help to a full device: status 0"
[ "$(cat full.err)" = "drdebug: standard output: No space left on device" ] ||
    fail "help to a full device: said '$(cat full.err)'"

finish
