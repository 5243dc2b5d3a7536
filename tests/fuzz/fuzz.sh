#!/bin/sh
# fuzz.sh libfuzzer|plain TARGET CORPUS FOUND BYTES - replay the corpus; with DRDEBUG_SOAK fuzz for ten
# minutes (or DRDEBUG_FUZZ_SECONDS), too, with inputs of up to BYTES. New inputs and crashes stay in FOUND.
kind=$1 target=$2 corpus=$3 found=$4 bytes=$5
export UBSAN_OPTIONS=print_stacktrace=1
if [ "$kind" = plain ]; then
    echo "clang with libFuzzer is not installed (clang, libclang-rt-14-dev): the corpus is only replayed"
    exec "$target" "$corpus"/*
fi
"$target" -runs=0 "$corpus" >"$target.log" 2>&1 || {
    # The driver does not name the file: find it.
    for input in "$corpus"/*; do
        "$target" -runs=0 "$input" >"$target.log" 2>&1 || {
            cat "$target.log"
            echo "input: $input"
            exit 1
        }
    done
    cat "$target.log"
    exit 1
}
grep 'INITED' "$target.log"
[ -n "${DRDEBUG_SOAK-}" ] || exit 0

mkdir -p "$found/corpus" "$found/crashes"
# New crashes only: those of earlier runs are reported again below as long as they crash.
for input in "$found"/crashes/*; do
    [ -f "$input" ] || continue
    if "$target" -runs=0 "$input" >/dev/null 2>&1; then rm -f "$input"; fi
done
"$target" -max_len="$bytes" -max_total_time="${DRDEBUG_FUZZ_SECONDS-600}" -print_final_stats=1 \
    -artifact_prefix="$found/crashes/" "$found/corpus" "$corpus" >"$target.log" 2>&1
status=$?
grep -a -v -E '^#[0-9]+|NEW_FUNC|# Uses|^INFO|^###' "$target.log" | tail -n 60
for input in "$found"/crashes/*; do
    [ -f "$input" ] || continue
    echo "crash input: $input"
    status=1
done
exit $status
