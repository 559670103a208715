# The documentation site: every page is there, with search, and a link that leads nowhere stops the build.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
"$root/tools/site/build" >"$work/out" 2>&1 || status=$?
cat "$work/out"
[ $status != 3 ] || exit 77 # skipped: the package index cannot be reached
[ $status = 0 ]

site=$root/build/site/html
for page in index gallery CONTRIBUTING docs/guide docs/strategies/index docs/style api/index api/python; do
    [ -s "$site/$page.html" ] || { echo "there is no page $page"; exit 1; }
done
for header in "$root"/include/pebble/*.h; do
    name=$(basename "$header" .h)
    for word in $(grep -oE '^[a-z][^;]*\bpb_\w+\(' "$header" | grep -oE 'pb_\w+\($' | tr -d '(' | sort -u); do
        grep -q "$word" "$site/api/$name.html" || { echo "$name.h: $word has no entry"; exit 1; }
    done
done
for image in "$root"/docs/images/*; do
    grep -q "docs/images/$(basename "$image")" "$site/gallery.html" || { echo "the gallery lacks $image"; exit 1; }
done
grep -q 'id="pebble_bridge.plan"' "$site/api/python.html"
grep -q '"location":"docs/guide.html"' "$site/search/search_index.json"
! command -v node >/dev/null || node "$root/tests/tools/site_search.mjs" "$root"
if grep -rlE --include='*.html' '(src|rel="stylesheet" href)="https?:' "$site"; then
    echo "these pages load something from elsewhere"
    exit 1
fi

# A copy with two broken links. The environment is that of this tree.
mkdir -p "$work/tree/build" "$work/tree/bench" "$work/tree/python"
cp -r "$root"/{*.md,LICENSE,docs,examples,include,tools} "$work/tree"
cp "$root/bench/README.md" "$work/tree/bench"
cp -r "$root/python/pebble_bridge" "$work/tree/python"
ln -s "$root/build/venv-site" "$work/tree/build/venv-site"
printf '\n[a](nowhere.md) [b](games.md#no-such-heading)\n' >>"$work/tree/docs/guide.md"
if "$work/tree/tools/site/build" >"$work/out" 2>&1; then
    echo "broken links were let through"
    exit 1
fi
for word in nowhere.md no-such-heading; do
    grep -q "$word" "$work/out" || { echo "$word is not named:"; cat "$work/out"; exit 1; }
done
