#!/bin/bash
# debug.sh DRDEBUG - `drdebug debug` up to the moment it becomes GDB.
drdebug=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# In place of GDB: says how it was called, and how many lines there are to read from the descriptor.
cat >"gdb here" <<'EOF'
#!/bin/bash
printf '<%s>' "$@"
script=$(grep -o 'open([0-9]*' <<<"$3" | tr -dc 0-9)
lines=$(wc -l <&"$script")
[ "$lines" -gt 300 ] && echo " script"
exit 5
EOF
chmod +x "gdb here"
mkdir "it's"
"$drdebug" record -q -o "it's/a b.pinball" true || fail "true cannot be recorded"

started="<-q><-ex><python *drdebug.connect(\[b'$drdebug', b'serve', b'$work/it\\\\x27s/a\\\\x20b.pinball'\], "
expect 5 "$started'main')> script" "" "$drdebug" debug --gdb "./gdb here" "it's/a b.pinball"
expect 5 "$started'start')> script" "" "$drdebug" debug --start --gdb "./gdb here" "it's/a b.pinball/"
expect 5 "$started'end')><-batch><-ex><pin when> script" "" \
    "$drdebug" debug "it's/a b.pinball" --end --gdb "./gdb here" -- -batch -ex "pin when"
cd "it's" || exit 1
expect 5 "$started'main')><--end><--> script" "" "$drdebug" debug --gdb "../gdb here" -- --end --
cd .. || exit 1

# Whatever is wrong is said before GDB starts.
expect 1 "" "drdebug: debug: no pinball named, and none here" "$drdebug" debug
expect 1 "" "drdebug: none: No such file or directory" "$drdebug" debug --gdb "./gdb here" none
expect 1 "" "drdebug: dir*: *" "$drdebug" debug --gdb "./gdb here" dir
expect 1 "" $'drdebug: no-such-gdb: not found\nhint: *apt install gdb*' \
    "$drdebug" debug --gdb no-such-gdb "it's/a b.pinball"
expect 1 "" $'drdebug: ./dir: Permission denied\nhint: *' "$drdebug" debug --gdb ./dir "it's/a b.pinball"
expect 1 "" $'drdebug: gdb: not found\nhint: *' env PATH="$work/dir" "$drdebug" debug "it's/a b.pinball"
expect 2 "" $'drdebug: debug: takes one pinball, not 2\nhint: *' "$drdebug" debug a b
expect 2 "" $'drdebug: debug: --frobnicate: unknown option\nhint: *' "$drdebug" debug --frobnicate
expect 2 "" $'drdebug: debug: --gdb: needs a value\nhint: *' "$drdebug" debug --gdb
expect 2 "" $'drdebug: debug: --end=1: takes no value\nhint: *' "$drdebug" debug --end=1

finish
