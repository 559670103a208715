#!/usr/bin/env bash
# test_hardening -- what cmake/harden.cmake asks for is in the command and in the shared library.
set -u
build=$2 failures=0
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
command -v readelf >/dev/null || { echo "no readelf: left out"; exit 0; }
if [ "$(cache PB_HARDEN)" = OFF ] || [ "$(cache CMAKE_BUILD_TYPE)" = Debug ] || [ -n "$(cache PB_SANITIZE)" ]; then
    echo "not a hardened build: left out"
    exit 0
fi
needs() { # what file pattern text
    grep -qE -- "$3" <<<"$4" && return
    echo "$2: $1 is missing"
    failures=$((failures + 1))
}
for file in "$build/pebble" "$build/libpebble.so"; do
    dynamic=$(readelf -dW "$file") parts=$(readelf -lW "$file") symbols=$(readelf --dyn-syms -W "$file")
    needs "full RELRO (BIND_NOW)" "$file" 'BIND_NOW|FLAGS_1.*\bNOW' "$dynamic"
    needs "RELRO" "$file" 'GNU_RELRO' "$parts"
    needs "a stack without code" "$file" 'GNU_STACK.* RW +0x' "$parts"
    needs "position-independent code" "$file" 'Elf file type is DYN' "$parts"
    needs "the stack protector" "$file" ' __stack_chk_fail(@|$)' "$symbols"
    needs "checked C library calls" "$file" ' __(v?snprintf|memcpy|memmove|strcat|fprintf)_chk(@|$)' "$symbols"
    grep -q TEXTREL <<<"$dynamic" && echo "$file: relocations in its code" && failures=$((failures + 1))
done
needs "PIE" "$build/pebble" 'FLAGS_1.*\bPIE' "$(readelf -dW "$build/pebble")"
# Libraries linked in may have a protector of their own: ours is in most objects.
objects=$(nm -A "$build/libpebble.a" 2>/dev/null | grep -c ' U __stack_chk_fail$')
[ "$objects" -gt 100 ] || { echo "libpebble.a: the stack protector is in $objects objects only"; failures=$((failures + 1)); }
[ $failures = 0 ]
