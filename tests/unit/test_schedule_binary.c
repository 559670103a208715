/* test_schedule_binary.c -- the compact form: exact bytes, every cut and every flipped bit refused, hostile counts. */
#include "support/io_case.h"
#include "support/move_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_schedule s;
} desk;

static void start(desk *d, const char *moves)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->s = (pb_schedule){.graph_name = "g",
                         .game = PB_GAME_TIERED,
                         .cap = 7,
                         .strategy = "s",
                         .version = "0",
                         .weights = PB_WEIGHTS_DEFAULT,
                         .threads = 1,
                         .outcome = PB_FOUND};
    pb_moves_init(&d->s.moves, &d->arena);
    moves_from_text(moves, &d->s.moves);
}

static void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static pb_status read_back(desk *d, const char *bytes, size_t length, size_t chunk, pb_schedule *out)
{
    return schedule_from(&d->ctx, bytes, length, chunk, PB_FORMAT_BINARY, NULL, &d->arena, out);
}

static uint32_t crc32_of(const unsigned char *bytes, size_t length)
{
    uint32_t value = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        value ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
    }
    return ~value;
}

/* Sets the checksum of a changed file right, so that the change itself is judged. */
static void sign(char *bytes, size_t length)
{
    uint32_t sum = crc32_of((const unsigned char *)bytes, length - 4);
    for (int i = 0; i < 4; i++)
        bytes[length - 4 + (size_t)i] = (char)(sum >> 8 * i);
}

static void checksum_is_the_common_crc_32(void **state)
{
    (void)state;
    assert_true(crc32_of((const unsigned char *)"123456789", 9) == 0xcbf43926u);
    desk d;
    start(&d, "c0 f0");
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
    char last[4];
    memcpy(last, bytes.bytes + bytes.length - 4, 4);
    sign(bytes.bytes, bytes.length);
    assert_memory_equal(last, bytes.bytes + bytes.length - 4, 4);
    shut(&d);
}

static void moves_come_back_as_they_were(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "c0",
        "c5 c4 c1000000 c3 f1999999999 u0",
        "c3/1 c4/9 c3+4+5 c7/2+8 c0+1000000",
        "s3:1 l3:8 d3:5 s0:2",
        "c1 c1 c1",
        "b0 c1 b7 u7",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t chunk = 1; chunk < 200; chunk += 99) {
            desk d;
            start(&d, cases[i]);
            pb_buffer bytes;
            assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
            pb_schedule again;
            assert_int_equal(read_back(&d, bytes.bytes, bytes.length, chunk, &again), PB_OK);
            char text[600];
            moves_to_text(&again.moves, text, sizeof text);
            assert_string_equal(text, cases[i]);
            assert_int_equal(again.cap, 7);
            assert_string_equal(again.strategy, "s");
            assert_null(schedule_round_trips(&d.ctx, &d.s, NULL));
            shut(&d);
        }
}

static void moves_take_the_documented_bytes(void **state)
{
    (void)state;
    desk d;
    start(&d, "c2 f1 s1:3 c300/299+301");
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
    assert_memory_equal(bytes.bytes, "\x89PBS\r\n\x1a\n\x01", 9);
    static const char moves[] = "\x04"
                                "\x00\x04"                  /* compute 2 */
                                "\x02\x01"                  /* free, one less */
                                "\x43\x00"                  /* store in tier 3, the same node */
                                "\x18\xd6\x04\x01\x01\x02"; /* compute over and also: +299, -1, one by-product, +1 */
    assert_memory_equal(bytes.bytes + bytes.length - 4 - (sizeof moves - 1), moves, sizeof moves - 1);
    shut(&d);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    desk d;
    start(&d, "c0 c1/0 c300 s2:4 c1+2");
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
    for (size_t cut = 0; cut < bytes.length; cut++) {
        pb_schedule again;
        assert_int_equal(read_back(&d, bytes.bytes, cut, 11, &again), PB_EFORMAT);
        assert_int_equal(d.ctx.error.line, 0);
    }
    shut(&d);
}

