#!/bin/bash
# walk.sh - random sessions with a living program: walk.sh DRDEBUG WALK PROGRAM SEEDS STEPS. In a soak there are 500. Each
# recording, of the run or a part of it, must verify.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 walk=$2 program=$3 seeds=$4 steps=$5
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
[ -z "${DRDEBUG_SOAK:-}" ] || seeds=500
address() { nm "$program" | sed -n "s/^0*\([0-9a-f]*\) [A-Za-z] $1\$/\1/p"; }
knob=$(address knob) twice=$(address twice)
for seed in $(seq "$seeds"); do
    "$walk" "$room/$seed.pinball" "$seed" "$steps" "$knob" "$twice" "$program" 60 >"$room/said" 2>&1 || {
        cat "$room/said"
        echo "seed $seed"
        exit 1
    }
    tail -1 "$room/said"
    for recording in "$room/$seed".*pinball; do
        "$drdebug" verify "$recording" || {
            echo "seed $seed"
            exit 1
        }
    done
    rm -rf "${room:?}/$seed".*pinball
done
