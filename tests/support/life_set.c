/* life_set.c -- see life_set.h. */
#include "support/life_set.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static int by_from(const void *a, const void *b)
{
    const pb_lifetime *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

void life_set_random(uint64_t seed, uint32_t places, uint32_t times, uint64_t largest, life_set *out)
{
    pbi_rng rng = {seed};
    uint64_t align = UINT64_C(1) << pbi_rng_below(&rng, 3);
    uint32_t count = 0;
    for (uint32_t place = 0; place < places; place++) {
        uint64_t from = pbi_rng_below(&rng, times), parts = pbi_rng_below(&rng, 4) ? 1 : 1 + pbi_rng_below(&rng, 3);
        for (uint64_t k = 0; k < parts && count < LIFE_SET_MAX; k++) {
            uint64_t to = from + 2 + pbi_rng_below(&rng, times);
            uint64_t size = (pbi_rng_below(&rng, largest) + (pbi_rng_below(&rng, 20) > 0)) * align;
            out->life[count++] = (pb_lifetime){from, to, size, place, PB_NO_NODE};
            from = to - pbi_rng_below(&rng, 2); /* what is made over another one meets it during one move */
        }
    }
    qsort(out->life, count, sizeof *out->life, by_from);
    out->lives = (pb_lifetimes){out->life, count, places, align};
}

void life_set_cut(uint64_t seed, uint32_t pieces, uint64_t times, uint64_t size, life_set *out)
{
    pbi_rng rng = {seed};
    uint32_t count = 1;
    out->life[0] = (pb_lifetime){0, times, size, 0, PB_NO_NODE};
    for (uint32_t tries = 0; count < pieces && tries < 50 * pieces; tries++) {
        pb_lifetime *l = &out->life[pbi_rng_below(&rng, count)], *other = &out->life[count];
        bool in_time = pbi_rng_below(&rng, 2);
        uint64_t room = in_time ? l->to - l->from : l->size;
        if (room < 2)
            continue;
        uint64_t cut = pbi_rng_below(&rng, 3) ? 1 + pbi_rng_below(&rng, room - 1) : room / 2; /* halves may be alike */
        *other = *l;
        if (in_time) {
            other->from += cut;
            l->to = other->from;
        } else {
            other->size -= cut;
            l->size = cut;
        }
        count++;
    }
    for (uint32_t i = 0; i < count; i++) { /* numbers that do not show where it was cut */
        uint32_t k = i + (uint32_t)pbi_rng_below(&rng, count - i);
        pb_lifetime swap = out->life[k];
        out->life[k] = out->life[i];
        out->life[i] = swap;
        out->life[i].place = i;
    }
    qsort(out->life, count, sizeof *out->life, by_from);
    out->lives = (pb_lifetimes){out->life, count, count, 1};
}

static uint64_t place_size_at(const pb_lifetimes *lives, uint32_t place, uint64_t time)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < lives->count; i++) {
        const pb_lifetime *l = &lives->life[i];
        if (l->place == place && l->from <= time && time < l->to && l->size > size)
            size = l->size;
    }
    return size;
}

static uint64_t last_time(const pb_lifetimes *lives)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < lives->count; i++)
        last = lives->life[i].to > last ? lives->life[i].to : last;
    return last;
}

uint64_t life_set_load(const pb_lifetimes *lives)
{
    uint64_t most = 0;
    for (uint64_t time = 0; time < last_time(lives); time++) {
        uint64_t sum = 0;
        for (uint32_t v = 0; v < lives->place_count; v++)
            sum += place_size_at(lives, v, time);
        most = sum > most ? sum : most;
    }
    return most;
}

typedef struct trial {
    const pb_lifetimes *lives;
    uint64_t block, last, at[LIFE_SET_MAX];
    uint64_t least, best[LIFE_SET_MAX]; /* the least sum so far, and its offsets */
    bool any;                           /* the first one will do */
} trial;

static bool is_apart(const trial *t, uint32_t u, uint32_t v)
{
    for (uint64_t time = 0; time < t->last; time++) {
        uint64_t x = place_size_at(t->lives, u, time), y = place_size_at(t->lives, v, time);
        if (x && y && t->at[u] < t->at[v] + y && t->at[v] < t->at[u] + x)
            return false;
    }
    return true;
}

static uint64_t largest_of(const pb_lifetimes *lives, uint32_t place)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < lives->count; i++)
        if (lives->life[i].place == place && lives->life[i].size > most)
            most = lives->life[i].size;
    return most;
}

/* Places v and later ones, with those before at hand, whose offsets have this sum. */
static void try_places(trial *t, uint32_t v, uint64_t sum)
{
    if (v == t->lives->place_count) {
        t->least = sum;
        memcpy(t->best, t->at, sizeof t->best);
        return;
    }
    uint64_t most = largest_of(t->lives, v);
    for (t->at[v] = 0; t->at[v] + most <= t->block; t->at[v] += t->lives->align) {
        bool apart = true;
        if (sum + t->at[v] >= t->least || (t->any && t->least < UINT64_MAX))
            return;
        for (uint32_t u = 0; u < v && apart; u++)
            apart = is_apart(t, u, v);
        if (apart)
            try_places(t, v + 1, sum + t->at[v]);
    }
}

uint64_t life_set_least(const pb_lifetimes *lives)
{
    trial t = {.lives = lives, .last = last_time(lives), .least = UINT64_MAX, .any = true};
    for (t.block = life_set_load(lives);; t.block += lives->align) {
        try_places(&t, 0, 0);
        if (t.least < UINT64_MAX)
            return t.block;
    }
}

bool life_set_lowest(const pb_lifetimes *lives, uint64_t block, uint64_t offset[LIFE_SET_MAX])
{
    trial t = {.lives = lives, .block = block, .last = last_time(lives), .least = UINT64_MAX};
    try_places(&t, 0, 0);
    memcpy(offset, t.best, sizeof t.best);
    return t.least < UINT64_MAX;
}
