/* test_workload_merkle.c -- roots and paths against hashes that are made another way, at every cap. */
#define _POSIX_C_SOURCE 200809L
#include "workload_runs.h"
#include "workloads/merkle_paths.h"

#include <openssl/sha.h>
#include <sys/stat.h>

enum { MOST = 1 << 10 };

/* Level by level, with everything stored, and nothing of the workload's code but the data of a leaf. */
static void plain_root(unsigned char (*hash)[32], uint64_t count, unsigned char root[32])
{
    for (; count > 1; count /= 2)
        for (uint64_t i = 0; i < count / 2; i++) {
            unsigned char message[65] = {1};
            memcpy(message + 1, hash[2 * i], 64);
            SHA256(message, 65, hash[i]);
        }
    memcpy(root, hash[0], 32);
}

static void file_root(const unsigned char *data, uint64_t leaf, uint64_t count, char text[65])
{
    static unsigned char hash[MOST][32];
    unsigned char message[256] = {0}, root[32];
    for (uint64_t i = 0; i < count; i++) {
        memcpy(message + 1, data + i * leaf, leaf);
        SHA256(message, 1 + leaf, hash[i]);
    }
    plain_root(hash, count, root);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", root[i]);
}

/* A file of bytes in the working folder; the caller removes it. */
static void write_file(const char *name, const unsigned char *data, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static unsigned char data[MOST * 100];
static void make_data(void)
{
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i >> 3);
}

static void the_root_of_a_file_is_the_plain_one_at_every_cap(void **state)
{
    (void)state;
    static const char name[] = "test_workload_merkle.leaves";
    static const unsigned leaf[] = {1, 55, 64, 100}, height[] = {0, 1, 6, 10}, grain[] = {0, 1, 2, 10};
    make_data();
    write_file(name, data, sizeof data);
    for (unsigned i = 0; i < 4; i++) {
        char expected[65], digest[PB_HASH_TEXT], options[120];
        runs r;
        file_root(data, leaf[i], UINT64_C(1) << height[i], expected);
        snprintf(options, sizeof options, "height=%u,leaf=%u,grain=%u,file=%s", height[i], leaf[i], grain[i], name);
        runs_open(&r, "merkle", options);
        runs_down(&r, 4, "auto", digest);
        assert_string_equal(digest, expected);
        runs_close(&r);
    }
    remove(name);
}

/* In place, height + 1 values are enough, whatever the grain; and no plan has fewer. */
static void the_root_takes_a_value_for_each_level(void **state)
{
    (void)state;
    char first[PB_HASH_TEXT] = "", digest[PB_HASH_TEXT];
    for (uint64_t grain = 0; grain <= 12; grain += 4) {
        runs r;
        char options[60];
        snprintf(options, sizeof options, "height=12,grain=%llu", (unsigned long long)grain);
        runs_open(&r, "merkle", options);
        const pb_graph *g = pb_workload_graph(r.w);
        pb_plan_result planned;
        uint64_t levels = 12 - grain, least = levels * 64 + 64 + g->workspace[0];
        assert_int_equal(runs_least(&r, &planned), least);
        pb_measured m = runs_at(&r, least, "auto", digest);
        assert_int_equal(m.peak, least);
        assert_int_equal(m.block, least); /* of addresses too */
        assert_int_equal(m.recomputed, 0);
        if (*first)
            assert_string_equal(first, digest);
        memcpy(first, digest, sizeof first);
        runs_close(&r);
    }
}

/* The stack of a subtree stays within its workspace, which is counted. */
static void a_subtree_writes_nothing_beyond_its_workspace(void **state)
{
    (void)state;
    runs r;
    runs_open(&r, "merkle", "height=3,leaf=33");
    pbi_hash_tree t;
    assert_int_equal(pbi_hash_tree_open(&r.ctx, "", 7, 33, 10, &t), PB_OK);
    for (uint32_t level = 0; level <= 10; level++) {
        unsigned char room[1024], out[32];
        uint64_t size = pbi_hash_subtree_room(&t, level);
        assert_true(size < sizeof room);
        memset(room, 0xa5, sizeof room);
        assert_int_equal(pbi_hash_subtree(&t, level, 0, room, out), PB_OK);
        for (uint64_t i = size; i < sizeof room; i++)
            assert_int_equal(room[i], 0xa5);
    }
    pbi_hash_tree_close(&t);
    runs_close(&r);
}

static void every_path_leads_to_the_root_at_every_cap(void **state)
{
    (void)state;
    runs r;
    char digest[PB_HASH_TEXT], text[200], root[PB_HASH_TEXT];
    runs_open(&r, "merkle", "height=7,mode=traversal,seed=5,grain=0");
    r.ctx.tick_limit = 30000;
    runs_down(&r, 5, "merkle", digest);
    pb_workload_text(r.w, text, sizeof text);
    assert_non_null(strstr(text, "128 paths lead to the root "));
    runs_close(&r);
    runs_open(&r, "merkle", "height=7,seed=5");
    runs_at(&r, PB_UNLIMITED, "auto", root);
    assert_non_null(strstr(text, root));
    runs_close(&r);
}

