#!/bin/bash
# api.sh DRDEBUG API SUBJECTS OWN - replayer/replay.h on recordings of some subjects and programs of this folder. SPDX-License-Identifier: MIT
drdebug=$1 api=$2 subjects=$3 own=$4 failed=0
top=$(mktemp -d) && trap 'rm -rf "$top"' EXIT
for program in "$subjects"/{hello_pie,thread_sync,memory_code_two_maps,signal_restart} "$own"/own_rule_mremap_pieces; do
    subject=$(basename "$program")
    (cd "$top" && "$drdebug" record -q -o $subject -- "$program") >/dev/null 2>&1
    said=$(timeout 60 "$api" "$top/$subject" "$top/trace" 2>&1)
    if [ "$said" != good ]; then echo "FAILED: $subject: $said" && failed=1; fi
done
exit $failed
