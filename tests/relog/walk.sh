#!/bin/bash
# walk.sh - random walks in recordings of slices: walk.sh DRDEBUG RELOG_WALK STEPS PROGRAM [ARGUMENT...], which fails. In a soak more
# and longer ones, of recordings with chaos, too.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 walk=$2 steps=$3
shift 3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
ways=plain seeds=1
[ -n "${DRDEBUG_SOAK:-}" ] && ways="plain chaos" && seeds=20 && steps=300
for way in $ways; do
    option=()
    [ "$way" = chaos ] && option=(--chaos)
    "$drdebug" record "${option[@]}" --keep failed --retry 60s -o "$room/$way" -- "$@" >/dev/null 2>&1 </dev/null || true
    for gap in 0 20000; do
        "$drdebug" relog "$room/$way" --at failure --gap $gap -o "$room/$way.$gap" >/dev/null
        for seed in $(seq $seeds); do
            "$walk" "$room/$way" "$room/$way.$gap" "$seed" "$steps" || {
                echo "seed $seed, $way, gap $gap"
                exit 1
            }
        done
    done
done
