/* placer.c -- see placer.h.
 *
 * What the current event reads is computed first if it is missing, and what that reads before it: a stack of frames,
 * each holding its inputs. Then the value, its by-products and its workspace get addresses one after the other.
 */
#include "plan/placed/placer.h"

#include "base/checked.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

enum { MORE = 6, AT_LEAST = 1000 }; /* a plan may have this many times the computations of the script */

/* ---- memory ---- */

static void put(pbi_placer *r, pb_node v, uint64_t at, uint64_t size, uint32_t until)
{
    r->resident[v] = 1;
    r->at[v] = at;
    if (size)
        pbi_slab_insert(&r->block, &(pbi_slab){at, size, v, until});
}

static void drop(pbi_placer *r, pb_node v)
{
    r->resident[v] = 0;
    if (r->script->size[v]) {
        uint32_t i = pbi_slab_index(&r->block, r->at[v]);
        pbi_slab_remove(&r->block, i, i + 1);
    }
}

static bool lasts(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_GIVEN || g->flags[pb_graph_maker(g, v)] & PB_NODE_ONCE;
}

/* Frees a value that the script does not read again before it computes it, unless it may be needed after evictions. */
static void drop_if_over(pbi_placer *r, pb_node v)
{
    uint32_t event, until;
    if (r->rules.lazy || !r->resident[v] || r->pins[v] || !r->script->size[v] || lasts(r->g, v))
        return;
    if (!pbi_placer_next_read(r, v, &event, &until))
        drop(r, v);
}

/* ---- one computation ---- */

/* The input whose memory v takes, or PB_NO_NODE: nothing else reads that input before it is computed again. */
static pb_node find_over(pbi_placer *r, pb_node v)
{
    const pb_graph *g = r->g;
    const uint64_t *size = r->script->size;
    uint32_t event, until;
    if (!g->inplace_start)
        return PB_NO_NODE;
    for (uint32_t k = g->inplace_start[v]; k < g->inplace_start[v + 1]; k++) {
        pb_node u = g->inplace[k];
        if (!r->resident[u] || r->pins[u] != 1 || !size[u] || !size[v] || pbi_placer_next_read(r, u, &event, &until))
            continue;
        uint32_t slab = pbi_slab_index(&r->block, r->at[u]);
        if (size[v] <= size[u] || pbi_slab_room_above(&r->block, slab) >= size[v] - size[u])
            return u;
    }
    return PB_NO_NODE;
}

/* v takes the memory of u, which stays large enough for both until the end of the computation. */
static void take_over(pbi_placer *r, pb_node v, pb_node u, uint32_t until)
{
    const uint64_t *size = r->script->size;
    pbi_slab *slab = &r->block.slab[pbi_slab_index(&r->block, r->at[u])];
    r->resident[u] = 0;
    r->resident[v] = 1;
    r->at[v] = slab->at;
    slab->node = v;
    slab->until = until;
    slab->size = size[v] > size[u] ? size[v] : size[u];
}

static uint32_t expected_end(pbi_placer *r, pb_node v)
{
    uint32_t event, until;
    return pbi_placer_next_read(r, v, &event, &until) ? until : r->now;
}

static bool make_value(pbi_placer *r, pb_node v, pbi_entry *e)
{
    uint32_t until = expected_end(r, v);
    uint64_t size = r->script->size[v], at = 0;
    e->over = find_over(r, v);
    if (e->over != PB_NO_NODE && r->rules.tidy && r->script->size[e->over] != size &&
        pbi_placer_find_gap(r, size, until, &at)) {
        e->over = PB_NO_NODE;
        put(r, v, at, size, until);
    } else if (e->over != PB_NO_NODE) {
        take_over(r, v, e->over, until);
    } else {
        if (size && !pbi_placer_allocate(r, size, until, &at))
            return false;
        put(r, v, at, size, until);
    }
    e->at = r->at[v];
    return true;
}

