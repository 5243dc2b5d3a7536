#!/bin/bash
# closure.sh - slices of a recording of a program, executed: closure.sh DRDEBUG CLOSURE CRITERIA PROGRAM [ARGUMENT...]. In a
# soak, many more criteria, and recordings with chaos.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 closure=$2 criteria=$3
shift 3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
seeds=${DRDEBUG_SOAK:+20}
if [ -n "${DRDEBUG_SOAK-}" ]; then criteria=$((criteria * 3)); fi
for chaos in "" ${DRDEBUG_SOAK:+--chaos}; do
    pinball=$room/one$chaos.pinball
    for seed in $(seq "${seeds:-1}"); do
        for try in 1 2 3; do # 75: another recording is needed; or an address of the program's is in use, by chance
            if [ "$seed$try" = 11 ] || [ "$try" != 1 ]; then
                rm -rf "$pinball"
                # shellcheck disable=SC2086 # an option or nothing
                "$drdebug" record $chaos -o "$pinball" -- "$@" >/dev/null 2>&1 </dev/null || true
            fi
            status=0
            "$closure" "$pinball" "$seed" "$criteria" || status=$?
            [ "$status" -eq 75 ] || break
            echo "again ($try)"
        done
        if [ "$status" -ne 0 ]; then
            echo "seed $seed${chaos:+, recorded with chaos}"
            exit "$status"
        fi
    done
done
