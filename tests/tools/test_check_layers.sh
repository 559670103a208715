# check_layers passes this tree and finds every kind of breach in a small one.
set -euo pipefail
root=$1
"$root/tools/check_layers" "$root"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{include/pebble,apps/pebble,src/{base,graph,plan,verify,api,odd}}

expect() { # folder/file include result
    printf '#include <stdio.h>\n#include "%s"\n' "$2" >"$tree/$1"
    if "$root/tools/check_layers" "$tree" >"$tree/out"; then got=allowed; else got=refused; fi
    [ "$got" = "$3" ] || { echo "$1 including $2 was $got, not $3"; exit 1; }
    [ "$3" = allowed ] || grep -q "^$1:2: \"$2\": " "$tree/out" || { echo "no place in:"; cat "$tree/out"; exit 1; }
    rm "$tree/$1"
}

expect src/graph/graph_builder.c base/arena.h allowed
expect src/graph/graph_builder.c pebble/base.h allowed
expect src/graph/graph_builder.c neighbour.h allowed
expect src/plan/strategy_a.c plan/method_b.h allowed
expect src/plan/strategy_a.c bound/cut.h allowed
expect src/api/pipeline/pipeline.c plan/strategy_table.h allowed
expect include/pebble/verify.h schedule.h allowed
expect include/pebble/verify.h rules.def allowed
expect apps/pebble/main.c pebble/pebble.h allowed
expect apps/pebble/main.c command.h allowed

expect src/base/arena.c graph/rows.h refused
expect src/graph/graph_builder.c pebble/game.h refused
expect src/plan/method_b.h verify/replay.h refused
expect src/plan/method_b.h pebble/pebble.h refused
expect src/verify/replay.c bound/cut.h refused
expect src/plan/strategy_a.c plan/strategy_b.h refused
expect src/plan/strategy_a.c strategy_b.h refused
expect src/graph/graph_builder.c ../base/arena.h refused
expect src/graph/graph_builder.c base/arena.c refused
expect src/odd/thing.c base/arena.h refused
expect include/pebble/graph.h verify.h refused
expect apps/pebble/main.c base/arena.h refused