/* The algorithms of signature schemes, by name, in the memory that they promise. */
static void paths_come_by_the_named_algorithms(void **state)
{
    (void)state;
    static const char *const strategies[] = {"merkle:algorithm=szydlo", "merkle:algorithm=bds,k=2",
                                             "merkle:algorithm=lazy,k=3", "merkle:algorithm=direct"};
    char first[PB_HASH_TEXT] = "", digest[PB_HASH_TEXT], options[80];
    for (unsigned grain = 0; grain <= 4; grain += 4) {
        runs r;
        snprintf(options, sizeof options, "height=10,mode=traversal,grain=%u", grain);
        runs_open(&r, "merkle", options);
        for (unsigned i = 0; i < 4; i++) {
            uint64_t promised = (3 * (10 - grain) + 1) * 64 + pb_workload_graph(r.w)->fixed_size;
            pb_measured m = runs_at(&r, promised, strategies[i], digest);
            if (*first)
                assert_string_equal(first, digest);
            memcpy(first, digest, sizeof first);
            assert_true(m.peak <= promised);
            assert_true(m.recomputed > 0);
        }
        runs_close(&r);
    }
}

/* Without a graph: the same paths, to the last bit, in the slots that were promised. */
static void streams_send_the_same_paths(void **state)
{
    (void)state;
    static const char *const names[] = {"szydlo", "bds:k=2", "lazy:k=2", "direct", "classic"};
    runs r;
    char digest[PB_HASH_TEXT], text[PB_HASH_TEXT];
    runs_open(&r, "merkle", "height=8,mode=traversal,leaf=40,seed=3");
    runs_at(&r, PB_UNLIMITED, "cache-all", digest);
    pbi_hash_tree tree;
    assert_int_equal(pbi_hash_tree_open(&r.ctx, "", 3, 40, 8, &tree), PB_OK);
    for (unsigned i = 0; i < 10; i++) {
        pbi_paths p = {.tree = &tree, .height = 8, .grain = i / 5 * 2};
        pb_traversal_spec spec;
        pb_traversal_figures figures;
        assert_int_equal(pb_traversal_parse(&r.ctx, names[i % 5], p.height - p.grain, &spec), PB_OK);
        assert_int_equal(pb_traversal_measure(&r.ctx, &spec, (pb_traversal_prices){1, 1}, &figures), PB_OK);
        if (pbi_paths_stream(&p, &spec, figures.slots) != PB_OK)
            fail_msg("%s", r.ctx.error.message);
        assert_int_equal(p.sent, 256);
        for (int k = 0; k < PBI_HASH; k++)
            snprintf(text + 2 * k, 3, "%02x", p.sum[k]);
        assert_string_equal(text, digest);
    }
    pbi_hash_tree_close(&tree);
    runs_close(&r);
}

static void a_wrong_path_is_found(void **state)
{
    (void)state;
    runs r;
    unsigned char root[PBI_HASH], zero[PBI_HASH] = {0}, leaf[PBI_HASH], *room;
    const unsigned char *siblings[] = {leaf};
    runs_open(&r, "merkle", "height=3");
    pbi_hash_tree tree;
    assert_int_equal(pbi_hash_tree_open(&r.ctx, "", 3, 40, 1, &tree), PB_OK);
    pbi_paths p = {.tree = &tree, .height = 1};
    room = pb_arena_alloc(&r.arena, pbi_paths_room(&p), 1);
    assert_non_null(room);
    assert_int_equal(pbi_hash_subtree(&tree, 1, 0, room, root), PB_OK);
    assert_int_equal(pbi_hash_leaf(&tree, 1, room, leaf), PB_OK);
    pbi_paths_publish(&p, root);
    assert_int_equal(pbi_paths_send(&p, 0, siblings, room), PB_OK);
    assert_int_equal(pbi_paths_send(&p, 1, siblings, room), PB_EBUG);
    assert_non_null(strstr(r.ctx.error.message, "the path of leaf 1 does not lead to the root"));
    siblings[0] = zero;
    assert_int_equal(pbi_paths_send(&p, 0, siblings, room), PB_EBUG);
    pbi_hash_tree_close(&tree);
    runs_close(&r);
}

/* A run that did nothing does not pass with the paths of the run before. */
static void paths_of_the_run_before_do_not_count(void **state)
{
    (void)state;
    runs r;
    pb_plan_result planned;
    pb_engine *e;
    pb_measured m;
    runs_open(&r, "merkle", "height=4,mode=traversal");
    pb_game game = runs_game(&r, PB_UNLIMITED);
    assert_int_equal(pb_plan(&r.ctx, &game, &PB_REQUEST_DEFAULT, &r.arena, &planned), PB_OK);
    assert_int_equal(pb_engine_new(&r.ctx, planned.certificate, pb_workload_kernels(r.w), &(pb_engine_options){0}, &e),
                     PB_OK);
    assert_int_equal(pb_workload_begin(r.w, 0, e), PB_OK);
    assert_int_equal(pb_engine_run(e, &m), PB_OK);
    assert_int_equal(pb_workload_end(r.w, 0, e), PB_OK);
    assert_int_equal(pb_workload_begin(r.w, 1, e), PB_OK);
    assert_int_equal(pb_workload_end(r.w, 1, e), PB_EBUG);
    pb_engine_free(e);
    runs_close(&r);
}

