#!/bin/bash
# package.sh BUILD - the Debian package has the files that `cmake --install` puts, with the same rights, and its program works.
build=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg-deb"; exit 77; }
(cd "$build" && cpack -G DEB -B "$work/made") >package.log 2>&1 || fail "$(cat package.log)"
cmake --install "$build" --prefix "$work/installed/usr" >install.log || fail "$(cat install.log)"
for package in made/drdebug_*.deb made/drdebug-gui_*.deb; do
    case $package in *\**) continue ;; esac # the window is packed where it is built
    dpkg-deb -x "$package" unpacked || fail "$package cannot be unpacked"
done
! dpkg-deb -f made/drdebug_*.deb Depends | grep -q libgtk || fail "drdebug itself needs GTK"
checks=$((checks + 1))
list() {
    (cd "$1" && find . ! -type d -printf '%y %m %p\n' | sort -k 3)
}
diff <(list installed) <(list unpacked) >differ || fail "package and installation have other files: $(cat differ)"
checks=$((checks + 1))
diff -r installed/usr/share unpacked/usr/share >differ || fail "they have other contents: $(cat differ)"
expect 0 "hello" "" unpacked/usr/bin/drdebug run echo hello

finish
