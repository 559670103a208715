#!/usr/bin/env bash
# test_failing_calls -- memory that runs out, and writes that fail late, give an error: never another verdict, never half a file.
# A library in front of libc makes the k-th allocation after the start of main fail, and one of the calls below: for every k, in samples
# (PEBBLE_TEST_SCALE below 100) for the first 64 and then for fewer and fewer.
set -u
root=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
pebble=$build/pebble failures=0

cat >failing.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static atomic_long count;
static long refuse;
static int begun;
static int refused(void)
{
    if (!begun || atomic_fetch_add(&count, 1) + 1 != refuse)
        return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t n) { return refused() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t s) { return refused() ? NULL : __libc_calloc(n, s); }
void *realloc(void *p, size_t n) { return refused() ? NULL : __libc_realloc(p, n); }
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
static int asked(const char *call)
{
    const char *which = getenv("FAIL_CALL");
    return begun && which && strcmp(which, call) == 0;
}
static int is_folder(int file)
{
    struct stat s;
    return fstat(file, &s) == 0 && S_ISDIR(s.st_mode);
}
int fsync(int file)
{
    REAL(fsync);
    if (asked(is_folder(file) ? "fsync-folder" : "fsync")) {
        errno = getenv("FAIL_WITH") ? atoi(getenv("FAIL_WITH")) : EIO;
        return -1;
    }
    return real(file);
}
int close(int file)
{
    REAL(close);
    struct stat a, b;
    int out = begun && file > 2 && fstat(file, &a) == 0 && fstat(1, &b) == 0 && a.st_ino == b.st_ino;
    if (out && asked("close")) {
        errno = EDQUOT;
        return -1;
    }
    return real(file);
}
static int (*command)(int, char **, char **);
static int begin(int argc, char **argv, char **environment)
{
    const char *at = getenv("REFUSE"), *file = getenv("COUNT_TO");
    refuse = at ? atol(at) : 0;
    begun = 1;
    int code = command(argc, argv, environment);
    begun = 0;
    FILE *out = file ? fopen(file, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", (long)count);
        fclose(out);
    }
    return code;
}
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
        (__typeof__(real))dlsym(RTLD_NEXT, "__libc_start_main");
    command = main;
    return real(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
C
if ! ldd "$pebble" 2>/dev/null | grep -q 'libc\.so\.6'; then
    echo "not glibc: left out"
    exit 0
fi
cc -w -O1 -shared -fPIC -o failing.so failing.c -ldl || exit 1
failing() { LD_PRELOAD=$work/failing.so "$pebble" "$@"; }
complain() {
    echo "$@"
    failures=$((failures + 1))
}

# All of the right answer or its first lines: a verdict stands without the advice that follows it.
answers() { # printed expected
    [ -s "$1" ] || [ ! -s "$2" ] || return 1
    head -n "$(wc -l <"$1")" "$2" | cmp -s - "$1"
}

# The right answer, or exit 1 and a message that memory is out.
every_allocation() { # command...
    local right count k code
    COUNT_TO=count failing "$@" >right 2>right_err </dev/null
    right=$? count=$(cat count)
    [ "${count:-0}" -gt 5 ] || complain "$*: only ${count:-no} allocations were seen"
    for ((k = 1; k <= count; k += 1 + (${PEBBLE_TEST_SCALE:-100} < 100 ? k / 64 : 0))); do
        REFUSE=$k failing "$@" >out 2>err </dev/null
        code=$?
        if [ $code = "$right" ] && answers out right && answers err right_err; then
            continue
        fi
        [ $code = 1 ] && grep -qi 'memory' err || complain "allocation $k of $*: exit $code, $(head -c 200 out) $(head -c 200 err)"
    done
    echo "$count allocations: $*"
}
"$pebble" gen adjoint-chain 6 -o g.json && "$pebble" plan g.json --cap 60% -q -o s.json >/dev/null || exit 1
"$pebble" gen adjoint-chain 7 -o other.json
every_allocation verify g.json s.json
every_allocation verify other.json s.json
every_allocation verify g.json s.json --cap 2
every_allocation gen chain 5 -o made.json
every_allocation plan g.json --cap 2 --strategy last-use

# Late errors of the disk.
late() { # call errno exit-code command...
    local call=$1 with=$2 wanted=$3 code
    shift 3
    rm -f new.json*
    FAIL_CALL=$call FAIL_WITH=$with failing "$@" >printed 2>err
    code=$?
    [ $code = "$wanted" ] || complain "$call with $with: exit $code, not $wanted: $*: $(cat err)"
    [ "$wanted" = 0 ] || grep -q 'cannot be written' err || complain "$call with $with: $(cat err)"
    ls new.json.* >/dev/null 2>&1 && complain "$call: left behind: $(ls)"
}
late fsync 5 1 gen chain 9 -o new.json
[ -e new.json ] && complain "a file whose bytes may be lost is there"
late fsync-folder 5 1 gen chain 9 -o new.json
late fsync-folder 22 0 gen chain 9 -o new.json
[ -e new.json ] || complain "no file"
late none 0 0 gen chain 9 -o "$work/new.json"
late close 0 1 gen chain 9
[ $failures = 0 ]
