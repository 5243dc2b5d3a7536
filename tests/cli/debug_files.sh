#!/bin/bash
# debug_files.sh DRDEBUG - separate debug files beside a program are found, by GDB and for slices; not wrong ones, and
# not for a stranger's recording.
# SPDX-License-Identifier: MIT
drdebug=$1
. "$(dirname -- "$0")/lib.sh"
export XDG_STATE_HOME=$work/state

cat >sum.c <<'END'
volatile int sum;
int main(void)
{
    for (int i = 0; i < 5; i++)
        sum += i; /* ADDS */
    return 0;
}
END

# make NAME WHERE FLAGS...: a program whose debug information is in WHERE/NAME.debug.
make() {
    local name=$1 where=$2
    shift 2
    gcc -g -O0 "$@" -o "$name" sum.c && mkdir -p "$where" && objcopy --only-keep-debug "$name" "$where/$name.debug" &&
        strip -g "$name" && objcopy --add-gnu-debuglink="$where/$name.debug" "$name" || exit 1
    "$drdebug" record -q -o "$name.pinball" -- "./$name" || exit 1
}

in_gdb() { "$drdebug" debug "$1.pinball" -- -nx -batch -ex 'info line main' 2>&1 | grep -q 'Line 3 of "sum.c"'; }
in_slice() { "$drdebug" slice "$1.pinball" sum at end 2>&1 | grep -q 'ADDS'; }

# found NAME yes|no
found() {
    checks=$((checks + 2))
    local how
    for how in in_gdb in_slice; do
        case $2 in
        yes) $how "$1" || fail "$1: $how: the debug file was not found" ;;
        no) $how "$1" && fail "$1: $how: a debug file was taken that must not be" ;;
        esac
    done
}

make beside . && found beside yes
make below .debug && found below yes
make sum_only . -Wl,--build-id=none && found sum_only yes

gcc -g -O1 -DOTHER -o other sum.c && objcopy --only-keep-debug other beside.debug && found beside no
objcopy --only-keep-debug other sum_only.debug && found sum_only no
XDG_STATE_HOME=$work/another found below no
finish
