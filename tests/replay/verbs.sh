#!/bin/bash
# verbs.sh DRDEBUG BIN - record, replay, info, verify and pack as a user calls them: options, names, refusals.
drdebug=$(realpath "${DRDEBUG:-$1}")
bin=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/../cli/lib.sh"

summary=': 1 thread, * ticks, * event*, *B'
expect 0 "a b" "p$summary"$'\n*program ended: exit status 0' "$drdebug" record -o p -- echo a b
expect 0 "a b" "p: program ended: exit status 0" "$drdebug" replay p
expect 0 "a b" "p/: program ended: exit status 0" "$drdebug" replay p/
expect 0 "*" "" "$drdebug" verify p
expect 7 "" "q$summary"$'\n*program ended: exit status 7' "$drdebug" record -o q sh -c 'exit 7'
expect 0 "" "q: program ended: exit status 7" "$drdebug" replay q
expect 143 "" $'*\n*program ended: SIGTERM*' bash -c '"$0" record -o r -- sh -c "kill -TERM \$\$"' "$drdebug"
expect 0 "" "r: program ended: SIGTERM*" "$drdebug" replay r
expect 0 "x" "*" "$drdebug" record --chaos -o c -- echo x
expect 0 "x" "c: program ended: exit status 0" "$drdebug" replay c

# --status: as the program ended, 125 if that cannot be told.
expect 0 "a b" "p: program ended: exit status 0" "$drdebug" replay --status p
expect 7 "" "q: program ended: exit status 7" "$drdebug" replay --status q
expect 143 "" "r: program ended: SIGTERM*" "$drdebug" replay -q --status r
expect 137 "" "*" "$drdebug" record -o killed -- sh -c 'kill -KILL $$'
expect 137 "" "killed: program ended*" "$drdebug" replay --status killed
cp -r q damaged && printf 'xyz' | dd of=damaged/events bs=1 seek=100 conv=notrunc status=none
expect 125 "*" "drdebug: damaged*" "$drdebug" replay --status damaged
expect 125 "" "drdebug: no-such-pinball: *" "$drdebug" replay --status no-such-pinball
expect 125 "" "drdebug: replay: --status: not with --until*" "$drdebug" replay --status --until T1:1:1 p
expect 125 "" "drdebug: replay: --frob: unknown option*" "$drdebug" replay --status --frob p
expect 2 "" "drdebug: verify: --status: is an option of replay*" "$drdebug" verify --status p

# Page 0, which root may map and a replay may not: replayed, where vm.mmap_min_addr is 0, or refused with the reason.
expect 0 "" "zero: 1 thread*" setarch --mmap-page-zero "$drdebug" record -o zero -- true
checks=$((checks + 1))
call "$drdebug" replay zero
case $status,$err in
0,"zero: program ended: exit status 0") ;;
1,"drdebug: zero: cannot be replayed: memory at 0x0: this kernel gives none so low (vm.mmap_min_addr)") ;;
*) fail "replay of a program with a page 0: status $status, '$err'" ;;
esac

# Positions: an old token, the same with its process, and one of a process that is not there.
at=$("$drdebug" info --json p | sed -n 's/.*"position": *"\(T[^"]*\)".*/\1/p')
expect 0 "*" "*" "$drdebug" replay -q --until "$at" p
expect 0 "*" "*" "$drdebug" replay -q --until "P1.$at" p
expect 2 "" "drdebug: replay: *'P0.$at' is not a position*" "$drdebug" replay --until "P0.$at" p
expect 1 "*" "drdebug: *P2.$at: there is no process 2 in this recording" "$drdebug" replay -q --until "P2.$at" p
expect 1 "*" "drdebug: *P2.$at: there is no process 2 in this recording" "$drdebug" cut --from "P2.$at" -o part p
cp -r p traced
expect 1 "*" "drdebug: *P2.$at: there is no process 2 in this recording" "$drdebug" slice traced "rax at P2.$at"
expect 1 "*" "drdebug: *P2.$at: there is no process 2 in this recording" "$drdebug" trace --number "P2.$at" traced

