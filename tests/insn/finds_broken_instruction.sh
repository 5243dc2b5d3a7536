#!/bin/bash
# finds_broken_instruction.sh COMPARE... - a difference is reported, and minimised to its cause.
out=$("$@" --seeds 1 --count 400 --explain 1 --sabotage bsf)
status=$?
echo "$out"
[ $status -eq 1 ] || { echo "status $status instead of 1"; exit 1; }
# What is left of the sequence: bsf and parts that must stay.
left=$(grep ' code u' <<<"$out" | grep -v 'stays$')
[ "$(wc -l <<<"$left")" -le 3 ] || { echo "not minimised"; exit 1; }
grep -q bsf <<<"$left"
