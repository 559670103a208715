/* test_engine_kernels.c -- kernels that keep their contract and kernels that break it; memory that is asked for, lent and refused. */
#include "engine/engine_parts.h"
#include "pebble/full.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 100, NODES = 4 };

/* a is given, b reads a, c reads b over it if that is wished, d reads a and c and is kept. */
enum { A, B, C, D };

typedef enum sin_of {
    NO_SIN,
    WRITES_BEHIND,
    WRITES_BEHIND_WORKSPACE,
    CHANGES_INPUT,
    READS_OTHERS,
    WRITES_OTHERS,
    READS_OWN_MEMORY,
    READS_WORKSPACE,
    GIVES_OTHER_BITS,
    SINS
} sin_of;

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    pb_kernel kernel[NODES];
    uint8_t kinds[NODES];
    pb_kernels kernels;
    sin_of sin;
    uint64_t more, calls;
    unsigned pieces; /* that it is asked for in; 0: one */
    bool makes_do;   /* without what it asked for */
    unsigned char lent[4 * SIZE];
    bool forgets; /* the exclusive-or kernel does other things when it is called back */
} bench;

static pb_status compute(void *state, pb_context *ctx, const pb_call *call)
{
    bench *b = state;
    pb_node v = call->node;
    const pb_graph *g = b->game.graph;
    unsigned char *out = call->value[v], seed = (unsigned char)(v * 31);
    (void)ctx;
    b->calls++;
    for (unsigned k = 0; b->more && v == C && k < (b->pieces ? b->pieces : 1); k++) {
        void *more;
        pb_status status = pb_call_more(call, b->more, &more);
        if (status != PB_OK && !b->makes_do)
            return status;
        if (status == PB_OK)
            memset(more, 9, b->more);
    }
    for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        const unsigned char *in = call->value[g->in[i]];
        bool lent = in >= b->lent && in < b->lent + sizeof b->lent;
        for (int k = 0; k < SIZE; k++)
            seed = (unsigned char)(seed * 5 + (lent ? in[k] ^ 0x42 : in[k]));
    }
    if (v == C && b->sin == READS_OTHERS)
        seed += ((unsigned char *)call->value[D])[3];
    if (v == C && b->sin == WRITES_OTHERS)
        ((unsigned char *)call->value[A])[3] = 1;
    if (v == C && b->sin == READS_OWN_MEMORY)
        seed += out[5];
    if (v == C && b->sin == READS_WORKSPACE)
        seed += ((unsigned char *)call->workspace)[5];
    if (v == C && b->sin == GIVES_OTHER_BITS)
        seed += (unsigned char)b->calls;
    if (v == C && b->sin == CHANGES_INPUT)
        ((unsigned char *)call->value[B])[7] ^= 1;
    for (int k = 0; k < SIZE; k++) {
        unsigned char byte = (unsigned char)(seed + k);
        out[k] = b->kinds[v] & PB_KERNEL_XOR ? out[k] ^ byte : byte;
    }
    if (call->undo && b->forgets)
        out[1] ^= 1;
    if (v == C && b->sin == WRITES_BEHIND)
        out[SIZE] = 1;
    if (v == C && b->sin == WRITES_BEHIND_WORKSPACE)
        ((unsigned char *)call->workspace)[50] = 1;
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    (void)state;
    (void)ctx;
    memset(bytes, 17 + (int)v, SIZE);
    return PB_OK;
}

static void open_bench(bench *b)
{
    pb_builder *builder;
    pb_node got;
    *b = (bench){.sin = NO_SIN};
    memset(b->lent, 0x42, sizeof b->lent);
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_int_equal(pb_builder_new(&b->ctx, &builder), PB_OK);
    for (pb_node v = 0; v < NODES; v++) {
        pb_node_spec spec = {.cost = 1, .size = SIZE};
        spec.flags = v == A ? PB_NODE_GIVEN : v == D ? PB_NODE_KEEP : 0;
        spec.workspace = v == C ? 50 : 0;
        assert_int_equal(pb_builder_add_node(builder, &spec, &got), PB_OK);
        b->kernel[v] = v == A ? NULL : compute;
    }
    static const pb_node edges[][2] = {{A, B}, {B, C}, {A, D}, {C, D}};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pb_builder_add_edge(builder, edges[i][0], edges[i][1]), PB_OK);
    assert_int_equal(pb_builder_add_inplace(builder, C, B), PB_OK);
    const pb_graph *g;
    assert_int_equal(pb_builder_freeze(builder, &b->arena, &g), PB_OK);
    pb_builder_free(builder);
    b->game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED};
    b->kernels = (pb_kernels){.of = b->kernel, .state = b, .fill = fill, .kinds = b->kinds};
    pb_moves_init(&b->moves, &b->arena);
}

