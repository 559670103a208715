# check_names passes this tree and finds a name that stands twice.
set -euo pipefail
root=$1
"$root/tools/check_names" "$root"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/src/{base,graph} "$tree/apps/pebble"
touch "$tree"/src/base/{arena.c,arena.h} "$tree/src/graph/rows.c" "$tree/apps/pebble/main.c"
"$root/tools/check_names" "$tree"
touch "$tree/src/graph/arena.h"
if "$root/tools/check_names" "$tree" >"$tree/out"; then
    echo "a second arena.h was let through"
    exit 1
fi
grep -q '^arena.h stands twice: src/base/arena.h src/graph/arena.h$' "$tree/out"
