/* graph_freeze.c -- from a builder's lists to an immutable graph: rows in both directions, order, depth, needed nodes.
 *
 * Every step is linear except the lexicographic order, which needs a heap, and only if the nodes are not already
 * numbered in a topological order.
 */
#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "graph/graph_builder.h"
#include "graph/graph_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct freezer {
    pb_builder *b;
    pb_context *ctx;
    pb_arena *result;
    pb_arena *scratch;
    pb_graph *g;
    uint32_t n;
    uint16_t *flags; /* g->flags while it may still change */
} freezer;

static const char *name_of(const freezer *f, pb_node v) { return f->b->names.text + f->b->names.start[v]; }

static pb_status check_ends(const freezer *f, const pbi_pairs *pairs, const char *what)
{
    for (size_t i = 0; i < pairs->count; i++) {
        pb_node bad = pairs->item[i].a >= f->n ? pairs->item[i].a : pairs->item[i].b;
        if (bad >= f->n)
            return pbi_fail(f->ctx, PB_EGRAPH,
                            "%s %zu names node %" PRIu32 ", but the graph has %" PRIu32
                            " nodes, counted from 0; correct it",
                            what, i, bad, f->n);
        if (pairs->item[i].a == pairs->item[i].b)
            return pbi_fail(f->ctx, PB_EGRAPH, "%s %zu leads from node \"%.80s\" to itself; remove it", what, i,
                            name_of(f, pairs->item[i].a));
    }
    return PB_OK;
}

/* Rows of `to` by `from`, in the order of the list; NULL start on failure. */
static pb_status rows_of_pairs(freezer *f, const pbi_pairs *pairs, bool by_b, uint32_t *start, pb_node *row)
{
    memset(start, 0, (f->n + 1) * sizeof *start);
    for (size_t i = 0; i < pairs->count; i++)
        start[(by_b ? pairs->item[i].b : pairs->item[i].a) + 1]++;
    for (uint32_t v = 0; v < f->n; v++)
        start[v + 1] += start[v];
    uint32_t *at = pb_arena_alloc(f->scratch, f->n ? f->n : 1, sizeof *at);
    if (!at)
        return PB_ENOMEM;
    memcpy(at, start, f->n * sizeof *at);
    for (size_t i = 0; i < pairs->count; i++) {
        pbi_pair p = pairs->item[i];
        row[at[by_b ? p.b : p.a]++] = by_b ? p.a : p.b;
    }
    return PB_OK;
}

/* Transposes rows; the result's rows are ascending. Repeated entries of a row are dropped. */
static pb_status transpose(freezer *f, const uint32_t *start, const pb_node *row, uint32_t *to_start, pb_node *to_row)
{
    uint32_t n = f->n;
    pb_node *last = pb_arena_alloc(f->scratch, (size_t)n + 1, sizeof *last);
    uint32_t *at = pb_arena_alloc(f->scratch, (size_t)n + 1, sizeof *at);
    if (!last || !at)
        return PB_ENOMEM;
    memset(last, 0xff, n * sizeof *last);
    memset(to_start, 0, ((size_t)n + 1) * sizeof *to_start);
    for (pb_node v = 0; v < n; v++)
        for (uint32_t i = start[v]; i < start[v + 1]; i++)
            if (last[row[i]] != v) {
                last[row[i]] = v;
                to_start[row[i] + 1]++;
            }
    for (uint32_t v = 0; v < n; v++)
        to_start[v + 1] += to_start[v];
    memcpy(at, to_start, ((size_t)n + 1) * sizeof *at);
    memset(last, 0xff, n * sizeof *last);
    for (pb_node v = 0; v < n; v++)
        for (uint32_t i = start[v]; i < start[v + 1]; i++)
            if (last[row[i]] != v) {
                last[row[i]] = v;
                to_row[at[row[i]]++] = v;
            }
    return PB_OK;
}

