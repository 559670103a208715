/* lanes_decode.c -- start times: a simulation of the processor and the two links. See lanes.h.
 *
 * The processor computes the sequence in order, each computation as soon as its inputs are there and there is room. A
 * value that is fetched later goes into the queue of the out link when it is made, ordered by where its first gap
 * begins; it leaves memory when the gap has begun and the copy is complete. The in link fetches in the order of the
 * uses. A fetch may start ahead of its use only if all computations until then still have their room, so that nothing
 * waits for ever: the fetches that the processor waits for come first, and what has not left yet will leave.
 */
#include "plan/lanes/lanes.h"

#include "base/arena.h"

#include <string.h>

#define NOT_RUNNING UINT64_MAX

enum { PRESENT = 1, ON_HOST = 2, LEAVING = 4 };

/* One fetch: the input `node` of computation `at`, whose gap begins after `from`. */
typedef struct fetch {
    pb_node node;
    uint32_t at, from;
} fetch;

typedef struct pbi_lanes_run {
    uint64_t *extra;     /* by computation: what is fetched ahead while it runs */
    uint8_t *state;      /* by node */
    uint32_t *out_after; /* by node: the computation after which it is copied out; PBI_NEVER: it is not */
    uint32_t *out_key;   /* by node: its place in the queue */
    uint32_t *made;      /* by node: its last computation, while preparing */
    pb_node *also;       /* by-products of a move */
    fetch *fetches;
    uint64_t *queue; /* a heap of place and node */
    uint32_t fetch_count, queue_count;

    const pbi_lanes *l;
    const pbi_lanes_plan *p;
    pb_moves *moves;
    pb_status status;
    uint64_t now, memory;
    uint64_t computing, leaving, coming; /* when they end */
    uint32_t next, ended, fetched;       /* computation to start; how many have ended; fetches that have ended */
    pb_node leaver, over;                /* over: what the running computation overwrites, or PB_NO_NODE */
    uint64_t give_back;                  /* room that it gives back when it ends */
    bool blocked;                        /* the next computation waits for room only */
} run;

bool pbi_lanes_run_new(pbi_lanes *l, pb_arena *arena)
{
    run *r = pb_arena_zero(arena, 1, sizeof *r);
    size_t n = (size_t)l->g->node_count + 1;
    if (!r)
        return false;
    r->extra = pb_arena_alloc(arena, (size_t)l->most + 1, sizeof *r->extra);
    r->state = pb_arena_alloc(arena, n, 1);
    r->out_after = pb_arena_alloc(arena, n, sizeof *r->out_after);
    r->out_key = pb_arena_alloc(arena, n, sizeof *r->out_key);
    r->made = pb_arena_alloc(arena, n, sizeof *r->made);
    r->fetches = pb_arena_alloc(arena, (size_t)l->most_uses + 1, sizeof *r->fetches);
    r->queue = pb_arena_alloc(arena, n, sizeof *r->queue);
    r->also = pb_arena_alloc(arena, (size_t)l->most_parts + 1, sizeof *r->also);
    l->run = r;
    return r->extra && r->state && r->out_after && r->out_key && r->made && r->fetches && r->queue && r->also;
}

/* ---- the queue of the out link ---- */

static void push(run *r, pb_node v)
{
    uint64_t item = (uint64_t)r->out_key[v] << 32 | v;
    uint32_t i = r->queue_count++;
    for (; i && r->queue[(i - 1) / 2] > item; i = (i - 1) / 2)
        r->queue[i] = r->queue[(i - 1) / 2];
    r->queue[i] = item;
}

static pb_node pop(run *r)
{
    pb_node first = (pb_node)r->queue[0];
    uint64_t item = r->queue[--r->queue_count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < r->queue_count; i = child) {
        child += child + 1 < r->queue_count && r->queue[child + 1] < r->queue[child];
        if (r->queue[child] >= item)
            break;
        r->queue[i] = r->queue[child];
    }
    r->queue[i] = item;
    return first;
}

/* ---- moves ---- */

static void emit(run *r, pb_op op, pb_node v, uint32_t place)
{
    if (!r->moves || r->status != PB_OK)
        return;
    r->status = pb_moves_add(r->moves, op, v, 0);
    if (r->status == PB_OK)
        r->status = pb_moves_set_when(r->moves, place, r->now);
}

/* Computation i begins, in place of an input or of none. */
static void emit_compute(run *r, uint32_t i, pb_node over)
{
    const pbi_lanes *l = r->l;
    const pbi_lane_way *w = pbi_lanes_way(l, &r->p->step[i]);
    uint32_t first = l->facts.make_start[i], count = 0, way = r->p->step[i].way, n = l->g->node_count;
    if (!r->moves || r->status != PB_OK)
        return;
    for (uint32_t k = 1; k <= w->part_count; k++)
        if (l->facts.after_make[first + k] != PBI_LANES_ABSENT)
            r->also[count++] = pbi_lanes_output(l, w, k);
    r->status =
        way < n ? pb_moves_add_compute(r->moves, w->node, over, r->also, count)
                : pb_moves_add_recipe(r->moves, w->node, (uint8_t)(way - n - l->g->recipe_start[w->node] + 1), over);
    if (r->status == PB_OK)
        r->status = pb_moves_set_when(r->moves, 0, r->now);
}

