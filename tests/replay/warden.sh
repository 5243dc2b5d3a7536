#!/bin/bash
# warden.sh WARDEN_TEST HOSTILE ESCAPER [CASE ...] - pinballs whose programs try to get away (warden_test.c). HOSTILE and
# ESCAPER are copied to where anybody can read them: each case runs as nobody, too.
# SPDX-License-Identifier: MIT
test=$1 hostile=$2 escaper=$3
shift 3
top=$(mktemp -d) && trap 'rm -rf "$top"' EXIT
cp "$hostile" "$top/hostile" && cp "$escaper" "$top/escaper" && mkdir "$top/pinballs" || exit 1
chmod 755 "$top" && chmod 777 "$top/pinballs"
"$test" "$top/hostile" "$top/escaper" "$top/pinballs" "$@"
