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
same() { # store: no row is missing, doubled or different
    "$pebble" store gc "$1" --timeout 1s >gc.txt || fail "$1: gc"
    diff <(rows serial) <(rows "$1") >diff.txt || { head diff.txt; fail "$1 differs from the serial run"; }
}

sweep serial --csv serial.csv >serial.txt
cells=$(rows serial | wc -l)
[ "$cells" -eq 216 ] || fail "$cells rows instead of 216"
sweep serial --csv again.csv >again.txt
cmp serial.csv again.csv || fail "the same command again shows other results"
"$pebble" store export serial --csv export.csv
cmp <(sort serial.csv) <(sort export.csv) || fail "export shows other results than sweep"

# Workers that are killed at random, several at a time.
sweep killed --on later
for round in $(seq 1 $((scale >= 100 ? 25 : 5))); do
    "$pebble" work killed --threads 2 >/dev/null 2>&1 & first=$!
    "$pebble" work killed >/dev/null 2>&1 & second=$!
    sleep "0.0$((RANDOM % 10))"
    kill -9 $first 2>/dev/null || true
    sleep "0.0$((RANDOM % 5))"
    kill -9 $second 2>/dev/null || true
    wait $first $second 2>/dev/null || true
done
"$pebble" store status killed --json >status.json
grep -q '"cells":216' status.json || fail "cells were lost: $(cat status.json)"
"$pebble" work killed >work.txt
same killed
sweep killed --csv killed.csv >/dev/null
cmp serial.csv killed.csv || fail "results after kills"

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

# A memory limit of the cells is part of them; a worker with less refuses.
sweep limited --memory 64MiB --on later
"$pebble" work limited --memory 1MiB >/dev/null 2>limit.err && fail "a worker took cells that need more memory than it has"
"$pebble" work limited --memory 130MiB --threads 8 >/dev/null
[ "$(find limited/cells -name '*.row.*' | wc -l)" -eq 216 ] || fail "cells with a memory limit"

# What another store has is copied.
sweep half --on later
"$pebble" store merge half killed >merge.txt
same half
echo "216 cells, each planned once whatever happened"
