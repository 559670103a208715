/* tests/unit/report_fixture.h -- a certified schedule of a small game, and what a report writes about it. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include "pebble/report.h"
#include "support/move_text.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    const pb_certificate *certificate;
    pb_buffer text;
} bench;

static inline void bench_certify(bench *b)
{
    pb_verdict verdict;
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->moves, &b->arena, &verdict), PB_OK);
    if (!verdict.certificate) {
        char text[256];
        pb_verdict_text(&b->game, &b->moves, &verdict, text, sizeof text);
        fail_msg("%s", text);
    }
    b->certificate = verdict.certificate;
}

static inline void bench_open(bench *b, const small_game *s, const char *moves)
{
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    pb_moves_init(&b->moves, &b->arena);
    pb_buffer_init(&b->text, &b->arena);
    assert_true(small_game_build(&b->ctx, s, &b->arena, &b->game));
    if (moves) {
        moves_from_text(moves, &b->moves);
        bench_certify(b);
    }
}

static inline pb_sink bench_sink(bench *b) { return pb_sink_buffer(&b->text); }
static inline const char *bench_text(const bench *b) { return b->text.bytes ? b->text.bytes : ""; }
static inline void bench_empty(bench *b) { pb_buffer_init(&b->text, &b->arena); }

static inline void bench_close(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

/* The text has this piece. */
static inline void has(const bench *b, const char *piece)
{
    if (!strstr(bench_text(b), piece))
        fail_msg("no `%s` in:\n%s", piece, bench_text(b));
}

/* a -> b, a -> c, b -> c: costs 1, 1, 3, sizes 1, 1, 2. */
static inline void small_tiny(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 1);
    small_game_add(s, 3, 2, 3);
}

/* A path of `length` nodes of cost 2 and size 1; the last one reads the first too. */
static inline void small_loop(small_game *s, uint32_t length)
{
    small_game_init(s);
    for (uint32_t i = 0; i < length; i++)
        small_game_add(s, 2, 1, i == 0 ? 0 : i + 1 == length ? 1u << (i - 1) | 1u : 1u << (i - 1));
}

#endif
