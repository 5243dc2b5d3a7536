#!/bin/bash
# cut.sh - parts of recordings of a program, cut at random moments: cut.sh DRDEBUG CUT_TEST CUTS PROGRAM [ARGUMENT...].
# In a soak there are 20 parts of each of two recordings.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 cut_test=$2 cuts=$3
shift 3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
if [ -n "${DRDEBUG_SOAK:-}" ]; then
    cuts=20
fi
[ -n "${DRDEBUG_SOAK:-}" ] || export SUBJECT_ROUNDS=30
for chaos in "" --chaos; do
    mkdir "$room/parts$chaos"
    # shellcheck disable=SC2086 # an option or nothing
    "$drdebug" record $chaos -o "$room/whole$chaos" -- "$@" >/dev/null 2>&1 </dev/null || true
    seed=$(($(cksum <"$1" | cut -d' ' -f1) % 1000))
    "$cut_test" "$room/whole$chaos" "$seed" "$cuts" "$room/parts$chaos" || {
        echo "seed $seed${chaos:+, recorded with chaos}"
        exit 1
    }
done
