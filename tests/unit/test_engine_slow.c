/* test_engine_slow.c -- slow tiers in files: failures of the disk are reported, nothing is silently wrong, nothing is left behind. */
#define _GNU_SOURCE
#include "engine/checksum.h"
#include "engine/engine_parts.h"
#include "pebble/full.h"
#include "support/engine_case.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { NODES = 6, SIZE = 270001 /* several pieces, not aligned */, CRUMB = 1000 };

/* A chain whose values are all stored and freed, and loaded backwards by the last node. */
typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    const pb_certificate *plan;
    engine_case c;
} bench;

static uint64_t clock_now(void *state)
{
    struct timespec t;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_bench(bench *b)
{
    pb_builder *builder;
    pb_node got;
    pb_context_init(&b->ctx);
    b->ctx.clock_ns = clock_now;
    pb_arena_init(&b->arena, &b->ctx);
    assert_int_equal(pb_builder_new(&b->ctx, &builder), PB_OK);
    for (pb_node v = 0; v < 2 * NODES; v++) {
        pb_node_spec spec = {.cost = 1, .size = SIZE, .flags = v == 2 * NODES - 1 ? PB_NODE_KEEP : 0};
        assert_int_equal(pb_builder_add_node(builder, &spec, &got), PB_OK);
        if (v)
            assert_int_equal(pb_builder_add_edge(builder, v - 1, v), PB_OK);
        if (v >= NODES && v - NODES + 1 < NODES)
            assert_int_equal(pb_builder_add_edge(builder, 2 * NODES - 2 - v, v), PB_OK);
    }
    const pb_graph *g;
    assert_int_equal(pb_builder_freeze(builder, &b->arena, &g), PB_OK);
    pb_builder_free(builder);
    b->game = (pb_game){.graph = g, .kind = PB_GAME_TIERED, .cap = 4 * SIZE, .tier_count = 1};
    b->game.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    pb_moves_init(&b->moves, &b->arena);
    for (pb_node v = 0; v < NODES; v++) {
        pb_moves_add(&b->moves, PB_COMPUTE, v, 0);
        if (v + 1 < NODES)
            pb_moves_add(&b->moves, PB_STORE, v, 1);
        if (v)
            pb_moves_add(&b->moves, PB_FREE, v - 1, 0);
    }
    for (pb_node v = NODES; v < 2 * NODES; v++) {
        pb_node u = 2 * NODES - 2 - v;
        if (v - NODES + 1 < NODES)
            pb_moves_add(&b->moves, PB_LOAD, u, 1);
        pb_moves_add(&b->moves, PB_COMPUTE, v, 0);
        pb_moves_add(&b->moves, PB_FREE, v - 1, 0);
        if (v - NODES + 1 < NODES) {
            pb_moves_add(&b->moves, PB_FREE, u, 0);
            pb_moves_add(&b->moves, PB_DROP, u, 1);
        }
    }
    pb_verdict verdict;
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->moves, &b->arena, &verdict), PB_OK);
    assert_non_null(verdict.certificate);
    b->plan = verdict.certificate;
    engine_case_open(&b->c, g, false);
}

