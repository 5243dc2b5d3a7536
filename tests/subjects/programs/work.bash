# work.bash - bash: pipes, substitution, arrays, here documents, traps, functions, arithmetic.
trap 'echo "exit trap $?"' EXIT
trap 'echo "usr1 trap"' USR1
set -o pipefail
declare -A m
for i in {1..200}; do m[$((i % 7))]+=x; done
for k in "${!m[@]}"; do echo "$k ${#m[$k]}"; done | sort
fib() { (($1 < 2)) && echo "$1" || echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); }
echo "fib $(fib 7)"
cat <<END | tr a-z A-Z
here document $((2 ** 20))
END
seq 1 1000 | while read -r n; do ((n % 250 == 0)) && echo "n $n"; done
kill -USR1 $$
diff <(seq 1 5) <(seq 2 6)
echo "diff $?"
(exit 3) | cat
echo "pipe ${PIPESTATUS[*]} $?"
read -r a b < <(echo "first second third")
echo "$b/$a"
printf '%s\n' "${BASH_SOURCE[0]##*/}" "${0##*/}"
[[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[2]}"
no-such-command-here 2>/dev/null || echo "status $?"
exec 5> fifth && echo five >&5 && exec 5>&- && cat fifth
coproc cat
pid=$COPROC_PID
echo coprocess >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
kill -TERM "$pid"
wait "$pid"
echo "coprocess status $?"
exit 12