static void close_bench(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static void plain_moves(bench *b, bool over)
{
    pb_moves_add(&b->moves, PB_COMPUTE, B, 0);
    pb_moves_add_compute(&b->moves, C, over ? B : PB_NO_NODE, NULL, 0);
    if (!over)
        pb_moves_add(&b->moves, PB_FREE, B, 0);
    pb_moves_add(&b->moves, PB_COMPUTE, D, 0);
    pb_moves_add(&b->moves, PB_FREE, C, 0);
}

static const pb_certificate *verified(bench *b)
{
    pb_verdict verdict;
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->moves, &b->arena, &verdict), PB_OK);
    assert_non_null(verdict.certificate);
    return verdict.certificate;
}

static pb_status run(bench *b, const pb_engine_options *o, pb_measured *m)
{
    pb_engine *e;
    assert_int_equal(pb_engine_new(&b->ctx, verified(b), &b->kernels, o, &e), PB_OK);
    pb_status status = pb_engine_run(e, m);
    pb_engine_free(e);
    return status;
}

static void checks_find_every_fault(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++)
        for (sin_of sin = NO_SIN; sin < SINS; sin++) {
            bench b;
            pb_measured m;
            open_bench(&b);
            plain_moves(&b, over);
            b.sin = sin;
            bool unseen = sin == NO_SIN || (over && (sin == CHANGES_INPUT || sin == READS_OWN_MEMORY));
            pb_status status = run(&b, &(pb_engine_options){.check = true}, &m);
            assert_int_equal(status, unseen ? PB_OK : PB_EINVAL);
            if (!unseen)
                assert_non_null(strstr(b.ctx.error.message, "2")); /* the node's name */
            close_bench(&b);
        }
}

static void count_differences(void *state, pb_node node)
{
    unsigned *count = state;
    assert_int_equal(node, C); /* D, which is computed from it, is not to blame */
    (*count)++;
}

/* With a callback the run goes on, and a computation is reported once. */
static void differences_may_be_reported(void **state)
{
    (void)state;
    for (sin_of sin = NO_SIN; sin < SINS; sin++) {
        bench b;
        pb_measured m;
        unsigned differences = 0;
        open_bench(&b);
        pb_moves_add(&b.moves, PB_COMPUTE, B, 0);
        for (int again = 0; again < 2; again++) {
            pb_moves_add(&b.moves, PB_COMPUTE, C, 0);
            pb_moves_add(&b.moves, PB_COMPUTE, D, 0);
            pb_moves_add(&b.moves, PB_FREE, C, 0);
            if (!again)
                pb_moves_add(&b.moves, PB_FREE, D, 0);
        }
        b.sin = sin;
        pb_engine_options o = {.check = true, .differs = count_differences, .differs_state = &differences};
        bool reported =
            sin == GIVES_OTHER_BITS || sin == READS_OTHERS || sin == READS_OWN_MEMORY || sin == READS_WORKSPACE;
        assert_int_equal(run(&b, &o, &m), reported || sin == NO_SIN ? PB_OK : PB_EINVAL);
        assert_int_equal(differences, reported ? 2 : 0);
        close_bench(&b);
    }
}

/* Without the checks a well-behaved kernel runs once, and with them twice. */
static void checks_run_kernels_twice(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    plain_moves(&b, false);
    assert_int_equal(run(&b, &(pb_engine_options){0}, &m), PB_OK);
    assert_int_equal(b.calls, 3);
    assert_int_equal(run(&b, &(pb_engine_options){.check = true}, &m), PB_OK);
    assert_int_equal(b.calls, 9);
    assert_int_equal(m.computed, 3);
    close_bench(&b);
}

