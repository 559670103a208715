#!/usr/bin/env bash
# test_store -- stores of sweeps under what happens on clusters: workers killed at any moment, a full disk, two hosts on one
# folder, an interrupted worker. After each, rows and plans are those of a run without any of it, byte by byte.
#   tests/tools/test_store.sh SOURCE-DIRECTORY BUILD-DIRECTORY
set -euo pipefail
pebble=$2/pebble
scale=${PEBBLE_TEST_SCALE:-100}
[ -x "$pebble" ] || { echo "the command is not built"; exit 77; }
[ -w /dev/shm ] && base=/dev/shm || base=${TMPDIR:-/tmp} # every row is synced
folder=$(mktemp -d "$base/pebble-store.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "FAILED: $*"; exit 1; }

for seed in 1 2 3 4 5 6 7 8; do "$pebble" gen layered --nodes 40 --seed $seed -o g$seed.json; done
sweep() { # store [option...]
    local store=$1
    shift
    "$pebble" sweep g?.json --ticks 2000 --strategy last-use,search,chain --caps 100%..60% --points 9 -q --store "$store" "$@"
}
rows() { (cd "$1/cells" && find . -type f | LC_ALL=C sort | xargs sha256sum); }
same() { # store [reference]: no row is missing, doubled or different
    "$pebble" store gc "$1" --timeout 1s >gc.txt || fail "$1: gc"
    diff <(rows "${2:-serial}") <(rows "$1") >diff.txt || { head diff.txt; fail "$1 differs from the serial run"; }
}

sweep serial --csv serial.csv >serial.txt
cells=$(rows serial | wc -l)
[ "$cells" -eq 216 ] || fail "$cells rows instead of 216"
sweep serial --csv again.csv >again.txt
cmp serial.csv again.csv || fail "the same command again shows other results"
"$pebble" store export serial --csv export.csv
cmp <(sort serial.csv) <(sort export.csv) || fail "export shows other results than sweep"

# Workers that are killed at random, several at a time, in cells of some milliseconds.
slow() { # store [option...]
    local store=$1
    shift
    "$pebble" sweep g[1-$((scale >= 1000 ? 9 : 3))].json --ticks 40000 --strategy search --caps 100%..75% \
        --points $((scale >= 1000 ? 45 : 20)) -q --store "$store" "$@"
}
slow slow_serial --csv slow.csv >slow.txt
slow killed --on later
hits=0
for round in $(seq 1 $((scale >= 1000 ? 100 : 20))); do
    "$pebble" work killed --threads 2 >/dev/null 2>&1 & first=$!
    "$pebble" work killed >/dev/null 2>&1 & second=$!
    sleep "0.0$((RANDOM % 5))"
    kill -9 $first 2>/dev/null || true
    sleep "0.0$((RANDOM % 3))"
    kill -9 $second 2>/dev/null || true
    wait $first $second 2>/dev/null || true
    [ -z "$(find killed/cells -name '*.lease.*')" ] || hits=$((hits + 1))
done
[ $hits -gt 0 ] || fail "no kill came while a cell was planned"
"$pebble" store status killed --json >status.json
grep -q "\"cells\":$(rows slow_serial | wc -l)," status.json || fail "cells were lost: $(cat status.json)"
"$pebble" work killed >work.txt
same killed slow_serial
slow killed --csv killed.csv >/dev/null
cmp slow.csv killed.csv || fail "results after kills"

# SIGTERM: cells are put back at once.
sweep terminated --on later
"$pebble" work terminated >work.txt 2>&1 & worker=$!
sleep 0.05
kill -TERM $worker 2>/dev/null || true
wait $worker || true
[ -z "$(find terminated/cells -name '*.lease.*')" ] || fail "SIGTERM left a lease"
"$pebble" work terminated >work.txt
same terminated

# A full disk: files may not grow beyond 620 bytes, so that some rows can be written and others not.
sweep full --on later
python3 - "$pebble" <<'PYTHON' || fail "the message about a full disk"
import resource, signal, subprocess, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (620, 620))
run = subprocess.run([sys.argv[1], "work", "full"], capture_output=True, text=True)
sys.exit(run.returncode != 1 or "free some space" not in run.stderr)
PYTHON
[ -z "$(find full/cells -name '*.lease.*')" ] || fail "a full disk left a lease"
"$pebble" work full >work.txt
same full

