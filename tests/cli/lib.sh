# shellcheck shell=bash
# lib.sh - what the tests in this folder share. To be sourced; $drdebug must be set by then.
#
# Works in a directory of its own, which goes when the test ends. `finish` gives the verdict.
set -u
ulimit -c 0
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir dir
checks=0
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# call COMMAND...: sets status, out and err.
call() {
    "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}

# expect STATUS OUT ERR COMMAND...: OUT and ERR are patterns for the whole text.
expect() {
    local want_status=$1 want_out=$2 want_err=$3
    shift 3
    checks=$((checks + 1))
    call "$@"
    [ "$status" = "$want_status" ] || fail "$*: status $status, not $want_status (${err:-no message})"
    # shellcheck disable=SC2053 # patterns
    [[ $out == $want_out ]] || fail "$*: printed '$out', not '$want_out'"
    # shellcheck disable=SC2053
    [[ $err == $want_err ]] || fail "$*: said '$err', not '$want_err'"
}

finish() {
    echo "$checks checks, $failures failures"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
    exit
}
