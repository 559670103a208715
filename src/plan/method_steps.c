/* method_steps.c -- see method_steps.h. */
#include "plan/method_steps.h"

#include "base/arena.h"
#include "base/checked.h"

#include <string.h>

uint64_t pbi_steps_at(const pbi_steps *f, uint64_t memory)
{
    uint32_t low = 0, high = f->count; /* the steps below `low` need no more than memory */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->step[middle].need <= memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? f->step[low - 1].cost : PBI_STEPS_NEVER;
}

void pbi_steps_sum_init(pbi_steps_sum *sum, pb_arena *arena, uint64_t most)
{
    *sum = (pbi_steps_sum){.arena = arena, .most = most};
}

void pbi_steps_sum_clear(pbi_steps_sum *sum) { sum->count = 0; }

static uint64_t higher(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Appends a step unless one that needs no more costs no more. */
static size_t append(pbi_step *to, size_t count, uint64_t need, uint64_t cost)
{
    if (count && to[count - 1].cost <= cost)
        return count;
    if (count && to[count - 1].need == need)
        count--;
    to[count] = (pbi_step){need, cost};
    return count + 1;
}

/* The next need of the sum of a (moved up by held) and b, after both stand at ia and ib. */
static uint64_t next_need(const pbi_steps *a, uint32_t ia, uint64_t held, const pbi_steps *b, uint32_t ib)
{
    uint64_t at_a = ia < a->count ? pbi_add_saturated(a->step[ia].need, held) : UINT64_MAX;
    uint64_t at_b = b && ib < b->count ? b->step[ib].need : UINT64_MAX;
    return at_a < at_b ? at_a : at_b;
}

bool pbi_steps_add(pbi_steps_sum *sum, uint64_t run, uint64_t fixed, const pbi_steps *a, uint64_t held,
                   const pbi_steps *b)
{
    if (!a->count || (b && !b->count))
        return true;
    uint64_t need = higher(run, pbi_add_saturated(a->step[0].need, held));
    need = b ? higher(need, b->step[0].need) : need;
    uint64_t least = pbi_add_saturated(fixed, a->step[a->count - 1].cost); /* whatever the memory */
    least = b ? pbi_add_saturated(least, b->step[b->count - 1].cost) : least;
    pbi_steps known = {sum->step, (uint32_t)sum->count};
    if (need > sum->most || pbi_steps_at(&known, need) <= least)
        return true; /* nowhere better than what is there */
    size_t most = sum->count + a->count + (b ? b->count : 0) + 2;
    void *spare = sum->spare;
    if (!pbi_arena_reserve(sum->arena, &spare, &sum->spare_room, most, sizeof *sum->spare))
        return false;
    sum->spare = spare;
    sum->work += most;
    uint32_t ia = 1, ib = b ? 1 : 0;
    size_t old = 0, count = 0;
    while (need <= sum->most) {
        while (ia < a->count && pbi_add_saturated(a->step[ia].need, held) <= need)
            ia++;
        while (b && ib < b->count && b->step[ib].need <= need)
            ib++;
        for (; old < sum->count && sum->step[old].need <= need; old++)
            count = append(sum->spare, count, sum->step[old].need, sum->step[old].cost);
        uint64_t cost = pbi_add_saturated(fixed, a->step[ia - 1].cost);
        count = append(sum->spare, count, need, b ? pbi_add_saturated(cost, b->step[ib - 1].cost) : cost);
        need = next_need(a, ia, held, b, ib);
    }
    for (; old < sum->count; old++)
        count = append(sum->spare, count, sum->step[old].need, sum->step[old].cost);
    pbi_step *swap = sum->step;
    size_t room = sum->room;
    sum->step = sum->spare;
    sum->room = sum->spare_room;
    sum->count = count;
    sum->spare = swap;
    sum->spare_room = room;
    return true;
}

bool pbi_steps_copy(const pbi_steps_sum *sum, pb_arena *result, pbi_steps *out)
{
    out->step = pb_arena_alloc(result, sum->count, sizeof *out->step);
    if (!out->step)
        return false;
    if (sum->count)
        memcpy(out->step, sum->step, sum->count * sizeof *out->step);
    out->count = (uint32_t)sum->count;
    return true;
}
