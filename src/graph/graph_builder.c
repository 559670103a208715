/* graph_builder.c -- collects nodes and edges; graph_freeze.c turns them into a graph. */
#include "graph/graph_builder.h"

#include "base/arena.h"
#include "base/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t names_find(const pbi_names *names, const char *text, size_t length)
{
    return pbi_name_index_find(&names->index, names->text, names->start, text, length);
}

/* Adds a text that is not in the index yet. */
static bool names_add(pb_arena *arena, pbi_names *names, const char *text, size_t length)
{
    void *bytes = names->text, *start = names->start;
    if (length > SIZE_MAX / 4 || !pbi_arena_reserve(arena, &bytes, &names->text_room, names->text_used + length + 1, 1))
        return false;
    names->text = bytes;
    if (!pbi_arena_reserve(arena, &start, &names->start_room, names->count + 1, sizeof *names->start))
        return false;
    names->start = start;
    names->start[names->count] = names->text_used;
    memcpy(names->text + names->text_used, text, length);
    names->text[names->text_used + length] = '\0';
    if (!pbi_name_index_add(&names->index, arena, names->text, names->start, (uint32_t)names->count))
        return false;
    names->count++;
    names->text_used += length + 1;
    return true;
}

pb_status pbi_names_number(pb_builder *b, pbi_names *names, const char *text, size_t length, uint32_t *out)
{
    uint32_t known = names_find(names, text, length);
    if (known == UINT32_MAX) {
        known = (uint32_t)names->count;
        if (!names_add(&b->arena, names, text, length))
            return PB_ENOMEM;
    }
    *out = known;
    return PB_OK;
}

pb_status pb_builder_new(pb_context *ctx, pb_builder **out)
{
    pb_arena home;
    pb_arena_init(&home, ctx);
    pb_builder *b = pb_arena_zero(&home, 1, sizeof *b);
    if (!b)
        return PB_ENOMEM;
    b->ctx = ctx;
    b->home = home;
    pb_arena_init(&b->arena, ctx);
    *out = b;
    return PB_OK;
}

void pb_builder_free(pb_builder *b)
{
    if (!b)
        return;
    pb_arena_release(&b->arena);
    pb_arena home = b->home;
    pb_arena_release(&home);
}

void pb_builder_clear(pb_builder *b)
{
    pb_context *ctx = b->ctx;
    pb_arena home = b->home;
    pb_arena_release(&b->arena);
    memset(b, 0, sizeof *b);
    b->ctx = ctx;
    b->home = home;
    pb_arena_init(&b->arena, ctx);
}

static pb_status group_index(pb_builder *b, const pb_node_spec *spec, uint32_t *out)
{
    *out = UINT32_MAX;
    if (!spec->group)
        return PB_OK;
    size_t length = spec->group_length ? spec->group_length : strlen(spec->group);
    if (memchr(spec->group, '\0', length))
        return pbi_fail(b->ctx, PB_EGRAPH, "the group of node %zu contains a NUL character; remove it", b->names.count);
    return pbi_names_number(b, &b->groups, spec->group, length, out);
}

pb_status pb_builder_add_node(pb_builder *b, const pb_node_spec *spec, pb_node *out)
{
    size_t index = b->names.count;
    if (index >= PB_MAX_NODES)
        return pbi_fail(b->ctx, PB_ERANGE, "the graph has more nodes than the limit of %u; use a smaller graph",
                        PB_MAX_NODES);
    char number[24];
    const char *name = spec->name;
    size_t length = spec->name_length;
    if (!name) {
        name = number;
        length = (size_t)snprintf(number, sizeof number, "%zu", index);
    } else if (!length) {
        length = strlen(name);
    }
    if (memchr(name, '\0', length))
        return pbi_fail(b->ctx, PB_EGRAPH, "the name of node %zu contains a NUL character; remove it", index);
    uint32_t twin = names_find(&b->names, name, length);
    if (twin != UINT32_MAX)
        return pbi_fail(b->ctx, PB_EGRAPH, "two nodes are named \"%.*s\": %" PRIu32 " and %zu; rename one",
                        (int)(length < 80 ? length : 80), name, twin, index);
    void *record = b->record;
    if (!pbi_arena_reserve(&b->arena, &record, &b->record_room, index + 1, sizeof *b->record))
        return PB_ENOMEM;
    b->record = record;
    uint32_t group;
    pb_status status = group_index(b, spec, &group);
    size_t targets = b->targets.count;
    if (status == PB_OK)
        status = pbi_builder_take_work(b, (pb_node)index, &spec->work);
    if (status == PB_OK && (spec->flags & PB_NODE_TARGET))
        status = pb_builder_add_target(b, (pb_node)index);
    if (status != PB_OK)
        return status;
    if (!names_add(&b->arena, &b->names, name, length)) {
        b->targets.count = targets;
        return PB_ENOMEM;
    }
    uint16_t known = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW | PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_TARGET;
    b->record[index] = (pbi_record){spec->cost, spec->size, spec->workspace, group, spec->flags & known, 0};
    if (out)
        *out = (pb_node)index;
    return PB_OK;
}

