# check_globals passes the library that was built and finds every kind of breach in a small one.
set -euo pipefail
root=$1 build=$2
"$root/tools/check_globals" "$build"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

make_library() { # object name; the source comes from standard input
    cat >"$1"
    rm -f libpebble.a libpebble.so
    cc -std=c17 -O2 -fPIC -c "$1" -o "$1.o"
    ar rc libpebble.a "$1.o"
    cc -shared "$1.o" -o libpebble.so
}
expect() { # what the breach says, "" for none
    if "$root/tools/check_globals" . >out; then got=clean; else got=breach; fi
    if [ -z "$1" ]; then want=clean; else want=breach; fi
    [ $got = $want ] && { [ -z "$1" ] || grep -qF "$1" out; } || { echo "expected: ${1:-nothing}; got:"; cat out; exit 1; }
}

make_library plain.c <<'C'
static const char *const words[] = {"a", "b"};
const char *pb_word(int i) { return words[i & 1]; }
C
expect ""
make_library counter.c <<'C'
int pb_next(void) { static int count; return ++count; }
C
expect "counter.c.o: writable data: count"
make_library table.c <<'C'
static int table[2] = {1, 2};
int pb_swap(int i) { int old = table[i & 1]; table[i & 1] = i; return old; }
C
expect "table.c.o: writable data: table (.data)"
make_library local.c <<'C'
static _Thread_local int depth;
int pb_deeper(void) { return ++depth; }
C
expect "local.c.o: writable data: depth (.tbss)"
make_library prints.c <<'C'
#include <stdio.h>
void pb_say(int n) { printf("%d\n", n); }
C
expect "prints.c.o: uses printf"
make_library takes.c <<'C'
#include <stdlib.h>
void *pb_take(void) { return malloc(8); }
C
expect "takes.c.o: allocates with malloc"
make_library arena.c <<'C'
#include <stdlib.h>
void *pb_take(void) { return malloc(8); }
C
expect ""
make_library names.c <<'C'
int helper(void) { return 1; }
C
expect "names.c.o: shared name without pb_ or pbi_: helper"
make_library inner.c <<'C'
int pbi_inner(void) { return 1; }
C
expect "libpebble.so: shows pbi_inner"
