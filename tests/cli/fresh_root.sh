#!/bin/bash
# fresh_root.sh BUILD TOP - the Debian package in a Debian 12 that has never seen this tree: it installs with what it depends
# on, and an ordinary user has the README's first five minutes there. BUILD keeps the bare system for the next time.
build=$(realpath "$1")
top=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

skip() {
    echo "skipped: $*"
    exit 77
}

command -v dpkg-deb >/dev/null || skip "no dpkg-deb"
[ "$(id -u)" -eq 0 ] || skip "only root can make a Debian root and change to it"
unshare --mount true 2>/dev/null || skip "no mount namespace can be had here"
system=$build/debian12.tar
if [ ! -s "$system" ]; then
    command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
    mmdebstrap --mode=root --variant=minbase --include=gcc,libc6-dev,gdb bookworm "$work/new.tar" >bootstrap.log 2>&1 ||
        skip "no Debian 12 root can be had: $(tail -n 1 bootstrap.log)"
    mv "$work/new.tar" "$system"
fi
(cd "$build" && cpack -G DEB -B "$work/made") >package.log 2>&1 || fail "$(cat package.log)"
mkdir root
tar -xf "$system" -C root || skip "the root cannot be unpacked"
cp made/drdebug_*.deb root/drdebug.deb
cp /etc/resolv.conf root/etc/

# inside SCRIPT [USER]: a shell's script in the root.
inside() {
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount bash -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
        exec chroot ${3:+--userspec="$3"} "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="${3:+/home/$3}" bash -ec "$2"' \
        bash "$work/root" "$@"
}
inside true >inside.log 2>&1 || skip "no root can be entered: $(tail -n 1 inside.log)"
inside 'apt-get -q update' >update.log 2>&1 || skip "no packages can be had: $(tail -n 1 update.log)"
checks=$((checks + 1))
inside 'DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install /drdebug.deb' >apt.log 2>&1 ||
    fail "the package cannot be installed: $(tail -n 20 apt.log)"
inside 'useradd -m visitor' || fail "there is no user"
inside 'mkdir ~/demo' visitor || fail "there is no home"
cp "$top/demo/racy_counter.c" root/home/visitor/demo/

# step PATTERN SCRIPT: as the user. The whole of what it says must match.
step() {
    checks=$((checks + 1))
    said=$(inside "cd; ulimit -c 0; $2" visitor 2>&1 </dev/null) || fail "$2: status $?: $said"
    # shellcheck disable=SC2053 # a pattern
    [[ $said == $1 ]] || fail "$2: said '$said', not '$1'"
}
# readme PROMPT TEXT: the command that the README's five minutes have after that prompt, and that has this text. Without one,
# the step that wants it fails.
readme() {
    found=$(sed -n '/^## Five minutes/,/^## More/p' "$top/README.md" | grep -F -- "$1 " | grep -F -- "$2")
    found=${found#"$1 "}
    echo "${found:-false}"
}
line=$(grep -n 'ROOT CAUSE' "$top/demo/racy_counter.c" | cut -d: -f1)
step "" "$(readme '$' gcc)"
step "*program ended: SIGABRT in thread 1" "$(readme '$' 'drdebug record')"
step "counted * of 20000 visitors*race.pinball: program ended: SIGABRT in thread 1" "drdebug replay race.pinball"
step "race.pinball: 5 threads, *program ended: SIGABRT in thread 1*" "drdebug info race.pinball"
step "race.pinball: good: *" "drdebug verify race.pinball"
step "criterion *ROOT CAUSE*" "$(readme '$' 'drdebug slice')"
step "*racy_counter.c:$line*T[0-9]*:*door () at demo/racy_counter.c:$line*" "$(readme '$' 'drdebug debug') -- -nx -batch \
    -ex '$(readme '(gdb)' break)' -ex '$(readme '(gdb)' reverse-continue)' -ex '$(readme '(gdb)' 'pin when')'"
step "race.packed.pinball: *" "$(readme '$' 'drdebug pack')"
step "*program ended: SIGABRT in thread 1" "rm -r race.pinball racy_counter demo; drdebug replay race.packed.pinball"
step "42" "drdebug run -- bash -c 'echo \$((6 * 7))'"
step "*drdebug*" "zcat -f /usr/share/man/man1/drdebug.1*"

finish
