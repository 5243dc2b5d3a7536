#!/bin/bash
# walk.sh - random walks over recordings of a program: walk.sh DRDEBUG WALK PROGRAM. In a soak, many of them.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 walk=$2 program=$3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
seeds=${DRDEBUG_SOAK:+200}
steps=${DRDEBUG_SOAK:+1000}
for chaos in "" --chaos; do
    pinball=$room/walk$chaos.pinball
    # shellcheck disable=SC2086 # an option or nothing
    "$drdebug" record $chaos -o "$pinball" -- "$program" >/dev/null 2>&1 </dev/null || true
    for seed in $(seq "${seeds:-2}"); do
        "$walk" "$pinball" "$seed" "${steps:-60}" || {
            echo "seed $seed${chaos:+, recorded with chaos}"
            exit 1
        }
    done
done
