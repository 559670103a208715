/* test_sha256.c -- hashes are right in one piece and in many, and do not depend on memory that libcrypto may not get. */
#include "base/sha256.h"
#include "base/sha256_plain.h"

#include "graph_fixture.h"
#include "pebble/api.h"

#include <openssl/crypto.h>
#include <string.h>

static int refused; /* requests of libcrypto for memory */

static void *refuse(size_t bytes, const char *file, int line)
{
    (void)bytes, (void)file, (void)line;
    refused++;
    return NULL;
}

static void *refuse_more(void *block, size_t bytes, const char *file, int line)
{
    (void)block, (void)bytes, (void)file, (void)line;
    refused++;
    return NULL;
}

static void release(void *block, const char *file, int line) { (void)block, (void)file, (void)line; }

static void sum_of(const char *bytes, size_t count, size_t part, char text[PBI_SHA256_TEXT])
{
    pbi_sha256 sum;
    unsigned char hash[PBI_SHA256_BYTES];
    assert_true(pbi_sha256_begin(&sum));
    for (size_t at = 0; at < count; at += part)
        assert_true(pbi_sha256_add(&sum, bytes + at, count - at < part ? count - at : part));
    assert_true(pbi_sha256_end(&sum, hash));
    pbi_sha256_text(hash, text);
}

/* The examples of FIPS 180-4, as NIST publishes them. */
static void the_published_examples_have_their_hashes(void **state)
{
    (void)state;
    static const char *const examples[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        for (size_t part = 1; part < 70; part += 23) {
            char text[PBI_SHA256_TEXT];
            sum_of(examples[i][0], strlen(examples[i][0]), part, text);
            assert_string_equal(text, examples[i][1]);
        }
}

/* The one for builds without OpenSSL agrees with it, for every length around a block and for every way to divide it. */
static void the_plain_implementation_agrees(void **state)
{
    (void)state;
    char bytes[300], text[PBI_SHA256_TEXT], plain[PBI_SHA256_TEXT];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 131 + i / 7);
    for (size_t count = 0; count <= sizeof bytes; count++)
        for (size_t part = 1; part < 140; part += 63) {
            pbi_sha256_plain sum;
            unsigned char hash[PBI_SHA256_BYTES];
            pbi_sha256_plain_begin(&sum);
            for (size_t at = 0; at < count; at += part)
                pbi_sha256_plain_add(&sum, bytes + at, count - at < part ? count - at : part);
            pbi_sha256_plain_end(&sum, hash);
            pbi_sha256_text(hash, plain);
            sum_of(bytes, count, 64, text);
            assert_string_equal(plain, text);
        }
}

/* A schedule for another graph is distinguished from one for this graph, with no memory for libcrypto at all. */
static void verdicts_do_not_depend_on_memory_for_libcrypto(void **state)
{
    (void)state;
    bench t;
    pb_arena arena;
    pb_plan_result planned;
    pb_judgement judged;
    bench_open(&t);
    bench_nodes(&t, "a b c");
    bench_edges(&t, "a>b b>c");
    assert_int_equal(bench_freeze(&t), PB_OK);
    pb_arena_init(&arena, &t.ctx);
    pb_game game = {.kind = PB_GAME_REMAT, .graph = t.g, .cap = 2, .weights = PB_WEIGHTS_DEFAULT};
    pb_request request = PB_REQUEST_DEFAULT;
    assert_int_equal(pb_plan(&t.ctx, &game, &request, &arena, &planned), PB_OK);
    assert_int_equal(pb_judge_all(&t.ctx, t.g, &planned.schedule, false, &arena, &judged), PB_OK);
    assert_int_equal(judged.failure, PB_FAILURE_NONE);
    planned.schedule.graph_hash[0] ^= 1;
    assert_int_equal(pb_judge_all(&t.ctx, t.g, &planned.schedule, false, &arena, &judged), PB_OK);
    assert_int_equal(judged.failure, PB_FAILURE_GRAPH);
    assert_int_equal(refused, 0);
    pb_arena_release(&arena);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_examples_have_their_hashes),
        cmocka_unit_test(the_plain_implementation_agrees),
        cmocka_unit_test(verdicts_do_not_depend_on_memory_for_libcrypto),
    };
    if (CRYPTO_set_mem_functions(refuse, refuse_more, release) != 1)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
