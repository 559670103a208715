/* reference.c -- see reference.h. */
#include "support/reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct replay {
    const pb_game *game;
    const pb_graph *g;
    const pb_moves *moves;
    bool *fast, *ever, *done, *borrowed; /* ever: by its own inputs, or as a by-product; done: also given */
    bool *slow[PB_MAX_TIERS];
    wide memory, lent, slow_memory[PB_MAX_TIERS];
    reference *out;
    /* Of the move at hand. */
    pb_step step;
    const pb_move *move;
    pb_node over;
    const pb_node *also;
    uint32_t also_count;
    wide use, cost;
} replay;

static void *must(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (!block)
        abort();
    return block;
}

bool same_wide(wide a, pb_u128 b) { return (uint64_t)(a >> 64) == b.high && (uint64_t)a == b.low; }

/* Parts of a power of ten as whole costs, rounded up. */
static wide parts_up(wide parts, uint32_t digits)
{
    wide unit = 1;
    for (uint32_t i = 0; i < digits; i++)
        unit *= 10;
    return (parts + unit - 1) / unit;
}

/* Records a broken rule; always false, so that rules read as a chain. */
static bool breaks(replay *r, pb_rule rule, pb_node node, pb_node other)
{
    r->out->rule = rule;
    r->out->step = r->step;
    r->out->node = node;
    r->out->other = other;
    return false;
}

static pb_node owner_of(const replay *r, pb_node v) { return r->g->owner ? r->g->owner[v] : PB_NO_NODE; }
static bool is_given(const replay *r, pb_node v) { return r->g->flags[v] & PB_NODE_GIVEN; }
static bool is_slow_given(const replay *r, pb_node v)
{
    return is_given(r, v) && (r->g->flags[v] & PB_NODE_GIVEN_SLOW);
}

static bool start(replay *r)
{
    r->memory = r->g->fixed_size;
    for (pb_node v = 0; v < r->g->node_count; v++) {
        if (is_slow_given(r, v)) {
            r->slow[0][v] = true;
            r->slow_memory[0] += r->g->size[v];
        } else if (is_given(r, v)) {
            r->fast[v] = true;
            r->memory += r->g->size[v];
        }
        r->ever[v] = r->done[v] = is_given(r, v);
    }
    r->out->start_memory = r->out->peak = r->out->amount = r->memory;
    r->out->peak_step = UINT64_MAX;
    if (r->memory > r->game->cap)
        return breaks(r, PB_RULE_START_CAP, PB_NO_NODE, PB_NO_NODE);
    if (r->game->kind == PB_GAME_TIERED && r->game->tier_count && r->game->tiers[0].cap != PB_UNLIMITED &&
        r->slow_memory[0] > r->game->tiers[0].cap) {
        r->out->amount = r->slow_memory[0];
        return breaks(r, PB_RULE_START_TIER, PB_NO_NODE, PB_NO_NODE);
    }
    return true;
}

static void decode(replay *r, pb_step k)
{
    r->step = k;
    r->move = &r->moves->move[k];
    r->over = PB_NO_NODE;
    r->also = NULL;
    r->also_count = 0;
    if (r->move->op != PB_COMPUTE)
        return;
    if (r->move->flags & PB_MOVE_ALSO) {
        const uint32_t *extra = r->moves->extra + r->move->arg;
        r->over = r->move->flags & PB_MOVE_OVER ? extra[0] : PB_NO_NODE;
        r->also_count = extra[1];
        r->also = extra + 2;
    } else if (r->move->flags & PB_MOVE_OVER) {
        r->over = r->move->arg;
    }
}

/* Recipe `by` of v, from 1. */
static const pb_recipe *recipe_of(const replay *r, pb_node v, uint32_t by)
{
    return &r->g->recipe[r->g->recipe_start[v] + by - 1];
}

static bool recipe_is_open(replay *r, pb_node v)
{
    uint32_t by = r->move->by, count = r->g->recipe_start ? r->g->recipe_start[v + 1] - r->g->recipe_start[v] : 0;
    if (r->game->kind == PB_GAME_REVERSIBLE || by > count)
        return breaks(r, PB_RULE_RECIPE, v, PB_NO_NODE);
    if (r->move->flags & PB_MOVE_ALSO)
        return breaks(r, PB_RULE_RECIPE_ALSO, v, PB_NO_NODE);
    return r->done[v] ? true : breaks(r, PB_RULE_RECIPE_EARLY, v, PB_NO_NODE);
}