static bool is_part_needed(pbi_placer *r, pb_node w)
{
    uint32_t event, until;
    bool first = r->g->flags[w] & PB_NODE_TARGET && !r->computed[w];
    return !r->resident[w] && (r->requested[w] || first || pbi_placer_next_read(r, w, &event, &until));
}

/* By-products stay pinned until the computation is over. */
static bool make_parts(pbi_placer *r, pb_node v, pbi_entry *e)
{
    const pb_graph *g = r->g;
    e->part = r->part_count;
    for (uint32_t k = g->owner ? g->part_start[v] : 0; g->owner && k < g->part_start[v + 1]; k++) {
        pb_node w = g->part[k];
        uint64_t size = r->script->size[w], at = 0;
        if (!is_part_needed(r, w))
            continue;
        uint32_t until = expected_end(r, w);
        if (r->part_count == r->part_room || (size && !pbi_placer_allocate(r, size, until, &at)))
            return false;
        put(r, w, at, size, until);
        r->computed[w] = 1;
        r->requested[w] = 0;
        r->pins[w]++;
        r->part[r->part_count++] = (pbi_made_part){w, at};
    }
    e->part_count = r->part_count - e->part;
    return true;
}

/* After the computation: what is left of the memory that v took over is free, and so is what nothing reads. */
static void settle(pbi_placer *r, pb_node v, const pbi_entry *e)
{
    if (e->over != PB_NO_NODE)
        r->block.slab[pbi_slab_index(&r->block, r->at[v])].size = r->script->size[v];
    for (uint32_t k = 0; k < e->part_count; k++)
        r->pins[r->part[e->part + k].node]--;
    r->pins[v]--;
}

static bool compute(pbi_placer *r, pb_node v, uint32_t event)
{
    uint64_t at = 0;
    if (r->count == r->room || (r->g->flags[v] & PB_NODE_ONCE && r->computed[v]))
        return false;
    pbi_entry *e = &r->entry[r->count];
    *e = (pbi_entry){.node = v, .over = PB_NO_NODE, .event = event, .again = r->resident[v]};
    if (!e->again && !make_value(r, v, e))
        return false;
    r->pins[v]++;
    if (!make_parts(r, v, e))
        return false;
    if (r->script->workspace[v] && !pbi_placer_allocate(r, r->script->workspace[v], r->now, &at))
        return false;
    e->workspace_at = at;
    r->computed[v] = 1;
    r->count++;
    r->clock++;
    r->steps++;
    settle(r, v, e);
    return pbi_add(r->work, r->g->cost[v], &r->work);
}

/* ---- frames ---- */

static void hold_inputs(pbi_placer *r, pb_node v)
{
    const pb_graph *g = r->g;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (r->resident[g->in[k]]) {
            r->held[k] = 1;
            r->pins[g->in[k]]++;
        }
}

static void release_inputs(pbi_placer *r, pb_node v)
{
    const pb_graph *g = r->g;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        r->held[k] = 0;
        r->pins[g->in[k]]--;
        drop_if_over(r, g->in[k]);
    }
}

static void push(pbi_placer *r, pb_node v)
{
    r->stack[r->depth++] = (pbi_frame){v, r->g->in_start[v]};
    if (r->rules.hold)
        hold_inputs(r, v);
}

/* Holds the inputs that are in memory; at the first missing one pushes its computation. False: it is impossible. */
static bool gather(pbi_placer *r, pbi_frame *f, bool *complete)
{
    const pb_graph *g = r->g;
    *complete = false;
    for (; f->next < g->in_start[f->node + 1]; f->next++) {
        pb_node u = g->in[f->next], maker = pb_graph_maker(g, u);
        if (r->held[f->next])
            continue;
        if (r->resident[u]) {
            r->held[f->next] = 1;
            r->pins[u]++;
            continue;
        }
        if (g->flags[maker] & PB_NODE_GIVEN || (g->flags[maker] & PB_NODE_ONCE && r->computed[maker]))
            return false;
        r->requested[u] = u != maker;
        push(r, maker);
        return true;
    }
    *complete = true;
    return true;
}