static void close_bench(bench *b)
{
    engine_case_close(&b->c);
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

/* ---- failures ---- */

typedef struct faults {
    atomic_int calls;
    int at;        /* the call that goes wrong, counted for writes and reads together; -1: none */
    int error;     /* errno; 0: another failure */
    bool short_ok; /* transfers of half of what was asked for: legal, and not a failure */
    bool ends;     /* a transfer of nothing */
    int crumbs;    /* 1: every write is of a few bytes, 2: every read */
    bool flip;     /* one bit of what is read is another one */
    int delay_us;
} faults;

static bool goes_wrong(faults *f)
{
    if (f->delay_us)
        usleep((useconds_t)f->delay_us);
    return atomic_fetch_add(&f->calls, 1) == f->at;
}

static ssize_t faulty_write(void *state, int file, const void *bytes, size_t count, off_t at)
{
    faults *f = state;
    if (goes_wrong(f) && !f->flip) {
        errno = f->error;
        return f->ends ? 0 : -1;
    }
    size_t some = f->short_ok && count > 8192 ? count / 2 / 4096 * 4096 : count;
    ssize_t wrote = pwrite(file, bytes, some, at);
    return f->crumbs == 1 && wrote > CRUMB ? CRUMB : wrote;
}

static ssize_t faulty_read(void *state, int file, void *bytes, size_t count, off_t at)
{
    faults *f = state;
    bool wrong = goes_wrong(f);
    if (wrong && !f->flip) {
        errno = f->error;
        return f->ends ? 0 : -1;
    }
    size_t some = f->short_ok && count > 8192 ? count / 2 / 4096 * 4096 : count;
    ssize_t got = pread(file, bytes, some, at);
    if (wrong && got > 0)
        ((unsigned char *)bytes)[got / 2] ^= 4;
    return f->crumbs == 2 && got > CRUMB ? CRUMB : got;
}

static pb_status run_with(bench *b, faults *f, pb_engine_options o, pb_measured *m)
{
    pb_engine *e;
    pbi_slow_calls calls = {faulty_write, faulty_read, f};
    o.slow_path[0] = o.slow_path[0] ? o.slow_path[0] : ".";
    b->c.faults = 0;
    assert_int_equal(pbi_engine_new(&b->ctx, b->plan, &b->c.kernels, &o, f ? &calls : NULL, &e), PB_OK);
    pb_status status = pb_engine_run(e, m);
    if (status == PB_OK)
        assert_true(engine_case_right(&b->c, e));
    assert_int_equal(b->c.faults, 0); /* whatever failed, no kernel saw a wrong byte */
    pb_engine_free(e);
    return status;
}

static void stored_values_come_back(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    for (int way = 0; way < 4; way++) {
        pb_engine_options o = {.no_direct = way & 1, .no_overlap = way & 2};
        assert_int_equal(run_with(&b, NULL, o, &m), PB_OK);
        assert_int_equal(m.peak, pb_certificate_totals(b.plan)->peak);
        assert_int_equal(m.stored_bytes, (NODES - 1) * SIZE);
        assert_int_equal(m.loaded_bytes, (NODES - 1) * SIZE);
        assert_true(m.io_busy_ns > 0);
        assert_true(m.flux > 0);
    }
    close_bench(&b);
}

static void short_transfers_are_gone_on_with(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    for (int direct = 0; direct < 2; direct++) {
        faults f = {.at = -1, .short_ok = true};
        assert_int_equal(run_with(&b, &f, (pb_engine_options){.no_direct = !direct}, &m), PB_OK);
    }
    close_bench(&b);
}

/* Direct transfers must begin where a unit does: those that never get so far end with a sentence, not never. */
static void crumbs_end_with_a_sentence(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    for (int way = 0; way < 4; way++) {
        faults f = {.at = -1, .crumbs = 1 + way / 2};
        pb_status status = run_with(&b, &f, (pb_engine_options){.no_direct = way % 2}, &m);
        if (status == PB_OK)
            continue; /* not direct: the rest follows */
        assert_int_equal(way % 2, 0);
        assert_int_equal(status, PB_EIO);
        assert_non_null(strstr(b.ctx.error.message, "at offset"));
    }
    close_bench(&b);
}

/* Every call in turn goes wrong in every way. */
static void every_fault_is_reported(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    static const struct {
        int error;
        bool ends, flip;
        const char *says;
    } ways[] = {{ENOSPC, false, false, "No space left on device"},
                {EIO, false, false, "Input/output error"},
                {0, true, false, "at offset"},
                {0, false, true, "have changed since they were stored"}};
    for (unsigned way = 0; way < 4; way++) {
        unsigned reported = 0;
        for (int at = 0; at < 22; at += way == 3 ? 2 : 3) {
            faults f = {.at = at, .error = ways[way].error, .ends = ways[way].ends, .flip = ways[way].flip};
            pb_status status = run_with(&b, &f, (pb_engine_options){.no_direct = at % 2, .io_threads = 1}, &m);
            if (status == PB_OK) { /* a flipped bit of a write, or fewer calls than that */
                assert_true(ways[way].flip || atomic_load(&f.calls) <= at);
                continue;
            }
            assert_int_equal(status, PB_EIO);
            assert_non_null(strstr(b.ctx.error.message, ways[way].says));
            assert_non_null(strstr(b.ctx.error.message, "pebble-slow"));
            assert_non_null(strstr(b.ctx.error.message, "offset"));
            reported++;
        }
        assert_true(reported > 3);
    }
    close_bench(&b);
}

/* What is given in slow memory is stored again, and the store fails while its load waits for it. */
static void open_returning(bench *b)
{
    static const struct {
        pb_op op;
        pb_node v;
        uint8_t tier;
    } moves[] = {{PB_LOAD, 0, 1}, {PB_DROP, 0, 1}, {PB_STORE, 0, 1},
                 {PB_FREE, 0, 0}, {PB_LOAD, 0, 1}, {PB_COMPUTE, 1, 0}};
    pb_builder *builder;
    pb_node got;
    const pb_graph *g;
    pb_verdict verdict;
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_int_equal(pb_builder_new(&b->ctx, &builder), PB_OK);
    for (pb_node v = 0; v < 2; v++) {
        pb_node_spec spec = {.cost = 1, .size = SIZE, .flags = v ? PB_NODE_KEEP : PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW};
        assert_int_equal(pb_builder_add_node(builder, &spec, &got), PB_OK);
    }
    assert_int_equal(pb_builder_add_edge(builder, 0, 1), PB_OK);
    assert_int_equal(pb_builder_freeze(builder, &b->arena, &g), PB_OK);
    pb_builder_free(builder);
    b->game = (pb_game){.graph = g, .kind = PB_GAME_TIERED, .cap = 2 * SIZE, .tier_count = 1};
    b->game.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    pb_moves_init(&b->moves, &b->arena);
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++)
        pb_moves_add(&b->moves, moves[k].op, moves[k].v, moves[k].tier);
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->moves, &b->arena, &verdict), PB_OK);
    assert_non_null(verdict.certificate);
    b->plan = verdict.certificate;
    engine_case_open(&b->c, g, false);
}

