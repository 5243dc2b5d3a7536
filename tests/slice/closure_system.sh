#!/bin/bash
# closure_system.sh - a program of the system on a small input: closure_system.sh DRDEBUG CLOSURE PROGRAM ARGUMENT...
#
# SPDX-License-Identifier: MIT
set -eu
here=$(dirname "$(realpath "$0")")
drdebug=$1 closure=$2 program=$3
shift 3
path=$(command -v "$program") || exit 77
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
for i in 17 4 230 9 88 41 5 66 12 1; do echo "$i"; done >numbers
printf '2^70 / 3\nscale=20\nsqrt(2)\nquit\n' >sums
bash "$here/closure.sh" "$drdebug" "$closure" 2 "$path" "$@"
