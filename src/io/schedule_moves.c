/* schedule_moves.c -- reads the moves of pebble-schedule/1. */
#include "io/schedule_reader.h"

#include "base/arena.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

static pb_status node_by_name(pbi_schedule_reader *r, pbi_field field, pb_node *out)
{
    const pb_graph *g = r->graph;
    pbi_slice name;
    pb_status status = pbi_read_text(&r->json, field, &name);
    if (status != PB_OK)
        return status;
    if (!g)
        return pbi_field_fail(&r->json, field, "names a node, which needs the graph; without a graph, write the index");
    if (!r->names.slot_count &&
        !pbi_name_index_build(&r->names, r->scratch, g->name_text, g->name_start, g->node_count))
        return PB_ENOMEM;
    *out = pbi_name_index_find(&r->names, g->name_text, g->name_start, name.bytes, name.length);
    if (*out == PB_NO_NODE)
        return pbi_field_fail(&r->json, field,
                              "names \"%.*s\", which is not a node of the graph; pass the graph of this schedule",
                              (int)(name.length < 80 ? name.length : 80), name.bytes);
    return PB_OK;
}

static pb_status read_node(pbi_schedule_reader *r, pbi_field field, pb_node *out)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status != PB_OK)
        return status;
    if (kind == PBI_JSON_STRING)
        return node_by_name(r, field, out);
    if (kind != PBI_JSON_NUMBER)
        return pbi_field_fail(&r->json, field, "must name a node by its index or its name, not by %s",
                              pbi_json_kind_name(kind));
    uint64_t index = 0;
    status = pbi_read_whole(&r->json, field, &index);
    uint32_t limit = r->graph ? r->graph->node_count : PB_MAX_NODES;
    if (status == PB_OK && index >= limit)
        return pbi_field_fail(
            &r->json, field, "names node %" PRIu64 ", but there are %" PRIu32 " nodes; pass the graph of this schedule",
            index, limit);
    *out = (pb_node)index;
    return status;
}

static pb_status read_also(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    bool more;
    while (status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more) {
        void *items = r->also;
        if (!pbi_arena_reserve(r->scratch, &items, &r->also_room, r->also_count + 1, sizeof *r->also))
            return PB_ENOMEM;
        r->also = items;
        status = read_node(r, field, &r->also[r->also_count]);
        if (++r->also_count >= UINT32_MAX - 2)
            return pbi_field_fail(&r->json, field, "names too many by-products; leave some out");
    }
    return status;
}

/* The memory in which a value is computed. */
static pb_status read_place(pbi_schedule_reader *r, pbi_field field)
{
    pbi_slice word;
    pb_status status = pbi_read_text(&r->json, field, &word);
    if (status == PB_OK && (word.length != 6 || memcmp(word.bytes, "borrow", 6) != 0))
        return pbi_field_fail(&r->json, field, "must be \"borrow\", not \"%.*s\"",
                              (int)(word.length < 40 ? word.length : 40), word.bytes);
    return status;
}

/* {"over": u, "also": [..]} or {"in": "borrow"} of a computation. Unknown keys are errors: they might change the
 * meaning of the move. */
static pb_status read_compute(pbi_schedule_reader *r, pbi_field field, pb_node node)
{
    static const pbi_slice names[] = {PBI_NAME("over"), PBI_NAME("also"), PBI_NAME("in")};
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    pb_node over = PB_NO_NODE;
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, 3);
        if (which == 3)
            return pbi_field_fail(&r->json, field,
                                  "computes with the unknown word \"%.*s\"; expected \"over\", \"also\" or \"in\"",
                                  (int)(key.length < 40 ? key.length : 40), key.bytes);
        field.name = names[which].bytes;
        field.of = "move";
        status = pbi_refuse_twice(&r->json, field, which, &seen);
        if (status == PB_OK)
            status = which == 2 ? read_place(r, field) : which ? read_also(r, field) : read_node(r, field, &over);
    }
    if (status != PB_OK)
        return status;
    if (seen == 1u << 2)
        return pb_moves_add_borrowed(&r->s->moves, node);
    if (seen >> 2) {
        field.name = "in";
        return pbi_field_fail(&r->json, field,
                              "cannot be combined with \"over\" or \"also\": in borrowed memory nothing is overwritten "
                              "and no by-product is computed; leave them out");
    }
    return pb_moves_add_compute(&r->s->moves, node, over, r->also, (uint32_t)r->also_count);
}

static pb_status read_tier(pbi_schedule_reader *r, pbi_field field, uint8_t *out)
{
    uint64_t tier = 0;
    field.name = "tier";
    field.of = "move";
    pb_status status = pbi_read_whole(&r->json, field, &tier);
    if (status == PB_OK && (tier < 1 || tier > PB_MAX_TIERS))
        return pbi_field_fail(&r->json, field, "must be from 1 to %d, not %" PRIu64, PB_MAX_TIERS, tier);
    *out = (uint8_t)tier;
    return status;
}

static pb_status read_op(pbi_schedule_reader *r, pbi_field field, pb_op *op)
{
    pbi_slice word;
    pb_status status = pbi_read_text(&r->json, field, &word);
    if (status == PB_OK && !pb_op_parse(word.bytes, word.length, op))
        return pbi_field_fail(&r->json, field,
                              "has the unknown word \"%.*s\"; expected compute, uncompute, free, store, load or drop",
                              (int)(word.length < 40 ? word.length : 40), word.bytes);
    return status;
}

/* What may follow the node: a tier, or how to compute. */
static pb_status read_rest(pbi_schedule_reader *r, pbi_field field, pb_op op, pb_node node)
{
    bool tiered = op == PB_STORE || op == PB_LOAD || op == PB_DROP, more;
    uint8_t tier = tiered;
    pb_status status = pbi_json_item(&r->json, &more);
    if (status != PB_OK || !more)
        return status == PB_OK ? pb_moves_add(&r->s->moves, op, node, tier) : status;
    if (op == PB_COMPUTE)
        status = read_compute(r, field, node);
    else if (tiered)
        status = read_tier(r, field, &tier);
    else
        return pbi_text_fail(r->json.text, pbi_text_place(r->json.text),
                             "move %" PRIu64 " (%s) takes exactly one node; leave the rest out", field.index,
                             pb_op_name(op));
    if (status == PB_OK)
        status = pbi_json_item(&r->json, &more);
    if (status == PB_OK && more)
        return pbi_text_fail(r->json.text, pbi_text_place(r->json.text),
                             "move %" PRIu64 " has more than three parts; leave the rest out", field.index);
    if (status == PB_OK && tiered)
        status = pb_moves_add(&r->s->moves, op, node, tier);
    return status;
}

static pb_status read_move(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    pbi_place place = r->json.place;
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    r->also_count = 0;
    pb_op op = PB_COMPUTE;
    pb_node node = PB_NO_NODE;
    for (int i = 0; i < 2 && status == PB_OK; i++) {
        bool more;
        status = pbi_json_item(&r->json, &more);
        if (status == PB_OK && !more) {
            r->json.place = place;
            return pbi_field_fail(&r->json, field,
                                  "must begin with the kind of move and a node, as in [\"compute\", 3]");
        }
        if (status == PB_OK)
            status = i ? read_node(r, field, &node) : read_op(r, field, &op);
    }
    return status == PB_OK ? read_rest(r, field, op, node) : status;
}

pb_status pbi_schedule_read_moves(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    bool more;
    field.of = "item";
    for (; status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more; field.index++)
        status = read_move(r, field);
    return status;
}
