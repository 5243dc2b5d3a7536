# completion.bash - bash completion for drdebug.

_drdebug()
{
    local verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} options i
    local verbs="run record replay debug serve info verify pack cut trace slice help"

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$word")
        return
    fi
    case $verb in
    run) options="--stats --no-link --cache-size --help" ;;
    record) options="-o --chaos -q --quiet --no-link --cache-size --help" ;;
    replay) options="--until --status -q --quiet --no-link --help" ;;
    debug) options="--start --end --gdb --confined --help" ;;
    serve) options="--listen --once --memory -q --quiet --help" ;;
    info) options="--json --help" ;;
    verify) options="--count --help" ;;
    pack) options="-o --sources --source-dir --no-debug --help" ;;
    cut) options="--from --to -o --help" ;;
    trace) options="-o --window --number --help" ;;
    slice)
        options="--at --forward --to --instance --thread --thin --data --prune --no-prune --max-save --stack-pointer --relocated
            --window --only-thread --only-file --only-module --source-dir --trace --lines --all --json --values --steps --sum --dep --dot --html -o --list --show --delete --help"
        ;;
    esac
    case $verb in
    help)
        mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
        ;;
    run | record)
        # Past the options, the rest of the line is another command's.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --) i=$((i + 1)) && break ;;
            -o | --cache-size | --engine) i=$((i + 1)) ;;
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
    replay | serve | info | verify | pack | cut | trace | slice)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -o filenames -F _drdebug drdebug