static pb_status freeze_edges(freezer *f)
{
    pb_status status = check_ends(f, &f->b->edges, "edge");
    if (status != PB_OK)
        return status;
    size_t n = f->n, m = f->b->edges.count;
    uint32_t *raw_start = pb_arena_alloc(f->scratch, n + 1, sizeof *raw_start);
    pb_node *raw = pb_arena_alloc(f->scratch, m, sizeof *raw);
    uint32_t *out_start = pb_arena_alloc(f->result, n + 1, sizeof *out_start);
    pb_node *out = pb_arena_alloc(f->result, m, sizeof *out);
    uint32_t *in_start = pb_arena_alloc(f->result, n + 1, sizeof *in_start);
    pb_node *in = pb_arena_alloc(f->result, m, sizeof *in);
    if (!raw_start || !raw || !out_start || !out || !in_start || !in)
        return PB_ENOMEM;
    status = rows_of_pairs(f, &f->b->edges, true, raw_start, raw);
    if (status == PB_OK)
        status = transpose(f, raw_start, raw, out_start, out);
    if (status == PB_OK)
        status = transpose(f, out_start, out, in_start, in);
    f->g->in_start = in_start;
    f->g->in = in;
    f->g->out_start = out_start;
    f->g->out = out;
    f->g->edge_count = status == PB_OK ? in_start[n] : 0;
    return status;
}

