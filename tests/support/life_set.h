/* life_set.h -- small random sets of lifetimes, and the least memory that they need by trying all offsets. */
#ifndef LIFE_SET_H
#define LIFE_SET_H

#include "pebble/pack.h"

enum { LIFE_SET_MAX = 64 };

typedef struct life_set {
    pb_lifetime life[LIFE_SET_MAX];
    pb_lifetimes lives;
} life_set;

/* `places` places with a lifetime each, some with two or three in a row, at times below `times`, of sizes up to `largest`; the alignment
 * is 1, 2 or 4. */
void life_set_random(uint64_t seed, uint32_t places, uint32_t times, uint64_t largest, life_set *out);

/* A block of `size` over `times`, cut at random into `pieces` lifetimes (fewer where nothing can be cut): so they fit into it exactly, with
 * no room to spare. */
void life_set_cut(uint64_t seed, uint32_t pieces, uint64_t times, uint64_t size, life_set *out);

/* The largest sum of sizes at any time, counted time by time. */
uint64_t life_set_load(const pb_lifetimes *lives);

/* The least size of a block, by trying every offset for every place: for up to six places or so of small sizes. */
uint64_t life_set_least(const pb_lifetimes *lives);

/* Offsets by place within `block`, of all such the ones with the least sum; false: there are none. For up to five places or so. */
bool life_set_lowest(const pb_lifetimes *lives, uint64_t block, uint64_t offset[LIFE_SET_MAX]);

#endif
