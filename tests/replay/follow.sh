#!/bin/bash
# follow.sh DRDEBUG FOLLOW - a reader beside a recorder at work sees what the recording holds in the end. The program
# reads random bytes, which do not pack. SPDX-License-Identifier: MIT
drdebug=$1 follow=$2
room=$(mktemp -d) && trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1
"$follow" one >said 2>&1 &
follower=$!
"$drdebug" record -q -o one -- head -c 24000000 /dev/urandom >out 2>err
wait "$follower"
status=$?
cat said
if [ "$status" != 0 ] || [ "$(stat -c %s out)" != 24000000 ]; then cat err && exit 1; fi