static bool row_has(const uint32_t *start, const pb_node *row, pb_node v, pb_node wanted)
{
    uint32_t low = start[v], high = start[v + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (row[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < start[v + 1] && row[low] == wanted;
}

static pb_status freeze_inplace(freezer *f)
{
    const pbi_pairs *list = &f->b->inplace;
    pb_status status = check_ends(f, list, "`inplace` entry");
    if (status != PB_OK || !list->count)
        return status;
    for (size_t i = 0; i < list->count; i++)
        if (!row_has(f->g->in_start, f->g->in, list->item[i].a, list->item[i].b))
            return pbi_fail(
                f->ctx, PB_EGRAPH,
                "node \"%.80s\" lists \"%.80s\" in `inplace`, but does not read it; add the edge or remove the entry",
                name_of(f, list->item[i].a), name_of(f, list->item[i].b));
    size_t n = f->n;
    uint32_t *raw_start = pb_arena_alloc(f->scratch, n + 1, sizeof *raw_start);
    pb_node *raw = pb_arena_alloc(f->scratch, list->count, sizeof *raw);
    uint32_t *start = pb_arena_alloc(f->result, n + 1, sizeof *start);
    pb_node *row = pb_arena_alloc(f->result, list->count, sizeof *row);
    if (!raw_start || !raw || !start || !row)
        return PB_ENOMEM;
    status = rows_of_pairs(f, list, true, raw_start, raw); /* rows by input, so that transposing sorts by node */
    if (status == PB_OK)
        status = transpose(f, raw_start, raw, start, row);
    f->g->inplace_start = start;
    f->g->inplace = row;
    return status;
}

static pb_status check_byproduct(const freezer *f, pb_node w, pb_node owner)
{
    const pbi_record *r = &f->b->record[w];
    const char *name = name_of(f, w);
    if (f->flags[owner] & (PB_NODE_BYPRODUCT | PB_NODE_GIVEN))
        return pbi_fail(
            f->ctx, PB_EGRAPH,
            "node \"%.80s\" is a by-product of \"%.80s\", which is given or a by-product itself; name a computed node",
            name, name_of(f, owner));
    if (f->g->in_start[w] != f->g->in_start[w + 1])
        return pbi_fail(f->ctx, PB_EGRAPH, "by-product \"%.80s\" has inputs of its own; move them to \"%.80s\"", name,
                        name_of(f, owner));
    if (r->cost || r->workspace)
        return pbi_fail(f->ctx, PB_EGRAPH, "by-product \"%.80s\" has a cost or workspace; move it to \"%.80s\"", name,
                        name_of(f, owner));
    if (r->flags & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW))
        return pbi_fail(f->ctx, PB_EGRAPH, "node \"%.80s\" is both given and a by-product; remove one of the two",
                        name);
    return PB_OK;
}

static pb_status freeze_byproducts(freezer *f)
{
    const pbi_pairs *list = &f->b->byproduct;
    pb_status status = check_ends(f, list, "`byproduct_of` entry");
    if (status != PB_OK || !list->count)
        return status;
    size_t n = f->n;
    pb_node *owner = pb_arena_alloc(f->result, n, sizeof *owner);
    uint32_t *raw_start = pb_arena_alloc(f->scratch, n + 1, sizeof *raw_start);
    pb_node *raw = pb_arena_alloc(f->scratch, list->count, sizeof *raw);
    uint32_t *start = pb_arena_alloc(f->result, n + 1, sizeof *start);
    pb_node *row = pb_arena_alloc(f->result, list->count, sizeof *row);
    if (!owner || !raw_start || !raw || !start || !row)
        return PB_ENOMEM;
    memset(owner, 0xff, n * sizeof *owner);
    for (size_t i = 0; i < list->count; i++) {
        pb_node w = list->item[i].a;
        if (owner[w] != PB_NO_NODE && owner[w] != list->item[i].b)
            return pbi_fail(f->ctx, PB_EGRAPH, "node \"%.80s\" is a by-product of two nodes; remove one of them",
                            name_of(f, w));
        owner[w] = list->item[i].b;
        f->flags[w] |= PB_NODE_BYPRODUCT;
    }
    for (size_t i = 0; i < list->count && status == PB_OK; i++) {
        status = check_byproduct(f, list->item[i].a, list->item[i].b);
        f->flags[list->item[i].b] |= PB_NODE_HAS_PARTS;
    }
    if (status == PB_OK)
        status = rows_of_pairs(f, list, false, raw_start, raw); /* rows by by-product, transposed to rows by owner */
    if (status == PB_OK)
        status = transpose(f, raw_start, raw, start, row);
    f->g->owner = owner;
    f->g->part_start = start;
    f->g->part = row;
    return status;
}

static pb_status freeze_given(freezer *f)
{
    for (pb_node v = 0; v < f->n; v++) {
        uint16_t flags = f->flags[v];
        if ((flags & PB_NODE_GIVEN_SLOW) && !(flags & PB_NODE_GIVEN))
            return pbi_fail(f->ctx, PB_EGRAPH,
                            "node \"%.80s\" starts in slow memory, which only given values can; mark it as given",
                            name_of(f, v));
        if ((flags & PB_NODE_GIVEN) && f->g->in_start[v] != f->g->in_start[v + 1])
            return pbi_fail(
                f->ctx, PB_EGRAPH,
                "given node \"%.80s\" reads \"%.80s\"; a given value has no inputs: remove the edge, or `given`",
                name_of(f, v), name_of(f, f->g->in[f->g->in_start[v]]));
    }
    return PB_OK;
}

static pb_status freeze_targets(freezer *f)
{
    const pbi_nodes *named = &f->b->targets;
    for (pb_node v = 0; v < f->n; v++)
        f->flags[v] &= (uint16_t)~PB_NODE_TARGET;
    for (size_t i = 0; i < named->count; i++) {
        if (named->item[i] >= f->n)
            return pbi_fail(f->ctx, PB_EGRAPH,
                            "target %zu is node %" PRIu32 ", but the graph has %" PRIu32
                            " nodes, counted from 0; correct it",
                            i, named->item[i], f->n);
        f->flags[named->item[i]] |= PB_NODE_TARGET;
    }
    f->g->targets_named = named->count > 0;
    uint32_t count = 0;
    for (pb_node v = 0; v < f->n; v++) {
        if (!named->count && f->g->out_start[v] == f->g->out_start[v + 1] && !(f->flags[v] & PB_NODE_BYPRODUCT))
            f->flags[v] |= PB_NODE_TARGET;
        count += (f->flags[v] & PB_NODE_TARGET) != 0;
    }
    pb_node *targets = pb_arena_alloc(f->result, count, sizeof *targets);
    if (!targets)
        return PB_ENOMEM;
    f->g->targets = targets;
    f->g->target_count = count;
    for (pb_node v = 0; v < f->n; v++)
        if (f->flags[v] & PB_NODE_TARGET)
            *targets++ = v;
    return PB_OK;
}

/* A node is needed if a target or kept node is this node or depends on it. */
static void mark_needed(freezer *f)
{
    const pb_graph *g = f->g;
    for (pb_node v = 0; v < f->n; v++)
        if (f->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP))
            f->flags[v] |= PB_NODE_NEEDED;
    for (uint32_t i = g->order_count; i-- > 0;) {
        pb_node v = g->order[i];
        if (f->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                f->flags[v] |= f->flags[g->part[k]] & PB_NODE_NEEDED;
        if (f->flags[v] & PB_NODE_NEEDED) {
            f->g->needed_count++;
            for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
                f->flags[g->in[k]] |= PB_NODE_NEEDED;
        }
    }
}

/* Sums that later stages may then compute without checks: sizes with any workspace, costs once each. */
static pb_status freeze_quantities(freezer *f)
{
    size_t n = f->n;
    uint64_t *cost = pb_arena_alloc(f->result, n, sizeof *cost);
    uint64_t *size = pb_arena_alloc(f->result, n, sizeof *size);
    uint64_t *workspace = pb_arena_alloc(f->result, n, sizeof *workspace);
    if (!cost || !size || !workspace)
        return PB_ENOMEM;
    uint64_t sizes = f->b->fixed_size, costs = 0, most_workspace = 0, all;
    bool fits = true;
    for (size_t v = 0; v < n; v++) {
        const pbi_record *r = &f->b->record[v];
        cost[v] = r->cost;
        size[v] = r->size;
        workspace[v] = r->workspace;
        if (r->workspace > most_workspace)
            most_workspace = r->workspace;
        fits = fits && pbi_add(sizes, r->size, &sizes) && pbi_add(costs, r->cost, &costs);
    }
    for (size_t i = 0; i < f->b->recipe_count; i++) {
        const pbi_recipe_record *r = &f->b->recipes[i];
        most_workspace = r->workspace > most_workspace ? r->workspace : most_workspace;
        fits = fits && pbi_add(costs, r->cost, &costs);
    }
    if (!fits || !pbi_add(sizes, most_workspace, &all) || all == UINT64_MAX)
        return pbi_fail(f->ctx, PB_ERANGE, "the sum of all sizes or costs exceeds 2^64; use coarser units%s",
                        f->b->cost_digits ? ", or round costs to fewer decimals" : "");
    f->g->cost = cost;
    f->g->size = size;
    f->g->workspace = workspace;
    f->g->total_size = sizes;
    f->g->fixed_size = f->b->fixed_size;
    f->g->forward_only = f->b->forward_only;
    f->g->cost_digits = f->b->cost_digits;
    return PB_OK;
}

/* An array only where a node has a priority. */
static pb_status freeze_priorities(freezer *f)
{
    bool any = false;
    for (size_t v = 0; v < f->n; v++)
        any |= f->b->record[v].priority > 0;
    uint64_t *priority = any ? pb_arena_alloc(f->result, f->n, sizeof *priority) : NULL;
    if (any && !priority)
        return PB_ENOMEM;
    for (size_t v = 0; v < f->n && any; v++)
        priority[v] = f->b->record[v].priority;
    f->g->priority = priority;
    return PB_OK;
}

static pb_status freeze_texts(freezer *f)
{
    pb_builder *b = f->b;
    pb_graph *g = f->g;
    const char *texts[] = {b->name, b->cost_unit, b->size_unit, b->extra};
    const char **fields[] = {&g->name, &g->cost_unit, &g->size_unit, &g->extra};
    const char *defaults[] = {"", "step", "unit", ""};
    for (int i = 0; i < 4; i++) {
        const char *text = texts[i] ? texts[i] : defaults[i];
        if (!(*fields[i] = pb_arena_text(f->result, text, strlen(text))))
            return PB_ENOMEM;
    }
    uint64_t *start = pb_arena_alloc(f->result, (size_t)f->n + 1, sizeof *start);
    char *text = pb_arena_alloc(f->result, b->names.text_used, 1);
    pb_node *extra_node = pb_arena_alloc(f->result, b->extra_count, sizeof *extra_node);
    const char **extra_text = pb_arena_alloc(f->result, b->extra_count, sizeof *extra_text);
    if (!start || !text || !extra_node || !extra_text)
        return PB_ENOMEM;
    if (f->n) {
        memcpy(start, b->names.start, f->n * sizeof *start);
        memcpy(text, b->names.text, b->names.text_used);
    }
    start[f->n] = b->names.text_used;
    for (size_t i = 0; i < b->extra_count; i++) {
        extra_node[i] = b->extras[i].node;
        if (extra_node[i] >= f->n)
            return pbi_fail(f->ctx, PB_EINVAL,
                            "extra fields are set for node %" PRIu32 ", which does not exist; remove them",
                            extra_node[i]);
        if (!(extra_text[i] = pb_arena_text(f->result, b->extras[i].text, strlen(b->extras[i].text))))
            return PB_ENOMEM;
    }
    g->name_start = start;
    g->name_text = text;
    g->extra_node = extra_node;
    g->extra_text = extra_text;
    g->extra_count = (uint32_t)b->extra_count;
    return PB_OK;
}

static pb_status freeze_groups(freezer *f)
{
    const pbi_names *groups = &f->b->groups;
    if (!groups->count)
        return PB_OK;
    const char **names = pb_arena_alloc(f->result, groups->count, sizeof *names);
    uint32_t *group = pb_arena_alloc(f->result, f->n, sizeof *group);
    if (!names || !group)
        return PB_ENOMEM;
    for (size_t i = 0; i < groups->count; i++) {
        const char *text = groups->text + groups->start[i];
        if (!(names[i] = pb_arena_text(f->result, text, strlen(text))))
            return PB_ENOMEM;
    }
    for (pb_node v = 0; v < f->n; v++)
        group[v] = f->b->record[v].group;
    f->g->group_names = names;
    f->g->group = group;
    f->g->group_count = (uint32_t)groups->count;
    return PB_OK;
}

static pb_status freeze_flags(freezer *f)
{
    f->flags = pb_arena_alloc(f->result, f->n, sizeof *f->flags);
    if (!f->flags)
        return PB_ENOMEM;
    for (pb_node v = 0; v < f->n; v++)
        f->flags[v] = f->b->record[v].flags;
    f->g->flags = f->flags;
    return PB_OK;
}

static pb_status freeze_needs(freezer *f)
{
    mark_needed(f);
    for (pb_node v = 0; v < f->n; v++) /* cannot overflow: the sum of all costs fits */
        if ((f->flags[v] & PB_NODE_NEEDED) && !(f->flags[v] & (PB_NODE_GIVEN | PB_NODE_BYPRODUCT)))
            f->g->needed_cost += f->g->cost[v];
    return PB_OK;
}

static pb_status freeze_order(freezer *f)
{
    const pbi_nodes *named = &f->b->order;
    return pbi_graph_order(f->ctx, f->g, named->item, named->count, f->result, f->scratch);
}

static pb_status freeze_notes(freezer *f) { return pbi_freeze_notes(f->b, f->g, f->result); }

static pb_status freeze_recipes(freezer *f) { return pbi_freeze_recipes(f->b, f->g, f->result, f->scratch); }

static pb_status freeze_shape(freezer *f) { return pbi_graph_shape(f->ctx, f->g, f->scratch); }

pb_status pb_builder_freeze(pb_builder *b, pb_arena *result, const pb_graph **out)
{
    static pb_status (*const steps[])(freezer *) = {
        freeze_texts,   freeze_flags,      freeze_quantities, freeze_priorities, freeze_edges,
        freeze_inplace, freeze_byproducts, freeze_given,      freeze_groups,     freeze_order,
        freeze_targets, freeze_needs,      freeze_notes,      freeze_recipes,    freeze_shape,
    };
    pb_arena scratch;
    pb_arena_init(&scratch, b->ctx);
    pbi_mark mark = pbi_arena_mark(result);
    pb_graph *g = pb_arena_zero(result, 1, sizeof *g);
    freezer f = {.b = b, .ctx = b->ctx, .result = result, .scratch = &scratch, .g = g, .n = (uint32_t)b->names.count};
    pb_status status = g ? PB_OK : PB_ENOMEM;
    if (g)
        g->node_count = f.n;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PB_OK; i++)
        status = steps[i](&f);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = g;
    else
        pbi_arena_rewind(result, mark);
    return status;
}