static void more_workspace_takes_a_gap(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    plain_moves(&b, false);
    b.more = 40;
    /* The peak of 350 is at C itself: nothing is free in the block. */
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_ELIMIT);
    assert_non_null(strstr(b.ctx.error.message, "node 2 needs 90 bytes of workspace instead of 50"));
    close_bench(&b);
    open_bench(&b);
    pb_moves_add(&b.moves, PB_COMPUTE, B, 0);
    pb_moves_add_compute(&b.moves, C, B, NULL, 0); /* 250 of 300 bytes */
    pb_moves_add(&b.moves, PB_COMPUTE, D, 0);
    b.more = 40;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_OK);
    assert_int_equal(m.more_bytes, 40);
    assert_int_equal(m.peak, 300);
    b.more = 60;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_ELIMIT);
    close_bench(&b);
}

/* C over B takes 250 of 300 bytes, and asks for more in pieces. */
static void more_workspace_may_come_in_pieces(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    pb_moves_add(&b.moves, PB_COMPUTE, B, 0);
    pb_moves_add_compute(&b.moves, C, B, NULL, 0);
    pb_moves_add(&b.moves, PB_COMPUTE, D, 0);
    b.more = 20;
    b.pieces = 2;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_OK);
    assert_int_equal(m.more_bytes, 40);
    b.more = 4;
    b.pieces = PBI_MAX_GRANTED;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_OK);
    assert_int_equal(m.more_bytes, 4 * PBI_MAX_GRANTED);
    b.pieces++; /* more pieces than are counted: what is said is still true */
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_ELIMIT);
    assert_non_null(strstr(b.ctx.error.message, "node 2 needs 86 bytes of workspace instead of 50"));
    close_bench(&b);
}

static pb_status out_of_luck(void *state, pb_context *ctx, const pb_call *call)
{
    (void)state;
    (void)call;
    ctx->error.message[0] = '\0';
    return PB_ELIMIT;
}

/* A kernel may go on with less; then nothing is planned anew, and a limit of another kernel's own is no reason to. */
static void a_kernel_may_make_do_with_less(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    plain_moves(&b, false);
    b.more = 40;
    b.makes_do = true;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_OK);
    assert_int_equal(m.more_bytes, 0);
    assert_int_equal(m.peak, 350);
    b.kernel[D] = out_of_luck;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1}, &m), PB_ELIMIT);
    assert_int_equal(b.ctx.error.message[0], '\0');
    close_bench(&b);
}

static pb_status plan_rest(void *state, pb_context *ctx, const pb_game *rest, pb_arena *result,
                           const pb_certificate **out)
{
    pb_plan_result p;
    (void)state;
    pb_status status = pb_plan(ctx, rest, &PB_REQUEST_DEFAULT, result, &p);
    if (status == PB_OK)
        *out = p.certificate;
    return status;
}

/* A kernel that is run twice to be checked has its workspace once. */
static void more_workspace_counts_once_when_checked(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    pb_moves_add(&b.moves, PB_COMPUTE, B, 0);
    pb_moves_add_compute(&b.moves, C, B, NULL, 0);
    pb_moves_add(&b.moves, PB_COMPUTE, D, 0);
    pb_moves_add(&b.moves, PB_FREE, C, 0);
    b.game.cap = 330;
    b.more = 70;
    assert_int_equal(run(&b, &(pb_engine_options){.check = true, .replan = plan_rest}, &m), PB_OK);
    assert_int_equal(m.replanned, 0);
    assert_int_equal(m.peak, 320);
    assert_int_equal(m.more_bytes, 70);
    close_bench(&b);
}

static void more_workspace_leads_to_another_plan(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    plain_moves(&b, false);
    b.more = 90;
    b.game.cap = 399; /* in place it takes 340, else 440 */
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1, .replan = plan_rest}, &m), PB_OK);
    assert_int_equal(m.replanned, 1);
    assert_true(m.peak <= 399);
    b.more = 900;
    assert_int_equal(run(&b, &(pb_engine_options){.align = 1, .replan = plan_rest}, &m), PB_ELIMIT);
    assert_non_null(strstr(b.ctx.error.message, "no plan for the rest of the run was found"));
    for (uint64_t huge = UINT64_C(1) << 60; huge; huge = huge == UINT64_MAX ? 0 : huge << 1 ? huge << 1 : UINT64_MAX) {
        b.more = huge;
        assert_int_equal(run(&b, &(pb_engine_options){.align = 1, .replan = plan_rest}, &m), PB_ELIMIT);
        assert_non_null(strstr(b.ctx.error.message, "bytes of workspace instead of 50"));
    }
    close_bench(&b);
}

