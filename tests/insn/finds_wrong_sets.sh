#!/bin/bash
# finds_wrong_sets.sh DEFUSECHECK - a set with a hole is found, whatever kind of hole it is.
unset DRDEBUG_SOAK
status=0
for hole in def:vzeroupper def:fadd def:mul use:adc use:fadd use:xsave64 kept:cmovz kept:shl; do
    out=$("$1" --seed 1 --count 20000 --only "${hole#*:}" --sabotage "$hole")
    [ $? -eq 1 ] && grep -q "^${hole#*:} \|^${hole#*:}:" <<<"$out" && continue
    echo "$hole was not found:"
    echo "$out"
    status=1
done
exit $status
