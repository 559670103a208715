/* order_labels.c -- an order in which the computations of a layer or block are next to each other.
 *
 * Program order, except that a computation moves forward if it is ready while others with its label are running.
 * Ready computations with the label of the run wait in a heap by their places in program order; all others in a
 * second one, and in a list of their label, from which the next run starts.
 */
#include "base/context.h"
#include "coarse/cluster.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Places, the smallest first. */
typedef struct place_heap {
    uint32_t *item;
    uint32_t count;
} place_heap;

static void heap_push(place_heap *h, uint32_t place)
{
    uint32_t at = h->count++;
    for (; at && h->item[(at - 1) / 2] > place; at = (at - 1) / 2)
        h->item[at] = h->item[(at - 1) / 2];
    h->item[at] = place;
}

static uint32_t heap_pop(place_heap *h)
{
    uint32_t first = h->item[0], last = h->item[--h->count], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
        if (child + 1 < h->count && h->item[child + 1] < h->item[child])
            child++;
        if (last <= h->item[child])
            break;
        h->item[at] = h->item[child];
    }
    h->item[at] = last;
    return first;
}

typedef struct ordering {
    const pb_graph *g;
    uint32_t *place;   /* by node, in program order; UINT32_MAX: not needed or not computed */
    uint32_t *pending; /* by place: inputs that are not computed yet */
    uint32_t *label;   /* by place */
    uint32_t *waiting; /* by label: the first place that is ready, of a list */
    uint32_t *next;    /* by place */
    uint8_t *taken;    /* by place: in the run's heap or done */
    place_heap run, all;
} ordering;

static bool begins_with(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

/* "block3" of "block3.mlp", "layer1.0" of "layer1.0.conv2", "head" of "head.norm": up to the first part that is a
 * number, else to a numbered block or layer, else to the first part that ends with a digit, else to the first. */
static size_t block_length(const char *name)
{
    size_t numbered = 0, named = 0, first = strcspn(name, "./");
    for (size_t from = 0; name[from];) {
        size_t length = strcspn(name + from, "./"), digits = strspn(name + from, "0123456789");
        bool ends = length && isdigit((unsigned char)name[from + length - 1]);
        if (length && digits == length)
            return from + length;
        if (!named && ends && (begins_with(name + from, "block") || begins_with(name + from, "layer")))
            named = from + length;
        if (!numbered && ends)
            numbered = from + length;
        from += length;
        from += name[from] != '\0';
    }
    return named ? named : numbered ? numbered : first ? first : strlen(name);
}

static int label_compare(const void *a, const void *b)
{
    const pbi_label *x = a, *y = b;
    size_t length = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, length);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

/* Fills labels; label_of has an entry for each group. */
static pb_status find_labels(const pb_graph *g, bool blocks, pb_arena *arena, pbi_clusters *c, uint32_t *label_of)
{
    c->labels = pb_arena_alloc(arena, g->group_count + 1, sizeof *c->labels);
    if (!c->labels)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->group_count; i++) {
        const char *name = g->group_names[i];
        c->labels[i] = (pbi_label){name, blocks ? block_length(name) : strlen(name)};
    }
    qsort(c->labels, g->group_count, sizeof *c->labels, label_compare);
    for (uint32_t i = 0; i < g->group_count; i++)
        if (!c->label_count || label_compare(&c->labels[c->label_count - 1], &c->labels[i]) != 0)
            c->labels[c->label_count++] = c->labels[i];
    for (uint32_t i = 0; i < g->group_count; i++) {
        const char *name = g->group_names[i];
        pbi_label key = {name, blocks ? block_length(name) : strlen(name)};
        const pbi_label *found = bsearch(&key, c->labels, c->label_count, sizeof key, label_compare);
        label_of[i] = (uint32_t)(found - c->labels);
    }
    return PB_OK;
}

