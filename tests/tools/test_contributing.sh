# CONTRIBUTING.md is true: its example strategy, put into a copy of the tree block by block, builds, plans, conforms and changes
# exactly the files that the page names. Only what the row reaches is compiled; the rest comes from the build.
set -euo pipefail
root=$1 build=$2
page=$root/CONTRIBUTING.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
cp -r "$root"/{*.md,LICENSE,src,include,docs,examples,tools} "$tree"
mkdir -p "$tree/bench" "$tree/tests"
cp "$root/bench/README.md" "$tree/bench"
cp -r "$root/tests/golden" "$tree/tests"
cp -r "$tree" "$work/before"

# Blocks: title="PATH" is a new file, title="PATH, after the row of NAME" goes below that row. Prints the paths.
python3 - "$page" "$tree" >"$work/named" <<'END'
import re, sys
from pathlib import Path
text, tree = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
blocks = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.M | re.S)
for title, block in blocks:
    path, _, row = title.partition(", after the row of ")
    if "/" not in path:
        (tree.parent / path.replace(" ", "_")).write_text(block)
        continue
    file = tree / path
    print(path)
    if not row:
        assert not file.exists(), f"{path} exists already"
        file.write_text(block)
        continue
    old = file.read_text()
    found = re.search(rf'^STRATEGY\(\w+, "{row}".*?"\)\n|^\| \[{row}\]\({row}\.md\).*\n', old, re.M | re.S)
    assert found, f"{path} has no row of {row}"
    file.write_text(old[:found.end()] + block + old[found.end():])
END
[ "$(wc -l <"$work/named")" = 4 ] || { echo "the page says four files:"; cat "$work/named"; exit 1; }
source=$(grep '\.c$' "$work/named")
name=$(sed -n 's/.*--strategy \([a-z-]*\).*/\1/p' "$work/try")
changed() { # what differs from the tree before, sorted
    (cd "$work" && { diff -rq before tree || true; }) |
        sed -e 's|^Only in tree/*\(.*\): \(.*\)|\1/\2|' -e 's|^Files before/\(.*\) and tree/.* differ$|\1|' | sort
}
changed | diff - <(sort "$work/named")

# As it should be: formatted, in its layer, its page complete.
format=$(command -v clang-format-14 || true)
[ -z "$format" ] || (cd "$tree" && cp "$root/.clang-format" . && "$format" --dry-run -Werror "$source" && rm .clang-format)
"$tree/tools/check_layers" "$tree"
"$tree/tools/check_docs" --root "$tree"

# Compile the new file and every source that includes the table, by the commands of the build.
mkdir "$work/objects"
sources=("$source" $(cd "$tree" && grep -rl --include='*.c' 'strategies\.def"' src))
compile=$(ninja -C "$build" -t commands libpebble.a | grep -E -- "-c [^ ]*/strategy\.c$")
compile=${compile%% -MD *}
for file in "${sources[@]}"; do
    (cd "$build" && ${compile//"$root/"/"$tree/"} -o "$work/objects/$(basename "$file").o" -c "$tree/$file")
done
cp "$build/libpebble.a" "$work/libpebble.a"
ar r "$work/libpebble.a" "$work"/objects/*.o 2>/dev/null

link() { # target output
    local command
    command=$(ninja -C "$build" -t commands "$1" | tail -n 1 |
        sed -E -e "s| -o $1 | -o $work/bin/$2 |" -e "s| libpebble\.a | $work/libpebble.a |g")
    (cd "$build" && bash -c "$command")
}
mkdir "$work/bin" "$work/at"
link pebble pebble
link tests/conformance conformance

(cd "$work/at" && PATH=$work/bin:$PATH NO_COLOR=1 TERM=dumb bash -e "$work/try") >"$work/printed"
head -n "$(wc -l <"$work/it_prints")" "$work/printed" | diff "$work/it_prints" -
grep -q '^legal: ' "$work/printed"
if "$work/bin/pebble" plan "$work/at/layers.json" --cap 42000 --strategy last-use >"$work/out"; then
    echo "the page says that last-use does not fit"
    exit 1
fi
"$work/bin/conformance" "$name" | tail -n 1

# What the page has written by commands is what changes: of the golden files that show help, and the picture.
"$tree/tests/golden/run" "$work/bin" --bless $(cd "$tree/tests/golden" && ls help_*.sh | sed 's/\.sh$//') >/dev/null
"$tree/tools/capture" "$work/bin/pebble" >"$work/picture" && cp "$work/picture" "$tree/docs/images/compare.svg"
{ cat "$work/named"; grep -oE '`(tests/golden/[a-z_]*\.stdout|docs/images/[a-z]*\.svg)`' "$page" | tr -d '`'; } | sort | diff <(changed) -
grep -q "^  $name " "$tree/tests/golden/help_sweep.stdout"

# Pages to bless are those with comparisons of all strategies; running them here would take a minute.
sed -n 's/^tools\/check_docs .*--bless //p' "$page" | tr ' ' '\n' | sort |
    diff - <(cd "$root" && grep -rE '^\$ pebble compare ' docs README.md --include='*.md' | grep -v -- '--game reversible' |
        grep -vE -- '--strategy ([^a]|a[^l])' | cut -d: -f1 | sort -u)
