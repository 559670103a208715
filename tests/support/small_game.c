/* small_game.c -- making, building, relabelling and printing small games. */
#include "support/small_game.h"

#include "base/rng.h"

#include <inttypes.h>
#include <string.h>

static uint32_t bit(pb_node v) { return UINT32_C(1) << v; }

void small_game_init(small_game *s)
{
    memset(s, 0, sizeof *s);
    s->kind = PB_GAME_REMAT;
    s->cap = PB_UNLIMITED;
    s->weights = PB_WEIGHTS_DEFAULT;
}

pb_node small_game_add(small_game *s, uint64_t cost, uint64_t size, uint32_t in)
{
    pb_node v = s->node_count++;
    s->cost[v] = cost;
    s->size[v] = size;
    s->workspace[v] = 0;
    s->flags[v] = 0;
    s->in[v] = in;
    s->inplace[v] = 0;
    s->owner[v] = PB_NO_NODE;
    s->recipe_count[v] = 0;
    s->order[v] = v;
    return v;
}

/* ---- random games ---- */

static bool one_in(pbi_rng *rng, uint64_t n) { return pbi_rng_below(rng, n) == 0; }

/* Which features this game has at all: mixing all of them in every game would hide the plain ones. */
typedef struct features {
    bool workspace, given, slow, once, keep, inplace, parts, unit_sizes, unit_costs;
} features;

static features random_features(pbi_rng *rng, pb_game_kind kind)
{
    features f = {0};
    f.workspace = one_in(rng, 4);
    f.given = one_in(rng, 3) || kind == PB_GAME_TIERED;
    f.slow = kind == PB_GAME_TIERED ? one_in(rng, 2) : one_in(rng, 40);
    f.once = one_in(rng, 4);
    f.keep = one_in(rng, 4);
    f.inplace = one_in(rng, 3);
    f.parts = one_in(rng, 4);
    f.unit_sizes = one_in(rng, 3);
    f.unit_costs = one_in(rng, 3);
    return f;
}

static uint32_t random_inputs(pbi_rng *rng, pb_node v, uint32_t reach)
{
    uint32_t in = 0;
    if (v == 0 || one_in(rng, 8))
        return 0;
    uint64_t count = 1 + pbi_rng_below(rng, 3);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t back = 1 + pbi_rng_below(rng, reach);
        in |= bit(back > v ? (pb_node)pbi_rng_below(rng, v) : v - (pb_node)back);
    }
    return in;
}

static void random_node(pbi_rng *rng, const features *f, uint32_t reach, small_game *s)
{
    /* One after the other: in which order arguments are worked out is up to the compiler. */
    uint32_t in = random_inputs(rng, s->node_count, reach);
    uint64_t size = f->unit_sizes ? 1 : pbi_rng_below(rng, 5);
    uint64_t cost = f->unit_costs ? 1 : pbi_rng_below(rng, 6);
    pb_node v = small_game_add(s, cost, size, in);
    if (f->parts && v && one_in(rng, 3)) {
        pb_node owner = (pb_node)pbi_rng_below(rng, v);
        if (!(s->flags[owner] & PB_NODE_GIVEN) && s->owner[owner] == PB_NO_NODE) {
            s->owner[v] = owner;
            s->cost[v] = 0;
            s->in[v] = 0;
            if (f->keep && one_in(rng, 4))
                s->flags[v] |= PB_NODE_KEEP;
            return;
        }
    }
    if (f->given && (v == 0 || one_in(rng, 6))) {
        s->in[v] = 0;
        s->flags[v] |= PB_NODE_GIVEN;
        if (f->slow && one_in(rng, 2))
            s->flags[v] |= PB_NODE_GIVEN_SLOW;
    } else {
        if (f->once && one_in(rng, 3))
            s->flags[v] |= PB_NODE_ONCE;
        if (f->workspace && one_in(rng, 2))
            s->workspace[v] = 1 + pbi_rng_below(rng, 3);
        for (pb_node u = 0; u < v && f->inplace; u++)
            if ((s->in[v] & bit(u)) && one_in(rng, 2))
                s->inplace[v] |= bit(u);
    }
    if (f->keep && one_in(rng, 4))
        s->flags[v] |= PB_NODE_KEEP;
}

