# completion.bash - bash completion for drdebug.

# Verbs and options are those that `drdebug help` lists: there is no other list of them.

# _drdebug_verbs PROGRAM
_drdebug_verbs()
{
    "$1" help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# _drdebug_options PROGRAM VERB: of lines such as "  -q, --quiet  do not" and "  --chaos[=SEED]  odd".
_drdebug_options()
{
    "$1" help "$2" 2>/dev/null |
        sed -nE 's/^  (-[a-z])(, (--[a-z-]+))?[[ ].*/\1 \3/p; s/^  (--[a-z-]+)[[ ].*/\1/p'
}

# _drdebug_questions PROGRAM
_drdebug_questions()
{
    "$1" help ask 2>/dev/null | sed -n '/^QUESTION is/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

_drdebug()
{
    local verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} program=${1/#\~/$HOME} verbs options i

    if [ "$COMP_CWORD" -eq 1 ] || [ "$verb" = help ]; then
        verbs=$(_drdebug_verbs "$program")
        [ "$verb" = help ] && [ "$COMP_CWORD" -gt 1 ] || verbs+=" --help --version"
        mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
        return
    fi
    [[ $word == -* ]] && options=$(_drdebug_options "$program" "$verb")
    case $verb in
    run | record | live | maple)
        # Past the options, the rest of the line is another command's.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --) i=$((i + 1)) && break ;;
            -o | -j | --keep | --retry | --from | --to | --length | --cache-size | --engine | --runs | --for | --seed | --strategy | --recipe | --memo | --iroot | --window | --granularity | --job | --retest | --slice | --fail | --check | --before | --after | --tty | --on-loss | --gdb | --gdb-arg) i=$((i + 1)) ;;
            =) i=$((i + 1)) ;; # bash cuts --chaos=SEED in three
            -*) ;;
            *) break ;;
            esac
        done
        if [ "$i" -lt "$COMP_CWORD" ]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$i"
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
        elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = -o ]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        elif [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word" | sort -u)
        fi
        ;;
    debug)
        if [ "${COMP_WORDS[COMP_CWORD - 1]}" = --gdb ]; then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word" | sort -u)
        elif [[ $word == -* && " ${COMP_WORDS[*]:0:COMP_CWORD} " != *" -- "* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    *)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        elif [ "$verb" = ask ]; then
            mapfile -t COMPREPLY < <(compgen -f -W "$(_drdebug_questions "$program")" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -o filenames -F _drdebug drdebug