static bool play_stack(pbi_placer *r, uint32_t event)
{
    while (r->depth) {
        pbi_frame *f = &r->stack[r->depth - 1];
        pb_node v = f->node;
        bool complete;
        if (!gather(r, f, &complete))
            return false;
        if (!complete)
            continue;
        if (r->depth == 1 && event < r->script->count)
            r->now = event + 1; /* this event's own reads are over when its value is made */
        if (!compute(r, v, event))
            return false;
        release_inputs(r, v);
        r->depth--;
        if (!r->depth) /* a frame below holds it at once */
            drop_if_over(r, v);
    }
    return true;
}

/* ---- the script ---- */

static bool is_wanted(pbi_placer *r, pb_node v)
{
    const pb_graph *g = r->g;
    uint32_t event, until;
    if (!r->resident[v] && (!r->computed[v] || pbi_placer_next_read(r, v, &event, &until)))
        return true;
    for (uint32_t k = g->owner ? g->part_start[v] : 0; g->owner && k < g->part_start[v + 1]; k++)
        if (is_part_needed(r, g->part[k]))
            return true;
    return false;
}

static bool play_event(pbi_placer *r, uint32_t k)
{
    pb_node v = r->script->event[k];
    r->now = k + 1;
    if (!is_wanted(r, v))
        return true;
    r->now = k;
    push(r, v);
    return play_stack(r, k);
}

bool pbi_placer_begin(pbi_placer *r)
{
    const pb_graph *g = r->g;
    uint64_t at = r->script->fixed;
    uint32_t n = g->node_count;
    memset(r->resident, 0, n);
    memset(r->computed, 0, n);
    memcpy(r->touch, r->script->touch_start, n * sizeof *r->touch);
    r->block.count = r->count = r->part_count = r->now = 0;
    r->work = 0;
    if (at > r->block.size)
        return false;
    if (at)
        pbi_slab_insert(&r->block, &(pbi_slab){0, at, PB_NO_NODE, UINT32_MAX});
    for (pb_node v = 0; v < n; v++)
        if (g->flags[v] & PB_NODE_GIVEN) {
            if (r->script->size[v] > r->block.size - at)
                return false;
            put(r, v, at, r->script->size[v], expected_end(r, v));
            at += r->script->size[v];
        }
    return true;
}

/* After a failure frames are left, with what they hold. */
static void clear_frames(pbi_placer *r)
{
    r->depth = 0;
    memset(r->requested, 0, r->g->node_count);
    memset(r->held, 0, r->g->edge_count);
    memset(r->pins, 0, r->g->node_count * sizeof *r->pins);
}

/* After the last event: kept values that were evicted are recomputed; all of them stay. */
static bool restore_kept(pbi_placer *r)
{
    const pb_graph *g = r->g;
    for (int missing = 0; missing < 2; missing++)
        for (pb_node v = 0; v < g->node_count; v++) {
            if (!(g->flags[v] & PB_NODE_KEEP) || (!missing && !r->resident[v]) || (missing && r->pins[v]))
                continue;
            pb_node maker = pb_graph_maker(g, v);
            if (!r->resident[v]) {
                if (g->flags[maker] & PB_NODE_GIVEN)
                    return false;
                r->requested[v] = v != maker;
                push(r, maker);
                if (!play_stack(r, r->script->count))
                    return false;
            }
            r->pins[v]++;
        }
    clear_frames(r);
    return true;
}

bool pbi_placer_play(pbi_placer *r, const pbi_rules *rules, uint32_t to)
{
    bool fits = true;
    r->rules = *rules;
    r->begun = ++r->clock;
    for (uint32_t k = r->now; k < to && fits; k++) {
        fits = play_event(r, k);
        r->now = k + 1;
    }
    fits = fits && (to < r->script->count || restore_kept(r));
    if (!fits)
        clear_frames(r);
    return fits;
}