static void random_tiers(pbi_rng *rng, small_game *s)
{
    s->tier_count = one_in(rng, 20) ? 0 : one_in(rng, 6) && s->node_count <= 4 ? 2 : 1;
    for (uint32_t t = 0; t < s->tier_count; t++) {
        pb_tier *tier = &s->tiers[t];
        *tier = (pb_tier){.cap = PB_UNLIMITED};
        tier->store_cost = pbi_rng_below(rng, 3);
        tier->load_cost = pbi_rng_below(rng, 3);
        if (one_in(rng, 2))
            tier->store_per_unit = pbi_rng_below(rng, 3);
        if (one_in(rng, 2))
            tier->load_per_unit = pbi_rng_below(rng, 3);
        if (one_in(rng, 3))
            tier->cap = pbi_rng_below(rng, 8);
        /* Decimal prices, without another draw: 0.5 for a store, 0.9 or 1 for a load, and tenths for each unit. */
        if (tier->store_cost == 2 && tier->load_cost > 0) {
            tier->store_cost = 5;
            tier->load_cost += 8;
            tier->digits = 1;
        }
    }
}

static void random_weights(pbi_rng *rng, small_game *s)
{
    s->weights = PB_WEIGHTS_DEFAULT;
    if (!one_in(rng, 3))
        return;
    s->weights.alpha = pbi_rng_below(rng, 4);
    s->weights.beta = pbi_rng_below(rng, 3);
    s->weights.gamma = pbi_rng_below(rng, 3);
    s->weights.digits = (uint32_t)pbi_rng_below(rng, 3);
}

