/* test_cut_flow.c -- maximum flows against every cut of small networks. */
#include "bound/cut_flow.h"

#include "base/rng.h"
#include "support/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { VERTICES = 7, PAIRS = 14 };

typedef struct network {
    uint32_t from[PAIRS], to[PAIRS];
    int64_t ahead[PAIRS], back[PAIRS], drain[VERTICES];
    uint32_t roots; /* bits */
} network;

static int64_t some_room(pbi_rng *rng)
{
    uint64_t kind = pbi_rng_below(rng, 6);
    return kind == 0 ? PBI_FLOW_INF : kind == 1 ? 0 : (int64_t)pbi_rng_below(rng, 20);
}

static void make(uint64_t seed, network *n)
{
    pbi_rng rng = {seed};
    *n =
        (network){.roots = (uint32_t)pbi_rng_below(&rng, 1 << VERTICES) & (uint32_t)pbi_rng_below(&rng, 1 << VERTICES)};
    for (int i = 0; i < PAIRS; i++) {
        n->from[i] = (uint32_t)pbi_rng_below(&rng, VERTICES);
        n->to[i] = (n->from[i] + 1 + (uint32_t)pbi_rng_below(&rng, VERTICES - 1)) % VERTICES;
        n->ahead[i] = some_room(&rng);
        n->back[i] = pbi_rng_below(&rng, 3) ? 0 : some_room(&rng);
    }
    for (int v = 0; v < VERTICES; v++)
        n->drain[v] = pbi_rng_below(&rng, 2) ? 0 : some_room(&rng);
}

/* What leaves the vertices of `side`, or PBI_FLOW_INF. */
static int64_t cut_of(const network *n, uint32_t side)
{
    int64_t sum = 0;
    for (int i = 0; i < PAIRS && sum < PBI_FLOW_INF; i++) {
        bool from = side >> n->from[i] & 1, to = side >> n->to[i] & 1;
        sum += from && !to ? n->ahead[i] : to && !from ? n->back[i] : 0;
    }
    for (int v = 0; v < VERTICES && sum < PBI_FLOW_INF; v++)
        sum += side >> v & 1 ? n->drain[v] : 0;
    return sum < PBI_FLOW_INF ? sum : PBI_FLOW_INF;
}

static int64_t least_cut(const network *n)
{
    int64_t least = PBI_FLOW_INF;
    for (uint32_t side = 0; side < 1 << VERTICES; side++)
        if ((side & n->roots) == n->roots && cut_of(n, side) < least)
            least = cut_of(n, side);
    return least;
}

static void build(const network *n, pb_arena *arena, pbi_flow *f)
{
    uint32_t fill[VERTICES];
    assert_true(pbi_flow_alloc(f, arena, VERTICES, 2 * PAIRS, VERTICES));
    for (int i = 0; i < PAIRS; i++) {
        f->start[n->from[i] + 1]++;
        f->start[n->to[i] + 1]++;
    }
    for (int v = 0; v < VERTICES; v++) {
        f->start[v + 1] += f->start[v];
        fill[v] = f->start[v];
        f->drain[v] = n->drain[v];
        if (n->roots >> v & 1)
            f->root[f->root_count++] = (uint32_t)v;
    }
    for (int i = 0; i < PAIRS; i++) {
        uint32_t e = fill[n->from[i]]++, t = fill[n->to[i]]++;
        f->head[e] = n->to[i];
        f->head[t] = n->from[i];
        f->twin[e] = t;
        f->twin[t] = e;
        f->room[e] = n->ahead[i];
        f->room[t] = n->back[i];
    }
}

static void flow_equals_the_least_cut(void **state)
{
    (void)state;
    uint64_t unlimited = 0, cases = test_cases(20000);
    for (uint64_t seed = 1; seed <= cases; seed++) {
        pb_context ctx;
        pb_arena arena;
        pbi_flow f;
        network n;
        int64_t total = 0;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        make(seed, &n);
        build(&n, &arena, &f);
        int64_t least = least_cut(&n);
        pbi_flow_end end = pbi_flow_run(&ctx, &f, UINT64_MAX, &total);
        assert_int_equal(end, least == PBI_FLOW_INF ? PBI_FLOW_UNLIMITED : PBI_FLOW_FULL);
        unlimited += end == PBI_FLOW_UNLIMITED;
        if (end == PBI_FLOW_FULL) {
            uint32_t side = 0;
            for (uint32_t v = 0; v < VERTICES; v++)
                side |= (uint32_t)pbi_flow_reached(&f, v) << v;
            assert_int_equal(total, least);
            assert_int_equal(cut_of(&n, side), least);
        }
        pb_arena_release(&arena);
    }
    assert_true(unlimited > 0 && unlimited < cases);
}

static void a_flow_goes_on_where_more_fits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(5000); seed++) {
        pb_context ctx;
        pb_arena arena;
        pbi_flow f;
        network n;
        int64_t total = 0;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        make(seed, &n);
        build(&n, &arena, &f);
        if (pbi_flow_run(&ctx, &f, UINT64_MAX, &total) == PBI_FLOW_FULL) {
            pbi_rng rng = {seed ^ 77};
            for (uint32_t v = 0; v < VERTICES; v++)
                if (n.drain[v] < PBI_FLOW_INF) {
                    int64_t more = (int64_t)pbi_rng_below(&rng, 9);
                    n.drain[v] += more;
                    f.drain[v] += more;
                }
            pbi_flow_end end = pbi_flow_run(&ctx, &f, UINT64_MAX, &total);
            int64_t least = least_cut(&n);
            assert_int_equal(end, least == PBI_FLOW_INF ? PBI_FLOW_UNLIMITED : PBI_FLOW_FULL);
            if (end == PBI_FLOW_FULL)
                assert_int_equal(total, least);
        }
        pb_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flow_equals_the_least_cut),
        cmocka_unit_test(a_flow_goes_on_where_more_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
