#!/bin/bash
# api.sh DRDEBUG API SUBJECTS - replayer/replay.h on recordings of some subjects. SPDX-License-Identifier: MIT
drdebug=$1 api=$2 subjects=$3 failed=0
top=$(mktemp -d) && trap 'rm -rf "$top"' EXIT
for subject in hello_pie thread_sync memory_code_two_maps signal_restart; do
    (cd "$top" && "$drdebug" record -q -o $subject -- "$subjects/$subject") >/dev/null 2>&1
    said=$(timeout 60 "$api" "$top/$subject" 2>&1)
    if [ "$said" != good ]; then echo "FAILED: $subject: $said" && failed=1; fi
done
exit $failed
