# jobs.bash - job control: background jobs, wait, kill, stop and continue, traps on children.
set -m
sleep 30 &
job=$!
jobs | sed 's/  */ /g'
kill -STOP %1
while [[ $(jobs %1) != *Stopped* ]]; do sleep 0.01; done
jobs | sed 's/  */ /g'
kill -CONT %1
kill -TERM %1
wait $job
echo "status $?"
set +m
for i in 1 2 3; do (exit $i) & done
wait -n
for p in $(jobs -p); do wait "$p"; done
echo "all done"
trap 'echo interrupted; exit 9' INT
(sleep 0.1; kill -INT $$) &
while :; do sleep 0.02; done