static void random_game(uint64_t seed, unsigned kinds, bool large, small_game *s)
{
    static const pb_game_kind all[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    pbi_rng rng = {seed};
    small_game_init(s);
    s->seed = seed;
    do
        s->kind = all[pbi_rng_below(&rng, 3)];
    while (!(kinds & s->kind));
    features f = random_features(&rng, s->kind);
    /* Slow tiers square the number of states: fewer nodes there. */
    uint32_t nodes = 2 + (uint32_t)pbi_rng_below(&rng, s->kind == PB_GAME_TIERED ? 5 : 8);
    if (large)
        nodes = 8 + (uint32_t)pbi_rng_below(&rng, SMALL_MAX - 7);
    uint32_t reach = 1 + (uint32_t)pbi_rng_below(&rng, 4);
    for (uint32_t i = 0; i < nodes; i++)
        random_node(&rng, &f, reach, s);
    if (one_in(&rng, 4))
        s->targets = (uint32_t)pbi_rng_below(&rng, bit(nodes));
    if (one_in(&rng, 6))
        s->fixed_size = 1 + pbi_rng_below(&rng, 3);
    if (s->kind == PB_GAME_TIERED)
        random_tiers(&rng, s);
    random_weights(&rng, s);
    s->order_named = one_in(&rng, 4);
}

void small_game_random(uint64_t seed, unsigned kinds, small_game *s) { random_game(seed, kinds, false, s); }

void small_game_random_large(uint64_t seed, unsigned kinds, small_game *s) { random_game(seed, kinds, true, s); }

/* Cheap or expensive, of other inputs, also of nodes that depend on it. */
static small_recipe random_recipe(pbi_rng *rng, const small_game *s, pb_node v)
{
    small_recipe r = {0};
    uint64_t count = pbi_rng_below(rng, 3);
    for (uint64_t i = 0; i < count; i++) {
        pb_node u = (pb_node)pbi_rng_below(rng, s->node_count);
        r.in |= u == v ? 0 : bit(u);
    }
    r.cost = pbi_rng_below(rng, 4);
    r.workspace = one_in(rng, 4) ? 1 + pbi_rng_below(rng, 3) : 0;
    for (pb_node u = 0; u < s->node_count; u++)
        if ((r.in & bit(u)) && one_in(rng, 4))
            r.inplace |= bit(u);
    return r;
}

void small_game_add_recipes(small_game *s)
{
    pbi_rng rng = {s->seed ^ UINT64_C(0x4ec17e)};
    uint64_t rare = 1 + pbi_rng_below(&rng, 4);
    pb_node first = (pb_node)pbi_rng_below(&rng, s->node_count);
    for (pb_node v = 0; v < s->node_count; v++) {
        bool has = one_in(&rng, rare) || v == first;
        s->recipe_count[v] = has ? 1 + one_in(&rng, 4) : 0;
        for (uint32_t k = 0; k < s->recipe_count[v]; k++)
            s->recipe[v][k] = random_recipe(&rng, s, v);
    }
}

/* ---- the library's form ---- */

static bool build_recipes(pb_builder *b, const small_game *s, pb_node v)
{
    bool ok = true;
    for (uint32_t k = 0; k < s->recipe_count[v]; k++) {
        const small_recipe *r = &s->recipe[v][k];
        uint32_t number;
        ok = ok && pb_builder_add_recipe(b, v, &(pb_recipe_spec){.cost = r->cost, .workspace = r->workspace},
                                         &number) == PB_OK;
        for (pb_node u = 0; u < s->node_count && ok; u++) {
            if (r->in & bit(u))
                ok = pb_builder_add_recipe_input(b, number, u) == PB_OK;
            if (ok && (r->inplace & bit(u)))
                ok = pb_builder_add_recipe_inplace(b, number, u) == PB_OK;
        }
    }
    return ok;
}

bool small_game_build(pb_context *ctx, const small_game *s, pb_arena *arena, pb_game *out)
{
    pb_builder *b;
    if (pb_builder_new(ctx, &b) != PB_OK)
        return false;
    bool ok = true;
    for (pb_node v = 0; v < s->node_count && ok; v++) {
        pb_node got;
        ok = pb_builder_add_node(
                 b,
                 &(pb_node_spec){
                     .cost = s->cost[v], .size = s->size[v], .workspace = s->workspace[v], .flags = s->flags[v]},
                 &got) == PB_OK;
    }
    for (pb_node v = 0; v < s->node_count; v++) {
        for (pb_node u = 0; u < s->node_count && ok; u++) {
            if (s->in[v] & bit(u))
                ok = pb_builder_add_edge(b, u, v) == PB_OK;
            if (ok && (s->inplace[v] & bit(u)))
                ok = pb_builder_add_inplace(b, v, u) == PB_OK;
        }
        ok = ok && build_recipes(b, s, v);
        if (ok && s->owner[v] != PB_NO_NODE)
            ok = pb_builder_set_byproduct(b, v, s->owner[v]) == PB_OK;
        if (ok && (s->targets & bit(v)))
            ok = pb_builder_add_target(b, v) == PB_OK;
    }
    for (uint32_t i = 0; i < s->node_count && s->order_named && ok; i++) {
        pb_node v = s->order[i];
        if (!(s->flags[v] & PB_NODE_GIVEN) && s->owner[v] == PB_NO_NODE)
            ok = pb_builder_add_order(b, v) == PB_OK;
    }
    pb_builder_set_fixed_size(b, s->fixed_size);
    const pb_graph *g = NULL;
    ok = ok && pb_builder_freeze(b, arena, &g) == PB_OK;
    pb_builder_free(b);
    *out = (pb_game){.graph = g,
                     .kind = s->kind,
                     .cap = s->cap,
                     .borrow = s->borrow,
                     .weights = s->weights,
                     .tier_count = s->tier_count};
    memcpy(out->tiers, s->tiers, sizeof out->tiers);
    return ok;
}

static uint32_t map_set(uint32_t set, const uint8_t *to)
{
    uint32_t mapped = 0;
    for (pb_node v = 0; set; v++, set >>= 1)
        if (set & 1)
            mapped |= bit(to[v]);
    return mapped;
}

void small_game_relabel(const small_game *s, const uint8_t *to, small_game *out)
{
    *out = *s;
    for (pb_node v = 0; v < s->node_count; v++) {
        pb_node w = to[v];
        out->cost[w] = s->cost[v];
        out->size[w] = s->size[v];
        out->workspace[w] = s->workspace[v];
        out->flags[w] = s->flags[v];
        out->in[w] = map_set(s->in[v], to);
        out->inplace[w] = map_set(s->inplace[v], to);
        out->owner[w] = s->owner[v] == PB_NO_NODE ? PB_NO_NODE : to[s->owner[v]];
        out->order[v] = to[s->order[v]];
        out->recipe_count[w] = s->recipe_count[v];
        for (uint32_t k = 0; k < s->recipe_count[v]; k++) {
            const small_recipe *r = &s->recipe[v][k];
            out->recipe[w][k] = (small_recipe){map_set(r->in, to), map_set(r->inplace, to), r->cost, r->workspace};
        }
    }
    out->targets = map_set(s->targets, to);
}

/* ---- printing ---- */

static void print_set(const char *key, uint32_t set, FILE *file)
{
    const char *comma = "";
    fprintf(file, "%s[", key);
    for (pb_node u = 0; u < SMALL_MAX; u++)
        if (set & bit(u)) {
            fprintf(file, "%s%u", comma, u);
            comma = ",";
        }
    fputs("]", file);
}

static void print_node(const small_game *s, pb_node v, FILE *file)
{
    fprintf(file, "{\"name\":\"n%u\",\"cost\":%" PRIu64 ",\"size\":%" PRIu64, v, s->cost[v], s->size[v]);
    if (s->workspace[v])
        fprintf(file, ",\"workspace\":%" PRIu64, s->workspace[v]);
    if (s->flags[v] & PB_NODE_GIVEN)
        fputs(s->flags[v] & PB_NODE_GIVEN_SLOW ? ",\"given\":\"slow\"" : ",\"given\":true", file);
    if (s->flags[v] & PB_NODE_ONCE)
        fputs(",\"once\":true", file);
    if (s->flags[v] & PB_NODE_KEEP)
        fputs(",\"keep\":true", file);
    if (s->inplace[v])
        print_set(",\"inplace\":", s->inplace[v], file);
    for (uint32_t k = 0; k < s->recipe_count[v]; k++) {
        const small_recipe *r = &s->recipe[v][k];
        print_set(k ? ",{\"inputs\":" : ",\"recipes\":[{\"inputs\":", r->in, file);
        fprintf(file, ",\"cost\":%" PRIu64 ",\"workspace\":%" PRIu64, r->cost, r->workspace);
        print_set(",\"inplace\":", r->inplace, file);
        fputs(k + 1 < s->recipe_count[v] ? "}" : "}]", file);
    }
    if (s->owner[v] != PB_NO_NODE)
        fprintf(file, ",\"byproduct_of\":%u", s->owner[v]);
    fputs("}", file);
}

static void print_graph(const small_game *s, FILE *file)
{
    fputs("{\"format\":\"pebble-graph/1\",\"name\":\"shrunk\",\"nodes\":[", file);
    for (pb_node v = 0; v < s->node_count; v++) {
        fputs(v ? ",\n " : "", file);
        print_node(s, v, file);
    }
    fputs("],\n \"edges\":[", file);
    const char *comma = "";
    for (pb_node v = 0; v < s->node_count; v++)
        for (pb_node u = 0; u < s->node_count; u++)
            if (s->in[v] & bit(u)) {
                fprintf(file, "%s[%u,%u]", comma, u, v);
                comma = ",";
            }
    fputs("]", file);
    if (s->targets)
        print_set(",\"targets\":", s->targets, file);
    if (s->order_named) {
        fputs(",\"order\":[", file);
        for (uint32_t i = 0; i < s->node_count; i++)
            fprintf(file, "%s%u", i ? "," : "", s->order[i]);
        fputs("]", file);
    }
    if (s->fixed_size)
        fprintf(file, ",\"fixed_size\":%" PRIu64, s->fixed_size);
    fputs("}\n", file);
}

static void print_number(const char *key, uint64_t value, FILE *file)
{
    if (value == PB_UNLIMITED)
        fprintf(file, " %s unlimited", key);
    else
        fprintf(file, " %s %" PRIu64, key, value);
}

void small_game_print(const small_game *s, FILE *file)
{
    print_graph(s, file);
    const char *kind = s->kind == PB_GAME_REMAT ? "remat" : s->kind == PB_GAME_REVERSIBLE ? "reversible" : "tiered";
    fprintf(file, "game %s", kind);
    print_number("cap", s->cap, file);
    if (s->borrow)
        print_number("borrow", s->borrow, file);
    fprintf(file, " weights %" PRIu64 ",%" PRIu64 ",%" PRIu64 " / 10^%u", s->weights.alpha, s->weights.beta,
            s->weights.gamma, s->weights.digits);
    for (uint32_t t = 0; t < s->tier_count; t++) {
        fprintf(file, "; tier %u:", t + 1);
        print_number("store-cost", s->tiers[t].store_cost, file);
        print_number("load-cost", s->tiers[t].load_cost, file);
        print_number("store-per-unit", s->tiers[t].store_per_unit, file);
        print_number("load-per-unit", s->tiers[t].load_per_unit, file);
        print_number("price-digits", s->tiers[t].digits, file);
        print_number("cap", s->tiers[t].cap, file);
    }
    fprintf(file, "; seed %" PRIu64 "\n", s->seed);
}
