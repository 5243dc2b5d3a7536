#!/bin/bash
# oracle.sh - slices of recordings of a program, compared with the oracle's: oracle.sh DRDEBUG COMPARE CRITERIA PROGRAM
# [ARGUMENT...]. In a soak, many more criteria, and recordings with chaos.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 compare=$2 criteria=$3
shift 3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
seeds=${DRDEBUG_SOAK:+10}
if [ -n "${DRDEBUG_SOAK-}" ]; then criteria=$((criteria * 8)); fi
for chaos in "" ${DRDEBUG_SOAK:+--chaos}; do
    pinball=$room/one$chaos.pinball
    # shellcheck disable=SC2086 # an option or nothing
    "$drdebug" record $chaos -o "$pinball" -- "$@" >/dev/null 2>&1 </dev/null || true
    for seed in $(seq "${seeds:-1}"); do
        status=0
        "$compare" "$pinball" "$room/trace" "$seed" "$criteria" || status=$?
        if [ $status -ne 0 ]; then
            echo "seed $seed${chaos:+, recorded with chaos}"
            exit $status
        fi
    done
done
