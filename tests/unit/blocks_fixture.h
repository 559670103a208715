/* tests/unit/blocks_fixture.h -- solving a chain of blocks and replaying the answer, for tests of its solvers. */
#ifndef BLOCKS_FIXTURE_H
#define BLOCKS_FIXTURE_H

#include "support/blocks_case.h"
#include "support/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    pb_context ctx;
    pb_arena arena;
    pbi_blocks_plan plan;
} fixture;

static inline void open_fixture(fixture *f)
{
    pb_context_init(&f->ctx);
    pb_arena_init(&f->arena, &f->ctx);
    memset(&f->plan, 0, sizeof f->plan);
}

static inline void close_fixture(fixture *f)
{
    pb_arena_release(&f->arena);
    assert_int_equal(f->ctx.memory_used, 0);
}

/* The plan does what it claims. */
static inline void check_plan(const fixture *f, const pbi_blocks *b, uint64_t memory)
{
    uint64_t peak, work;
    const char *why;
    if (!blocks_replay(b, f->plan.action, f->plan.count, &peak, &work, &why))
        fail_msg("%s", why);
    assert_true(peak <= memory);
    assert_int_equal(work, f->plan.work);
}

static inline void draw_long(blocks_case *c)
{
    pbi_rng rng = {5};
    blocks_like like = {30, 2, 1000, 1000, 1, 1, false};
    blocks_draw(&rng, &like, c);
}

static inline pb_stop stop_now(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static inline void count_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    assert_true(done <= total && what);
    ++*(unsigned *)state;
}

#endif