/* A block with room for any plan within the cap would be more than there is: the one of this plan is enough to begin with. */
static void a_cap_beyond_memory_is_no_fault(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    for (int bits = 40; bits < 64; bits++) {
        open_bench(&b);
        plain_moves(&b, false);
        b.game.cap = UINT64_C(1) << bits;
        b.ctx.memory_limit = 1 << 26;
        assert_int_equal(run(&b, &(pb_engine_options){.align = 1, .replan = plan_rest}, &m), PB_OK);
        assert_int_equal(m.peak, 350);
        close_bench(&b);
    }
}

static void a_lowered_cap_is_kept_or_stops(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    pb_engine *e;
    open_bench(&b);
    plain_moves(&b, false);
    for (uint64_t cap = 200; cap <= 360; cap += 10) {
        pb_engine_options o = {.align = 1, .replan = plan_rest};
        assert_int_equal(pb_engine_new(&b.ctx, verified(&b), &b.kernels, &o, &e), PB_OK);
        pb_engine_lower_cap(e, cap);
        pb_status status = pb_engine_run(e, &m);
        assert_int_equal(status, cap < 300 ? PB_ELIMIT : PB_OK);
        if (status == PB_OK) {
            assert_true(m.peak <= cap);
            assert_int_equal(m.replanned, cap < 350);
        } else {
            assert_non_null(strstr(b.ctx.error.message, "the cap was lowered"));
        }
        assert_int_equal(pb_engine_run(e, &m), PB_OK); /* it held for one run */
        assert_int_equal(m.peak, 350);
        pb_engine_free(e);
    }
    close_bench(&b);
}

static atomic_bool lowering;
static void *lower_and_raise(void *state)
{
    while (atomic_load(&lowering)) {
        pb_engine_lower_cap(state, 310);
        pb_engine_lower_cap(state, UINT64_MAX);
    }
    return NULL;
}

static void another_thread_may_lower_the_cap(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    pb_engine *e;
    pthread_t thread;
    open_bench(&b);
    plain_moves(&b, false);
    pb_engine_options o = {.align = 1, .replan = plan_rest};
    assert_int_equal(pb_engine_new(&b.ctx, verified(&b), &b.kernels, &o, &e), PB_OK);
    atomic_store(&lowering, true);
    assert_int_equal(pthread_create(&thread, NULL, lower_and_raise, e), 0);
    for (int i = 0; i < 200; i++) {
        pb_status status = pb_engine_run(e, &m);
        assert_true(status == PB_OK || status == PB_ELIMIT);
        assert_true(status != PB_OK || m.peak <= 350);
    }
    atomic_store(&lowering, false);
    pthread_join(thread, NULL);
    pb_engine_free(e);
    close_bench(&b);
}

/* C in borrowed memory, which holds 0x42. */
static void borrow_moves(bench *b)
{
    b->game.borrow = 4 * SIZE;
    pb_moves_add(&b->moves, PB_COMPUTE, B, 0);
    pb_moves_add_borrowed(&b->moves, C);
    pb_moves_add(&b->moves, PB_COMPUTE, D, 0);
    pb_moves_add(&b->moves, PB_UNCOMPUTE, C, 0);
}