static void leave(run *r, pb_node v)
{
    emit(r, PB_FREE, v, r->l->memory);
    r->memory -= r->l->g->size[v];
    r->state[v] &= (uint8_t) ~(PRESENT | LEAVING);
}

/* What happens to a value after a use. */
static void settle(run *r, pb_node v, uint8_t after)
{
    if (after == PBI_LANES_FREE || (after == PBI_LANES_EVICT && (r->state[v] & ON_HOST)))
        leave(r, v);
    else if (after == PBI_LANES_EVICT)
        r->state[v] |= LEAVING;
}

/* ---- preparation ---- */

/* Lists the fetches, and which values are copied out after which computation. Returns the room that they take. */
static uint64_t prepare(run *r)
{
    const pbi_lanes *l = r->l;
    const pbi_lanes_plan *p = r->p;
    const uint32_t *start = l->game->timing->start;
    uint64_t room = 0;
    memset(r->out_after, 0xff, l->g->node_count * sizeof *r->out_after);
    memset(r->made, 0xff, l->g->node_count * sizeof *r->made);
    r->fetch_count = r->queue_count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        uint64_t bits = l->can_fetch ? p->step[i].fetch : 0;
        for (uint32_t k = 0; bits && k < w->in_count && k < PBI_LANES_MAX_FETCH; k++) {
            if (!(bits >> k & 1))
                continue;
            pb_node u = w->in[k];
            uint32_t from = l->facts.from[l->facts.use_start[i] + k];
            r->fetches[r->fetch_count++] = (fetch){u, i, from};
            if (r->out_after[u] != PBI_NEVER || start[u] == l->host)
                continue;
            r->out_after[u] = r->made[u] == PBI_NEVER ? PBI_AT_START : r->made[u];
            r->out_key[u] = from == PBI_AT_START ? 0 : from + 1;
            room += l->g->size[u];
        }
        r->made[w->node] = i;
        for (uint32_t k = 1; k <= w->part_count; k++)
            if (l->facts.after_make[l->facts.make_start[i] + k] != PBI_LANES_ABSENT)
                r->made[pbi_lanes_output(l, w, k)] = i;
    }
    return room;
}

static void begin(run *r)
{
    const pbi_lanes *l = r->l;
    memset(r->extra, 0, r->p->count * sizeof *r->extra);
    memset(r->state, 0, l->g->node_count);
    r->now = r->next = r->ended = r->fetched = 0;
    r->computing = r->leaving = r->coming = NOT_RUNNING;
    r->memory = l->fixed;
    for (pb_node v = 0; v < l->g->node_count; v++) {
        uint32_t start = l->game->timing->start[v];
        if (start == UINT32_MAX)
            continue;
        if (start == l->memory) {
            r->memory += l->g->size[v];
            r->state[v] = PRESENT;
        } else if (l->can_fetch && start == l->host) {
            r->state[v] = ON_HOST;
        }
        if (start == l->memory && r->out_after[v] == PBI_AT_START)
            push(r, v);
        if (start == l->memory)
            settle(r, v, l->facts.after_start[v]);
    }
}

/* ---- starting things ---- */

/* The input that the next computation, by w, overwrites now. One that will be fetched must have been copied out. */
static pb_node overwritten(const run *r, const pbi_lane_way *w)
{
    const pbi_lanes_facts *f = &r->l->facts;
    uint32_t k = f->over[r->next];
    if (k == PBI_NEVER)
        return PB_NO_NODE;
    bool leaves = f->after_use[f->use_start[r->next] + k] == PBI_LANES_FREE || (r->state[w->in[k]] & ON_HOST);
    return leaves ? w->in[k] : PB_NO_NODE;
}

static bool start_computing(run *r)
{
    const pbi_lanes *l = r->l;
    r->blocked = false;
    if (r->computing != NOT_RUNNING || r->next == r->p->count ||
        (r->fetched < r->fetch_count && r->fetches[r->fetched].at == r->next))
        return false;
    const pbi_lane_way *w = pbi_lanes_way(l, &r->p->step[r->next]);
    const pbi_lanes_facts *f = &l->facts;
    uint64_t need = l->g->size[w->node], old = 0;
    pb_node over = overwritten(r, w);
    if (over != PB_NO_NODE) {
        old = l->g->size[over];
        r->give_back = w->workspace + (old > need ? old - need : 0);
        need = old > need ? 0 : need - old;
    } else {
        r->give_back = w->workspace;
    }
    need += w->workspace;
    for (uint32_t k = 1; k <= w->part_count; k++)
        if (f->after_make[f->make_start[r->next] + k] != PBI_LANES_ABSENT)
            need += l->g->size[pbi_lanes_output(l, w, k)];
    r->blocked = need > l->cap || r->memory > l->cap - need;
    if (r->blocked)
        return false;
    emit_compute(r, r->next, over);
    r->over = over;
    if (over != PB_NO_NODE)
        r->state[over] &= (uint8_t) ~(PRESENT | LEAVING);
    r->memory += need;
    r->computing = r->now + w->duration;
    r->next++;
    return true;
}

