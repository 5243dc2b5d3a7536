#!/bin/bash
# special.sh DRDEBUG INSNSPECIAL - the rules hold natively and translated, and both print the same.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

if ! "$2" >"$dir/native"; then
    echo "natively:"
    grep FAIL "$dir/native"
    exit 1
fi
"$1" run -- "$2" --strict >"$dir/translated"
status=$?
grep -v '^#' "$dir/native" >"$dir/a"
grep -v '^#' "$dir/translated" >"$dir/b"
case ${DRDEBUG_ENGINE-} in
*cpu=*) ;; # an older CPU, which native code cannot be shown: only the rules are checked
*) diff "$dir/a" "$dir/b" || status=1 ;;
esac
grep -h '^#' "$dir/translated"
exit $status
