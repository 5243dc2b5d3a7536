#!/bin/sh
# clang.sh TOP DIR - clang builds the program without a warning. Builds in DIR, unoptimized but in a soak: clang warns
# before it optimizes.
if ! command -v clang >/dev/null; then
    echo "skipped: clang is not installed"
    exit 77
fi
kind=-DCMAKE_BUILD_TYPE=RelWithDebInfo
[ -n "${DRDEBUG_SOAK-}" ] || kind="-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0"
# shellcheck disable=SC2086 # a list of words
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ $kind \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON && cmake --build "$2" --target drdebug -j 2
