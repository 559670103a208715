/* division.c -- see division.h. */
#include "plan/reversible/tree/division.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

typedef struct divider {
    pb_context *ctx;
    const pbi_trees *t;
    pbi_divisions *d;
    const pbi_shape *shape;
    uint8_t *level;   /* per place: edges to the parent are cut at this level and those below; 0: not at all */
    uint32_t *holder; /* per place: scratch of each pass */
    uint32_t *now;    /* per top of a block: how many roots it keeps, then its division so far */
    uint32_t *rank;
} divider;

static uint64_t size_of(const pbi_trees *t, uint32_t place) { return t->g->size[t->node[place]]; }

static uint64_t largest(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- cutting ---- */

static bool is_top(const divider *v, uint32_t place, uint32_t level)
{
    return v->t->parent[place] == PBI_NO_PLACE || v->level[place] >= level;
}

/* The places that `values` roots and `level` levels of lists reach on a chain: lists inside a list have fewer and
 * fewer roots to keep, because those before stay resident. C(values + level - 1, level) blocks. */
static uint64_t reach(uint64_t block, uint64_t values, uint32_t level)
{
    uint64_t blocks = 1;
    for (uint32_t i = 1; i <= level; i++) {
        if (!pbi_mul(blocks, values + i - 1, &blocks))
            return UINT64_MAX;
        blocks /= i; /* exact: it is a product of i consecutive numbers over i! */
    }
    return pbi_mul(blocks, block, &blocks) ? blocks : UINT64_MAX;
}

/* The fewest roots that reach all places. */
static uint32_t values_for(uint64_t places, uint64_t block, uint32_t levels)
{
    uint32_t values = 1;
    while (reach(block, values, levels) < places)
        values++;
    return values;
}

/* Even lists: the parts of a list of this level have block * ratio^(level - 1) places, with the smallest ratio for
 * which all levels reach all places. */
static uint64_t even_part(const divider *v, uint32_t level)
{
    uint64_t blocks = v->t->count / v->shape->block + 1, ratio = 2, power = 0;
    while (power < blocks) {
        power = 1;
        for (uint32_t i = 0; i < v->shape->levels && power < blocks; i++)
            power = pbi_mul(power, ratio, &power) ? power : UINT64_MAX;
        ratio += power < blocks;
    }
    uint64_t part = v->shape->block;
    for (uint32_t i = 1; i < level; i++)
        part = pbi_mul(part, ratio, &part) ? part : UINT64_MAX;
    return part;
}

/* Cuts the blocks above this level into lists: above every place whose remaining subtree has as many places as the
 * next part should have. */
static void cut_level(divider *v, uint32_t level)
{
    uint64_t block = v->shape->block, even = v->shape->even ? even_part(v, level) : 0;
    const pbi_trees *t = v->t;
    uint32_t *left = v->rank, *owner = v->holder;
    memset(left, 0, t->count * sizeof *left);
    for (uint32_t i = t->count; i-- > 0;) {
        owner[i] = is_top(v, i, level + 1) ? i : owner[t->parent[i]];
        left[owner[i]]++;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (owner[i] == i && !even)
            v->now[i] = values_for(left[i], block, level);
        left[i] = 0;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t *values = &v->now[owner[i]];
        left[i]++;
        if (owner[i] == i)
            continue;
        if (left[i] < (even ? even : reach(block, *values, level - 1))) {
            left[t->parent[i]] += left[i];
            continue;
        }
        v->level[i] = (uint8_t)level;
        *values -= !even && *values > 1;
    }
}

/* ---- divisions ---- */

static void start_division(divider *v, uint32_t root)
{
    pbi_divisions *d = v->d;
    d->item[d->count++] = (pbi_division){.first = d->part_count, .root = root};
}

static void add_part(divider *v, uint32_t division, uint32_t part)
{
    v->d->part[v->d->part_count++] = part;
    v->d->item[division].count++;
}

static uint32_t find_root(uint32_t *holder, uint32_t i)
{
    while (holder[i] != i) {
        holder[i] = holder[holder[i]];
        i = holder[i];
    }
    return i;
}

/* Places in the order of their ranks: the next[] of each rank's list. */
static pb_status sort_by_rank(divider *v, pb_arena *arena, uint32_t **head, uint32_t **next)
{
    const pbi_trees *t = v->t;
    *head = pb_arena_alloc(arena, (size_t)v->d->ranks + 1, sizeof **head);
    *next = pb_arena_alloc(arena, t->count, sizeof **next);
    if (!*head || !*next)
        return PB_ENOMEM;
    for (uint32_t k = 0; k <= v->d->ranks; k++)
        (*head)[k] = PBI_NO_PLACE;
    for (uint32_t i = t->count; i-- > 0;)
        if (!is_top(v, i, 1)) {
            (*next)[i] = (*head)[v->rank[i]];
            (*head)[v->rank[i]] = i;
        }
    return PB_OK;
}

/* From the lowest rank up: an edge joins the piece below it to the piece above it. So the last join of a block is
 * the cut that comes first. */
static pb_status join_by_rank(divider *v)
{
    const pbi_trees *t = v->t;
    pb_arena scratch;
    uint32_t *head, *next;
    pb_arena_init(&scratch, v->ctx);
    pb_status status = sort_by_rank(v, &scratch, &head, &next);
    for (uint32_t i = 0; i < t->count; i++)
        v->holder[i] = v->now[i] = i;
    for (uint32_t k = 0; k < v->d->ranks && status == PB_OK; k++)
        for (uint32_t i = head[k]; i != PBI_NO_PLACE; i = next[i]) {
            uint32_t below = find_root(v->holder, i), above = find_root(v->holder, t->parent[i]);
            start_division(v, v->d->item[v->now[above]].root);
            add_part(v, v->d->count - 1, v->now[below]);
            add_part(v, v->d->count - 1, v->now[above]);
            v->holder[below] = above;
            v->now[above] = v->d->count - 1;
        }
    /* From here on a block is identified by its top. */
    for (uint32_t i = 0; i < t->count && status == PB_OK; i++)
        v->holder[i] = v->now[find_root(v->holder, i)];
    for (uint32_t i = 0; i < t->count && status == PB_OK; i++)
        if (is_top(v, i, 1))
            v->now[i] = v->holder[i];
    pb_arena_release(&scratch);
    return status;
}

/* Blocks of this level become the parts of those of the next; a single one is not changed. */
static void join_blocks(divider *v, uint32_t level)
{
    const pbi_trees *t = v->t;
    pbi_divisions *d = v->d;
    uint32_t *owner = v->holder, *list = v->rank; /* the ranks are no longer needed */
    memset(list, 0, t->count * sizeof *list);
    for (uint32_t i = t->count; i-- > 0;) {
        owner[i] = is_top(v, i, level + 1) ? i : owner[t->parent[i]];
        list[owner[i]] += is_top(v, i, level);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t parts = owner[i] == i ? list[i] : 0;
        if (parts)
            list[i] = parts > 1 ? d->count : PBI_NO_PLACE;
        if (parts > 1) {
            start_division(v, i);
            d->part_count += parts; /* filled below */
        }
    }
    for (uint32_t i = 0; i < t->count; i++)
        if (is_top(v, i, level) && list[owner[i]] != PBI_NO_PLACE) {
            pbi_division *n = &d->item[list[owner[i]]];
            d->part[n->first + n->count++] = v->now[i];
        }
    for (uint32_t i = 0; i < t->count; i++)
        if (owner[i] == i && list[i] != PBI_NO_PLACE)
            v->now[i] = list[i];
}

/* ---- figures ---- */

static void measure(const pbi_divisions *d, pbi_division *n)
{
    const pbi_trees *t = d->trees;
    uint64_t before = 0, root = size_of(t, n->root), parts = 0;
    for (uint32_t k = 0; k < n->count; k++) {
        const pbi_division *part = &d->item[d->part[n->first + k]];
        uint64_t held =
            /* it is uncomputed while the root is resident */
            k + 1 < n->count ? pbi_add_saturated(before, root) : before;
        parts = largest(parts, pbi_add_saturated(held, part->min_memory));
        before = pbi_add_saturated(before, size_of(t, part->root));
        n->sizes = pbi_add_saturated(n->sizes, part->sizes);
        n->workspace = largest(n->workspace, part->workspace);
        n->to += part->to;
    }
    if (!n->count) {
        n->sizes = root;
        n->workspace = t->g->workspace[t->node[n->root]];
        n->to = 1;
    }
    uint64_t all = pbi_add_saturated(n->sizes, n->workspace);
    n->min_memory = n->count && parts < all ? parts : all;
}

/* Parts come before what they are parts of. First `to` counts places, then ranges go down from the whole. */
static void measure_all(pbi_divisions *d)
{
    const pbi_trees *t = d->trees;
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->count; i++)
        measure(d, &d->item[i]);
    for (uint32_t i = 0; i < t->root_count; i++) {
        d->item[d->top[i]].from = at;
        at += d->item[d->top[i]].to;
    }
    for (uint32_t i = d->count; i-- > 0;) {
        pbi_division *n = &d->item[i];
        uint32_t next = n->from;
        for (uint32_t k = 0; k < n->count; k++) {
            pbi_division *part = &d->item[d->part[n->first + k]];
            part->from = next;
            next += part->to;
        }
        if (!n->count)
            d->place[n->from] = n->root;
    }
    for (uint32_t i = 0; i < d->count; i++)
        d->item[i].to += d->item[i].from;
}

