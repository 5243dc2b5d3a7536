#!/bin/bash
# known.sh - the slice of subjects/known.S: known.sh DRDEBUG KNOWN PROGRAM. SPDX-License-Identifier: MIT
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"$1" record -o "$room/one.pinball" -- "$3" >/dev/null 2>&1 || true
"$2" "$room/one.pinball" "$room/trace"
