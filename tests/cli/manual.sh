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
    _drdebug
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

checks=$((checks + 1))
: >file-here
complete_line drdebug run file-h | grep -qx file-here || fail "run: completion offers no files"
complete_line drdebug run ech | grep -qx echo || fail "run: completion offers no programs"
version=$("$drdebug" --version)
grep -q "^\.Os ${version}$" "$top/docs/drdebug.1" || fail "drdebug(1) is not of version $version"
grep -q "drdebug run" "$top/README.md" || fail "README.md does not show drdebug run"

finish