static pb_status allocate_divisions(divider *v, pb_arena *arena, pb_arena *scratch)
{
    size_t n = v->t->count;
    pbi_divisions *d = v->d;
    /* A join by rank takes away one piece of n; so does every part of a list but its last. */
    d->item = pb_arena_zero(arena, 2 * n, sizeof *d->item);
    d->part = pb_arena_alloc(arena, 2 * n, sizeof *d->part);
    d->place = pb_arena_alloc(arena, n, sizeof *d->place);
    d->top = pb_arena_alloc(arena, v->t->root_count, sizeof *d->top);
    v->level = pb_arena_zero(scratch, n, sizeof *v->level);
    v->holder = pb_arena_alloc(scratch, n, sizeof *v->holder);
    v->now = pb_arena_alloc(scratch, n, sizeof *v->now);
    v->rank = pb_arena_alloc(scratch, n, sizeof *v->rank);
    return d->item && d->part && d->place && d->top && v->level && v->holder && v->now && v->rank ? PB_OK : PB_ENOMEM;
}

static pb_status divide(divider *v)
{
    uint32_t levels = v->shape->levels;
    const pbi_trees *t = v->t;
    pbi_divisions *d = v->d;
    for (uint32_t level = levels; level > 0; level--)
        cut_level(v, level);
    pb_status status = PB_OK;
    if (v->shape->cuts) {
        memcpy(v->rank, v->shape->cuts, t->count * sizeof *v->rank);
        d->ranks = t->count;
    } else {
        status = pbi_edge_rank(v->ctx, t, v->level, v->rank, &d->ranks);
    }
    for (uint32_t i = 0; i < t->count; i++)
        start_division(v, i);
    if (status == PB_OK)
        status = join_by_rank(v);
    for (uint32_t level = 1; level <= levels && status == PB_OK; level++)
        join_blocks(v, level);
    for (uint32_t i = 0; i < t->root_count && status == PB_OK; i++)
        d->top[i] = v->now[t->root[i]];
    if (status == PB_OK)
        measure_all(d);
    return status;
}

