# An installed tree serves pkg-config (shared and static) and CMake; the example is the one in docs/building.md.
set -euo pipefail
root=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in example.c CMakeLists.txt; do
    awk -v want="$([ $file = example.c ] && echo c || echo cmake)" '
        $0 == "```" { inside = 0 }
        inside { print }
        $0 == "```" want { inside = 1 }' "$root/docs/building.md" | diff - "$root/tests/install/$file"
done

# Staged as packagers do, then moved to its place: nothing may point into the stage or the build.
DESTDIR=$work/stage cmake --install "$build" --prefix "$work/prefix" >/dev/null
mv "$work/stage$work/prefix" "$work/prefix"
! grep -rlF -e "$work/stage" -e "$build" "$work/prefix" --include='*.cmake' --include='*.pc'

cd "$work"
for file in bin/pebble share/man/man1/pebble.1 share/bash-completion/completions/pebble \
    share/zsh/site-functions/_pebble share/fish/vendor_completions.d/pebble.fish include/pebble/pebble.h \
    include/pebble/rules.def; do
    [ -s "prefix/$file" ] || { echo "$file was not installed"; exit 1; }
done
prefix/bin/pebble --version | grep -q "$(sed -n 's/^#define PB_VERSION "\(.*\)"/\1/p' "$root/include/pebble/base.h")"

lib=$(dirname "$(find "$work/prefix" -name libpebble.so)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
cc "$root/tests/install/example.c" $(pkg-config --cflags --libs pebble) -o shared
readelf -d shared | grep -q 'NEEDED.*libpebble\.so\.'
./shared | tee expected
grep -q '^half the memory costs [0-9.]* % more work$' expected

cc "$root/tests/install/example.c" $(pkg-config --cflags pebble) "$lib/libpebble.a" \
    $(pkg-config --libs-only-l --static pebble | sed 's/-lpebble//') -o static
! readelf -d static | grep -q 'NEEDED.*libpebble'
./static | diff - expected

# The first program of the guide, with no other header than pebble.h.
awk '$0 == "```" { inside = 0 } inside { print } /^```c source=tests\/install\/simple.c$/ { inside = 1 }' "$root/docs/guide.md" |
    diff - "$root/tests/install/simple.c"
cc -std=c17 -Wall -Wextra -Werror "$root/tests/install/simple.c" $(pkg-config --cflags --libs pebble) -o simple
prefix/bin/pebble gen adjoint-chain 8 -o graph.json
[ -z "$(./simple 2>&1)" ]
prefix/bin/pebble verify graph.json plan.json >/dev/null
printf '{"nodes":[}' >graph.json
./simple 2>&1 | grep -q '^graph.json:1:11: expected a value'

cmake -S "$root/tests/install" -B byname -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build byname >/dev/null
./byname/example | diff - expected
