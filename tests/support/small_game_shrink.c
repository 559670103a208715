/* small_game_shrink.c -- makes a failing game as small as a greedy search can. */
#include "support/small_game.h"

#include <string.h>

static uint32_t bit(pb_node v) { return UINT32_C(1) << v; }

static uint32_t without_bit(uint32_t set, pb_node v) { return (set & (bit(v) - 1)) | (set >> 1 & ~(bit(v) - 1)); }

static void remove_node(small_game *s, pb_node v)
{
    uint32_t last = --s->node_count, at = 0;
    for (uint32_t i = 0; i <= last; i++)
        if (s->order[i] != v)
            s->order[at++] = s->order[i] - (s->order[i] > v);
    for (pb_node w = 0; w <= last; w++) {
        s->in[w] = without_bit(s->in[w], v);
        s->inplace[w] = without_bit(s->inplace[w], v);
        for (uint32_t k = 0; k < s->recipe_count[w]; k++) {
            s->recipe[w][k].in = without_bit(s->recipe[w][k].in, v);
            s->recipe[w][k].inplace = without_bit(s->recipe[w][k].inplace, v);
        }
        if (s->owner[w] == v)
            s->owner[w] = PB_NO_NODE;
        else if (s->owner[w] != PB_NO_NODE && s->owner[w] > v)
            s->owner[w]--;
    }
    s->targets = without_bit(s->targets, v);
    for (pb_node w = v; w < last; w++) {
        s->cost[w] = s->cost[w + 1];
        s->size[w] = s->size[w + 1];
        s->workspace[w] = s->workspace[w + 1];
        s->flags[w] = s->flags[w + 1];
        s->in[w] = s->in[w + 1];
        s->inplace[w] = s->inplace[w + 1];
        s->owner[w] = s->owner[w + 1];
        s->recipe_count[w] = s->recipe_count[w + 1];
        memcpy(s->recipe[w], s->recipe[w + 1], sizeof s->recipe[w]);
    }
}

typedef struct shrinker {
    small_fails fails;
    void *state;
    small_game *s;
} shrinker;

/* Keep the edited game when it still fails. */
static bool keep_if_fails(shrinker *k, const small_game *edited)
{
    if (!k->fails(k->state, edited))
        return false;
    *k->s = *edited;
    return true;
}

static bool shrink_nodes(shrinker *k)
{
    bool any = false;
    for (pb_node v = k->s->node_count; v-- > 0;) {
        small_game t = *k->s;
        remove_node(&t, v);
        any |= keep_if_fails(k, &t);
    }
    return any;
}

static bool shrink_recipes(shrinker *k)
{
    bool any = false;
    for (pb_node v = 0; v < k->s->node_count; v++) {
        if (k->s->recipe_count[v]) {
            small_game t = *k->s;
            t.recipe_count[v]--;
            any |= keep_if_fails(k, &t);
        }
        for (uint32_t i = 0; i < k->s->recipe_count[v]; i++)
            for (pb_node u = 0; u < k->s->node_count; u++) {
                small_game t = *k->s;
                t.recipe[v][i].inplace &= ~bit(u);
                if (k->s->recipe[v][i].inplace & bit(u))
                    any |= keep_if_fails(k, &t);
                t.recipe[v][i].in &= ~bit(u);
                if (k->s->recipe[v][i].in & bit(u))
                    any |= keep_if_fails(k, &t);
            }
    }
    return any;
}

