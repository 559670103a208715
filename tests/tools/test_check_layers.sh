# check_layers passes this tree and finds every kind of violation in a small one.
set -euo pipefail
root=$1
"$root/tools/check_layers" "$root"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/include/pebble "$tree"/apps/{common,pebble,server} \
    "$tree"/src/{base,graph,verify,odd,plan/{strategies,chain,sequence,new,reversible/line},api/{pipeline,session}}
touch "$tree/src/graph/neighbour.h" "$tree/src/plan/chain/equal.h" "$tree/apps/pebble/command.h"
printf 'STRATEGY(chain, "chain")\nSTRATEGY(exact, "exact")\n' >"$tree/src/plan/strategies.def"

refused_or_allowed() { # file text place expected
    printf '%s\n' "$2" >"$tree/$1"
    if "$root/tools/check_layers" "$tree" >"$tree/out"; then got=allowed; else got=refused; fi
    rm "$tree/$1"
    [ "$got" = "$4" ] || { echo "$1 with $3 was $got, not $4"; exit 1; }
    [ "$4" = allowed ] || grep -qF "$1:2: $3: " "$tree/out" || { echo "no place in:"; cat "$tree/out"; exit 1; }
}
expect() { # file include result
    refused_or_allowed "$1" "#include <stdio.h>
#include \"$2\"" "\"$2\"" "$3"
}
expect_call() { # file function result
    refused_or_allowed "$1" "#include <stdio.h>
    return $2(ctx, game, options, plan);" "$2" "$3"
}

# Folders.
expect src/graph/graph_builder.c base/arena.h allowed
expect src/graph/graph_builder.c pebble/base.h allowed
expect src/base/arena.c graph/rows.h refused
expect src/graph/graph_builder.c pebble/game.h refused
expect src/plan/chain/chain.h verify/replay.h refused
expect src/plan/chain/chain.h pebble/pebble.h refused
expect src/verify/replay.c bound/cut.h refused
expect src/odd/thing.c base/arena.h refused
# Public headers.
expect include/pebble/verify.h schedule.h allowed
expect include/pebble/verify.h rules.def allowed
expect include/pebble/graph.h verify.h refused
# Neighbours by name, everything else by its path from the include root.
expect src/graph/graph_builder.c neighbour.h allowed
expect src/plan/chain/chain.c equal.h allowed
expect src/graph/graph_builder.c arena.h refused
expect src/plan/sequence/window.c equal.h refused
expect src/graph/graph_builder.c ../base/arena.h refused
expect src/graph/graph_builder.c base/arena.c refused
# Rooms.
expect src/plan/strategies/chain.c plan/chain/equal.h allowed
expect src/plan/strategies/chain.c bound/cut.h allowed
expect src/plan/chain/chain.c plan/strategy.h allowed
expect src/plan/chain/chain.c plan/sequence/window.h allowed
expect src/api/session/plan.c api/pipeline/pipeline.h allowed
expect src/plan/sequence/window.c plan/chain/equal.h refused
expect src/plan/reversible/line/line.c plan/chain/equal.h refused
expect src/plan/chain/chain.c plan/strategies/chain.h refused
expect src/plan/strategy.c plan/chain/equal.h refused
expect src/plan/new/thing.c plan/strategy.h refused
expect src/plan/chain/chain.c plan/new/thing.h refused
expect src/graph/graph_builder.c graph/new/thing.h refused
expect src/api/pipeline/pipeline.c api/session/session.h refused
# Strategies.
expect src/plan/strategies/chain.c plan/strategies/exact.h refused
expect src/plan/strategies/chain.c exact.h refused
expect_call src/plan/strategies/chain.c pbi_plan_exact_remat allowed
expect_call src/plan/strategies/chain.c pbi_plan_exact refused
expect_call src/plan/chain/chain.c pbi_plan_exact refused
# Applications.
expect apps/pebble/main.c pebble/pebble.h allowed
expect apps/pebble/main.c command.h allowed
expect apps/pebble/main.c server/server.h allowed
expect apps/server/job.c common/figures.h allowed
expect apps/pebble/main.c base/arena.h refused
expect apps/server/job.c pebble/pebble.h allowed
expect apps/server/job.c pebble/command.h refused
expect apps/server/job.c app.h refused
expect apps/common/figures.c server/server.h refused
