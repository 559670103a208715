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

/* The recipe, counted from 1. */
static pb_status read_by(pbi_schedule_reader *r, pbi_field field, uint64_t *out)
{
    pb_status status = pbi_read_whole(&r->json, field, out);
    if (status == PB_OK && (*out < 1 || *out > PB_MAX_RECIPES))
        return pbi_field_fail(&r->json, field, "must be from 1 to %d, not %" PRIu64, PB_MAX_RECIPES, *out);
    return status;
}

/* What the object of a computation says. */
enum { OVER, ALSO, BY, IN, ON, AT, COMPUTE_KEYS };
typedef struct computation {
    pb_node over;
    uint64_t by;
    pbi_timed_move *timed;
} computation;

static pb_status read_compute_word(pbi_schedule_reader *r, pbi_field field, uint32_t which, computation *c)
{
    switch (which) {
    case OVER: return read_node(r, field, &c->over);
    case ALSO: return read_also(r, field);
    case BY: return read_by(r, field, &c->by);
    case IN: return read_place(r, field);
    default:
        return pbi_schedule_read_when(r, field, which == AT ? PBI_TIMED_AT : PBI_TIMED_PLACE, PB_COMPUTE, c->timed);
    }
}

/* {"over": u, "also": [..]} or {"by": k, "over": u} or {"in": "borrow"} of a computation, and "on" and "at" of the
 * timed game. Unknown keys are errors: they might change the meaning of the move. */
static pb_status read_compute(pbi_schedule_reader *r, pbi_field field, pb_node node, pbi_timed_move *t)
{
    static const pbi_slice names[COMPUTE_KEYS] = {PBI_NAME("over"), PBI_NAME("also"), PBI_NAME("by"),
                                                  PBI_NAME("in"),   PBI_NAME("on"),   PBI_NAME("at")};
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    computation c = {PB_NO_NODE, 0, t};
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, COMPUTE_KEYS);
        if (which == COMPUTE_KEYS)
            return pbi_field_fail(&r->json, field,
                                  "computes with the unknown word \"%.*s\"; expected \"over\", \"also\", \"by\", "
                                  "\"in\", \"on\" or \"at\"",
                                  (int)(key.length < 40 ? key.length : 40), key.bytes);
        field.name = names[which].bytes;
        field.of = "move";
        status = pbi_refuse_twice(&r->json, field, which, &seen);
        if (status == PB_OK)
            status = read_compute_word(r, field, which, &c);
    }
    if (status != PB_OK)
        return status;
    if (seen == 1u << IN)
        return pb_moves_add_borrowed(&r->s->moves, node);
    if (seen & 1u << IN) {
        field.name = "in";
        return pbi_field_fail(
            &r->json, field,
            "cannot be combined with other words: in borrowed memory nothing is overwritten, no "
            "by-product is computed, no recipe is used, and there are no start times; leave them out");
    }
    if (c.by && r->also_count) {
        field.name = "by";
        return pbi_field_fail(&r->json, field,
                              "cannot be combined with \"also\": a recipe produces no by-products; remove one");
    }
    if (c.by)
        return pb_moves_add_recipe(&r->s->moves, node, (uint32_t)c.by, c.over);
    return pb_moves_add_compute(&r->s->moves, node, c.over, r->also, (uint32_t)r->also_count);
}

/* {"link": "out", "at": 120} of a copy, {"in": "hbm", "at": 250} of a timed free. */
static pb_status read_place_and_time(pbi_schedule_reader *r, pbi_field field, pb_op op, pbi_timed_move *t)
{
    static const pbi_slice copy_names[] = {PBI_NAME("at"), PBI_NAME("link")};
    static const pbi_slice free_names[] = {PBI_NAME("at"), PBI_NAME("in")};
    const pbi_slice *names = op == PB_COPY ? copy_names : free_names;
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, 2);
        if (which == 2)
            return pbi_field_fail(&r->json, field, "has the unknown word \"%.*s\"; expected \"%s\" and \"at\"",
                                  (int)(key.length < 40 ? key.length : 40), key.bytes, names[1].bytes);
        field.name = names[which].bytes;
        field.of = "move";
        status = pbi_refuse_twice(&r->json, field, which, &seen);
        if (status == PB_OK)
            status = pbi_schedule_read_when(r, field, which ? PBI_TIMED_PLACE : PBI_TIMED_AT, op, t);
    }
    return status;
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
                              "has the unknown word \"%.*s\"; expected compute, uncompute, free, store, load, drop or "
                              "copy",
                              (int)(word.length < 40 ? word.length : 40), word.bytes);
    return status;
}

/* What may follow the node: a tier, how to compute, or a place and a time. */
static pb_status read_rest(pbi_schedule_reader *r, pbi_field field, pb_op op, pb_node node, pbi_timed_move *t)
{
    bool tiered = op == PB_STORE || op == PB_LOAD || op == PB_DROP, more;
    uint8_t tier = tiered;
    pb_status status = pbi_json_item(&r->json, &more);
    if (status != PB_OK || !more)
        return status == PB_OK ? pb_moves_add(&r->s->moves, op, node, tier) : status;
    pbi_json_kind kind = PBI_JSON_OBJECT;
    if (op == PB_FREE)
        status = pbi_json_peek(&r->json, &kind);
    if (status != PB_OK)
        return status;
    if (op == PB_COMPUTE)
        status = read_compute(r, field, node, t);
    else if (op == PB_COPY || (op == PB_FREE && kind == PBI_JSON_OBJECT))
        status = read_place_and_time(r, field, op, t);
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
    if (status == PB_OK && op != PB_COMPUTE)
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
    pbi_timed_move t = {0};
    if (status == PB_OK)
        status = read_rest(r, field, op, node, &t);
    return status == PB_OK ? pbi_schedule_add_when(r, field, &t, place) : status;
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