pb_status pbi_divisions_make(pb_context *ctx, const pbi_trees *trees, const pbi_shape *shape, pb_arena *arena,
                             pbi_divisions *out)
{
    pb_arena scratch;
    divider v = {.ctx = ctx, .t = trees, .d = out, .shape = shape};
    *out = (pbi_divisions){.trees = trees};
    pb_arena_init(&scratch, ctx);
    pb_status status = allocate_divisions(&v, arena, &scratch);
    if (status == PB_OK)
        status = divide(&v);
    pb_arena_release(&scratch);
    return status;
}

uint64_t pbi_divisions_min_memory(const pbi_divisions *d)
{
    uint64_t min_memory = 0, held = 0;
    for (uint32_t i = 0; i < d->trees->root_count; i++) {
        min_memory = largest(min_memory, pbi_add_saturated(held, d->item[d->top[i]].min_memory));
        held = pbi_add_saturated(held, size_of(d->trees, d->trees->root[i]));
    }
    return min_memory;
}

/* ---- plans ---- */

typedef struct task {
    uint64_t budget;
    uint32_t division;
    bool undo;
} task;

typedef struct player {
    const pbi_divisions *d;
    pbi_reversible *r;
    pb_arena *arena;
    task *task;
    size_t depth, room;
} player;