static void every_flipped_bit_is_refused(void **state)
{
    (void)state;
    desk d;
    start(&d, "c0 c1/0 c300 s2:4 c1+2");
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
    for (size_t bit = 0; bit < 8 * bytes.length; bit++) {
        bytes.bytes[bit / 8] ^= (char)(1 << bit % 8);
        pb_schedule again;
        if (read_back(&d, bytes.bytes, bytes.length, SIZE_MAX, &again) == PB_OK)
            fail_msg("bit %zu makes no difference", bit);
        bytes.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    bytes.bytes[bytes.length] = 'x';
    pb_schedule again;
    assert_int_equal(read_back(&d, bytes.bytes, bytes.length + 1, SIZE_MAX, &again), PB_EFORMAT);
    assert_non_null(strstr(d.ctx.error.message, "after the end of the schedule"));
    shut(&d);
}

/* A whole file around `tail`, the bytes from the count of moves on. */
static pb_status judge_tail(const char *tail, size_t tail_length, const pb_graph *g, pb_context *ctx)
{
    static const char header[] = "{\"format\":\"pebble-schedule/1\",\"game\":\"remat\"}";
    char file[200] = "\x89PBS\r\n\x1a\n\x01";
    size_t length = 9;
    file[length++] = (char)(sizeof header - 1);
    memcpy(file + length, header, sizeof header - 1);
    length += sizeof header - 1;
    memcpy(file + length, tail, tail_length);
    length += tail_length + 4;
    sign(file, length);
    pb_context_init(ctx);
    ctx->memory_limit = 1 << 20; /* hostile counts must not cost memory */
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pb_schedule s;
    pb_status status = schedule_from(ctx, file, length, SIZE_MAX, PB_FORMAT_AUTO, g, &arena, &s);
    pb_arena_release(&arena);
    assert_int_equal(ctx->memory_used, 0);
    return status;
}

static void hostile_moves_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *tail;
        size_t length;
        const char *words; /* NULL: this one is good; the checksum is read as moves where they are too few */
    } cases[] = {
        {"\0", 1, NULL},
        {"\1\0\0", 3, NULL},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0", 12, "byte "},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\0\0", 12, "has more than 64 bits"},
        {"\1\6\0", 3, "no such move"},
        {"\1\7\0", 3, "no such move"},
        {"\1\x0a\0\0", 4, "no such move"},
        {"\1\x21\0", 3, "no such move"},
        {"\1\x20\0", 3, NULL},
        {"\1\x60\0", 3, "no such move"},
        {"\1\x41\0", 3, "no such move"},
        {"\1\x50\0\1", 4, "no such move"},
        {"\1\x40\0\0", 4, "a recipe out of range"},
        {"\1\x40\0\x80\2", 5, "a recipe out of range"},
        {"\1\x40\0\1", 4, NULL},
        {"\1\x28\0\0", 4, "no such move"},
        {"\1\0\1", 3, "does not have"},
        {"\1\0\xfe\xff\xff\xff\x7f", 7, "does not have"},
        {"\1\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", 12, "does not have"},
        {"\1\x10\0\0", 4, "too many by-products"},
        {"\1\x10\0\xff\xff\xff\xff\x0f", 8, "too many by-products"},
        {"\1\x10\0\xff\xff\xff\xff\x07\0", 9, "byte "},
        {"\1\x08\0\1", 4, "does not have"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_context ctx;
        pb_status status = judge_tail(cases[i].tail, cases[i].length, NULL, &ctx);
        assert_int_equal(status, cases[i].words ? PB_EFORMAT : PB_OK);
        if (cases[i].words && !strstr(ctx.error.message, cases[i].words))
            fail_msg("case %zu: %s", i, ctx.error.message);
    }
}

static void nodes_are_checked_against_the_graph(void **state)
{
    (void)state;
    desk d;
    start(&d, "");
    static const char text[] = "{\"format\":\"pebble-graph/1\",\"nodes\":[{\"size\":1},{\"size\":1}]}";
    const pb_graph *g;
    assert_int_equal(graph_from(&d.ctx, text, sizeof text - 1, SIZE_MAX, PB_FORMAT_JSON, &d.arena, &g), PB_OK);
    pb_context ctx;
    assert_int_equal(judge_tail("\1\0\2", 3, g, &ctx), PB_OK);
    assert_int_equal(judge_tail("\1\0\4", 3, g, &ctx), PB_EFORMAT);
    shut(&d);
}

static void a_fault_in_the_header_is_told(void **state)
{
    (void)state;
    static const char file[] = "\x89PBS\r\n\x1a\n\x01\x02{]\0....";
    desk d;
    start(&d, "");
    pb_schedule again;
    assert_int_equal(read_back(&d, file, sizeof file - 1, SIZE_MAX, &again), PB_EFORMAT);
    assert_non_null(strstr(d.ctx.error.message, "the header"));
    assert_int_equal(d.ctx.error.line, 0);
    shut(&d);
}

static void long_schedules_cross_the_buffer(void **state)
{
    (void)state;
    desk d;
    start(&d, "");
    for (uint32_t i = 0; i < 300000; i++)
        assert_int_equal(pb_moves_add(&d.s.moves, i % 2 ? PB_FREE : PB_COMPUTE, i * 7919u % 1000003u, 0), PB_OK);
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
    assert_true(bytes.length < 300000 * 5);
    pb_schedule again;
    assert_int_equal(read_back(&d, bytes.bytes, bytes.length, 4099, &again), PB_OK);
    assert_int_equal(again.moves.count, d.s.moves.count);
    assert_memory_equal(again.moves.move, d.s.moves.move, d.s.moves.count * sizeof(pb_move));
    shut(&d);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    desk d;
    start(&d, "");
    static const pb_node also[] = {5, 6, 7};
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(pb_moves_add_compute(&d.s.moves, i, i + 1, also, 3), PB_OK);
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_BINARY, &d.arena, &bytes), PB_OK);
    uint64_t refuse = 0;
    pb_status status = PB_ENOMEM;
    while (status == PB_ENOMEM) {
        failing_allocator allocator = {.refuse = ++refuse};
        pb_context ctx;
        failing_context(&ctx, &allocator);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        pb_schedule s;
        status = schedule_from(&ctx, bytes.bytes, bytes.length, 1000, PB_FORMAT_BINARY, NULL, &arena, &s);
        pb_arena_release(&arena);
        assert_int_equal(allocator.blocks, 0);
    }
    assert_int_equal(status, PB_OK);
    assert_true(refuse > 8);
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_the_common_crc_32),
        cmocka_unit_test(moves_come_back_as_they_were),
        cmocka_unit_test(moves_take_the_documented_bytes),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(hostile_moves_are_refused),
        cmocka_unit_test(nodes_are_checked_against_the_graph),
        cmocka_unit_test(a_fault_in_the_header_is_told),
        cmocka_unit_test(long_schedules_cross_the_buffer),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
