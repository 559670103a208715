/* sums.c -- see sums.h. */
#include "plan/reversible/sat/sums.h"

#include <string.h>

enum { MAX_PAIRS = 50000 };

bool pbi_sums_room(pb_arena *arena, uint32_t count, pbi_sums *out)
{
    out->count = 0;
    out->sum = pb_arena_alloc(arena, (size_t)count + 1, sizeof *out->sum);
    out->literal = pb_arena_alloc(arena, (size_t)count + 1, sizeof *out->literal);
    return out->sum && out->literal;
}

/* The smallest sum above `last` of a sum of a (or 0) and one of b (or 0). at[i]: for sum i of a, the first of b whose
 * total is above `last`. */
static uint64_t next_sum(const pbi_sums *a, const pbi_sums *b, uint32_t *at, uint64_t last)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i <= a->count; i++) {
        uint64_t base = i ? a->sum[i - 1] : 0;
        while (at[i] <= b->count && base + (at[i] ? b->sum[at[i] - 1] : 0) <= last)
            at[i]++;
        uint64_t sum = at[i] <= b->count ? base + (at[i] ? b->sum[at[i] - 1] : 0) : UINT64_MAX;
        next = sum < next ? sum : next;
    }
    return next;
}

/* All totals of a sum of a (or 0) and one of b (or 0), up to `max_sum`, ascending and once each. */
static bool list_sums(pb_arena *arena, const pbi_sums *a, const pbi_sums *b, uint64_t max_sum, pbi_sums *out)
{
    uint32_t *at = pb_arena_alloc(arena, (size_t)a->count + 1, sizeof *at);
    uint32_t room = 0;
    if (!at)
        return false;
    for (int pass = 0; pass < 2; pass++) { /* first how many, then which */
        memset(at, 0, ((size_t)a->count + 1) * sizeof *at);
        if (pass && !pbi_sums_room(arena, room, out))
            return false;
        for (uint64_t sum = next_sum(a, b, at, 0); sum <= max_sum && sum != UINT64_MAX; sum = next_sum(a, b, at, sum)) {
            if (pass)
                out->sum[out->count++] = sum;
            room++;
        }
    }
    return true;
}

uint32_t pbi_sums_place(const pbi_sums *s, uint64_t sum)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->sum[middle] < sum)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The sums of both together; sums above `max_sum` are excluded. */
static bool merge(pbi_sat *sat, pb_arena *arena, const pbi_sums *a, const pbi_sums *b, uint64_t max_sum, pbi_sums *out)
{
    *out = (pbi_sums){.count = 0};
    if (((uint64_t)a->count + 1) * ((uint64_t)b->count + 1) > MAX_PAIRS)
        sat->literals = UINT64_MAX; /* sizes with too many different sums: no formula */
    if (pbi_sat_full(sat))
        return true;
    if (!list_sums(arena, a, b, max_sum, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        out->literal[i] = pbi_sat_new(sat);
        if (i)
            pbi_sat_two(sat, -out->literal[i], out->literal[i - 1]);
    }
    for (uint32_t i = 0; i <= a->count && !pbi_sat_full(sat); i++)
        for (uint32_t k = 0; k <= b->count; k++) {
            uint64_t sum = (i ? a->sum[i - 1] : 0) + (k ? b->sum[k - 1] : 0);
            int clause[3];
            unsigned count = 0;
            if (i)
                clause[count++] = -a->literal[i - 1];
            if (k)
                clause[count++] = -b->literal[k - 1];
            if (!count)
                continue;
            bool over = sum > max_sum;
            if (!over)
                clause[count++] = out->literal[pbi_sums_place(out, sum)];
            pbi_sat_clause(sat, clause, count);
            if (over)
                break; /* more of b is excluded with it */
        }
    return true;
}

/* A tree of merges over `count` parts, which are overwritten. */
bool pbi_sums_add_up(pbi_sat *sat, pb_arena *arena, pbi_sums *part, uint32_t count, uint64_t max_sum, pbi_sums *out)
{
    *out = (pbi_sums){.count = 0};
    while (count > 1 && !pbi_sat_full(sat)) {
        for (uint32_t i = 0; i + 1 < count; i += 2) {
            pbi_sums both;
            if (!merge(sat, arena, &part[i], &part[i + 1], max_sum, &both))
                return false;
            part[i / 2] = both;
        }
        if (count % 2)
            part[count / 2] = part[count - 1];
        count = (count + 1) / 2;
    }
    if (count)
        *out = part[0];
    return true;
}
