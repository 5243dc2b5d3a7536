#!/bin/bash
# install.sh BUILD - what `cmake --install` leaves works from where it was put.
build=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

cmake --install "$build" --prefix "$work/usr" >install.log || fail "$(cat install.log)"
for file in bin/drdebug share/man/man1/drdebug.1 share/doc/drdebug/README.md \
    share/doc/drdebug/LICENSE share/drdebug/drdebug.py share/bash-completion/completions/drdebug; do
    checks=$((checks + 1))
    [ -s "usr/$file" ] || fail "$file is not installed"
done
expect 0 "hello" "" usr/bin/drdebug run echo hello
mv usr elsewhere
expect 0 "hello" "" env PATH="$work/elsewhere/bin:$PATH" drdebug run echo hello

finish
