#!/bin/bash
# strangers.sh DRDEBUG TOP - what a recording that somebody else made can have read, written and left here.
drdebug=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

mine=$work/state
stranger=$work/elsewhere
export XDG_STATE_HOME=$mine XDG_CACHE_HOME=$work/cache TMPDIR=$work/tmp
mkdir tmp code

# The debug information names a file that is not part of the program.
echo "SECRET WORDS" >secret
cat >code/sum.c <<'C'
int total;
int main(void)
{
    total = 3; /* PLAIN WORDS */
#line 1 "WORK/secret"
    total *= 2; return total;
}
C
sed -i "s|WORK|$work|" code/sum.c
cc -g -O0 -o sum code/sum.c || exit 1
expect 6 "*" "*" "$drdebug" record -q -o sum.pinball ./sum
expect 0 "*by you, on this machine*" "" "$drdebug" info sum.pinball

# holds WORD FILE..., lacks WORD FILE...
holds() {
    checks=$((checks + 1))
    grep -aq "$1" "${@:2}" || fail "${*:2}: no $1"
}
lacks() {
    checks=$((checks + 1))
    grep -alq "$1" "${@:2}" && fail "${*:2}: holds $1"
}
# all_of OPTION...: a slice as text, JSON and page, and the packed file, unpacked where it is packed.
all_of() {
    rm -f page slice.* packed
    expect 0 "*" "*" "$drdebug" slice sum.pinball total at end --html page "$@"
    cp out slice.text
    expect 0 "*" "*" "$drdebug" slice sum.pinball total at end --json "$@"
    cp out slice.json
    expect 0 "*" "*" "$drdebug" pack --sources --no-debug -o packed "$@" sum.pinball
    expect 0 "*" "" "$drdebug" info --json packed
    cp out slice.packed
}

all_of
for words in SECRET PLAIN; do
    holds "$words" slice.text
    holds "$words" slice.json
    holds "$words" page
done
holds "$work/secret" slice.packed
holds '"kind": "source"' slice.packed
cp packed mine.packed

export XDG_STATE_HOME=$stranger
all_of
for words in SECRET PLAIN; do
    lacks "$words" slice.text
    lacks "$words" slice.json
    lacks "$words" page
done
lacks '"kind": "source"' slice.packed
expect 0 "*" "hint: a stranger's recording shows no sources*" "$drdebug" slice sum.pinball total at end
expect 0 "*" "drdebug: sum.pinball: is a stranger's recording: *" "$drdebug" pack --sources --no-debug -o again sum.pinball

# A folder that the user names, and nothing that a link in it leads to.
mkdir folder
ln -s "$work/secret" folder/secret
cp code/sum.c folder
all_of --source-dir folder
holds PLAIN slice.text
holds PLAIN slice.json
holds PLAIN page
for file in slice.text slice.json page; do lacks SECRET "$file"; done
holds 'sum.c' slice.packed
lacks "secret" slice.packed
mkdir folder/inside
cp secret folder/inside
ln -sf inside/secret folder/secret
all_of --source-dir folder
holds SECRET slice.text

# What was packed with it is shown.
expect 0 "*SECRET WORDS*" "" "$drdebug" slice mine.packed uses of secret:1
export XDG_STATE_HOME=$mine
checks=$((checks + 1))
find tmp | grep -q / && fail "left in TMPDIR: $(ls tmp)"

# ---- links and other things in the directory ----

echo "PRECIOUS" >precious
spoil() { # spoil COMMAND...: in a copy of the pinball without its trace
    rm -rf bad.pinball
    cp -r sum.pinball bad.pinball
    rm -rf bad.pinball/trace bad.pinball/slices
    (cd bad.pinball && "$@")
}
kept() {
    checks=$((checks + 1))
    [ "$(cat precious)" = PRECIOUS ] || fail "$1: what a link led to was written"
    [ ! -e made ] || fail "$1: something was made where a link led to"
    rm -rf made
}

