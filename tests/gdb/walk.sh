#!/bin/bash
# walk.sh - random walks over recordings of a program: walk.sh DRDEBUG WALK PROGRAM SEEDS STEPS [HOW]. In a soak there
# are 72 seeds: with seven programs, each recorded twice, that makes 1,008 sessions. The first of each has 1,000 steps.
# HOW is walk's.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 walk=$2 program=$3 seeds=$4 steps=$5 how=${6:-}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
if [ -n "${DRDEBUG_SOAK:-}" ]; then
    seeds=72 steps=300
fi
[ -n "${DRDEBUG_SOAK:-}" ] || export SUBJECT_ROUNDS=30
for chaos in "" --chaos; do
    pinball=$room/walk$chaos.pinball
    # shellcheck disable=SC2086 # an option or nothing
    "$drdebug" record $chaos -o "$pinball" -- "$program" >/dev/null 2>&1 </dev/null || true
    for seed in $(seq "$seeds"); do
        n=$steps
        if [ -n "${DRDEBUG_SOAK:-}" ] && [ "$seed" = 1 ]; then
            n=1000
        fi
        # shellcheck disable=SC2086 # a word or nothing
        "$walk" "$pinball" "$seed" "$n" $how || {
            echo "seed $seed${chaos:+, recorded with chaos}"
            exit 1
        }
    done
done
