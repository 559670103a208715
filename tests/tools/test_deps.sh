# deps is silent when all is there, installs what is missing through apt-get, and names it where there is no apt-get.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for tool in bash env id mkdir sed head cat chmod cc gcc ninja clang clang-format pkg-config python3; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done
run() { PATH=$work/bin "$work/bin/bash" "$root/tools/deps" "$@" >"$work/out" 2>&1; }

if run must; then
    echo "cmake was not missed"
    exit 1
fi
grep -q '^  cmake$' "$work/out"

# What can be done without is named with its purpose.
mkdir -p "$work/tree/tools"
cp "$root/tools/deps" "$work/tree/tools/deps"
PATH=$work/bin "$work/bin/bash" "$work/tree/tools/deps" test >"$work/out" 2>&1 || true
grep -q '^  clang-tidy  *tools/check_tidy$' "$work/out" || { cat "$work/out"; exit 1; }

# An apt-get that notes its arguments; its second install puts the command there.
cat >"$work/bin/apt-get" <<STUB
#!$work/bin/bash
echo "\$DEBIAN_FRONTEND apt-get \$*" >>"$work/calls"
[ "\$1" = install ] || exit 0
[ -e "$work/tried" ] || { : >"$work/tried"; exit 1; }
printf '#!/bin/sh\n' >"$work/bin/cmake"
chmod +x "$work/bin/cmake"
STUB
printf '#!%s/bin/bash\n"$@"\n' "$work" >"$work/bin/sudo"
chmod +x "$work/bin/apt-get" "$work/bin/sudo"
run must || { cat "$work/out"; exit 1; }
install='noninteractive apt-get install -y -q --no-install-recommends cmake'
printf '%s\n' "$install" 'noninteractive apt-get update -q' "$install" >"$work/expected"
# With no package lists at all there is one more update, before the first try.
sed '1{/update/d}' "$work/calls" | diff - "$work/expected"

rm "$work/calls"
run must && [ ! -s "$work/out" ] && [ ! -e "$work/calls" ]

# Every optional package that is missing is named, with its purpose.
rm "$work/bin/apt-get" "$work/bin/sudo"
ln -s "$(command -v mkdir)" "$work/bin/mkdir"
mkdir "$work/tree" && cp -r "$root/tools" "$work/tree"
PATH=$work/bin "$work/bin/bash" "$work/tree/tools/deps" test >"$work/out" 2>&1 || true
for package in clang-tidy npm chromium; do
    grep -qE "^  $package +[a-z]" "$work/out" || { echo "$package is not named"; cat "$work/out"; exit 1; }
done