spoil ln -s ../precious trace
expect 0 "*total*" "*" "$drdebug" slice bad.pinball total at end
kept trace
spoil ln -s ../made slices
expect 1 "" "*slices: is a link, not a file*" "$drdebug" slice bad.pinball total at end -o one
kept slices
mkdir elsewhere.slices
spoil ln -s ../elsewhere.slices slices
expect 1 "*" "*slices: is a link, not a file*" "$drdebug" slice bad.pinball total at end -o one
checks=$((checks + 1))
[ -z "$(ls elsewhere.slices)" ] || fail "a slice was kept behind a link"
spoil ln -s ../precious notes.new
expect 0 "*" "*" "$drdebug" verify --count bad.pinball
kept notes.new
holds instructions bad.pinball/notes
for name in head events index end; do
    spoil mv "$name" ../moved
    (cd bad.pinball && ln -s ../moved "$name")
    expect 1 "" "drdebug: bad.pinball/$name: is a link, not a file" "$drdebug" info bad.pinball
done
spoil mv files ../moved.files
(cd bad.pinball && ln -s ../moved.files files)
expect 1 "*" "drdebug: *bad.pinball/files/*: is a link, not a file" "$drdebug" verify bad.pinball

# FIFOs do not make it wait.
spoil rm head
mkfifo bad.pinball/head
expect 1 "" "drdebug: bad.pinball/head: not a file" timeout 20 "$drdebug" info bad.pinball
spoil mkfifo trace
expect 0 "*total*" "*" timeout 20 "$drdebug" slice bad.pinball total at end

# The directory itself may be a link.
ln -s sum.pinball link.pinball
expect 0 "*total*" "" "$drdebug" slice link.pinball total at end
expect 0 "*" "" "$drdebug" slice link.pinball total at end -o kept
expect 0 "*kept*" "" "$drdebug" slice link.pinball --list
expect 0 "" "" "$drdebug" slice link.pinball --delete kept

# ---- being ended ----

# A packed one whose user has no cache: the trace is a temporary file, without a name at any time.
export XDG_CACHE_HOME=/dev/null HOME=/dev/null
cat >code/long.c <<'C'
int main(void)
{
    volatile int n = 0;
    for (int i = 0; i < 50000000; i++)
        n++;
    return n == 1;
}
C
cc -g -O0 -o long code/long.c || exit 1
expect 0 "*" "*" "$drdebug" record -q -o long.pinball ./long
expect 0 "*" "*" "$drdebug" pack --no-debug -o long.packed long.pinball
for signal in TERM HUP KILL; do
    for name in long.packed long.pinball; do
        checks=$((checks + 1))
        rm -rf long.pinball/trace
        "$drdebug" slice "$name" n at long.c:6 >/dev/null 2>&1 &
        pid=$!
        for ((i = 0; i < 600; i++)); do # until it writes
            grep -qs "(deleted)" <(ls -l "/proc/$pid/fd" 2>/dev/null) && break
            sleep 0.05
        done
        [ "$i" -lt 600 ] || fail "$name: no temporary file was seen"
        kill -s "$signal" "$pid"
        wait "$pid" 2>/dev/null
        [ -z "$(ls tmp)" ] || fail "SIG$signal: $name left $(ls tmp)"
        [ "$(ls long.pinball | grep -c part)" = 0 ] || fail "SIG$signal: $name left $(ls long.pinball)"
    done
done
# A stranger's ELF file that an own program only reads names no sources.
echo '/* TOPSECRET */' >secret.h
printf '#line 1 "%s/secret.h"\nint f(void) { return 1; }\n' "$work" >named.c
gcc -g -c named.c -o named.o && gcc -shared -g -o named.so named.o || fail "named.so: not built"
printf '#include <fcntl.h>\n#include <sys/mman.h>\nint main(int c, char **v)\n{\n    (void)c;\n    return mmap(0, 8192, PROT_READ, MAP_PRIVATE, open(v[1], O_RDONLY), 0) == MAP_FAILED;\n}\n' >mapper.c
gcc -g mapper.c -o mapper && "$drdebug" record -q -o maps.pinball -- ./mapper named.so || fail "mapper: not recorded"
expect 0 "*" "*" "$drdebug" pack --sources --no-debug -o maps.packed maps.pinball
grep -aq TOPSECRET maps.packed && fail "a file that is named by what was only read is packed"
grep -aq 'mapper.c' maps.packed || fail "the program's own source is not packed"
finish
