/* graph_recipes.c -- other ways to get a value back. Most graphs have none, and then nothing is allocated. */
#include "base/arena.h"
#include "base/context.h"
#include "graph/graph_builder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static pb_status copy_text(pb_builder *b, const char *text, char **out)
{
    *out = NULL;
    if (!text || !*text)
        return PB_OK;
    *out = pb_arena_text(&b->arena, text, strlen(text));
    return *out ? PB_OK : PB_ENOMEM;
}

pb_status pb_builder_add_recipe(pb_builder *b, pb_node v, const pb_recipe_spec *spec, uint32_t *number)
{
    const pb_work *w = &spec->work;
    pbi_recipe_record r = {.node = v, .cost = spec->cost, .workspace = spec->workspace};
    void *items = b->recipes;
    if (b->recipe_count >= PB_MAX_NODES)
        return pbi_fail(b->ctx, PB_ERANGE, "the graph has more recipes than the limit of %u; use fewer", PB_MAX_NODES);
    if (!pbi_arena_reserve(&b->arena, &items, &b->recipe_room, b->recipe_count + 1, sizeof *b->recipes))
        return PB_ENOMEM;
    b->recipes = items;
    r.work = (pb_node_work){w->flops, w->bytes, PB_NO_WORD, PB_NO_WORD, w->has_flops, w->has_bytes};
    pb_status status = pbi_word_number(b, w->op, &r.work.op);
    if (status == PB_OK)
        status = pbi_word_number(b, w->dtype, &r.work.dtype);
    if (status == PB_OK)
        status = copy_text(b, spec->name, &r.name);
    if (status == PB_OK)
        status = copy_text(b, spec->extra, &r.extra);
    if (status != PB_OK)
        return status;
    *number = (uint32_t)b->recipe_count;
    b->recipes[b->recipe_count++] = r;
    return PB_OK;
}

static pb_status check_number(const pb_builder *b, uint32_t number)
{
    return number < b->recipe_count
               ? PB_OK
               : pbi_fail(b->ctx, PB_EINVAL, "there is no recipe %" PRIu32 "; add it first", number);
}

pb_status pb_builder_add_recipe_input(pb_builder *b, uint32_t number, pb_node input)
{
    pb_status status = check_number(b, number);
    return status == PB_OK ? pbi_pairs_add(b, &b->recipe_in, number, input) : status;
}

pb_status pb_builder_add_recipe_inplace(pb_builder *b, uint32_t number, pb_node input)
{
    pb_status status = check_number(b, number);
    return status == PB_OK ? pbi_pairs_add(b, &b->recipe_inplace, number, input) : status;
}

pb_status pb_builder_add_recipe_time(pb_builder *b, uint32_t number, const char *processor, uint64_t time)
{
    pbi_recipe_time t = {number, {.kind = PB_NOTE_TIME, .value = time}};
    pb_status status = check_number(b, number);
    if (status == PB_OK && !*processor)
        return pbi_fail(b->ctx, PB_EGRAPH, "\"times\" has a processor without a name; write one");
    void *items = b->recipe_times;
    if (status == PB_OK &&
        !pbi_arena_reserve(&b->arena, &items, &b->recipe_time_room, b->recipe_time_count + 1, sizeof *b->recipe_times))
        status = PB_ENOMEM;
    if (status != PB_OK)
        return status;
    b->recipe_times = items;
    status = pbi_word_number(b, processor, &t.note.word);
    if (status == PB_OK)
        b->recipe_times[b->recipe_time_count++] = t;
    return status;
}

typedef struct recipes {
    pb_builder *b;
    pb_graph *g;
    pb_arena *result, *scratch;
    uint32_t count;
    uint32_t *start; /* by node */
    uint32_t *place; /* by number: its index in the graph */
    pb_recipe *recipe;
} recipes;

static pb_status refuse(const recipes *r, const pbi_recipe_record *from, const char *why)
{
    return pbi_fail(r->b->ctx, PB_EGRAPH, "a recipe%s%.80s of node \"%.80s\" %s", from->name ? " " : "",
                    from->name ? from->name : "", pb_graph_name(r->g, from->node), why);
}

/* Rows by node, each in the order of the builder's calls. */
static pb_status place_recipes(recipes *r)
{
    const pbi_recipe_record *from = r->b->recipes;
    uint32_t n = r->g->node_count;
    for (uint32_t i = 0; i < r->count; i++) {
        if (from[i].node >= n)
            return pbi_fail(r->b->ctx, PB_EINVAL,
                            "a recipe of node %" PRIu32 ", but the graph has %" PRIu32 " nodes; add the node",
                            from[i].node, n);
        if (r->start[from[i].node + 2]++ == PB_MAX_RECIPES)
            return refuse(r, &from[i], "is one of more than 255; remove some");
    }
    for (pb_node v = 0; v < n; v++)
        r->start[v + 2] += r->start[v + 1];
    for (uint32_t i = 0; i < r->count; i++) {
        r->place[i] = r->start[from[i].node + 1]++;
        pb_recipe *to = &r->recipe[r->place[i]];
        const char *name = from[i].name ? from[i].name : "", *extra = from[i].extra ? from[i].extra : "";
        *to = (pb_recipe){.cost = from[i].cost, .workspace = from[i].workspace, .work = from[i].work};
        to->name = pb_arena_text(r->result, name, strlen(name));
        to->extra = pb_arena_text(r->result, extra, strlen(extra));
        if (!to->name || !to->extra)
            return PB_ENOMEM;
    }
    return PB_OK;
}

