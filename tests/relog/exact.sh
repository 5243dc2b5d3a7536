#!/bin/bash
# exact.sh - recordings of a program that leave something out, compared with the whole: exact.sh DRDEBUG RELOG_EXACT CASES
# PROGRAM [ARGUMENT...]. In a soak there are twenty times as many, of a recording with chaos, too.
#
# SPDX-License-Identifier: MIT
set -eu
drdebug=$1 exact=$2 cases=$3
shift 3
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
ways=plain
[ -n "${DRDEBUG_SOAK:-}" ] && ways="plain chaos" && cases=$((20 * cases))
export SUBJECT_ROUNDS=${SUBJECT_ROUNDS:-30}
for way in $ways; do
    option=()
    [ "$way" = chaos ] && option=(--chaos)
    "$drdebug" record "${option[@]}" -o "$room/$way" -- "$@" >/dev/null 2>&1 </dev/null || true
    mkdir "$room/$way.parts"
    "$exact" "$room/$way" "$room/$way.parts" 7 "$cases"
done
