/* pack_order.c -- the order in which places with the same supporting offset are tried.
 *
 * No order is good for all sets, and with a bad one the search never ends; therefore many orders are tried for a short
 * time each. Later ones are randomized, and some of them put places first that live where earlier orders failed.
 */
#include "pack/pack_search.h"

#include <stdlib.h>

enum measure { TIME, AREA, SECTIONS, CELLS, SIZE, BUSIEST, BESIDE, TROUBLE, ALL_TROUBLE, MEASURES };
#define BLUR 0.3

static void measure_place(const pbi_pack_state *s, uint32_t v, double *measure)
{
    const pbi_places *p = s->p;
    for (int i = 0; i < MEASURES; i++)
        measure[i] = 0;
    measure[SIZE] = (double)p->size[v];
    measure[BESIDE] = s->t->neighbour_start[v + 1] - s->t->neighbour_start[v];
    for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1]; i++) {
        const pbi_piece *piece = &p->piece[i];
        for (uint32_t k = piece->from; k < piece->to; k++) {
            double load = (double)p->load[k], trouble = (double)s->conflicts[k];
            measure[TIME] += (double)p->length[k];
            measure[AREA] += (double)p->length[k] * (double)piece->size;
            measure[SECTIONS]++;
            measure[CELLS] += (double)piece->size;
            measure[BUSIEST] = load > measure[BUSIEST] ? load : measure[BUSIEST];
            measure[TROUBLE] = trouble > measure[TROUBLE] ? trouble : measure[TROUBLE];
            measure[ALL_TROUBLE] += trouble;
        }
    }
}

static int by_keys(const void *a, const void *b)
{
    const pbi_ranked_place *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] > y->key[i] ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

void pbi_pack_order(pbi_pack_state *s, uint32_t which, pbi_rng *rng, pbi_ranked_place *scratch)
{
    static const uint8_t keys[PBI_PACK_ORDERS][3] = {
        {TIME, AREA, BUSIEST},      {BUSIEST, AREA, TIME},      {BUSIEST, TIME, AREA},      {BUSIEST, CELLS, SECTIONS},
        {BUSIEST, SECTIONS, CELLS}, {CELLS, SECTIONS, BUSIEST}, {SECTIONS, CELLS, BUSIEST}, {AREA, TIME, BUSIEST},
        {BUSIEST, BESIDE, AREA},    {BESIDE, AREA, BUSIEST},    {SIZE, TIME, AREA},         {TIME, SIZE, BUSIEST},
        {TROUBLE, TIME, AREA},      {ALL_TROUBLE, AREA, TIME}};
    const uint8_t *chosen = keys[which % PBI_PACK_ORDERS];
    double blur = which < PBI_PACK_ORDERS ? 0 : BLUR, measure[MEASURES];
    uint32_t n = s->p->count;
    for (uint32_t v = 0; v < n; v++) {
        measure_place(s, v, measure);
        for (int i = 0; i < 3; i++)
            scratch[v].key[i] = measure[chosen[i]] * (1 + blur * pbi_rng_real(rng));
        scratch[v].place = v;
    }
    qsort(scratch, n, sizeof *scratch, by_keys);
    for (uint32_t i = 0; i < n; i++) {
        s->order[i] = scratch[i].place;
        s->rank[s->order[i]] = i;
        s->twin[i] = PBI_NO_PLACE;
    }
    /* `low` is used for the last place of each kind: it is recomputed at every placement. */
    for (uint32_t v = 0; v < n; v++)
        s->low[v] = PBI_NO_PLACE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = s->order[i], kind = s->t->kind[v];
        s->twin[v] = (uint32_t)s->low[kind];
        s->low[kind] = v;
    }
}
