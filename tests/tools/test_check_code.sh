# check_code passes this tree and finds every kind of violation in a small one.
set -euo pipefail
root=$1
"$root/tools/check_code" "$root"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{src,apps,include}

expect() { # message, or "" for none; the source of src/a.c comes from standard input
    cat >"$tree/src/a.c"
    if "$root/tools/check_code" "$tree" >"$tree/out"; then got=; else got=$(cat "$tree/out"); fi
    [ "$got" = "$1" ] || { echo "expected \`$1', not \`$got'"; exit 1; }
}
body() { for ((i = 0; i < $1; i++)); do echo "    x++;"; done; }

echo 'int pbi_used(int x);' >"$tree/src/a.h"
printf 'int main(void)\n{\n    return pbi_used(1);\n}\n' >"$tree/src/b.c"
expect "" <<<$'int pbi_used(int x)\n{\n    return x;\n}'
expect "src/a.c:1: pbi_other: no other file uses it" <<<$'int pbi_other(int x)\n{\n    return x;\n}'
expect "src/a.c:1: pbi_short: no other file uses it" <<<$'int pbi_short(int x) { return x; }'
expect "" <<<$'static int other(int x)\n{\n    return x;\n}'
{ printf 'static int long_one(int x)\n{\n'; body 57; echo "}"; } | expect ""
{ printf 'static int long_one(int x)\n{\n'; body 58; echo "}"; } | expect "src/a.c:1: long_one: 61 lines, at most 60"
expect "" <<<$'static int six(int a, int b, int c, int d, int (*e)(int, int), int f)\n{\n}'
expect "src/a.c:1: seven: 7 parameters, at most 6" <<<$'static int seven(int a, int b, int c,\n                 int d, int e, int f, int g)\n{\n}'
expect "src/a.c:2: line: 121 columns, at most 120" < <(printf '\n%0121d\n' 0)

seven=$'static int seven(int a, int b, int c, int d, int e, int f, int g)\n{\n}'
expect "" <<<$'/* Callback of libx: on every event. */\n'"$seven"
expect "src/a.c:2: seven: 7 parameters, at most 6" <<<$'/* On every event. */\n'"$seven"
