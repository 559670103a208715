/* tests/unit/test_blocks_table.c -- the table of a chain of blocks against the recursion as it is written. */
#include "plan/blocks/table.h"
#include "unit/blocks_fixture.h"

enum { SLOTS = 90, BLOCKS = 37 };

/* work[left][right][i][j][slots], UINT64_MAX for never. */
typedef struct plain {
    const pbi_blocks *b;
    uint64_t work[2][2][BLOCKS + 1][BLOCKS + 1][SLOTS + 1];
} plain;

static uint64_t sum(uint64_t a, uint64_t b) { return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b; }

static void lower_to(uint64_t *best, uint64_t cost) { *best = cost < *best ? cost : *best; }

static uint64_t by_ways(const plain *p, unsigned l, unsigned r, uint32_t i, uint32_t j, uint64_t s)
{
    const pbi_blocks *b = p->b;
    const pbi_block *block = &b->block[i + 1];
    uint64_t best = UINT64_MAX, right = b->gradient[j] + (r ? b->value[j] : 0);
    for (uint32_t n = 0; n < block->way_count; n++) {
        const pbi_block_way *w = &b->way[block->way + n];
        uint64_t left = l || w->reads_left ? b->value[i] : 0;
        bool runs = j > i + 1 || w->reads_run || (w->reads_right && !r);
        if (w->backward + left > s)
            continue;
        if (j == i + 1 && runs)
            right = b->gradient[j];
        if (runs && b->value[i] + w->forward + right > s)
            continue;
        uint64_t inner = 0;
        if (j > i + 1)
            inner = w->kept + left <= s ? p->work[w->reads_right][r][i + 1][j][s - w->kept - left] : UINT64_MAX;
        lower_to(&best, sum(inner, w->extra_work + (runs ? block->cost : 0)));
    }
    return best;
}

static uint64_t by_splits(const plain *p, unsigned l, unsigned r, uint32_t i, uint32_t j, uint64_t s)
{
    const pbi_blocks *b = p->b;
    uint64_t best = UINT64_MAX, run = 0, right = b->gradient[j] + (r ? b->value[j] : 0);
    for (uint32_t m = i + 1; m < j; m++) {
        run += b->block[m].cost;
        if (b->value[i] + (m == i + 1 ? b->block[m].run_keeping : b->block[m].through) + right > s)
            break;
        for (unsigned k = 0; k < 2; k++)
            lower_to(&best, sum(run, sum(p->work[k][r][m][j][s - b->value[i]], p->work[l][k][i][m][s])));
    }
    return best;
}

static void fill_plain(plain *p, const pbi_blocks *b)
{
    p->b = b;
    for (uint32_t length = 1; length <= b->count; length++)
        for (uint32_t i = 0, j = length; j <= b->count; i++, j++)
            for (unsigned l = 0; l < 2; l++)
                for (unsigned r = 0; r < 2; r++)
                    for (uint32_t s = 0; s <= SLOTS; s++) {
                        uint64_t *best = &p->work[l][r][i][j][s];
                        *best = r ? p->work[l][0][i][j][s] : UINT64_MAX;
                        lower_to(best, by_ways(p, l, r, i, j, s));
                        lower_to(best, by_splits(p, l, r, i, j, s));
                    }
}

static void compare(const plain *p, const pbi_block_table *t)
{
    const pbi_blocks *b = p->b;
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t j = i + 1; j <= b->count; j++)
            for (unsigned n = 0; n < 4; n++)
                for (uint32_t s = 0; s <= SLOTS; s++) {
                    uint64_t once = 0, extra = pbi_block_table_at(t, n & 1, n >> 1, i, j, s);
                    for (uint32_t k = i + 1; k < j; k++)
                        once += b->block[k].cost;
                    uint64_t expected = p->work[n & 1][n >> 1][i][j][s];
                    if (expected == UINT64_MAX || expected - once >= t->never)
                        assert_int_equal(extra, t->never);
                    else
                        assert_int_equal(extra + once, expected);
                }
}

static void tables_are_the_recursion_at_every_memory(void **state)
{
    static plain p;
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(60); seed++) {
        pbi_rng rng = {seed};
        /* Costs of the last kind pass what a narrow cell holds. */
        blocks_like like = {1 + (uint32_t)(seed % BLOCKS),
                            1 + (uint32_t)(seed % 3),
                            1 + seed % 9,
                            seed % 5 ? 20 : 3000,
                            1,
                            1,
                            seed % 2};
        blocks_case c;
        fixture f;
        blocks_draw(&rng, &like, &c);
        fill_plain(&p, &c.b);
        open_fixture(&f);
        for (unsigned n = 0; n < 4; n++) {
            pbi_block_table t = {.ctx = &f.ctx, .b = &c.b, .slot = 1, .slots = SLOTS, .quantum = 1};
            t.wide = n & 1;
            t.up = n >> 1;
            assert_int_equal(pbi_block_table_fill(&t, &f.arena), PB_OK);
            compare(&p, &t);
        }
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_the_recursion_at_every_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