pb_status pb_builder_set_priority(pb_builder *b, pb_node v, uint64_t priority)
{
    if (v >= b->names.count)
        return pbi_fail(b->ctx, PB_EGRAPH, "node %" PRIu32 " does not exist yet; add it before its priority", v);
    b->record[v].priority = priority;
    return PB_OK;
}

pb_status pbi_pairs_add(pb_builder *b, pbi_pairs *pairs, pb_node x, pb_node y)
{
    void *item = pairs->item;
    if (!pbi_arena_reserve(&b->arena, &item, &pairs->room, pairs->count + 1, sizeof *pairs->item))
        return PB_ENOMEM;
    pairs->item = item;
    pairs->item[pairs->count++] = (pbi_pair){x, y};
    return PB_OK;
}

static pb_status nodes_add(pb_builder *b, pbi_nodes *nodes, pb_node v)
{
    void *item = nodes->item;
    if (!pbi_arena_reserve(&b->arena, &item, &nodes->room, nodes->count + 1, sizeof *nodes->item))
        return PB_ENOMEM;
    nodes->item = item;
    nodes->item[nodes->count++] = v;
    return PB_OK;
}

pb_status pb_builder_add_edge(pb_builder *b, pb_node from, pb_node to)
{
    if (b->edges.count >= PB_MAX_EDGES)
        return pbi_fail(b->ctx, PB_ERANGE, "the graph has more edges than the limit of %u; use a smaller graph",
                        PB_MAX_EDGES);
    return pbi_pairs_add(b, &b->edges, from, to);
}

pb_status pb_builder_add_inplace(pb_builder *b, pb_node v, pb_node input)
{
    return pbi_pairs_add(b, &b->inplace, v, input);
}

pb_status pb_builder_set_byproduct(pb_builder *b, pb_node v, pb_node owner)
{
    return pbi_pairs_add(b, &b->byproduct, v, owner);
}

pb_status pb_builder_add_target(pb_builder *b, pb_node v) { return nodes_add(b, &b->targets, v); }

pb_status pb_builder_add_order(pb_builder *b, pb_node v) { return nodes_add(b, &b->order, v); }

static pb_status set_text(pb_builder *b, const char *text, char **field)
{
    if (!text)
        return PB_OK;
    char *copy = pb_arena_text(&b->arena, text, strlen(text));
    if (!copy)
        return PB_ENOMEM;
    *field = copy;
    return PB_OK;
}

pb_status pb_builder_set_texts(pb_builder *b, const char *name, const char *cost_unit, const char *size_unit)
{
    pb_status status = set_text(b, name, &b->name);
    if (status == PB_OK)
        status = set_text(b, cost_unit, &b->cost_unit);
    if (status == PB_OK)
        status = set_text(b, size_unit, &b->size_unit);
    return status;
}

void pb_builder_set_fixed_size(pb_builder *b, uint64_t size) { b->fixed_size = size; }
void pb_builder_set_forward_only(pb_builder *b) { b->forward_only = true; }

pb_status pb_builder_set_extra(pb_builder *b, pb_node v, const char *members, size_t length)
{
    char *copy = pb_arena_text(&b->arena, members, length);
    if (!copy)
        return PB_ENOMEM;
    if (v == PB_NO_NODE) {
        b->extra = copy;
        return PB_OK;
    }
    if (b->extra_count && b->extras[b->extra_count - 1].node >= v)
        return pbi_fail(b->ctx, PB_EINVAL,
                        "extra fields must be set in ascending order of nodes, once each; sort the calls");
    void *extras = b->extras;
    if (!pbi_arena_reserve(&b->arena, &extras, &b->extra_room, b->extra_count + 1, sizeof *b->extras))
        return PB_ENOMEM;
    b->extras = extras;
    b->extras[b->extra_count++] = (pbi_extra){v, copy};
    return PB_OK;
}

uint32_t pb_builder_node_count(const pb_builder *b) { return (uint32_t)b->names.count; }

pb_node pb_builder_find(const pb_builder *b, const char *name, size_t length)
{
    return names_find(&b->names, name, length);
}
