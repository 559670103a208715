/* order_greedy.c -- orders that take, at each step, the node that is best for memory at that moment.
 *
 * From the start: of the nodes whose inputs are resident, the one that leaves the least behind. From the end: of the
 * nodes that nothing later reads, the one before which the least is resident. Either may count a share of an input
 * for each of its readers, so that values with few readers left are finished first. Either may be limited to a band
 * that moves along program order: if all inputs of a layer are needed, running ahead does not pay. Depth first: the
 * inputs of a node one after the other, first the one whose need exceeds most what it leaves, which is best on
 * trees.
 */
#include "base/assert.h"
#include "base/context.h"
#include "plan/sequence/order_heap.h"
#include "plan/sequence/order_parts.h"

#include <string.h>

enum {
    FEW = 6,             /* readers of a value: up to this many are all updated when one of them is done */
    SORTED = 64,         /* inputs that are sorted by need */
    MANY_NODES = 300000, /* nodes above which only the most promising variants are tried */
    PERIOD = 4096
};

typedef struct greedy {
    pbi_order_task *t;
    const pb_graph *g;
    pbi_order_heap heap;
    uint32_t *waiting;     /* per node: predecessors in this direction that are not placed yet */
    uint32_t *left;        /* per node: readers of its value that are not placed yet */
    uint32_t *left_reader; /* per node: exclusive or of those readers */
    pb_node *order;
    int64_t *size; /* per node, scaled so that sums stay far from overflow */
    bool shares;
    uint32_t band;           /* how far from the first unplaced node, in program order, a node may be taken */
    uint32_t *place;         /* per node: its place in program order, counted from the end where the order starts */
    uint32_t left_at, limit; /* the first unplaced node; nodes from `limit` on must wait */
} greedy;

static bool open_greedy(greedy *d, pbi_order_task *t)
{
    uint32_t n = t->g->node_count;
    *d = (greedy){.t = t, .g = t->g};
    d->heap.item = pb_arena_alloc(t->arena, n, sizeof *d->heap.item);
    d->heap.place = pb_arena_alloc(t->arena, n, sizeof *d->heap.place);
    d->heap.key = pb_arena_alloc(t->arena, n, sizeof *d->heap.key);
    d->heap.tie = pb_arena_alloc(t->arena, n, sizeof *d->heap.tie);
    d->waiting = pb_arena_alloc(t->arena, n, sizeof *d->waiting);
    d->left = pb_arena_alloc(t->arena, n, sizeof *d->left);
    d->left_reader = pb_arena_alloc(t->arena, n, sizeof *d->left_reader);
    d->order = pb_arena_alloc(t->arena, n, sizeof *d->order);
    d->size = pb_arena_alloc(t->arena, n, sizeof *d->size);
    d->place = pb_arena_alloc(t->arena, n, sizeof *d->place);
    if (!d->heap.item || !d->heap.place || !d->heap.key || !d->heap.tie || !d->waiting || !d->left || !d->left_reader ||
        !d->order || !d->size)
        return false;
    int scale = t->g->total_size >> 60 ? 4 : 0;
    for (pb_node v = 0; v < n; v++)
        d->size[v] = (int64_t)(t->g->size[v] >> scale);
    return true;
}

/* What v computes and leaves behind, scaled. */
static int64_t left_behind(const greedy *d, pb_node v)
{
    return (int64_t)((d->t->made[v] - d->t->unread[v]) >> (d->t->g->total_size >> 60 ? 4 : 0));
}

static void restart(greedy *d, bool from_end)
{
    d->heap.count = 0;
    d->left_at = 0;
    d->limit = d->band;
    memset(d->heap.place, 0xff, d->g->node_count * sizeof *d->heap.place);
    for (uint32_t i = 0; i < d->t->count; i++)
        d->place[d->t->program_order[i]] = d->heap.tie[d->t->program_order[i]] = from_end ? d->t->count - 1 - i : i;
    memcpy(d->left, d->t->readers, d->g->node_count * sizeof *d->left);
}

static void make_ready(greedy *d, pb_node v)
{
    if (d->place[v] >= d->limit)
        return; /* it enters the heap when the band reaches it */
    pbi_order_heap_push(&d->heap, v);
}

/* Node v has been placed: moves the band on and admits the ready nodes in it. */
static void place_node(greedy *d, pb_node v, bool from_end)
{
    const pb_node *program_order = d->t->program_order;
    uint32_t count = d->t->count;
    d->waiting[v] = UINT32_MAX;
    while (d->left_at < count &&
           d->waiting[program_order[from_end ? count - 1 - d->left_at : d->left_at]] == UINT32_MAX)
        d->left_at++;
    while (d->limit < count && d->limit - d->left_at < d->band) {
        pb_node x = program_order[from_end ? count - 1 - d->limit : d->limit];
        d->limit++;
        if (d->waiting[x] == 0)
            make_ready(d, x);
    }
}

static pb_status finish(greedy *d)
{
    uint64_t peak = pbi_order_measure(d->t, d->order, d->left);
    pbi_order_keep_best(d->t, d->order, peak);
    return PB_OK;
}

