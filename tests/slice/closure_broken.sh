#!/bin/bash
# closure_broken.sh - slice_closure finds def/use sets with holes: closure_broken.sh DRDEBUG BROKEN PROGRAM
#
# SPDX-License-Identifier: MIT
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"$1" record -o "$room/one.pinball" -- "$3" >/dev/null 2>&1 </dev/null || true
"$2" "$room/one.pinball" 1 1 >/dev/null
for hole in use:add use:movzx def:imul; do
    for try in 1 2 3; do
        status=0
        CLOSURE_BREAK=$hole "$2" "$room/one.pinball" 1 1 >"$room/said" 2>&1 || status=$?
        [ "$status" -eq 75 ] || break
        echo "again ($try)"
    done
    head -n 1 "$room/said"
    if [ "$status" -ne 1 ]; then
        echo "$hole was not found (status $status)"
        exit 1
    fi
done
