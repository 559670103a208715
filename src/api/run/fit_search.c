/* fit_search.c -- see fit_search.h. */
#include "api/run/fit_search.h"

#include "plan/sequence/training.h"

#define MAX_VALUE (UINT64_C(1) << 40)

pb_status pbi_fit_search(pbi_fit_try *fits_at, void *state, uint64_t first, uint64_t *value, bool *bounded)
{
    bool fits = true, taken = true, refused = true; /* refused: no value as large as `high` is taken */
    uint64_t low = *value, high = low ? 2 * low : first;
    pb_status status = PB_OK;
    for (; status == PB_OK && fits && high <= MAX_VALUE; high *= fits ? 2 : 1) {
        status = fits_at(state, high, &fits, &taken);
        low = status == PB_OK && fits ? high : low;
        refused = fits || !taken;
    }
    low = low || status != PB_OK ? low : first - 1; /* nothing below the first is tried */
    while (status == PB_OK && low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        status = fits_at(state, middle, &fits, &taken);
        if (status == PB_OK && fits) {
            low = middle;
        } else {
            high = middle;
            refused = !taken;
        }
    }
    *value = low < first ? 0 : low;
    *bounded = !refused;
    return status;
}

pb_status pbi_forward_cost(pb_context *ctx, const pb_graph *g, uint64_t *cost)
{
    pb_arena scratch;
    pbi_training training;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_training_find(g, &scratch, &training);
    *cost = 0;
    for (uint32_t i = 0; status == PB_OK && i < training.forward; i++)
        *cost += g->cost[training.order[i]];
    pb_arena_release(&scratch);
    return status;
}