static bool shrink_sets(shrinker *k)
{
    bool any = false;
    for (pb_node v = 0; v < k->s->node_count; v++) {
        for (pb_node u = 0; u < k->s->node_count; u++) {
            if (k->s->in[v] & bit(u)) {
                small_game t = *k->s;
                t.in[v] &= ~bit(u);
                t.inplace[v] &= ~bit(u);
                any |= keep_if_fails(k, &t);
            }
            if (k->s->inplace[v] & bit(u)) {
                small_game t = *k->s;
                t.inplace[v] &= ~bit(u);
                any |= keep_if_fails(k, &t);
            }
        }
        if (k->s->owner[v] != PB_NO_NODE) {
            small_game t = *k->s;
            t.owner[v] = PB_NO_NODE;
            any |= keep_if_fails(k, &t);
        }
        for (unsigned flag = 1; flag <= PB_NODE_KEEP; flag *= 2)
            if (k->s->flags[v] & flag) {
                small_game t = *k->s;
                t.flags[v] &= (uint16_t)~flag;
                any |= keep_if_fails(k, &t);
            }
        if (k->s->targets & bit(v)) {
            small_game t = *k->s;
            t.targets &= ~bit(v);
            any |= keep_if_fails(k, &t);
        }
    }
    return any;
}

/* Tries 0, half and one less for the number at this place of the game. */
static bool shrink_number(shrinker *k, uint64_t *place)
{
    size_t at = (size_t)((char *)place - (char *)k->s);
    bool any = false;
    for (int way = 0; way < 3 && *place; way++) {
        uint64_t lower = way == 0 ? 0 : way == 1 ? *place / 2 : *place - 1;
        if (lower == *place)
            continue;
        small_game t = *k->s;
        memcpy((char *)&t + at, &lower, sizeof lower);
        any |= keep_if_fails(k, &t);
    }
    return any;
}

static bool shrink_numbers(shrinker *k)
{
    bool any = false;
    for (pb_node v = 0; v < k->s->node_count; v++) {
        any |= shrink_number(k, &k->s->cost[v]);
        any |= shrink_number(k, &k->s->size[v]);
        any |= shrink_number(k, &k->s->workspace[v]);
        for (uint32_t i = 0; i < k->s->recipe_count[v]; i++) {
            any |= shrink_number(k, &k->s->recipe[v][i].cost);
            any |= shrink_number(k, &k->s->recipe[v][i].workspace);
        }
    }
    any |= shrink_number(k, &k->s->fixed_size);
    any |= shrink_number(k, &k->s->weights.alpha);
    any |= shrink_number(k, &k->s->weights.beta);
    any |= k->s->cap != PB_UNLIMITED && shrink_number(k, &k->s->cap);
    for (uint32_t t = 0; t < k->s->tier_count; t++) {
        pb_tier *tier = &k->s->tiers[t];
        any |= !tier->digits && shrink_number(k, &tier->store_cost); /* whole prices are written without digits */
        any |= shrink_number(k, &tier->load_cost);
        any |= shrink_number(k, &tier->store_per_unit);
        any |= shrink_number(k, &tier->load_per_unit);
        any |= tier->cap != PB_UNLIMITED && shrink_number(k, &tier->cap);
    }
    return any;
}

/* Whole features at once: plain weights, no order, fewer tiers, no caps. */
static bool shrink_features(shrinker *k)
{
    bool any = false;
    small_game t = *k->s;
    t.weights = PB_WEIGHTS_DEFAULT;
    if (memcmp(&t.weights, &k->s->weights, sizeof t.weights) != 0)
        any |= keep_if_fails(k, &t);
    t = *k->s;
    t.weights.digits = 0;
    if (k->s->weights.digits)
        any |= keep_if_fails(k, &t);
    t = *k->s;
    t.order_named = false;
    if (k->s->order_named)
        any |= keep_if_fails(k, &t);
    t = *k->s;
    if (t.tier_count) {
        t.tier_count--;
        any |= keep_if_fails(k, &t);
    }
    for (uint32_t i = 0; i < k->s->tier_count; i++) {
        t = *k->s;
        t.tiers[i].cap = PB_UNLIMITED;
        if (k->s->tiers[i].cap != PB_UNLIMITED)
            any |= keep_if_fails(k, &t);
    }
    return any;
}

void small_game_shrink(small_fails fails, void *state, small_game *s)
{
    shrinker k = {fails, state, s};
    bool any = true;
    while (any) {
        any = shrink_nodes(&k);
        any |= shrink_features(&k);
        any |= shrink_sets(&k);
        any |= shrink_recipes(&k);
        any |= shrink_numbers(&k);
    }
}