static uint64_t minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static void push_task(player *p, uint32_t division, uint64_t budget, bool undo)
{
    p->task[p->depth++] = (task){budget, division, undo};
}

/* Computes or uncomputes a piece that fits as a whole: all of it, then uncomputes all but the root. */
static pb_status play_all(const player *p, const pbi_division *n, bool undo)
{
    const pbi_trees *t = p->d->trees;
    const uint32_t *place = p->d->place;
    pb_status status = PB_OK;
    uint32_t last = n->to - 1;
    for (uint32_t i = n->from; i < last && status == PB_OK && !p->r->stuck; i++)
        status = pbi_reversible_compute(p->r, t->node[place[i]]);
    if (status == PB_OK && !p->r->stuck)
        status = undo ? pbi_reversible_uncompute(p->r, t->node[place[last]])
                      : pbi_reversible_compute(p->r, t->node[place[last]]);
    for (uint32_t i = last; i-- > n->from && status == PB_OK && !p->r->stuck;)
        status = pbi_reversible_uncompute(p->r, t->node[place[i]]);
    return status;
}

/* The task pushed last runs first. The parts but the last are computed, and uncomputed afterwards; the root is
 * resident after computing the last part, or before uncomputing it. */
static pb_status play_parts(player *p, const pbi_division *n, uint64_t budget, bool undo)
{
    const pbi_divisions *d = p->d;
    uint64_t beside_root = minus(budget, size_of(d->trees, n->root)), before = 0;
    void *tasks = p->task;
    if (!pbi_arena_reserve(p->arena, &tasks, &p->room, p->depth + 2 * (size_t)n->count, sizeof *p->task))
        return PB_ENOMEM;
    p->task = tasks;
    for (uint32_t k = 0; k + 1 < n->count; k++) {
        uint32_t part = d->part[n->first + k];
        push_task(p, part, minus(undo ? budget : beside_root, before), true);
        before = pbi_add_saturated(before, size_of(d->trees, d->item[part].root));
    }
    push_task(p, d->part[n->first + n->count - 1], minus(budget, before), undo);
    for (uint32_t k = n->count - 1; k-- > 0;) {
        uint32_t part = d->part[n->first + k];
        before = minus(before, size_of(d->trees, d->item[part].root));
        push_task(p, part, minus(undo ? beside_root : budget, before), false);
    }
    return PB_OK;
}

static pb_status play_tree(player *p)
{
    pb_status status = PB_OK;
    while (p->depth && status == PB_OK && !p->r->stuck) {
        task now = p->task[--p->depth];
        const pbi_division *n = &p->d->item[now.division];
        if (!n->count || pbi_add_saturated(n->sizes, n->workspace) <= now.budget)
            status = play_all(p, n, now.undo);
        else
            status = play_parts(p, n, now.budget, now.undo);
    }
    return status;
}

pb_status pbi_divisions_play(const pbi_divisions *d, pbi_reversible *r, uint64_t budget, pb_arena *arena)
{
    const pbi_trees *t = d->trees;
    player p = {.d = d, .r = r, .arena = arena};
    pb_status status = PB_OK;
    void *tasks = NULL;
    if (!pbi_arena_reserve(arena, &tasks, &p.room, 1, sizeof *p.task))
        return PB_ENOMEM;
    p.task = tasks;
    for (uint32_t i = 0; i < t->root_count && status == PB_OK && !r->stuck; i++) {
        push_task(&p, d->top[i], budget, false);
        status = play_tree(&p);
        budget = minus(budget, size_of(t, t->root[i]));
    }
    return status;
}