/* A subtree of many leaves takes seconds, and ends when it is asked to. */
static pb_stop at_once(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void a_large_subtree_can_be_stopped(void **state)
{
    (void)state;
    pb_context ctx;
    pbi_hash_tree tree;
    unsigned char room[2048], hash[PBI_HASH];
    pb_context_init(&ctx);
    assert_int_equal(pbi_hash_tree_open(&ctx, "", 1, 8, 24, &tree), PB_OK);
    assert_true(pbi_hash_subtree_room(&tree, 24) <= sizeof room);
    ctx.stop = at_once;
    assert_int_equal(pbi_hash_subtree(&tree, 24, 0, room, hash), PB_ECANCELLED);
    pbi_hash_tree_close(&tree);
}

static void opening_fails_cleanly_without_memory(void **state)
{
    (void)state;
    runs_starve("merkle", "height=6");
    runs_starve("merkle", "height=5,mode=traversal");
}

static void bad_options_are_refused_with_a_sentence(void **state)
{
    (void)state;
    runs_refuse("merkle", "height=41", PB_EINVAL, "height must be a whole number between 0 and 40, not '41'");
    runs_refuse("merkle", "height=25,mode=traversal", PB_EINVAL, "between 0 and 24");
    runs_refuse("merkle", "height=20,mode=traversal,grain=3", PB_EINVAL, "between 4 and 20");
    runs_refuse("merkle", "height=x", PB_EINVAL, "not 'x'");
    runs_refuse("merkle", "leaf=0", PB_EINVAL, "leaf must be");
    runs_refuse("merkle", "mode=branch", PB_EINVAL, "root or traversal");
    runs_refuse("merkle", "height=5,grain=6", PB_EINVAL, "grain must be a whole number between 0 and 5");
    runs_refuse("merkle", "height=30,grain=3", PB_EINVAL, "between 10 and 24");
    runs_refuse("merkle", "depth=3", PB_EUNKNOWN, "no option depth");
    runs_refuse("merkle", "file=/nowhere/leaves", PB_EIO, "/nowhere/leaves cannot be read");
    runs_refuse("merkle", "file=.", PB_EIO, "not a regular file");
    remove("test_workload_merkle.pipe");
    assert_int_equal(mkfifo("test_workload_merkle.pipe", 0600), 0);
    runs_refuse("merkle", "file=test_workload_merkle.pipe", PB_EIO, "not a regular file"); /* nobody writes to it */
    remove("test_workload_merkle.pipe");
    static const char name[] = "test_workload_merkle.short";
    write_file(name, (const unsigned char *)"short", 5);
    runs_refuse("merkle", "height=1,leaf=3,file=test_workload_merkle.short", PB_EFORMAT,
                "has 5 bytes, not enough for 2^1 leaves of 3");
    remove(name);
}

/* A file that loses its end after it was opened. */
static void a_file_that_shrinks_stops_the_run(void **state)
{
    (void)state;
    static const char name[] = "test_workload_merkle.shrinks";
    runs r;
    pb_plan_result planned;
    pb_engine *e;
    pb_measured m;
    make_data();
    write_file(name, data, 64 * 64);
    runs_open(&r, "merkle", "height=6,grain=2,file=test_workload_merkle.shrinks");
    pb_game game = runs_game(&r, PB_UNLIMITED);
    runs_plan(&r, &game, "auto", &planned);
    pb_engine_options how = {0};
    assert_int_equal(pb_engine_new(&r.ctx, planned.certificate, pb_workload_kernels(r.w), &how, &e), PB_OK);
    write_file(name, data, 1000);
    assert_int_equal(pb_engine_run(e, &m), PB_EIO);
    assert_non_null(strstr(r.ctx.error.message, "ended at byte 1000"));
    pb_engine_free(e);
    runs_close(&r);
    remove(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_of_a_file_is_the_plain_one_at_every_cap),
        cmocka_unit_test(the_root_takes_a_value_for_each_level),
        cmocka_unit_test(a_subtree_writes_nothing_beyond_its_workspace),
        cmocka_unit_test(every_path_leads_to_the_root_at_every_cap),
        cmocka_unit_test(paths_come_by_the_named_algorithms),
        cmocka_unit_test(streams_send_the_same_paths),
        cmocka_unit_test(a_wrong_path_is_found),
        cmocka_unit_test(paths_of_the_run_before_do_not_count),
        cmocka_unit_test(a_large_subtree_can_be_stopped),
        cmocka_unit_test(opening_fails_cleanly_without_memory),
        cmocka_unit_test(bad_options_are_refused_with_a_sentence),
        cmocka_unit_test(a_file_that_shrinks_stops_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