static bool lane_is_free(const run *r, bool out)
{
    uint64_t own = out ? r->leaving : r->coming, other = out ? r->coming : r->leaving;
    return own == NOT_RUNNING && (!r->l->one_lane || other == NOT_RUNNING);
}

static bool start_leaving(run *r)
{
    if (!r->queue_count || !lane_is_free(r, true))
        return false;
    r->leaver = pop(r);
    emit(r, PB_COPY, r->leaver, r->l->out);
    r->leaving = r->now + r->l->out_time[r->leaver];
    return true;
}

/* Whether every computation until the use still has its room. */
static bool has_room(const run *r, const fetch *f, uint64_t size)
{
    const uint64_t *load = r->l->facts.load;
    for (uint32_t i = r->next; i < f->at; i++)
        if (load[i] + r->extra[i] + size > r->l->cap)
            return false;
    return true;
}

static bool start_coming(run *r)
{
    const pbi_lanes *l = r->l;
    if (r->fetched == r->fetch_count || !lane_is_free(r, false))
        return false;
    const fetch *f = &r->fetches[r->fetched];
    uint64_t size = l->g->size[f->node];
    uint8_t state = r->state[f->node];
    bool ahead = f->at > r->next;
    if (!(state & ON_HOST) || (state & PRESENT) || (f->from != PBI_AT_START && f->from >= r->ended) ||
        r->memory + size > l->cap)
        return false;
    if (ahead && (r->blocked || f->at - r->next > r->p->step[f->at].distance || !has_room(r, f, size)))
        return false;
    for (uint32_t i = r->next; i < f->at; i++)
        r->extra[i] += size;
    emit(r, PB_COPY, f->node, l->in);
    r->memory += size;
    r->coming = r->now + l->in_time[f->node];
    return true;
}

/* ---- ends ---- */

static void end_computing(run *r)
{
    const pbi_lanes *l = r->l;
    const pbi_lanes_facts *f = &l->facts;
    uint32_t i = r->ended++;
    const pbi_lane_way *w = pbi_lanes_way(l, &r->p->step[i]);
    const uint8_t *after = f->after_use + f->use_start[i], *then = f->after_make + f->make_start[i];
    r->computing = NOT_RUNNING;
    r->memory -= r->give_back;
    for (uint32_t k = 0; k < w->in_count; k++)
        if (w->in[k] != r->over)
            settle(r, w->in[k], after[k]);
    for (uint32_t k = 0; k <= w->part_count; k++) {
        pb_node x = pbi_lanes_output(l, w, k);
        if (then[k] == PBI_LANES_ABSENT)
            continue;
        r->state[x] |= PRESENT;
        if (r->out_after[x] == i)
            push(r, x);
        settle(r, x, then[k]);
    }
}

static void end_leaving(run *r)
{
    r->leaving = NOT_RUNNING;
    r->state[r->leaver] |= ON_HOST;
    if (r->state[r->leaver] & LEAVING)
        leave(r, r->leaver);
}

static void end_coming(run *r)
{
    r->coming = NOT_RUNNING;
    r->state[r->fetches[r->fetched++].node] |= PRESENT;
}

/* False if nothing runs any more. */
static bool advance(run *r)
{
    uint64_t then = r->computing < r->leaving ? r->computing : r->leaving;
    then = r->coming < then ? r->coming : then;
    if (then == NOT_RUNNING)
        return false;
    r->now = then;
    if (r->computing == then)
        end_computing(r);
    if (r->leaving == then)
        end_leaving(r);
    if (r->coming == then)
        end_coming(r);
    return true;
}

uint64_t pbi_lanes_decode(const pbi_lanes *l, const pbi_lanes_plan *p, pb_moves *moves, pb_status *status)
{
    run *r = l->run;
    r->l = l;
    r->p = p;
    r->moves = moves;
    r->status = PB_OK;
    if (prepare(r) > l->host_room)
        return UINT64_MAX;
    begin(r);
    do {
        start_computing(r);
        bool urgent = r->computing == NOT_RUNNING && !r->blocked; /* the processor waits for a fetch */
        if (l->one_lane && urgent)
            start_coming(r);
        start_leaving(r);
        start_coming(r);
    } while ((r->ended < p->count || r->leaving != NOT_RUNNING) && advance(r));
    if (status)
        *status = r->status;
    return r->ended == p->count ? r->now : UINT64_MAX;
}