/* What is computed by a recipe: no by-products, not in borrowed memory, any number of times. */
static bool compute_by_recipe(replay *r)
{
    pb_node v = r->move->node;
    if (!recipe_is_open(r, v))
        return false;
    if (r->fast[v])
        return breaks(r, PB_RULE_RESIDENT, v, PB_NO_NODE);
    const pb_recipe *way = recipe_of(r, v, r->move->by);
    for (uint32_t i = 0; i < way->in_count; i++)
        if (!r->fast[way->in[i]])
            return breaks(r, PB_RULE_INPUT, v, way->in[i]);
    wide size = r->g->size[v], taken = 0;
    if (r->over != PB_NO_NODE) {
        bool listed = false;
        for (uint32_t i = 0; i < way->inplace_count; i++)
            listed |= way->inplace[i] == r->over;
        if (!listed)
            return breaks(r, PB_RULE_OVER, v, r->over);
        if (r->borrowed[r->over])
            return breaks(r, PB_RULE_OVER_BORROWED, v, r->over);
        taken = r->g->size[r->over];
        r->fast[r->over] = false;
    }
    r->use = r->memory + (size > taken ? size - taken : 0) + way->workspace;
    r->memory = r->memory + size - taken;
    r->cost = way->cost;
    r->out->compute_work += r->cost;
    r->out->compute_count++;
    r->fast[v] = true;
    return true;
}

static bool inputs_resident(replay *r, pb_node v, pb_node reader)
{
    for (uint32_t i = r->g->in_start[reader]; i < r->g->in_start[reader + 1]; i++)
        if (!r->fast[r->g->in[i]])
            return breaks(r, PB_RULE_INPUT, v, r->g->in[i]);
    return true;
}

static bool may_overwrite(const replay *r, pb_node v, pb_node u)
{
    bool listed = false, read = false;
    for (uint32_t i = r->g->inplace_start ? r->g->inplace_start[v] : 0;
         r->g->inplace_start && i < r->g->inplace_start[v + 1]; i++)
        listed |= r->g->inplace[i] == u;
    for (uint32_t i = r->g->in_start[v]; i < r->g->in_start[v + 1]; i++)
        read |= r->g->in[i] == u;
    return listed && read;
}

static bool compute(replay *r)
{
    pb_node v = r->move->node;
    if (r->move->by)
        return compute_by_recipe(r);
    if (is_given(r, v))
        return breaks(r, PB_RULE_GIVEN, v, PB_NO_NODE);
    if (owner_of(r, v) != PB_NO_NODE)
        return breaks(r, PB_RULE_BYPRODUCT, v, owner_of(r, v));
    bool again = r->fast[v];
    if (again && !r->also_count)
        return breaks(r, PB_RULE_RESIDENT, v, PB_NO_NODE);
    if (!inputs_resident(r, v, v))
        return false;
    if ((r->g->flags[v] & PB_NODE_ONCE) && r->ever[v])
        return breaks(r, PB_RULE_ONCE, v, PB_NO_NODE);
    if (r->over != PB_NO_NODE) {
        if (!may_overwrite(r, v, r->over))
            return breaks(r, PB_RULE_OVER, v, r->over);
        if (again)
            return breaks(r, PB_RULE_OVER_RESIDENT, v, r->over);
        if (r->borrowed[r->over])
            return breaks(r, PB_RULE_OVER_BORROWED, v, r->over);
    }
    wide parts = 0;
    for (uint32_t i = 0; i < r->also_count; i++) {
        pb_node w = r->also[i];
        if (owner_of(r, w) != v)
            return breaks(r, PB_RULE_ALSO, v, w);
        bool twice = false;
        for (uint32_t j = 0; j < i; j++)
            twice |= r->also[j] == w;
        if (r->fast[w] || twice)
            return breaks(r, PB_RULE_ALSO_RESIDENT, v, w);
        parts += r->g->size[w];
    }
    bool lent = r->move->flags & PB_MOVE_BORROW;
    if (lent && r->lent + r->g->size[v] > r->game->borrow) {
        r->out->amount = r->lent + r->g->size[v];
        return breaks(r, PB_RULE_BORROW, v, PB_NO_NODE);
    }
    r->lent += lent ? r->g->size[v] : 0;
    r->borrowed[v] = lent || (again && r->borrowed[v]);
    wide size = again || lent ? 0 : r->g->size[v], after = r->memory + size + parts;
    r->use = after + r->g->workspace[v];
    if (r->over != PB_NO_NODE) {
        wide taken = r->g->size[r->over];
        r->use = r->memory + (size > taken ? size - taken : 0) + parts + r->g->workspace[v];
        after -= taken;
        r->fast[r->over] = false;
    }
    r->memory = after;
    r->cost = r->g->cost[v];
    r->out->compute_work += r->cost;
    r->out->compute_count++;
    r->fast[v] = r->ever[v] = r->done[v] = true;
    for (uint32_t i = 0; i < r->also_count; i++)
        r->fast[r->also[i]] = r->ever[r->also[i]] = r->done[r->also[i]] = true;
    return true;
}

