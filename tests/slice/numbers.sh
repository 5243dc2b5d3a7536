#!/bin/bash
# numbers.sh - numbers of instructions in a recording of a program: numbers.sh DRDEBUG NUMBERS PROGRAM.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 numbers=$2 program=$3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
[ -n "${DRDEBUG_SOAK:-}" ] || export SUBJECT_ROUNDS=30
for chaos in "" --chaos; do
    pinball=$room/p$chaos.pinball
    # shellcheck disable=SC2086 # an option or nothing
    "$drdebug" record $chaos -o "$pinball" -- "$program" >/dev/null 2>&1 </dev/null || true
    "$numbers" "$pinball"
done
