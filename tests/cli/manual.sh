#!/bin/bash
# manual.sh DRDEBUG TOP - help, manual page, completion and README tell of the same verbs and options.
drdebug=$(realpath "$1")
top=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# Those with a two-space indent in the first list of `drdebug help`.
verbs=$("$drdebug" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$verbs" ] || fail "help lists no verbs"

# complete_line WORD...: what bash would offer for the last word.
complete_line() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _drdebug "$drdebug"
    printf '%s\n' "${COMPREPLY[@]}"
}
# shellcheck source=cli/completion.bash
. "$top/cli/completion.bash"

checks=$((checks + 1))
offered=$(complete_line drdebug "" | grep -v '^-' | sort)
[ "$offered" = "$(sort <<<"$verbs")" ] || fail "completion offers" "${offered//$'\n'/ }" "but the verbs are" "${verbs//$'\n'/ }"

for verb in $verbs; do
    checks=$((checks + 1))
    grep -q "^\.It Cm $verb\b" "$top/docs/drdebug.1" || fail "$verb is not in drdebug(1)"
    # Such as "  --sources  add", "  -q, --quiet  do not", "  --chaos[=SEED]  odd"; and "  -o DIR  the".
    help=$("$drdebug" help "$verb")
    options=$(sed -nE 's/^  (-[a-z], )?(--[a-z-]+)[[ ].*/\2/p' <<<"$help" | sort)
    short=$(sed -nE 's/^  (-[a-z])[, ].*/\1/p' <<<"$help")
    offered=$(complete_line drdebug "$verb" -- | sort)
    [ "$offered" = "$options" ] || fail "$verb: completion offers" "${offered//$'\n'/ }" "but the options are" "${options//$'\n'/ }"
    for option in $options; do
        grep -q "Fl Fl ${option#--}\b" "$top/docs/drdebug.1" || fail "$verb $option is not in drdebug(1)"
    done
    for option in $short; do
        grep -q "^\.It Fl ${option#-}\b" "$top/docs/drdebug.1" || fail "$verb $option is not in drdebug(1)"
        complete_line drdebug "$verb" - | grep -qx -e "$option" || fail "$verb: completion does not offer $option"
    done
done

# Both ways: what the manual tells of is there.
checks=$((checks + 1))
told=$(sed -n '/^\.Sh VERBS/,/^\.Sh/s/^\.It Cm //p' "$top/docs/drdebug.1" | grep -Ev '^(uses|last write) of' | sed 's/ .*//' | sort -u)
[ "$told" = "$(sort <<<"$verbs")" ] || fail "drdebug(1) tells of" "${told//$'\n'/ }" "but the verbs are" "${verbs//$'\n'/ }"
all=$(for verb in $verbs; do "$drdebug" help "$verb"; done)
told=$(sed -n '/^\.Sh VERBS/,/^\.Sh COMMANDS/s/^\.It Fl Fl \([a-z-]*\).*/\1/p' "$top/docs/drdebug.1" | sort -u)
for option in $told; do
    [ "$option" = engine ] || # for tests: help does not tell of it
        grep -Eq "^  (-[a-z], )?--${option}[[ ]" <<<"$all" || fail "drdebug(1) tells of --$option, which no verb has"
done

# The JSON of every verb that has some begins with its version.
checks=$((checks + 1))
"$drdebug" record -q -o json.pinball -- /bin/true || fail "record"
declare -A arguments=([info]="json.pinball" [maple]="-o maple.pinball --runs 1 -- /bin/false" [slice]="json.pinball %rax at end"
    [ask]="json.pinball accesses 0x1000 8")
for verb in $verbs; do
    "$drdebug" help "$verb" | grep -q '^  --json ' || continue
    [ -n "${arguments[$verb]}" ] || fail "$verb has --json: this test must know arguments for it"
    # shellcheck disable=SC2086 # words
    json=$("$drdebug" "$verb" --json ${arguments[$verb]}) || fail "$verb --json"
    python3 -c 'import json, sys; sys.exit(json.JSONDecoder().raw_decode(sys.stdin.read())[0]["version"] != 1)' <<<"$json" || fail "$verb: no version"
    unset "arguments[$verb]"
done
[ ${#arguments[@]} = 0 ] || fail "no --json any more: ${!arguments[*]}"

# Commands inside GDB: the manual and gdb.md have the rows of pin.def.
checks=$((checks + 1))
commands=$(sed -n 's/^PIN("\([a-z-]*\)".*/\1/p' "$top/gdb/pin.def" | sort)
told=$(sed -n '/^\.Sh COMMANDS/,/^\.Sh EXIT/p' "$top/docs/drdebug.1" | grep -oE '\bIc pin [a-z-]+' | sed 's/.* //' | sort -u)
[ "$told" = "$commands" ] || fail "drdebug(1) tells of pin" "${told//$'\n'/ }" "but there are" "${commands//$'\n'/ }"
told=$(grep -oE '`pin [a-z-]+' "$top/docs/gdb.md" | sed 's/.* //' | sort -u)
[ "$told" = "$commands" ] || fail "gdb.md tells of pin" "${told//$'\n'/ }" "but there are" "${commands//$'\n'/ }"

# Ways to end: pinball.md has the rows of ends.def.
checks=$((checks + 1))
ends=$(sed -nE 's/^END\(\w+, ([0-9]+), "(\w+)".*/\2 \1/p' "$top/pinball/ends.def")
# shellcheck disable=SC2016 # the backticks are Markdown's
told=$(sed -nE '/^\| Reason \|/,/^$/s/^\| `(\w+)` \| ([0-9]+) \|.*/\1 \2/p' "$top/docs/pinball.md")
[ "${ends:-none}" = "$told" ] || fail "pinball.md tells of" "${told//$'\n'/ }" "but there are" "${ends//$'\n'/ }"

checks=$((checks + 1))
: >file-here
complete_line drdebug run file-h | grep -qx file-here || fail "run: completion offers no files"
complete_line drdebug ask wh | grep -qx why-not || fail "ask: completion offers no questions"
complete_line drdebug ask file-h | grep -qx file-here || fail "ask: completion offers no files"
complete_line drdebug run ech | grep -qx echo || fail "run: completion offers no programs"
version=$("$drdebug" --version)
grep -q "^\.Os ${version}$" "$top/docs/drdebug.1" || fail "drdebug(1) is not of version $version"
grep -q "drdebug run" "$top/README.md" || fail "README.md does not show drdebug run"

finish
