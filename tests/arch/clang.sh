#!/bin/sh
# clang.sh TOP DIR - clang builds the program without a warning. Builds in DIR.
if ! command -v clang >/dev/null; then
    echo "skipped: clang is not installed"
    exit 77
fi
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON && cmake --build "$2" --target drdebug
