#!/bin/bash
# hostile.sh - recordings of slices that a stranger has changed: hostile.sh DRDEBUG RELOG_HOSTILE COUNT PROGRAM, which fails.
#
# SPDX-License-Identifier: MIT
#
# Whatever is asked of one ends with a status of its own, and says why; or its program, which goes on with other registers, runs and
# runs, and is stopped. In a soak there are fifty times as many.
set -u
drdebug=$1 hostile=$2 count=$3 program=$4
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1
export XDG_CACHE_HOME=$room/cache XDG_STATE_HOME=$room/state
first=1
[ -n "${DRDEBUG_SOAK:-}" ] && first=$((RANDOM * 100)) && count=$((50 * count))
"$drdebug" record --chaos --keep failed --retry 60s -o whole -- "$program" >/dev/null 2>&1
"$drdebug" relog whole --at failure --gap 500 --output -o slice >/dev/null || exit 1
failures=0 refused=0 endless=0

# ask STATUSES ARGUMENT...
ask() {
    local statuses=$1 status
    shift
    timeout -k 5 40 "$drdebug" "$@" </dev/null >said 2>&1
    status=$?
    [ $status -eq 124 ] && endless=$((endless + 1)) && return $status
    [[ " $statuses " == *" $status "* ]] && [ -s said ] && return $status
    echo "FAILED: seed $seed: drdebug $*: status $status: $(tail -c 300 said)"
    failures=$((failures + 1))
}

for seed in $(seq "$first" $((first + count - 1))); do
    rm -rf changed again
    before=$endless
    "$hostile" slice changed "$seed" || exit 1
    ask '0 1 3' verify changed || refused=$((refused + 1))
    [ $endless -gt $before ] && continue
    case $((seed % 4)) in
    0) ask '0 1 3' slice changed --at failure --full ;;
    1) ask '0 1 3' relog changed --at failure -o again && ask '0 1 3' replay again ;;
    2) ask '0 1' debug changed -- -nx -batch -ex 'pin list' -ex step -ex next -ex 'pin goto end' -ex reverse-step -ex 'pin output' ;;
    3) ask '0 1 3' replay changed ;;
    esac
done
[ $refused -gt 0 ] && [ $endless -le $((count / 4)) ] || failures=$((failures + 1))
echo "$count recordings, $refused refused, $endless endless"
exit $failures
