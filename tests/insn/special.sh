#!/bin/bash
# special.sh DRDEBUG INSNSPECIAL - the rules hold natively and translated, and both print the same.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

"$2" >"$dir/native" || { grep FAIL "$dir/native"; echo "native: status $?"; exit 1; }
"$1" run -- "$2" --strict >"$dir/translated"
status=$?
grep -v '^#' "$dir/native" >"$dir/a"
grep -v '^#' "$dir/translated" >"$dir/b"
diff "$dir/a" "$dir/b" || status=1
grep -h '^#' "$dir/translated"
exit $status