# A truncated row is planned again.
sweep broken >/dev/null
row=$(find broken/cells -name '*.row.*' | LC_ALL=C sort | sed -n 5p)
truncate -s 150 "$row"
sweep broken --csv broken.csv >/dev/null 2>broken.err
cmp serial.csv broken.csv || fail "results after a truncated row"
same broken

# A lease of a worker elsewhere that shows no sign of life.
sweep stale --on later
todo=$(find stale/cells -name '*.todo.*' | LC_ALL=C sort | sed -n 1p)
mv "$todo" "$(sed 's/\.todo\./.lease./' <<<"$todo").00000000000000ab"
"$pebble" work stale --timeout 1s >work.txt
grep -q "1 taken over" work.txt || fail "a stale lease was not taken over: $(cat work.txt)"
same stale

# Two hosts on one folder: neither sees the other's processes. One of them is killed.
if unshare --uts --pid --fork true 2>/dev/null; then
    sweep hosts --on later
    unshare --uts --pid --fork --kill-child --mount-proc sh -c "hostname other; exec '$pebble' work hosts" >/dev/null 2>&1 &
    other=$!
    sleep 0.1
    kill -9 $other 2>/dev/null || true
    wait $other 2>/dev/null || true
    "$pebble" work hosts --timeout 1s >work.txt
    same hosts
else
    echo "no namespaces here: two hosts were not tested"
fi

# Several commands that make the same store at the same time, as the ranks of an MPI job do; the first shows the results.
for rank in 0 1 2 3; do
    (export OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4; sweep together --csv together$rank.csv >together$rank.txt 2>&1) &
done
wait
cmp serial.csv together0.csv || fail "results of four ranks: $(cat together?.txt)"
[ ! -e together1.csv ] || fail "the second rank shows results as well"
same together
(export OMPI_COMM_WORLD_SIZE=4; "$pebble" sweep g1.json 2>ranks.err) && fail "four ranks sweep everything each"
grep -q -- "--store" ranks.err || fail "the message about ranks"

# A memory limit of the cells is part of them; a worker with less refuses.
sweep limited --memory 64MiB --on later
"$pebble" work limited --memory 1MiB >/dev/null 2>limit.err && fail "a worker took cells that need more memory than it has"
"$pebble" work limited --memory 130MiB --threads 8 >/dev/null
[ "$(find limited/cells -name '*.row.*' | wc -l)" -eq 216 ] || fail "cells with a memory limit"

# What another store has is copied.
sweep half --on later
"$pebble" store merge half stale >merge.txt
same half

# A hundred thousand cells: status in a second, little memory, no large folder.
if [ "$scale" -ge 1000 ]; then
    for seed in $(seq 1 100); do "$pebble" gen layered --nodes 12 --seed $seed -o tiny$seed.json; done
    "$pebble" sweep tiny*.json --ticks 100 --strategy last-use --caps 100%..20% --points 1000 --store large --on later -q
    python3 - "$pebble" <<'PYTHON' || fail "a large store"
import json, os, resource, subprocess, sys, time
subprocess.run([sys.argv[1], "work", "large", "--threads", "2"], check=True, stdout=subprocess.DEVNULL)
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
before = resource.getrusage(resource.RUSAGE_CHILDREN)
status = json.loads(subprocess.run([sys.argv[1], "store", "status", "large", "--json"], check=True, capture_output=True).stdout)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
entries = max(len(os.listdir(os.path.join("large/cells", folder))) for folder in os.listdir("large/cells"))
print(f"{status['done']} cells: status takes {seconds:.2f} s, a worker {memory / 1024:.0f} MiB, {entries} files in a folder")
sys.exit(status["done"] != 100000 or seconds > 1 or memory > 200 * 1024 or entries > 3000)
PYTHON
fi
echo "216 cells, each planned once whatever happened"
