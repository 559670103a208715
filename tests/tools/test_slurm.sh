#!/usr/bin/env bash
# test_slurm -- a campaign through a real Slurm: one controller and two node daemons on this computer, one of which is killed
# in mid-campaign; its task is queued again, and the rows are those of a serial run. Long tier only, as root, with Debian's
# slurm-wlm and munge.
#   tests/tools/test_slurm.sh SOURCE-DIRECTORY BUILD-DIRECTORY
set -euo pipefail
pebble=$2/pebble
[ "${PEBBLE_TEST_SCALE:-100}" -ge 1000 ] || { echo "only in the long tier"; exit 77; }
[ -x "$pebble" ] || { echo "the command is not built"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "Slurm's daemons need root"; exit 77; }
for program in slurmctld slurmd sbatch munged; do
    PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || { echo "$program is not installed (slurm-wlm, munge)"; exit 77; }
done
PATH=$PATH:/usr/sbin:/sbin
folder=$(mktemp -d "${TMPDIR:-/tmp}/pebble-slurm.XXXXXX")
daemons=()
cleanup() {
    scancel --user=root >/dev/null 2>&1 || true
    for process in "${daemons[@]}"; do kill -9 "$process" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap cleanup EXIT
fail() {
    echo "FAILED: $*"
    tail -n 20 "$folder"/*.log 2>/dev/null || true
    exit 1
}
chmod 755 "$folder"
cd "$folder"
host=$(hostname -s)
port=$((20000 + RANDOM % 20000))
mkdir -p state n1 n2 munge
export SLURM_CONF=$folder/slurm.conf

# A munge of our own, so that one that runs here is left alone.
dd if=/dev/urandom of=munge/key bs=128 count=8 status=none
chmod 400 munge/key
chmod 755 munge
munged --foreground --force --key-file=munge/key --socket="$folder/munge/socket" --pid-file=munge/pid --log-file=munge/log \
    --seed-file=munge/seed >munged.log 2>&1 &
daemons+=($!)
cat >slurm.conf <<CONF
ClusterName=pebble
SlurmctldHost=$host
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
MessageTimeout=5
KillWait=2
SchedulerParameters=sched_interval=2
JobRequeue=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -D >slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D -N n1 >n1.log 2>&1 &
daemons+=($!)
slurmd -D -N n2 >n2.log 2>&1 &
second=$!
daemons+=($second)
for _ in $(seq 1 100); do
    [ "$(sinfo --noheader --format=%D --states=idle 2>/dev/null)" = 2 ] && break
    sleep 0.5
done
sinfo || fail "the cluster did not start"

# Cells of about a tenth of a second.
for seed in 1 2 3 4 5 6 7 8 9 10; do "$pebble" gen layered --nodes 60 --seed $seed -o g$seed.json; done
sweep() {
    local store=$1
    shift
    "$pebble" sweep g?.json g10.json --ticks 150000 --strategy search --caps 100%..70% --points 20 --store "$store" "$@"
}
sweep serial --csv serial.csv >serial.txt || fail "the serial run"
sweep campaign --on slurm --timeout 5s >submit.txt 2>submit.err || fail "submit: $(cat submit.err)"
grep -q "^job [0-9]" submit.txt || fail "no job: $(cat submit.txt)"
grep -q "2 tasks" submit.err || fail "the array does not fit two processors: $(cat submit.err)"

# The second node dies with its worker, as when a computer loses power.
for _ in $(seq 1 100); do
    [ "$(find campaign/cells -name '*.row.*' | wc -l)" -ge 20 ] && break
    sleep 0.2
done
done_before=$(find campaign/cells -name '*.row.*' | wc -l)
kill -9 $second
for process in $(pgrep -f "slurmstepd: \[.*n2" || true) $(pgrep -f "^$pebble work" || true); do
    if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -q '^SLURMD_NODENAME=n2$' ||
        tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null | grep -q n2; then
        kill -9 "$process" 2>/dev/null || true
    fi
done
sleep 1
"$pebble" sweep --store campaign --status >status.txt || fail "--status"
cat status.txt
slurmd -D -N n2 >>n2.log 2>&1 & # it is repaired
daemons+=($!)
timeout 300 "$pebble" sweep --store campaign --wait || fail "--wait"
[ -z "$(find campaign/cells -name '*.todo.*')" ] || fail "cells are left: $("$pebble" store status campaign)"
sweep campaign --csv campaign.csv >campaign.txt || fail "the results"
cmp serial.csv campaign.csv || fail "other results than a serial run"
"$pebble" store gc campaign --timeout 1s
diff <(cd serial/cells && find . -type f | sort | xargs sha256sum) <(cd campaign/cells && find . -type f | sort | xargs sha256sum) ||
    fail "other rows than a serial run"

# --cancel ends tasks; a second --on slurm continues.
sweep other --seed 2 --on slurm --timeout 5s >other.txt || fail "the second campaign"
sleep 2
"$pebble" sweep --store other --cancel || fail "--cancel"
for _ in $(seq 1 60); do [ -z "$(squeue --noheader)" ] && break; sleep 0.5; done
[ -z "$(squeue --noheader)" ] || fail "--cancel left tasks"
sweep other --seed 2 --on slurm --timeout 5s --wait --csv other.csv >other.txt || fail "after --cancel"
sweep serial --seed 2 --csv serial2.csv >serial.txt
cmp serial2.csv other.csv || fail "other results after --cancel"
echo "200 cells through Slurm, one node killed after $done_before; cancelled and continued"