static int by_node(const void *a, const void *b)
{
    pb_node x = *(const pb_node *)a, y = *(const pb_node *)b;
    return (x > y) - (x < y);
}

/* The nodes that pairs name for each recipe: ascending, once each. Recipe i has row[start[i]] and `count[i]` nodes. */
static pb_status fill_rows(recipes *r, const pbi_pairs *pairs, uint32_t *start, uint32_t *count, pb_node **out)
{
    pb_node *row = pb_arena_alloc(r->result, pairs->count, sizeof *row);
    if (!row || pairs->count > PB_MAX_EDGES)
        return PB_ENOMEM;
    memset(count, 0, r->count * sizeof *count);
    for (size_t i = 0; i < pairs->count; i++) {
        const pbi_recipe_record *from = &r->b->recipes[pairs->item[i].a];
        if (pairs->item[i].b >= r->g->node_count)
            return refuse(r, from, "names a node that the graph does not have; correct it");
        if (pairs->item[i].b == from->node)
            return refuse(r, from, "reads that node itself; name other inputs");
        count[pairs->item[i].a]++;
    }
    for (uint32_t i = 0, sum = 0; i < r->count; i++) {
        start[i] = sum;
        sum += count[i];
        count[i] = 0;
    }
    for (size_t i = 0; i < pairs->count; i++)
        row[start[pairs->item[i].a] + count[pairs->item[i].a]++] = pairs->item[i].b;
    for (uint32_t i = 0; i < r->count; i++) {
        pb_node *own = row + start[i];
        uint32_t kept = 0;
        qsort(own, count[i], sizeof *own, by_node);
        for (uint32_t k = 0; k < count[i]; k++)
            if (!kept || own[k] != own[kept - 1])
                own[kept++] = own[k];
        count[i] = kept;
    }
    *out = row;
    return PB_OK;
}

static pb_status place_rows(recipes *r)
{
    uint32_t *start = pb_arena_alloc(r->scratch, r->count, sizeof *start);
    uint32_t *count = pb_arena_alloc(r->scratch, r->count, sizeof *count);
    pb_node *row;
    if (!start || !count)
        return PB_ENOMEM;
    pb_status status = fill_rows(r, &r->b->recipe_in, start, count, &row);
    for (uint32_t i = 0; i < r->count && status == PB_OK; i++) {
        r->recipe[r->place[i]].in = row + start[i];
        r->recipe[r->place[i]].in_count = count[i];
    }
    if (status == PB_OK)
        status = fill_rows(r, &r->b->recipe_inplace, start, count, &row);
    for (uint32_t i = 0; i < r->count && status == PB_OK; i++) {
        pb_recipe *to = &r->recipe[r->place[i]];
        to->inplace = row + start[i];
        to->inplace_count = count[i];
        uint32_t found = 0;
        for (uint32_t k = 0; k < to->in_count; k++)
            found += found < to->inplace_count && to->inplace[found] == to->in[k];
        if (found < to->inplace_count)
            status = refuse(r, &r->b->recipes[i], "lists a node in `inplace` that is not one of its inputs; add it");
    }
    return status;
}

static pb_status place_times(recipes *r)
{
    const pb_builder *b = r->b;
    pb_note *all = pb_arena_alloc(r->result, b->recipe_time_count, sizeof *all);
    const pb_note *time = all;
    if (!all)
        return PB_ENOMEM;
    for (size_t i = 0; i < b->recipe_time_count; i++)
        r->recipe[r->place[b->recipe_times[i].recipe]].time_count++;
    for (uint32_t i = 0; i < r->count; i++) {
        r->recipe[i].time = time;
        time += r->recipe[i].time_count;
        r->recipe[i].time_count = 0;
    }
    for (size_t i = 0; i < b->recipe_time_count; i++) {
        const pbi_recipe_time *t = &b->recipe_times[i];
        pb_recipe *to = &r->recipe[r->place[t->recipe]];
        pb_note *row = all + (to->time - all);
        for (uint32_t k = 0; k < to->time_count; k++)
            if (row[k].word == t->note.word)
                return refuse(r, &b->recipes[t->recipe], "names a processor twice in \"times\"; remove one");
        if (to->time_count >= PB_MACHINE_MAX_PARTS)
            return refuse(r, &b->recipes[t->recipe], "names too many processors in \"times\"; remove some");
        row[to->time_count++] = t->note;
    }
    return PB_OK;
}

pb_status pbi_freeze_recipes(pb_builder *b, pb_graph *g, pb_arena *result, pb_arena *scratch)
{
    recipes r = {.b = b, .g = g, .result = result, .scratch = scratch, .count = (uint32_t)b->recipe_count};
    if (!r.count)
        return PB_OK;
    r.start = pb_arena_zero(result, (size_t)g->node_count + 2, sizeof *r.start);
    r.place = pb_arena_alloc(scratch, r.count, sizeof *r.place);
    r.recipe = pb_arena_zero(result, r.count, sizeof *r.recipe);
    if (!r.start || !r.place || !r.recipe)
        return PB_ENOMEM;
    pb_status status = place_recipes(&r);
    if (status == PB_OK)
        status = place_rows(&r);
    if (status == PB_OK)
        status = place_times(&r);
    g->recipe_start = r.start;
    g->recipe = r.recipe;
    return status;
}