/* ---- from the start ---- */

/* What an input of this size counts for one of its readers while `left` of them remain. */
static int64_t share(const greedy *d, pb_node u, uint32_t left)
{
    if (pbi_order_stays(d->g, u) || !left)
        return 0;
    return left == 1 ? d->size[u] : d->shares ? d->size[u] / (2 * (int64_t)left) : 0;
}

/* Another reader of u is done: updates the keys of the remaining readers. */
static void update_readers(greedy *d, pb_node u)
{
    const pb_graph *g = d->g;
    uint32_t left = d->left[u];
    int64_t more = share(d, u, left) - share(d, u, left + 1);
    if (!left || !more)
        return;
    if (left == 1) {
        pbi_order_heap_lower(&d->heap, d->left_reader[u], more);
        return;
    }
    for (uint32_t k = g->out_start[u]; k < g->out_start[u + 1]; k++)
        if (d->waiting[g->out[k]] != UINT32_MAX)
            pbi_order_heap_lower(&d->heap, g->out[k], more);
}

static void forward_start(greedy *d)
{
    const pb_graph *g = d->g;
    memset(d->left_reader, 0, g->node_count * sizeof *d->left_reader);
    for (uint32_t i = 0; i < d->t->count; i++) {
        pb_node v = d->t->program_order[i];
        d->waiting[v] = 0;
        d->heap.key[v] = left_behind(d, v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            d->left_reader[u] ^= v;
            d->waiting[v] += !(g->flags[u] & PB_NODE_GIVEN);
            d->heap.key[v] -= share(d, u, d->left[u]);
        }
    }
    for (uint32_t i = 0; i < d->t->count; i++)
        if (!d->waiting[d->t->program_order[i]])
            make_ready(d, d->t->program_order[i]);
}

static void release_readers(greedy *d, pb_node u)
{
    const pb_graph *g = d->g;
    for (uint32_t k = g->out_start[u]; k < g->out_start[u + 1]; k++) {
        pb_node x = g->out[k];
        if ((g->flags[x] & PB_NODE_NEEDED) && --d->waiting[x] == 0)
            make_ready(d, x);
    }
}

/* With shares every reader of a value is updated when one is done; only for values of few readers. */
static bool updates_readers(const greedy *d, pb_node u) { return d->left[u] <= 1 || (d->shares && d->left[u] <= FEW); }

static pb_status forward(greedy *d)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    restart(d, false);
    forward_start(d);
    for (uint32_t i = 0; d->heap.count && status == PB_OK; i++) {
        pb_node v = pbi_order_heap_pop(&d->heap);
        d->order[i] = v;
        place_node(d, v, false);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            d->left[u]--;
            d->left_reader[u] ^= v;
            if (updates_readers(d, u))
                update_readers(d, u);
        }
        release_readers(d, v);
        for (uint32_t n = 0, parts = pbi_order_parts(g, v); n < parts; n++)
            release_readers(d, g->part[g->part_start[v] + n]);
        if (i % PERIOD == 0)
            status = pbi_tick(d->t->ctx, PERIOD);
    }
    return status == PB_OK ? finish(d) : status;
}

/* ---- from the end ---- */

/* `left` counts the readers that have been placed: from the first of them on the value is resident. */
static void backward_start(greedy *d)
{
    const pb_graph *g = d->g;
    memset(d->left, 0, g->node_count * sizeof *d->left);
    for (uint32_t i = 0; i < d->t->count; i++) {
        pb_node v = d->t->program_order[i];
        d->waiting[v] = d->t->readers[v];
        for (uint32_t n = 0, parts = pbi_order_parts(g, v); n < parts; n++)
            d->waiting[v] += d->t->readers[g->part[g->part_start[v] + n]];
        d->heap.key[v] = -left_behind(d, v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (!pbi_order_stays(g, u))
                d->heap.key[v] += d->shares ? d->size[u] / d->t->readers[u] : d->size[u];
        }
    }
    for (uint32_t i = d->t->count; i-- > 0;)
        if (!d->waiting[d->t->program_order[i]])
            make_ready(d, d->t->program_order[i]);
}

/* u is resident now: its other readers need not pay for it. */
static void become_resident(greedy *d, pb_node u)
{
    const pb_graph *g = d->g;
    int64_t less = d->shares ? d->size[u] / d->t->readers[u] : d->size[u];
    for (uint32_t k = g->out_start[u]; less && k < g->out_start[u + 1]; k++)
        if ((g->flags[g->out[k]] & PB_NODE_NEEDED) && d->waiting[g->out[k]] != UINT32_MAX)
            pbi_order_heap_lower(&d->heap, g->out[k], less);
}

static pb_status backward(greedy *d)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    restart(d, true);
    backward_start(d);
    for (uint32_t i = d->t->count; d->heap.count && status == PB_OK;) {
        pb_node v = pbi_order_heap_pop(&d->heap);
        d->order[--i] = v;
        place_node(d, v, true);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k], maker = pb_graph_maker(g, u);
            if (d->left[u]++ == 0 && !pbi_order_stays(g, u))
                become_resident(d, u);
            if (!(g->flags[u] & PB_NODE_GIVEN) && --d->waiting[maker] == 0)
                make_ready(d, maker);
        }
        if (i % PERIOD == 0)
            status = pbi_tick(d->t->ctx, PERIOD);
    }
    return status == PB_OK ? finish(d) : status;
}

