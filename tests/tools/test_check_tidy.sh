# check_tidy passes this tree and finds a comparison of a value with itself.
set -euo pipefail
root=$1 build=$2
"$root/tools/check_tidy" "$build"
command -v clang-tidy-14 >/dev/null || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/.clang-tidy" "$work"
printf 'int same(int a);\nint same(int a) { return a == a; }\n' >"$work/bad.c"
printf '[{"directory": "%s", "file": "%s/bad.c", "command": "cc -c bad.c"}]\n' "$work" "$work" >"$work/compile_commands.json"
if "$root/tools/check_tidy" "$work" "$work/bad.c" >"$work/out" 2>&1; then
    echo "let through: a == a"
    exit 1
fi
grep -q 'misc-redundant-expression' "$work/out"