static void borrowed_bytes_come_back(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    pb_engine *e;
    open_bench(&b);
    borrow_moves(&b);
    pb_engine_options o = {.borrowed = b.lent, .borrowed_bytes = sizeof b.lent};
    assert_int_equal(pb_engine_new(&b.ctx, verified(&b), &b.kernels, &o, &e), PB_EINVAL);
    assert_non_null(strstr(b.ctx.error.message, "by exclusive or; plan without borrowing"));
    b.kinds[C] = PB_KERNEL_XOR;
    assert_int_equal(pb_engine_new(&b.ctx, verified(&b), &b.kernels, &o, &e), PB_EINVAL);
    assert_non_null(strstr(b.ctx.error.message, "node 3 reads 2"));
    b.kinds[D] = PB_KERNEL_READS_BORROWED;
    for (int check = 0; check < 2; check++) {
        o.check = check;
        assert_int_equal(run(&b, &o, &m), PB_OK);
        assert_int_equal(m.borrowed, SIZE);
        assert_int_equal(m.uncomputed, 1);
        for (size_t i = 0; i < sizeof b.lent; i++)
            assert_int_equal(b.lent[i], 0x42);
    }
    o.check = false;
    b.forgets = true;
    assert_int_equal(run(&b, &o, &m), PB_EINVAL);
    assert_non_null(strstr(b.ctx.error.message, "did not restore the borrowed bytes"));
    o.borrowed_bytes = SIZE / 2;
    assert_int_equal(pb_engine_new(&b.ctx, verified(&b), &b.kernels, &o, &e), PB_ELIMIT);
    close_bench(&b);
}

static pb_status out_of_order(void *state, pb_context *ctx, const pb_call *call)
{
    (void)state;
    (void)call;
    snprintf(ctx->error.message, sizeof ctx->error.message, "the device is out of order");
    return PB_EIO;
}

/* Whoever lent memory gets an error if it is not returned, and only then. */
static void a_failure_says_what_is_left_in_borrowed_memory(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    borrow_moves(&b);
    b.kinds[C] = PB_KERNEL_XOR;
    b.kinds[D] = PB_KERNEL_READS_BORROWED;
    b.game.cap = 350;
    b.more = 120; /* C itself fails, and has changed nothing */
    pb_engine_options o = {.borrowed = b.lent, .borrowed_bytes = sizeof b.lent, .replan = plan_rest};
    assert_int_equal(run(&b, &o, &m), PB_ELIMIT);
    assert_non_null(strstr(b.ctx.error.message, "no plan for the rest of the run was found"));
    assert_null(strstr(b.ctx.error.message, "borrowed"));
    for (size_t i = 0; i < sizeof b.lent; i++)
        assert_int_equal(b.lent[i], 0x42);
    b.more = 0;
    b.kernel[C] = out_of_order;
    assert_int_equal(run(&b, &o, &m), PB_EIO);
    assert_string_equal(b.ctx.error.message, "the device is out of order");
    b.kernel[C] = compute;
    b.kernel[D] = out_of_order;
    assert_int_equal(run(&b, &o, &m), PB_EIO);
    assert_string_equal(b.ctx.error.message,
                        "the device is out of order; 1 value is left in borrowed memory, whose bytes are not restored");
    close_bench(&b);
}

static pb_stop always(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}
static pb_status stopping(void *state, pb_context *ctx, const pb_call *call)
{
    pb_status status = compute(state, ctx, call);
    ctx->stop = call->node == C ? always : ctx->stop;
    return status;
}

static void a_stop_gives_back_first(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    borrow_moves(&b);
    pb_moves_add(&b.moves, PB_FREE, B, 0);
    b.kinds[C] = PB_KERNEL_XOR;
    b.kinds[D] = PB_KERNEL_READS_BORROWED;
    b.kernel[C] = stopping;
    pb_engine_options o = {.borrowed = b.lent, .borrowed_bytes = sizeof b.lent};
    assert_int_equal(run(&b, &o, &m), PB_ECANCELLED);
    assert_int_equal(b.calls, 4);
    for (size_t i = 0; i < sizeof b.lent; i++)
        assert_int_equal(b.lent[i], 0x42);
    close_bench(&b);
}