static void a_run_after_one_that_failed_is_whole(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    pb_engine *e;
    uint64_t offset[] = {0, SIZE, 0}; /* both loads and the result: the second load needs no memory of the first */
    pb_packing packing = {offset, 2 * SIZE, 0, false};
    faults f = {.at = 4, .error = ENOSPC, .delay_us = 5000};
    pbi_slow_calls calls = {faulty_write, faulty_read, &f};
    open_returning(&b);
    pb_engine_options o = {.slow_path = {"."}, .align = 1, .io_threads = 1, .packing = &packing};
    assert_int_equal(pbi_engine_new(&b.ctx, b.plan, &b.c.kernels, &o, &calls, &e), PB_OK);
    assert_int_equal(pb_engine_run(e, &m), PB_EIO);
    assert_non_null(strstr(b.ctx.error.message, "No space left on device"));
    f.at = -1;
    assert_int_equal(pb_engine_run(e, &m), PB_OK);
    assert_true(engine_case_right(&b.c, e));
    assert_int_equal(b.c.faults, 0);
    pb_engine_free(e);
    close_bench(&b);
}

static void a_full_disk_is_a_sentence(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    char folder[] = "./small-disk-XXXXXX";
    assert_non_null(mkdtemp(folder));
    open_bench(&b);
    if (mount("none", folder, "tmpfs", 0, "size=1m") == 0) {
        pb_status status = run_with(&b, NULL, (pb_engine_options){.slow_path = {folder}}, &m);
        assert_int_equal(status, PB_EIO);
        assert_non_null(strstr(b.ctx.error.message, "No space left on device"));
        assert_int_equal(umount(folder), 0);
    } else { /* not allowed to: a limit on files instead */
        struct rlimit before, small;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = before;
        small.rlim_cur = 1 << 20;
        void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        pb_status status = run_with(&b, NULL, (pb_engine_options){.slow_path = {folder}}, &m);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        signal(SIGXFSZ, old);
        assert_int_equal(status, PB_EIO);
        assert_non_null(strstr(b.ctx.error.message, "File too large"));
    }
    rmdir(folder);
    close_bench(&b);
}

static void a_tier_needs_a_path_that_is_there(void **state)
{
    (void)state;
    bench b;
    pb_engine *e;
    open_bench(&b);
    assert_int_equal(pb_engine_new(&b.ctx, b.plan, &b.c.kernels, &(pb_engine_options){0}, &e), PB_EINVAL);
    assert_non_null(strstr(b.ctx.error.message, "slow tier 1 needs a file"));
    pb_engine_options o = {.slow_path = {"/no/such/folder/x"}};
    assert_int_equal(pb_engine_new(&b.ctx, b.plan, &b.c.kernels, &o, &e), PB_EIO);
    assert_non_null(strstr(b.ctx.error.message, "/no/such/folder/x"));
    close_bench(&b);
}

static unsigned files_in(const char *folder)
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* What the child does, slowly. */
static void run_slowly(const char *path)
{
    bench b;
    pb_measured m;
    faults slow = {.at = -1, .delay_us = 3000};
    open_bench(&b);
    for (;;)
        run_with(&b, &slow, (pb_engine_options){.slow_path = {path}}, &m);
}

