#!/bin/bash
# version1.sh - recordings of format version 1 are read for good: version1.sh DRDEBUG FOLDER.
#
# SPDX-License-Identifier: MIT
#
# The folder holds packed pinballs that drdebug 0.1 made of subjects, and what it said of them when it verified them.
set -u
drdebug=$1 folder=$2
failed=0 lacking=0 count=0
while read -r name expected; do
    said=$("$drdebug" verify "$folder/$name" 2>&1)
    count=$((count + 1))
    case $said in
    "$folder/$name: $expected") ;;
    *"this CPU lacks"* | *"which this CPU does not have") lacking=$((lacking + 1)) ;;
    *)
        printf 'FAILED: %s\n  expected %s\n' "$said" "$expected"
        failed=1
        ;;
    esac
done <"$folder/expected"
[ "$count" -eq 10 ] || { echo "FAILED: $count pinballs, not 10"; failed=1; }
if [ "$failed" = 0 ] && [ "$lacking" -gt 0 ]; then
    echo "skipped: this CPU lacks what $lacking of them used"
    exit 77
fi
exit "$failed"