/* ---- copies ---- */

pb_status pbi_placer_state_init(pbi_placer_state *s, const pbi_placer *r, pb_arena *arena)
{
    uint32_t n = r->g->node_count;
    *s = (pbi_placer_state){.slab = pb_arena_alloc(arena, (size_t)n + 2, sizeof *s->slab),
                            .at = pb_arena_alloc(arena, n, sizeof *s->at),
                            .resident = pb_arena_alloc(arena, n, 1),
                            .computed = pb_arena_alloc(arena, n, 1),
                            .touch = pb_arena_alloc(arena, n, sizeof *s->touch)};
    return s->slab && s->at && s->resident && s->computed && s->touch ? PB_OK : PB_ENOMEM;
}

void pbi_placer_save(pbi_placer_state *s, const pbi_placer *r)
{
    uint32_t n = r->g->node_count;
    memcpy(s->slab, r->block.slab, r->block.count * sizeof *s->slab);
    memcpy(s->at, r->at, n * sizeof *s->at);
    memcpy(s->resident, r->resident, n);
    memcpy(s->computed, r->computed, n);
    memcpy(s->touch, r->touch, n * sizeof *s->touch);
    s->slab_count = r->block.count;
    s->now = r->now;
    s->work = r->work;
}

void pbi_placer_restore(pbi_placer *r, const pbi_placer_state *s)
{
    uint32_t n = r->g->node_count;
    memcpy(r->block.slab, s->slab, s->slab_count * sizeof *s->slab);
    memcpy(r->at, s->at, n * sizeof *s->at);
    memcpy(r->resident, s->resident, n);
    memcpy(r->computed, s->computed, n);
    memcpy(r->touch, s->touch, n * sizeof *s->touch);
    r->block.count = s->slab_count;
    r->count = r->part_count = 0;
    r->now = s->now;
    r->work = s->work;
    r->steps += n / 64;
}

pb_status pbi_placer_init(pbi_placer *r, const pbi_script *s, uint64_t size, pb_arena *arena)
{
    size_t n = s->g->node_count, room = (size_t)MORE * s->count + AT_LEAST;
    *r = (pbi_placer){.script = s, .g = s->g, .block = {.size = size}};
    r->room = r->part_room = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    r->part_room = s->g->owner ? r->part_room : 1;
    r->block.slab = pb_arena_alloc(arena, n + 2, sizeof *r->block.slab);
    r->at = pb_arena_zero(arena, n, sizeof *r->at);
    r->resident = pb_arena_alloc(arena, n, 1);
    r->computed = pb_arena_alloc(arena, n, 1);
    r->requested = pb_arena_zero(arena, n, 1);
    r->held = pb_arena_zero(arena, s->g->edge_count, 1);
    r->pins = pb_arena_zero(arena, n, sizeof *r->pins);
    r->touch = pb_arena_alloc(arena, n, sizeof *r->touch);
    r->stack = pb_arena_alloc(arena, n + 1, sizeof *r->stack);
    r->cost = pb_arena_alloc(arena, n + 2, sizeof *r->cost);
    r->stamp = pb_arena_zero(arena, n, sizeof *r->stamp);
    r->guess = pb_arena_zero(arena, n, sizeof *r->guess);
    r->guessed_at = pb_arena_zero(arena, n, sizeof *r->guessed_at);
    r->todo = pb_arena_alloc(arena, n + 1, sizeof *r->todo);
    r->entry = pb_arena_alloc(arena, r->room, sizeof *r->entry);
    r->part = pb_arena_alloc(arena, r->part_room, sizeof *r->part);
    bool all = r->block.slab && r->at && r->resident && r->computed && r->requested && r->held && r->pins;
    all = all && r->touch;
    return all && r->guess && r->guessed_at && r->stack && r->cost && r->stamp && r->todo && r->entry && r->part
               ? PB_OK
               : PB_ENOMEM;
}
