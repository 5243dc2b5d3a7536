#!/bin/sh
# format.sh TOP - every C source is as clang-format 14 would have it.
cd -- "$1" || exit 1
case $(clang-format --version 2>/dev/null) in
*" version 14."*) ;;
*)
    echo "skipped: clang-format 14 is not installed"
    exit 77
    ;;
esac
if ! ./dev fmt --check 2>&1; then
    echo "./dev fmt puts this right"
    exit 1
fi
