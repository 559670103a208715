# check_docs passes this tree, examples and all, and finds every kind of error in a copy.
set -euo pipefail
root=$1 build=$2
examples=()
# What the examples print is what a build with Cbc and CaDiCaL prints.
[ -x "$build/pebble" ] && [ "$("$build/pebble" --version | grep -Ec '^with (Cbc|CaDiCaL)')" = 2 ] &&
    examples=(--pebble "$build/pebble")
"$root/tools/check_docs" --root "$root" "${examples[@]}"
if [ ${#examples[@]} != 0 ] && ! "$root/tools/capture" "$build/pebble" | cmp - "$root/docs/images/compare.svg"; then
    echo "the picture is not what the command prints; if that is right: tools/capture COMMAND >docs/images/compare.svg"
    exit 1
fi

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fresh() {
    rm -rf "$tree"/* && mkdir -p "$tree"/{include/pebble,bench}
    cp "$root"/include/pebble/*.{h,def} "$tree/include/pebble"
    cp -r "$root/src" "$tree"
    cp "$root/bench/README.md" "$tree/bench"
    cp -r "$root"/{*.md,LICENSE,docs,examples} "$tree"
}

finds() { # what it must say; the error is in the copy already
    if "$root/tools/check_docs" --root "$tree" >"$tree/out"; then
        echo "let through: $1"
        exit 1
    fi
    grep -qF -- "$1" "$tree/out" || { echo "\"$1\" is not in:"; cat "$tree/out"; exit 1; }
    fresh
}

fresh
"$root/tools/check_docs" --root "$tree"
number() { sed -n "s/^| \([0-9]*\) | \`$1\`.*/\1/p" "$root/docs/games.md"; } # of a rule
last=$(sed -n 's/^| \([0-9]*\) | `\([a-z-]*\)` |.*/\1 `\2`/p' "$root/docs/games.md" | tail -n 1)
sed -i '/`over-cap`/d' "$tree/docs/games.md"
finds "docs/games.md: rule $(number over-cap) should read | $(number over-cap) | \`over-cap\` |"
sed -i 's/^\(| [0-9]* | `input\)-not-resident`/\1-missing`/' "$tree/docs/games.md"
finds "docs/games.md: rule $(number input-not-resident) "
printf '%s\n' 'PB_RULE(PB_RULE_NEW, "new-rule", "a rule that nobody wrote down")' >>"$tree/include/pebble/rules.def"
new=$((${last%% *} + 1))
finds "docs/games.md: rule $new should read | $new | \`new-rule\` | a rule that nobody wrote down |"
sed -i '/PB_RULE_GONE/d' "$tree/include/pebble/rules.def"
finds "docs/games.md: there is no rule $last"

rm "$tree/docs/strategies/sqrt.md"
finds 'docs/strategies: strategy sqrt has no page sqrt.md'
printf '# guess\n' >"$tree/docs/strategies/guess.md"
finds 'docs/strategies/guess.md: there is no such strategy'
sed -i '/^| `limit`/d' "$tree/docs/strategies/every-k.md"
finds 'docs/strategies/every-k.md: option limit with default auto is missing'
sed -i 's/^None\.$/| option | default | meaning |\n|---|---|---|\n| `k` | `3` | no such thing |/' "$tree/docs/strategies/last-use.md"
finds 'docs/strategies/last-use.md: there is no option k with default 3'
sed -i 's/order=auto/order=cones/' "$tree/src/plan/strategies.def"
finds 'docs/strategies/eager-uncompute.md: option order with default cones is missing'
sed -i '/^| `largest`/d' "$tree/docs/strategies/demand.md"
finds 'docs/strategies/demand.md: its policies should be abort, oldest, least-recent, random, largest, priority'
sed -i 's/bennett, PB_GAME_REVERSIBLE/bennett, PB_GAME_REMAT/; s/"bennett", PB_GAME_REVERSIBLE/"bennett", PB_GAME_REMAT/' "$tree/src/plan/strategies.def"
finds 'docs/strategies/bennett.md: it should say `Games: ...` with remat'

sed -i 's/`Softmax` //' "$tree/docs/onnx.md"
finds 'docs/onnx.md: operator Softmax is missing'
sed -i 's/"Gelu"/"Gelo"/' "$tree/src/io/onnx/ops.c"
finds 'docs/onnx.md: operator Gelu is not read'

printf '[gone](nowhere.md)\n' >>"$tree/docs/games.md"
finds 'docs/games.md: the link nowhere.md leads nowhere'
printf '[gone](#no-such-heading)\n' >>"$tree/docs/games.md"
finds 'docs/games.md: the link #no-such-heading names no heading'

if [ ${#examples[@]} != 0 ]; then # an example that is not true, and what --bless makes of it
    printf '```console\n$ echo one; exit 3\ntwo\n```\n' >"$tree/docs/example.md"
    if "$root/tools/check_docs" --root "$tree" "${examples[@]}" "$tree/docs/example.md" >"$tree/out"; then
        echo "an untrue example was let through"
        exit 1
    fi
    "$root/tools/check_docs" --root "$tree" "${examples[@]}" --bless "$tree/docs/example.md" >"$tree/out" || true
    [ "$(sed -n 3p "$tree/docs/example.md")" = one ]
fi