static bool init_ordering(ordering *o, const pb_graph *g, pb_arena *arena, const pbi_clusters *c,
                          const uint32_t *label_of)
{
    uint32_t n = c->order_count;
    o->g = g;
    o->place = pb_arena_alloc(arena, g->node_count + 1, sizeof *o->place);
    o->pending = pb_arena_zero(arena, n + 1, sizeof *o->pending);
    o->label = pb_arena_alloc(arena, n + 1, sizeof *o->label);
    o->waiting = pb_arena_alloc(arena, c->label_count + 1, sizeof *o->waiting);
    o->next = pb_arena_alloc(arena, n + 1, sizeof *o->next);
    o->taken = pb_arena_zero(arena, n + 1, 1);
    o->run.item = pb_arena_alloc(arena, n + 1, sizeof *o->run.item);
    o->all.item = pb_arena_alloc(arena, n + 1, sizeof *o->all.item);
    if (!o->place || !o->pending || !o->label || !o->waiting || !o->next || !o->taken || !o->run.item || !o->all.item)
        return false;
    memset(o->place, 0xff, (g->node_count + 1) * sizeof *o->place);
    memset(o->waiting, 0xff, (c->label_count + 1) * sizeof *o->waiting);
    for (uint32_t i = 0; i < n; i++) {
        pb_node v = c->order[i];
        o->place[v] = i;
        o->label[i] = g->group[v] == UINT32_MAX ? UINT32_MAX : label_of[g->group[v]];
        for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            o->pending[i] += pb_graph_is_computed(g, pb_graph_maker(g, g->in[e]));
    }
    return true;
}

static void make_ready(ordering *o, uint32_t place, uint32_t running)
{
    uint32_t label = o->label[place];
    if (label != UINT32_MAX && label == running) {
        o->taken[place] = 1;
        heap_push(&o->run, place);
        return;
    }
    heap_push(&o->all, place);
    if (label != UINT32_MAX) {
        o->next[place] = o->waiting[label];
        o->waiting[label] = place;
    }
}

static void value_is_done(ordering *o, pb_node value, uint32_t running)
{
    const pb_graph *g = o->g;
    for (uint32_t e = g->out_start[value]; e < g->out_start[value + 1]; e++) {
        uint32_t place = o->place[g->out[e]];
        if (place != UINT32_MAX && --o->pending[place] == 0)
            make_ready(o, place, running);
    }
}

/* The next computation; *running is the label of its run. */
static uint32_t next_place(ordering *o, uint32_t *running)
{
    if (!o->run.count) {
        uint32_t first;
        do
            first = heap_pop(&o->all);
        while (o->taken[first]);
        *running = o->label[first];
        o->taken[first] = 1;
        if (*running == UINT32_MAX)
            return first;
        for (uint32_t at = o->waiting[*running]; at != UINT32_MAX; at = o->next[at]) {
            o->taken[at] = 1;
            heap_push(&o->run, at);
        }
        o->waiting[*running] = UINT32_MAX;
    }
    return heap_pop(&o->run);
}

pb_status pbi_order_labels(pb_context *ctx, const pb_graph *g, bool blocks, pb_arena *arena, pbi_clusters *c)
{
    ordering o = {.g = g};
    if (!g->group_count)
        return pbi_fail(ctx, PB_EINVAL,
                        "%s has no groups, so that layers and blocks are not known; coarsen by chain, size or region",
                        g->name);
    uint32_t *label_of = pb_arena_alloc(arena, g->group_count, sizeof *label_of), running = UINT32_MAX;
    pb_node *order = pb_arena_alloc(arena, c->order_count + 1, sizeof *order);
    c->label = pb_arena_alloc(arena, c->order_count + 1, sizeof *c->label);
    if (!label_of || !order || !c->label || find_labels(g, blocks, arena, c, label_of) != PB_OK ||
        !init_ordering(&o, g, arena, c, label_of))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < c->order_count; i++)
        if (!o.pending[i])
            make_ready(&o, i, UINT32_MAX);
    for (uint32_t i = 0; i < c->order_count; i++) {
        uint32_t place = next_place(&o, &running);
        pb_node v = c->order[place];
        order[i] = v;
        c->label[i] = o.label[place];
        value_is_done(&o, v, running);
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                value_is_done(&o, g->part[k], running);
    }
    c->order = order;
    return PB_OK;
}