# Standard input is the program's, and is not wanted again.
checks=$((checks + 1))
[ "$(echo words | "$drdebug" record -o in -- cat 2>/dev/null)" = words ] || fail "record keeps the program's input from it"
expect 0 "words" "in: program ended: exit status 0" "$drdebug" replay in
expect 0 "$work/out" "*" "$drdebug" record -o link -- readlink /proc/self/fd/1

# Without -o: NAME.pinball, then with a number.
expect 0 "1" "echo.pinball$summary*" "$drdebug" record -- echo 1
expect 0 "2" "echo*.pinball*$summary*" "$drdebug" record -- echo 2
expect 0 "3" "echo*.pinball*$summary*" "$drdebug" record -- /bin/echo 3
checks=$((checks + 2))
made=(echo*pinball*)
[ "${#made[@]}" = 3 ] || fail "three recordings of echo left ${made[*]}"
shown=$(for p in "${made[@]}"; do "$drdebug" replay "$p" 2>/dev/null; done | sort | tr '\n' ' ')
[ "$shown" = "1 2 3 " ] || fail "they replay as '$shown'"

# What is there is not touched, and the program does not run then.
mkdir there && echo mine >there/file
call "$drdebug" record -o there -- sh -c 'echo ran; : >ran'
checks=$((checks + 1))
if [ "$status" = 0 ] || [ -n "$out" ] || [ -e ran ] || [ "$(cat there/file)" != mine ] || [ "$(ls there)" != file ]; then
    fail "record into a directory that exists: status $status, $(ls there)"
fi
[[ $err == "drdebug: there: "* ]] || fail "record into a directory that exists: said '$err'"
call "$drdebug" record -o no/such/place -- echo ran
checks=$((checks + 1))
if [ "$status" = 0 ] || [ -n "$out" ] || [[ $err != "drdebug: no/such/place: "* ]]; then
    fail "record into a missing directory: status $status, '$out', '$err'"
fi
expect 127 "" "drdebug: ./missing: *" "$drdebug" record -o none -- ./missing
[ ! -e none ] || fail "a program that is not there left a pinball"

# Usage.
hint=$'\nhint: *'
expect 2 "" "drdebug: record: no program given$hint" "$drdebug" record
expect 2 "" "drdebug: record: no program given$hint" "$drdebug" record -o x --
expect 2 "" "drdebug: record: --frob: unknown option$hint" "$drdebug" record --frob echo
for verb in replay verify pack info; do
    expect 2 "" "drdebug: $verb: --frob: unknown option$hint" "$drdebug" "$verb" --frob p
    expect 1 "" "drdebug: no-such-pinball: *" "$drdebug" "$verb" no-such-pinball
    expect 1 "" "drdebug: dir*: *" "$drdebug" "$verb" dir
    expect 1 "" "drdebug: /bin/true: *" "$drdebug" "$verb" /bin/true
    expect 1 "" "drdebug: /dev/null: *" "$drdebug" "$verb" /dev/null
    expect 0 "usage: drdebug $verb *" "" "$drdebug" "$verb" --help
done
expect 0 "usage: drdebug record *--chaos*" "" "$drdebug" help record

# info tells of everything, in both forms.
for word in thread tick event signal program machine ended; do
    expect 0 "*$word*" "" "$drdebug" info p
done
checks=$((checks + 1))
"$drdebug" info p --json | python3 -c 'import json, sys
i = json.load(sys.stdin)
assert i["threads"] == 1 or i["threads"][0], i
assert int(i["ticks"]) > 0 and int(i["events"]) > 0 and int(i.get("bytes", i.get("size"))) > 0, i
assert "echo" in json.dumps(i["program"]), i' || fail "info p --json"

# A reader of the output that went away is no reason to crash.
checks=$((checks + 1))
"$drdebug" record -o many -- seq 1 20000 >/dev/null 2>&1
"$drdebug" replay many 2>/dev/null | head -1 >/dev/null
first=${PIPESTATUS[0]}
case $first in 0 | 1 | 141) ;; *) fail "replay into a closed pipe: status $first" ;; esac
"$drdebug" replay many >/dev/full 2>full.err
[ $? = 1 ] || fail "replay to a full device: status is not 1"
grep -q "No space left" full.err || fail "replay to a full device: said '$(cat full.err)'"

finish
