#!/bin/bash
# bomb.sh DRDEBUG BOMB - a small pinball whose kept file is large: it takes no more memory than is allowed, and none for
# zeros.
# SPDX-License-Identifier: MIT
drdebug=$1 bomb=$2 failed=0 limit=60
top=$(mktemp -d) && trap 'rm -rf "$top"' EXIT
for what in full zeros; do
    truncate -s 100M "$top/$what"
done
tr '\0' U <"$top/full" >"$top/tmp" && mv "$top/tmp" "$top/full"
for what in full zeros; do
    "$drdebug" record -q -o "$top/$what.pinball" -- "$bomb" "$top/$what" >"$top/want" || exit 1
    echo "$what: $(du -sk "$top/$what.pinball" | cut -f1) KB"
    "$drdebug" replay "$top/$what.pinball" >"$top/out" 2>"$top/err"
    cmp "$top/want" "$top/out" || { echo "FAILED: $what: without a limit: $(cat "$top/err")" && failed=1; }
    DRDEBUG_REPLAY_MEMORY=$limit "$drdebug" replay "$top/$what.pinball" >"$top/out" 2>"$top/err"
    status=$?
    echo "$what: status $status: $(cat "$top/err")"
    case $what in
    zeros) cmp "$top/want" "$top/out" || { echo "FAILED: $what: zeros take memory" && failed=1; } ;;
    full)
        if [ $status != 1 ] || ! grep -q "more than $limit MB of memory .*DRDEBUG_REPLAY_MEMORY" "$top/err"; then
            echo "FAILED: $what: it took what it wanted" && failed=1
        fi
        ;;
    esac
done
DRDEBUG_REPLAY_MEMORY=some "$drdebug" replay "$top/zeros.pinball" >"$top/out" 2>"$top/err"
if [ $? != 1 ] || ! grep -q "DRDEBUG_REPLAY_MEMORY: 'some' is not a number of megabytes" "$top/err"; then
    echo "FAILED: a limit that is no number: $(cat "$top/err")" && failed=1
fi
exit $failed