/* ---- depth first ---- */

/* Pushes the inputs of v that must be computed on `stack`, the one that goes first last. */
static uint32_t push_inputs(greedy *d, pb_node v, pb_node *stack, uint32_t count)
{
    const pb_graph *g = d->g;
    uint32_t first = count;
    bool sorted = g->in_start[v + 1] - g->in_start[v] <= SORTED;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = pb_graph_maker(g, g->in[k]);
        if ((g->flags[u] & PB_NODE_GIVEN) || d->waiting[u] != 0)
            continue;
        uint32_t at = count++;
        for (; sorted && at > first && pbi_order_heap_less(&d->heap, stack[at - 1], u); at--)
            stack[at] = stack[at - 1];
        stack[at] = u;
    }
    return count;
}

/* key: what the node leaves, minus what its cone needs as if it were a tree; computed in program order. */
static void tree_needs(greedy *d, pb_node *sorted)
{
    const int64_t max = INT64_MAX / 8;
    for (uint32_t i = 0; i < d->t->count; i++) {
        pb_node v = d->t->program_order[i];
        uint32_t count = push_inputs(d, v, sorted, 0);
        int64_t held = 0, need = left_behind(d, v);
        while (count-- > 0) {
            pb_node u = sorted[count];
            int64_t leaves = left_behind(d, u), at = held + leaves - d->heap.key[u];
            need = at > need ? at : need;
            held = held + leaves < max ? held + leaves : max;
        }
        int64_t here = held + left_behind(d, v);
        need = here > need ? here : need;
        need = need < max ? need : max;
        d->heap.key[v] = left_behind(d, v) - need;
    }
}

static pb_status depth_first(greedy *d)
{
    const pb_graph *g = d->g;
    uint32_t placed = 0;
    pb_node *stack = pb_arena_alloc(d->t->arena, (size_t)g->edge_count + g->node_count + 1, sizeof *stack);
    if (!stack)
        return PB_ENOMEM;
    restart(d, false);
    memset(d->waiting, 0, g->node_count * sizeof *d->waiting);
    tree_needs(d, stack);
    for (uint32_t i = 0; i < d->t->count; i++) { /* waiting: 0 new, 1 opened, 2 placed */
        uint32_t count = 0;
        if (d->waiting[d->t->program_order[i]] || d->t->readers[d->t->program_order[i]])
            continue;
        stack[count++] = d->t->program_order[i];
        while (count) {
            pb_node v = stack[count - 1];
            if (d->waiting[v] == 0) {
                count = push_inputs(d, v, stack, count);
                d->waiting[v] = 1;
                continue;
            }
            count--;
            if (d->waiting[v] == 1)
                d->order[placed++] = v;
            d->waiting[v] = 2;
        }
    }
    PB_ASSERT(placed == d->t->count);
    return finish(d);
}

/* The average number of resident values in program order. */
static uint32_t usual_width(greedy *d)
{
    const pb_graph *g = d->g;
    uint64_t lives = 0;
    restart(d, false);
    for (uint32_t i = 0; i < d->t->count; i++) {
        pb_node v = d->t->program_order[i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (--d->left[u] == 0 && !(g->flags[u] & PB_NODE_GIVEN))
                lives += i - d->place[pb_graph_maker(g, u)];
        }
    }
    return d->t->count ? (uint32_t)(lives / d->t->count) : 0;
}

typedef struct way {
    pb_status (*run)(greedy *);
    bool shares;
    uint32_t band; /* in quarters of the usual width; 0: none */
} way;

pb_status pbi_order_greedy(pbi_order_task *t)
{
    static const way ways[] = {
        {forward, true, 0},  {backward, true, 0},  {forward, true, 8},   {backward, false, 4}, {depth_first, false, 0},
        {forward, false, 0}, {backward, false, 0}, {forward, true, 4},   {forward, false, 4},  {backward, true, 4},
        {forward, true, 2},  {backward, true, 2},  {backward, false, 2}, {forward, false, 2},  {backward, false, 6},
    };
    enum { WAYS = sizeof ways / sizeof *ways, FIRST_WAYS = 5 };
    greedy d;
    if (!open_greedy(&d, t))
        return PB_ENOMEM;
    uint64_t width = usual_width(&d);
    pb_status status = PB_OK;
    for (int n = 0; n < (t->count > MANY_NODES ? FIRST_WAYS : WAYS) && status == PB_OK && t->peak > t->enough; n++) {
        uint64_t band = ways[n].band * width / 4 + 1;
        if (ways[n].band && band >= t->count)
            continue;
        d.band = ways[n].band ? (uint32_t)band : t->count;
        d.shares = ways[n].shares;
        status = ways[n].run(&d);
    }
    return status;
}
