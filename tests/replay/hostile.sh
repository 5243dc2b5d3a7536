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

# A log that says that a write wrote more than it can have. The first replay tells the hash that the log must have.
for how in print print-ends; do
    "$hostile" "$top/$how-0" $how 0 || exit 1
    "$drdebug" replay "$top/$how-0" >"$top/out" 2>"$top/err"
    hash=$(sed -n 's/.*actual \(0x[0-9a-f]*\)).*/\1/p' "$top/err")
    "$hostile" "$top/$how" $how "${hash:-0}" || exit 1
    timeout 30 "$drdebug" replay "$top/$how" 2>"$top/err" | head -c 1000000 >"$top/out"
    status=${PIPESTATUS[0]}
    echo "$how: status $status, $(wc -c <"$top/out") bytes: $(cat "$top/err")"
    if [ "$(wc -c <"$top/out")" -gt 131072 ]; then echo "FAILED: $how: it printed more than there is" && failed=1; fi
    if [ "$how" = print ] && ! grep -q 'more than it was given' "$top/err"; then
        echo "FAILED: $how: the result was believed" && failed=1
    fi
    if [ "$how" = print-ends ] && [ "$(wc -c <"$top/out")" != 131072 ]; then echo "FAILED: $how: not what is there" && failed=1; fi
done
exit $failed