/* A child is killed at different times; nothing is left, and the same run works afterwards. */
static void a_killed_run_leaves_nothing(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    char folder[] = "./killed-XXXXXX", prefix[64];
    assert_non_null(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/values", folder);
    open_bench(&b);
    for (int round = 0; round < 4; round++) {
        const char *path = round % 2 ? folder : prefix;
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "test_engine_slow", "--run", path, (char *)NULL);
            _exit(1);
        }
        usleep(100000 + 37000 * (useconds_t)round);
        kill(child, SIGKILL);
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(files_in(folder), 0);
        assert_int_equal(run_with(&b, NULL, (pb_engine_options){.slow_path = {path}}, &m), PB_OK);
        assert_int_equal(files_in(folder), 0);
    }
    rmdir(folder);
    close_bench(&b);
}

static const engine_case *watched;
static uint64_t stop_after;
static pb_stop stop_then(void *state)
{
    (void)state;
    return watched->calls < stop_after ? PB_GO_ON : PB_STOP_INTERRUPT;
}

/* Slow writes are under way when the stop comes. */
static void a_stop_waits_for_what_is_under_way(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    b.ctx.stop = stop_then;
    watched = &b.c;
    for (stop_after = 1; stop_after < 2 * NODES; stop_after++) {
        faults slow = {.at = -1, .delay_us = 2000};
        b.ctx.stopped = PB_GO_ON;
        b.c.calls = 0;
        assert_int_equal(run_with(&b, &slow, (pb_engine_options){0}, &m), PB_ECANCELLED);
        assert_int_equal(b.c.calls, stop_after);
    }
    b.ctx.stop = NULL;
    b.ctx.stopped = PB_GO_ON;
    close_bench(&b);
}

/* With slow writes, storing while computing takes less waiting than storing at each move. */
static void storing_goes_on_beside_the_computing(void **state)
{
    (void)state;
    bench b;
    pb_measured apart, beside;
    open_bench(&b);
    faults slow = {.at = -1, .delay_us = 15000};
    assert_int_equal(run_with(&b, &slow, (pb_engine_options){.no_overlap = true, .no_direct = true}, &apart), PB_OK);
    faults same = {.at = -1, .delay_us = 15000};
    assert_int_equal(run_with(&b, &same, (pb_engine_options){.no_direct = true}, &beside), PB_OK);
    assert_true(beside.io_wait_ns < apart.io_wait_ns);
    close_bench(&b);
}

static void a_tier_can_be_measured(void **state)
{
    (void)state;
    pb_context ctx;
    pb_tier tier = {0};
    pb_context_init(&ctx);
    assert_int_equal(pb_slow_measure(&ctx, ".", 1 << 20, &tier), PB_EINVAL);
    ctx.clock_ns = clock_now;
    assert_int_equal(pb_slow_measure(&ctx, ".", 1 << 20, &tier), PB_OK);
    assert_true(tier.store_per_unit >= 1 && tier.load_per_unit >= 1 && tier.cap == PB_UNLIMITED);
    assert_true(tier.store_per_unit < 100000 && tier.load_per_unit < 100000);
    assert_int_equal(pb_slow_measure(&ctx, "/no/such/folder/x", 1 << 20, &tier), PB_EIO);
    assert_int_equal(ctx.memory_used, 0);
}

/* Values from the description of XXH64. */
static void checksums_are_xxh64(void **state)
{
    (void)state;
    assert_true(pbi_checksum("", 0, 0) == 0xef46db3751d8e999u);
    assert_true(pbi_checksum("abc", 3, 0) == 0x44bc2cf5ad770999u);
    unsigned char bytes[200];
    for (int i = 0; i < 200; i++)
        bytes[i] = (unsigned char)(i * 7);
    uint64_t whole = pbi_checksum(bytes, 200, 5);
    for (size_t cut = 0; cut <= 192; cut += 32) {
        pbi_sum s;
        pbi_sum_begin(&s, 5);
        pbi_sum_add(&s, bytes, cut);
        assert_true(pbi_sum_end(&s, bytes + cut, 200 - cut) == whole);
    }
    for (int bit = 0; bit < 1600; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_true(pbi_checksum(bytes, 200, 5) != whole);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--run") == 0)
        run_slowly(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_xxh64),
        cmocka_unit_test(stored_values_come_back),
        cmocka_unit_test(short_transfers_are_gone_on_with),
        cmocka_unit_test(crumbs_end_with_a_sentence),
        cmocka_unit_test(every_fault_is_reported),
        cmocka_unit_test(a_run_after_one_that_failed_is_whole),
        cmocka_unit_test(a_full_disk_is_a_sentence),
        cmocka_unit_test(a_tier_needs_a_path_that_is_there),
        cmocka_unit_test(a_killed_run_leaves_nothing),
        cmocka_unit_test(a_stop_waits_for_what_is_under_way),
        cmocka_unit_test(storing_goes_on_beside_the_computing),
        cmocka_unit_test(a_tier_can_be_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