static bool uncompute(replay *r)
{
    pb_node v = r->move->node, owner = owner_of(r, v);
    if (is_given(r, v))
        return breaks(r, PB_RULE_GIVEN, v, PB_NO_NODE);
    if (!r->fast[v])
        return breaks(r, PB_RULE_UNCOMPUTE, v, PB_NO_NODE);
    if (!inputs_resident(r, v, owner == PB_NO_NODE ? v : owner))
        return false;
    r->use = r->memory + r->g->workspace[v];
    r->cost = owner == PB_NO_NODE ? r->g->cost[v] : 0;
    r->out->uncompute_work += r->cost;
    r->fast[v] = false;
    *(r->borrowed[v] ? &r->lent : &r->memory) -= r->g->size[v];
    r->borrowed[v] = false;
    return true;
}

static bool transfer(replay *r)
{
    pb_node v = r->move->node;
    if (r->move->tier == 0 || r->move->tier > r->game->tier_count)
        return breaks(r, PB_RULE_TIER, v, PB_NO_NODE);
    unsigned t = r->move->tier - 1u;
    const pb_tier *tier = &r->game->tiers[t];
    wide size = r->g->size[v];
    switch (r->move->op) {
    case PB_STORE:
        if (!r->fast[v])
            return breaks(r, PB_RULE_STORE, v, PB_NO_NODE);
        if (r->slow[t][v])
            return breaks(r, PB_RULE_STORE_AGAIN, v, PB_NO_NODE);
        r->slow_memory[t] += size;
        if (tier->cap != PB_UNLIMITED && r->slow_memory[t] > tier->cap) {
            r->out->amount = r->slow_memory[t];
            return breaks(r, PB_RULE_TIER_CAP, v, PB_NO_NODE);
        }
        r->slow[t][v] = true;
        r->cost = parts_up(tier->store_cost + (wide)tier->store_per_unit * size, tier->digits);
        break;
    case PB_LOAD:
        if (!r->slow[t][v])
            return breaks(r, PB_RULE_LOAD, v, PB_NO_NODE);
        if (r->fast[v])
            return breaks(r, PB_RULE_LOAD_RESIDENT, v, PB_NO_NODE);
        r->fast[v] = true;
        r->memory += size;
        r->use = r->memory;
        r->cost = parts_up(tier->load_cost + (wide)tier->load_per_unit * size, tier->digits);
        break;
    default:
        if (!r->slow[t][v])
            return breaks(r, PB_RULE_DROP, v, PB_NO_NODE);
        r->slow[t][v] = false;
        r->slow_memory[t] -= size;
    }
    r->out->io += r->cost;
    return true;
}

static bool play(replay *r)
{
    pb_node v = r->move->node;
    if (v >= r->g->node_count)
        return breaks(r, PB_RULE_NODE, PB_NO_NODE, v);
    if (r->over != PB_NO_NODE && r->over >= r->g->node_count)
        return breaks(r, PB_RULE_NODE, v, r->over);
    for (uint32_t i = 0; i < r->also_count; i++)
        if (r->also[i] >= r->g->node_count)
            return breaks(r, PB_RULE_NODE, v, r->also[i]);
    r->use = r->memory;
    r->cost = 0;
    bool reversible = r->game->kind == PB_GAME_REVERSIBLE, ok = true;
    switch (r->move->op) {
    case PB_COMPUTE: ok = compute(r); break;
    case PB_UNCOMPUTE: ok = reversible || r->borrowed[v] ? uncompute(r) : breaks(r, PB_RULE_MOVE, v, PB_NO_NODE); break;
    case PB_FREE:
        if (reversible)
            return breaks(r, PB_RULE_MOVE, v, PB_NO_NODE);
        if (!r->fast[v])
            return breaks(r, PB_RULE_FREE, v, PB_NO_NODE);
        if (r->borrowed[v])
            return breaks(r, PB_RULE_FREE_BORROWED, v, PB_NO_NODE);
        r->fast[v] = false;
        r->memory -= r->g->size[v];
        break;
    case PB_STORE:
    case PB_LOAD:
    case PB_DROP: ok = r->game->kind == PB_GAME_TIERED ? transfer(r) : breaks(r, PB_RULE_MOVE, v, PB_NO_NODE); break;
    default: return breaks(r, PB_RULE_MOVE, v, PB_NO_NODE);
    }
    if (!ok)
        return false;
    if (r->use > r->game->cap) {
        r->out->amount = r->use;
        return breaks(r, PB_RULE_CAP, v, PB_NO_NODE);
    }
    if (r->use > r->out->peak) {
        r->out->peak = r->use;
        r->out->peak_step = r->step;
    }
    r->out->flux += r->cost * r->use;
    return true;
}