/* Sizes that no memory has, of a value that is made and of one that is not: the bytes behind them do not wrap around. */
static void sizes_near_the_limit_are_refused(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {UINT64_C(1) << 63, UINT64_MAX - 127, UINT64_MAX - 63, UINT64_MAX - 31,
                                     UINT64_MAX - 20};
    for (unsigned i = 0; i < 20; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_builder *builder;
        pb_node got;
        const pb_graph *g;
        pb_verdict verdict;
        pb_moves moves;
        pb_engine *e;
        bool made = i & 1;
        pb_kernel kernel[] = {compute, compute};
        pb_context_init(&ctx);
        ctx.memory_limit = 1 << 26;
        pb_arena_init(&arena, &ctx);
        assert_int_equal(pb_builder_new(&ctx, &builder), PB_OK);
        for (pb_node v = 0; v < 2; v++)
            assert_int_equal(
                pb_builder_add_node(builder, &(pb_node_spec){.cost = 1, .size = v ? 10 : sizes[i / 4]}, &got), PB_OK);
        assert_int_equal(pb_builder_add_target(builder, made ? 0 : 1), PB_OK);
        assert_int_equal(pb_builder_freeze(builder, &arena, &g), PB_OK);
        pb_builder_free(builder);
        pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED};
        pb_moves_init(&moves, &arena);
        pb_moves_add(&moves, PB_COMPUTE, made ? 0 : 1, 0);
        assert_int_equal(pb_verify(&ctx, &game, &moves, &arena, &verdict), PB_OK);
        assert_non_null(verdict.certificate);
        pb_engine_options o = {.check = true, .align = i & 2 ? 1 : 64};
        ctx.error.message[0] = '\0';
        pb_status status = pb_engine_new(&ctx, verdict.certificate, &(pb_kernels){.of = kernel}, &o, &e);
        assert_true(status == PB_ERANGE || status == PB_ENOMEM);
        assert_true(ctx.error.message[0]);
        pb_arena_release(&arena);
        assert_int_equal(ctx.memory_used, 0);
    }
}

/* The block is one allocation of the packed bytes, and is charged to the context. */
static void memory_is_what_was_planned(void **state)
{
    (void)state;
    bench b;
    pb_engine *e;
    open_bench(&b);
    plain_moves(&b, false);
    const pb_certificate *plan = verified(&b);
    size_t before = b.ctx.memory_used;
    for (uint64_t align = 1; align <= 4096; align *= 8) {
        pb_engine_options o = {.align = align};
        assert_int_equal(pb_engine_new(&b.ctx, plan, &b.kernels, &o, &e), PB_OK);
        uint64_t packed = pb_engine_packing(e)->size;
        assert_true(b.ctx.memory_used >= before + packed);
        assert_true(b.ctx.memory_used <= before + packed + align + (1 << 17));
        if (align == 1)
            assert_int_equal(packed, 350);
        pb_engine_free(e);
        assert_int_equal(b.ctx.memory_used, before);
    }
    pb_engine_options tight = {.align = 1, .max_bytes = 349};
    assert_int_equal(pb_engine_new(&b.ctx, plan, &b.kernels, &tight, &e), PB_ELIMIT);
    assert_non_null(strstr(b.ctx.error.message, "350"));
    close_bench(&b);
}

typedef struct refusal {
    unsigned left;
} refusal;
static void *refuse(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    refusal *r = state;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    return r->left-- ? realloc(block, new_bytes) : NULL;
}

static void every_refused_allocation_is_an_error(void **state)
{
    (void)state;
    bench b;
    pb_measured m;
    open_bench(&b);
    plain_moves(&b, false);
    b.more = 90;
    b.game.cap = 399;
    const pb_certificate *plan = verified(&b);
    bool ran = false;
    for (unsigned k = 0; !ran && k < 2000; k++) {
        pb_context ctx;
        pb_engine *e;
        refusal r = {k};
        pb_context_init(&ctx);
        ctx.resize = refuse;
        ctx.allocator_state = &r;
        ctx.tick_limit = 100;
        pb_engine_options o = {.align = 1, .replan = plan_rest, .check = true};
        pb_status status = pb_engine_new(&ctx, plan, &b.kernels, &o, &e);
        if (status == PB_OK) {
            status = pb_engine_run(e, &m);
            pb_engine_free(e);
        }
        ran = status == PB_OK;
        if (!ran)
            assert_true(status == PB_ENOMEM || status == PB_ELIMIT);
        assert_int_equal(ctx.memory_used, 0);
    }
    assert_true(ran);
    close_bench(&b);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    int got = fscanf(file, "%llu %llu", &pages, &resident);
    fclose(file);
    return got == 2 ? resident * 4096 : 0;
}

