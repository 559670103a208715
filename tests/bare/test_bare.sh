#!/usr/bin/env bash
# test_bare.sh -- a command without optional parts names the package of each, and does the rest.
#   test_bare.sh PEBBLE_BARE
set -u
pebble=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

expect() { # code text words...: how the command ends, and a line that it prints
    local code=$1 text=$2
    shift 2
    "$pebble" "$@" >"$work/out" 2>&1 </dev/null
    local got=$?
    if [ $got != "$code" ] || ! grep -qxF -- "$text" "$work/out"; then
        echo "pebble $*: ended with $got instead of $code, or did not print: $text"
        cat "$work/out"
        failed=1
    fi
}

cbc='not built in (install coinor-libcbc-dev, then make)'
cadical='not built in (install libcadical-dev, then make)'
dnnl='not built in (install libdnnl-dev, then make)'
server='not built in (install libmicrohttpd-dev and libjansson-dev, then make)'
expect 0 "milp, lp-rounding: $cbc" --version
expect 0 "sat: $cadical" --version
expect 0 "workload train: $dnnl" --version
expect 0 "pebble ui: $server" --version
expect 1 "pebble: the server of pebble ui is $server" ui
expect 2 "pebble: the workload train: oneDNN is $dnnl" run train --cap 80%
expect 2 "pebble: the workload train: oneDNN is $dnnl" profile train
"$pebble" gen chain 6 -o "$work/chain.json"
expect 4 "no plan found (milp): does not apply: Cbc is $cbc" plan "$work/chain.json" --cap 2 --strategy milp
exit $failed
