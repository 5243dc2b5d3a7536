#!/bin/bash
# hostile.sh DRDEBUG HOSTILE - a pinball from a stranger, made to attack, touches nothing and ends with a report.
# SPDX-License-Identifier: MIT
drdebug=$1 hostile=$2 failed=0
top=$(mktemp -d) && trap 'rm -rf "$top"' EXIT
for how in call jump own; do
    "$hostile" "$top/$how" $how "$top/canary" || exit 1
    timeout 30 "$drdebug" replay "$top/$how" >"$top/out" 2>"$top/err"
    status=$?
    echo "$how: status $status: $(cat "$top/err")"
    if [ -e "$top/canary" ]; then echo "FAILED: $how: it created a file" && failed=1; fi
    case $status in 0 | 1 | 3) ;; *) echo "FAILED: $how: status $status" && failed=1 ;; esac
    if [ "$(wc -l <"$top/err")" != 1 ]; then echo "FAILED: $how: not one line of report" && failed=1; fi
done
grep -q confinement "$top/err" || { echo "FAILED: own: the attack was not stopped by the confinement" && failed=1; }
"$hostile" "$top/cpu" cpu "$top/canary" || exit 1
"$drdebug" replay "$top/cpu" >"$top/out" 2>"$top/err"
if [ $? != 1 ] || ! grep -q "used .*, which this CPU does not have" "$top/err"; then
    echo "FAILED: cpu: said $(cat "$top/err")" && failed=1
fi
exit $failed