static uint64_t most_resident;
static pb_status touch(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    memset(call->value[call->node], 1, *(uint64_t *)state);
    uint64_t now = resident_bytes();
    most_resident = now > most_resident ? now : most_resident;
    return PB_OK;
}

/* A chain of values of 8 MiB in two places. */
static void the_process_grows_by_the_block(void **state)
{
    (void)state;
    enum { LENGTH = 40 };
    pb_context ctx;
    pb_arena arena;
    pb_builder *builder;
    pb_node got;
    pb_moves moves;
    pb_verdict verdict;
    pb_engine *e;
    pb_measured m;
    const pb_graph *g;
    uint64_t size = 8 << 20;
    pb_kernel of[LENGTH];
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_builder_new(&ctx, &builder), PB_OK);
    pb_moves_init(&moves, &arena);
    for (pb_node v = 0; v < LENGTH; v++) {
        assert_int_equal(pb_builder_add_node(builder, &(pb_node_spec){.cost = 1, .size = size}, &got), PB_OK);
        pb_moves_add(&moves, PB_COMPUTE, v, 0);
        if (v) {
            assert_int_equal(pb_builder_add_edge(builder, v - 1, v), PB_OK);
            pb_moves_add(&moves, PB_FREE, v - 1, 0);
        }
        of[v] = touch;
    }
    assert_int_equal(pb_builder_freeze(builder, &arena, &g), PB_OK);
    pb_builder_free(builder);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = 2 * size};
    assert_int_equal(pb_verify(&ctx, &game, &moves, &arena, &verdict), PB_OK);
    pb_kernels kernels = {.of = of, .state = &size};
    uint64_t before = resident_bytes();
    most_resident = 0;
    assert_int_equal(pb_engine_new(&ctx, verdict.certificate, &kernels, &(pb_engine_options){0}, &e), PB_OK);
    assert_true(resident_bytes() < before + (1 << 20)); /* nothing is touched before it is used */
    assert_int_equal(pb_engine_run(e, &m), PB_OK);
    assert_int_equal(m.block, 2 * size);
    assert_true(most_resident <= before + m.block + (1 << 20));
    pb_engine_free(e);
    pb_arena_release(&arena);
}
#endif

static void pieces_change_places(void **state)
{
    (void)state;
    unsigned char memory[40000];
    pbi_piece_move piece[3] = {{0, 20000, 9000}, {10000, 100, 5000}, {30000, 9000, 7000}};
    memset(memory, 0, sizeof memory);
    memset(memory, 1, 9000);
    memset(memory + 10000, 2, 5000);
    memset(memory + 30000, 3, 7000);
    pbi_rearrange(memory, 0, piece, 3);
    for (int i = 0; i < 9000; i++)
        assert_int_equal(memory[20000 + i], 1);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(memory[100 + i], 2);
    for (int i = 0; i < 7000; i++)
        assert_int_equal(memory[9000 + i], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_find_every_fault),
        cmocka_unit_test(differences_may_be_reported),
        cmocka_unit_test(checks_run_kernels_twice),
        cmocka_unit_test(more_workspace_takes_a_gap),
        cmocka_unit_test(more_workspace_may_come_in_pieces),
        cmocka_unit_test(more_workspace_counts_once_when_checked),
        cmocka_unit_test(a_kernel_may_make_do_with_less),
        cmocka_unit_test(more_workspace_leads_to_another_plan),
        cmocka_unit_test(a_cap_beyond_memory_is_no_fault),
        cmocka_unit_test(a_lowered_cap_is_kept_or_stops),
        cmocka_unit_test(another_thread_may_lower_the_cap),
        cmocka_unit_test(borrowed_bytes_come_back),
        cmocka_unit_test(a_failure_says_what_is_left_in_borrowed_memory),
        cmocka_unit_test(a_stop_gives_back_first),
        cmocka_unit_test(memory_is_what_was_planned),
        cmocka_unit_test(sizes_near_the_limit_are_refused),
        cmocka_unit_test(every_refused_allocation_is_an_error),
        cmocka_unit_test(pieces_change_places),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(the_process_grows_by_the_block),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