static bool end(replay *r)
{
    r->step = r->moves->count;
    uint32_t n = r->g->node_count;
    for (pb_node v = 0; v < n; v++)
        if ((r->g->flags[v] & PB_NODE_TARGET) && !r->ever[v])
            return breaks(r, PB_RULE_TARGET, v, PB_NO_NODE);
    for (pb_node v = 0; v < n; v++)
        if (r->borrowed[v])
            return breaks(r, PB_RULE_BORROW_LEFT, v, PB_NO_NODE);
    for (pb_node v = 0; v < n; v++)
        if ((r->g->flags[v] & PB_NODE_KEEP) && !r->fast[v])
            return breaks(r, PB_RULE_KEEP, v, PB_NO_NODE);
    if (r->game->kind != PB_GAME_REVERSIBLE)
        return true;
    for (pb_node v = 0; v < n; v++) {
        bool stays = r->g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP | PB_NODE_GIVEN);
        if (r->fast[v] != stays)
            return breaks(r, stays ? PB_RULE_GONE : PB_RULE_LEFT, v, PB_NO_NODE);
    }
    return true;
}

/* ---- depth ---- */

/* One copy of a value (in fast memory or in a tier): when it was made, last read, and last removed. */
typedef struct copy {
    uint64_t made, read, gone;
} copy;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The nodes that a move reads, which computes `reader` or uncomputes it or a by-product of it. */
static const pb_node *reads_of(const replay *r, pb_node reader, uint32_t *count)
{
    if (r->move->op == PB_COMPUTE && r->move->by) {
        *count = recipe_of(r, reader, r->move->by)->in_count;
        return recipe_of(r, reader, r->move->by)->in;
    }
    *count = r->g->in_start[reader + 1] - r->g->in_start[reader];
    return r->g->in + r->g->in_start[reader];
}

static uint64_t read_inputs_ready(const replay *r, const copy *fast, pb_node v)
{
    uint64_t ready = 0;
    uint32_t count;
    const pb_node *in = reads_of(r, v, &count);
    for (uint32_t i = 0; i < count; i++)
        ready = larger(ready, fast[in[i]].made);
    return ready;
}

static void mark_read(const replay *r, copy *fast, pb_node v, uint64_t when)
{
    uint32_t count;
    const pb_node *in = reads_of(r, v, &count);
    for (uint32_t i = 0; i < count; i++)
        fast[in[i]].read = larger(fast[in[i]].read, when);
}

static void make(copy *c, uint64_t when) { *c = (copy){when, 0, c->gone}; }
static uint64_t may_go(const copy *c) { return larger(c->made, c->read); }

static uint64_t compute_depth(const replay *r, copy *fast, const bool *resident)
{
    pb_node v = r->move->node;
    bool again = resident[v];
    uint64_t ready = read_inputs_ready(r, fast, v);
    if (!again)
        ready = larger(ready, fast[v].gone);
    for (uint32_t i = 0; i < r->also_count; i++)
        ready = larger(ready, fast[r->also[i]].gone);
    if (r->over != PB_NO_NODE)
        ready = larger(ready, may_go(&fast[r->over]));
    uint64_t when = ready + 1;
    mark_read(r, fast, v, when);
    if (!again)
        make(&fast[v], when);
    for (uint32_t i = 0; i < r->also_count; i++)
        make(&fast[r->also[i]], when);
    if (r->over != PB_NO_NODE)
        fast[r->over].gone = when;
    return when;
}

