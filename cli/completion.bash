# completion.bash - bash completion for drdebug.

_drdebug()
{
    local verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} i

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "run help --help --version" -- "$word")
        return
    fi
    case $verb in
    help)
        mapfile -t COMPREPLY < <(compgen -W "run help" -- "$word")
        ;;
    run)
        # Past the options, the rest of the line is another command's.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --) i=$((i + 1)) && break ;;
            --cache-size | --engine) i=$((i + 1)) ;;
            -* | =) ;;
            *) break ;;
            esac
        done
        if [ "$i" -lt "$COMP_CWORD" ]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$i"
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
        elif [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--stats --no-link --cache-size --help" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word" | sort -u)
        fi
        ;;
    esac
}

complete -o filenames -F _drdebug drdebug
