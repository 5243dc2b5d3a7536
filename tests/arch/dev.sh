#!/bin/bash
# dev.sh TOP - `./dev test` tries up to three failed tests once more and names those that pass then. It runs here in a
# folder of its own, on tests that ctest has from us.
top=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# Nothing is installed or built.
mkdir bin
printf '#!/bin/sh\n' >bin/cmake
printf '#!/bin/sh\necho installed\n' >bin/dpkg-query
chmod +x bin/*
cp "$top/dev" .

# tests NAME...: good passes, once_X fails the first time only, bad_X always.
tests() {
    rm -rf build
    mkdir build
    for name; do
        case $name in
        good) does=true ;;
        once*) does="echo first words of $name; test -e $name || { touch $name; false; }" ;;
        bad*) does="echo words of $name; false" ;;
        esac
        echo "add_test($name sh -c [=[$does]=])"
    done >build/CTestTestfile.cmake
}

# dev_test STATUS: its output is in said.
dev_test() {
    PATH=$work/bin:$PATH ./dev test >said 2>&1
    status=$?
    [ $status -eq "$1" ] || { echo "FAIL: status $status, expected $1"; cat said; failures=$((failures + 1)); }
}

# says COUNT TEXT
says() {
    [ "$(grep -cF -- "$2" said)" -eq "$1" ] || { echo "FAIL: not $1 times: $2"; cat said; failures=$((failures + 1)); }
}

tests good
dev_test 0
says 0 "dev: unsteady"
says 1 "100% tests passed, 0 tests failed out of 1"

tests good once_a once_b
dev_test 0
for name in once_a once_b; do
    says 1 "dev: unsteady: $name failed once, then passed; its first output is in build/unsteady.log"
    grep -q "^first words of $name" build/unsteady.log || { echo "FAIL: unsteady.log"; failures=$((failures + 1)); }
done
says 1 "33% tests passed, 2 tests failed out of 3"
says 1 "100% tests passed, 0 tests failed out of 2"

tests good once_a bad_b
dev_test 8
says 1 "dev: unsteady: once_a failed once"
says 0 "dev: unsteady: bad_b"
grep -q "words of bad_b" build/unsteady.log && { echo "FAIL: bad_b is no unsteady test"; failures=$((failures + 1)); }

tests good once_a once_b once_c once_d
dev_test 8
says 0 "dev: unsteady"
says 0 "dev: once more"

echo "$failures failures"
exit $((failures > 0))