static uint64_t transfer_depth(const replay *r, copy *fast, copy *slow)
{
    pb_node v = r->move->node;
    uint64_t when;
    switch (r->move->op) {
    case PB_STORE:
        when = larger(fast[v].made, slow[v].gone) + 1;
        fast[v].read = larger(fast[v].read, when);
        make(&slow[v], when);
        return when;
    case PB_LOAD:
        when = larger(slow[v].made, fast[v].gone) + 1;
        slow[v].read = larger(slow[v].read, when);
        make(&fast[v], when);
        return when;
    default: return slow[v].gone = may_go(&slow[v]);
    }
}

static uint64_t depth(replay *r)
{
    uint32_t n = r->g->node_count;
    copy *fast = must(n, sizeof *fast), *slow[PB_MAX_TIERS] = {0};
    bool *resident = must(n, sizeof *resident);
    for (uint32_t t = 0; t < r->game->tier_count; t++)
        slow[t] = must(n, sizeof **slow);
    for (pb_node v = 0; v < n; v++)
        resident[v] = is_given(r, v) && !is_slow_given(r, v);
    uint64_t longest = 0;
    for (pb_step k = 0; k < r->moves->count; k++) {
        decode(r, k);
        pb_node v = r->move->node;
        uint64_t when;
        if (r->move->op == PB_COMPUTE) {
            when = compute_depth(r, fast, resident);
            resident[v] = true;
            for (uint32_t i = 0; i < r->also_count; i++)
                resident[r->also[i]] = true;
            if (r->over != PB_NO_NODE)
                resident[r->over] = false;
        } else if (r->move->op == PB_UNCOMPUTE) {
            pb_node reads = owner_of(r, v) == PB_NO_NODE ? v : owner_of(r, v);
            when = larger(read_inputs_ready(r, fast, reads), may_go(&fast[v])) + 1;
            mark_read(r, fast, reads, when);
            fast[v].gone = when;
            resident[v] = false;
        } else if (r->move->op == PB_FREE) {
            when = fast[v].gone = may_go(&fast[v]);
            resident[v] = false;
        } else {
            when = transfer_depth(r, fast, slow[r->move->tier - 1]);
            resident[v] |= r->move->op == PB_LOAD;
        }
        longest = larger(longest, when);
    }
    free(fast);
    free(resident);
    for (uint32_t t = 0; t < r->game->tier_count; t++)
        free(slow[t]);
    return longest;
}

void reference_replay(const pb_game *game, const pb_moves *moves, reference *out)
{
    replay r = {.game = game, .g = game->graph, .moves = moves, .out = out};
    memset(out, 0, sizeof *out);
    out->node = out->other = PB_NO_NODE;
    uint32_t n = r.g->node_count, tiers = game->tier_count ? game->tier_count : 1;
    r.fast = must(n, sizeof *r.fast);
    r.ever = must(n, sizeof *r.ever);
    r.done = must(n, sizeof *r.done);
    r.borrowed = must(n, sizeof *r.borrowed);
    for (uint32_t t = 0; t < tiers; t++)
        r.slow[t] = must(n, sizeof **r.slow);
    bool ok = start(&r);
    for (pb_step k = 0; ok && k < moves->count; k++) {
        decode(&r, k);
        ok = play(&r);
    }
    ok = ok && end(&r);
    out->legal = ok;
    out->end_memory = r.memory;
    if (ok)
        out->depth = depth(&r);
    free(r.fast);
    free(r.ever);
    free(r.done);
    free(r.borrowed);
    for (uint32_t t = 0; t < tiers; t++)
        free(r.slow[t]);
}

wide reference_needed_cost(const pb_graph *g)
{
    uint32_t n = g->node_count, top = 0;
    bool *needed = must(n, sizeof *needed);
    pb_node *stack = must((size_t)n * 2, sizeof *stack);
    for (pb_node v = 0; v < n; v++)
        if (g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP)) {
            needed[v] = true;
            stack[top++] = v;
        }
    wide sum = 0;
    while (top) {
        pb_node v = stack[--top];
        bool part = g->owner && g->owner[v] != PB_NO_NODE;
        if (!(g->flags[v] & PB_NODE_GIVEN) && !part)
            sum += g->cost[v];
        if (part && !needed[g->owner[v]]) {
            needed[g->owner[v]] = true;
            stack[top++] = g->owner[v];
        }
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            if (!needed[g->in[i]]) {
                needed[g->in[i]] = true;
                stack[top++] = g->in[i];
            }
    }
    free(needed);
    free(stack);
    return sum;
}
