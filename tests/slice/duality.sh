#!/bin/bash
# duality.sh - forward and backward slices of a recording of a program: duality.sh DRDEBUG DUALITY PROGRAM [COUNT
# [no-chops]]. In a soak, many more.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 duality=$2 program=$3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"$drdebug" record -o "$room/p.pinball" -- "$program" >/dev/null 2>&1 </dev/null || true
seeds=${DRDEBUG_SOAK:+50}
for seed in $(seq "${seeds:-1}"); do
    "$duality" "$room/p.pinball" "$seed" "${4:-6}" ${5:+"$5"} || {
        echo "seed $seed"
        exit 1
    }
done
