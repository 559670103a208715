/* graph_json.c -- reads pebble-graph/1.
 *
 * One pass: fields may come in any order, so a name that no node has yet is stored with its position and resolved
 * when the document is complete. For indices only the largest one is remembered, and compared with the number of
 * nodes at the end.
 */
#include "io/graph_json.h"
#include "base/arena.h"
#include "base/context.h"
#include "graph/graph_builder.h"
#include "io/formats.h"

#include <inttypes.h>

enum graph_field {
    FORMAT,
    NAME,
    COST_UNIT,
    SIZE_UNIT,
    FIXED_SIZE,
    NODES,
    EDGES,
    TARGETS,
    ORDER,
    FIXED,
    MACHINE,
    GRAPH_FIELDS
};
static const pbi_slice graph_fields[] = {
    PBI_NAME("format"),     PBI_NAME("name"),  PBI_NAME("cost_unit"), PBI_NAME("size_unit"),
    PBI_NAME("fixed_size"), PBI_NAME("nodes"), PBI_NAME("edges"),     PBI_NAME("targets"),
    PBI_NAME("order"),      PBI_NAME("fixed"), PBI_NAME("machine"),
};

enum node_field {
    NODE_NAME,
    NODE_COST,
    NODE_SIZE,
    NODE_WORKSPACE,
    NODE_GIVEN,
    NODE_ONCE,
    NODE_KEEP,
    NODE_INPLACE,
    NODE_BYPRODUCT,
    NODE_GROUP,
    NODE_RECIPES,
    NODE_PRIORITY,
    NODE_WORK, /* and the other fields of pbi_work_field up to `in` */
    NODE_FIELDS = NODE_WORK + PBI_WORK_KEEP
};
static const pbi_slice node_fields[] = {
    PBI_NAME("name"),    PBI_NAME("cost"),     PBI_NAME("size"),    PBI_NAME("workspace"),    PBI_NAME("given"),
    PBI_NAME("once"),    PBI_NAME("keep"),     PBI_NAME("inplace"), PBI_NAME("byproduct_of"), PBI_NAME("group"),
    PBI_NAME("recipes"), PBI_NAME("priority"), PBI_NAME("flops"),   PBI_NAME("bytes"),        PBI_NAME("op"),
    PBI_NAME("dtype"),   PBI_NAME("times"),    PBI_NAME("on"),      PBI_NAME("in"),
};

typedef pbi_graph_reader reader;

static pb_status read_given(reader *r, pbi_field field, uint16_t *flags)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status != PB_OK)
        return status;
    if (kind == PBI_JSON_TRUE || kind == PBI_JSON_FALSE) {
        *flags |= kind == PBI_JSON_TRUE ? PB_NODE_GIVEN : 0;
        return pbi_json_word(&r->json, kind);
    }
    pbi_slice word = {"", 0};
    if (kind == PBI_JSON_STRING)
        status = pbi_json_string(&r->json, &word);
    if (status != PB_OK)
        return status;
    if (word.length != 4 || memcmp(word.bytes, "slow", 4) != 0)
        return pbi_field_fail(&r->json, field, "must be true, false or \"slow\"");
    *flags |= PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    return PB_OK;
}

static pb_status read_bit(reader *r, pbi_field field, uint16_t bit, uint16_t *flags)
{
    bool on = false;
    pb_status status = pbi_read_flag(&r->json, field, &on);
    if (on)
        *flags |= bit;
    return status;
}

/* true, false, or the memory in which the value must be at the end. */
static pb_status read_keep(reader *r, pbi_field field, uint16_t *flags)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status == PB_OK && kind == PBI_JSON_STRING)
        return pbi_work_read(&r->work, &r->json, field, PBI_WORK_KEEP);
    return status == PB_OK ? read_bit(r, field, PB_NODE_KEEP, flags) : status;
}

/* A text of the node, which the builder takes when the node is complete. */
static pb_status read_label(reader *r, pbi_field field, pb_buffer *into)
{
    pbi_slice text;
    pb_status status = pbi_read_text(&r->json, field, &text);
    if (status != PB_OK)
        return status;
    into->length = 0;
    return pbi_bytes_add(into, text.bytes, text.length) && pbi_bytes_add(into, "", 1) ? PB_OK : PB_ENOMEM;
}

static pb_status read_inplace(reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    bool more;
    while (status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more) {
        void *items = r->inplace;
        if (!pbi_arena_reserve(r->scratch, &items, &r->inplace_room, r->inplace_count + 1, sizeof *r->inplace))
            return PB_ENOMEM;
        r->inplace = items;
        pbi_placed_reference *entry = &r->inplace[r->inplace_count++];
        status = pbi_graph_reference(r, field, &entry->node);
        entry->place = r->json.place;
    }
    return status;
}

static pb_status read_cost(reader *r, pbi_field field, uint64_t *out)
{
    pbi_decimal value = {0, 0};
    pb_status status = pbi_read_cost(&r->json, field, &value);
    return status == PB_OK ? pbi_graph_placed(r, pbi_builder_take_cost(r->builder, value, out), r->json.place) : status;
}

typedef struct node_read {
    pb_node_spec spec;
    uint64_t priority;
    uint32_t seen;
    pbi_placed_reference owner;
    pbi_place place;
} node_read;

static pb_status read_node_field(reader *r, uint32_t which, pbi_field field, node_read *node)
{
    pb_node_spec *spec = &node->spec;
    pb_status status;
    switch ((enum node_field)which) {
    case NODE_NAME:
        status = read_label(r, field, &r->node_name);
        node->place = r->json.place;
        return status;
    case NODE_COST: return read_cost(r, field, &spec->cost);
    case NODE_SIZE: return pbi_read_whole(&r->json, field, &spec->size);
    case NODE_WORKSPACE: return pbi_read_whole(&r->json, field, &spec->workspace);
    case NODE_GIVEN: return read_given(r, field, &spec->flags);
    case NODE_ONCE: return read_bit(r, field, PB_NODE_ONCE, &spec->flags);
    case NODE_KEEP: return read_keep(r, field, &spec->flags);
    case NODE_INPLACE: return read_inplace(r, field);
    case NODE_BYPRODUCT:
        status = pbi_graph_reference(r, field, &node->owner.node);
        node->owner.place = r->json.place;
        return status;
    case NODE_GROUP: return read_label(r, field, &r->node_group);
    case NODE_RECIPES: return pbi_graph_read_recipes(r, field, pb_builder_node_count(r->builder));
    case NODE_PRIORITY: return pbi_read_whole(&r->json, field, &node->priority);
    case NODE_WORK:
    case NODE_FIELDS: break;
    }
    return pbi_work_read(&r->work, &r->json, field, (pbi_work_field)(which - NODE_WORK));
}

static pb_status finish_node(reader *r, node_read *node, pbi_field field)
{
    if (!(node->seen & 1u << NODE_SIZE)) {
        r->json.place = node->place;
        field.name = "size";
        return pbi_field_fail(&r->json, field,
                              "is missing: every node needs the size of its value, in the graph's size_unit");
    }
    if (node->seen & 1u << NODE_NAME) {
        node->spec.name = r->node_name.bytes;
        node->spec.name_length = r->node_name.length - 1;
    }
    if (node->seen & 1u << NODE_GROUP) {
        node->spec.group = r->node_group.bytes;
        node->spec.group_length = r->node_group.length - 1;
    }
    pb_node v;
    node->spec.work = pbi_work_of(&r->work);
    pb_status status = pbi_graph_placed(r, pb_builder_add_node(r->builder, &node->spec, &v), node->place);
    if (status == PB_OK && node->priority)
        status = pb_builder_set_priority(r->builder, v, node->priority);
    if (status == PB_OK)
        status = pbi_graph_placed(r, pbi_work_note(&r->work, r->builder, v), node->place);
    for (size_t i = 0; i < r->inplace_count && status == PB_OK; i++)
        status = pbi_graph_relate(r, PBI_USE_INPLACE, v, r->inplace[i].node, r->inplace[i].place);
    if (status == PB_OK && node->seen & 1u << NODE_BYPRODUCT)
        status = pbi_graph_relate(r, PBI_USE_BYPRODUCT, v, node->owner.node, node->owner.place);
    if (status == PB_OK && r->node_extra.length)
        status = pb_builder_set_extra(r->builder, v, r->node_extra.bytes, r->node_extra.length);
    return status;
}

static pb_status read_node(reader *r, uint64_t index)
{
    pbi_field field = {"nodes", "item", index};
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    node_read node = {.place = r->json.place};
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    r->inplace_count = 0;
    pbi_work_clear(&r->work);
    if (r->node_extra.length) {
        r->node_extra.length = 0;
        pbi_keys_clear(&r->node_keys);
    }
    field.of = "node";
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, node_fields, NODE_FIELDS);
        if (which == NODE_FIELDS) {
            status = pbi_json_keep(&r->json, key, &r->node_extra, &r->node_keys);
            continue;
        }
        field.name = node_fields[which].bytes;
        status = pbi_refuse_twice(&r->json, field, which, &node.seen);
        if (status == PB_OK)
            status = read_node_field(r, which, field, &node);
    }
    return status == PB_OK ? finish_node(r, &node, field) : status;
}

static pb_status read_nodes(reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    bool more;
    uint64_t index = 0;
    while (status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more)
        status = read_node(r, index++);
    if (status == PB_OK && r->max_index > index)
        return pbi_graph_too_large(r, r->max_index - 1, r->max_index_place);
    r->nodes_known = true;
    return status;
}

/* [u,v] without white space, as writers print it: most of a large file. False: use the slow path, which also handles
 * indices from `limit` on. */
static bool plain_edge(pbi_text *text, uint64_t limit, pbi_reference end[2])
{
    const char *c = text->at;
    if (text->end - c < 32 || *c != '[')
        return false;
    for (int i = 0; i < 2; i++) {
        const char *first = ++c;
        uint32_t value = 0;
        while (*c >= '0' && *c <= '9' && c - first < 9)
            value = value * 10 + (uint32_t)(*c++ - '0');
        if (c == first || (*first == '0' && c > first + 1) || *c != (i ? ']' : ',') || value >= limit)
            return false;
        end[i] = value;
    }
    text->at = c + 1;
    return true;
}

static pb_status read_edge_ends(reader *r, pbi_field field, pbi_reference end[2])
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    pbi_place place = r->json.place;
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    for (int i = 0; i < 3 && status == PB_OK; i++) {
        bool more;
        status = pbi_json_item(&r->json, &more);
        if (status == PB_OK && more != (i < 2)) {
            r->json.place = place;
            return pbi_field_fail(&r->json, field, "must be an array of exactly two nodes, [from, to]");
        }
        if (status == PB_OK && i < 2)
            status = pbi_graph_reference(r, field, &end[i]);
    }
    return status;
}

static pb_status read_edges(reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    field.of = "item";
    bool more;
    while (status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more) {
        pbi_place place = pbi_text_place(r->json.text);
        pbi_reference end[2];
        if (!plain_edge(r->json.text, r->nodes_known ? pb_builder_node_count(r->builder) : r->max_index, end))
            status = read_edge_ends(r, field, end);
        if (status == PB_OK && end[0] == end[1])
            status = pbi_fail_at(r->ctx, PB_EGRAPH, place.line, place.column,
                                 "the edge leads from a node to itself; remove it");
        if (status == PB_OK)
            status = pbi_graph_relate(r, PBI_USE_EDGE, end[0], end[1], place);
        field.index++;
    }
    return status;
}

static pb_status read_list(reader *r, pbi_field field, pbi_reference_use use)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    field.of = "item";
    bool more;
    for (; status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more; field.index++) {
        pbi_reference node;
        status = pbi_graph_reference(r, field, &node);
        if (status == PB_OK)
            status = pbi_graph_relate(r, use, 0, node, r->json.place);
    }
    return status;
}

static pb_status read_format(reader *r, pbi_field field)
{
    pbi_slice text;
    pb_status status = pbi_read_text(&r->json, field, &text);
    if (status == PB_OK && pbi_key_find(text, &(pbi_slice)PBI_NAME("pebble-graph/1"), 1) != 0)
        return pbi_field_fail(&r->json, field, "must be \"pebble-graph/1\", not \"%.*s\"",
                              (int)(text.length < 60 ? text.length : 60), text.bytes);
    return status;
}

static pb_status read_graph_text(reader *r, pbi_field field, uint32_t which)
{
    const char *text = NULL;
    pb_status status = pbi_read_copy(&r->json, field, r->scratch, &text);
    if (status != PB_OK)
        return status;
    return pb_builder_set_texts(r->builder, which == NAME ? text : NULL, which == COST_UNIT ? text : NULL,
                                which == SIZE_UNIT ? text : NULL);
}

static pb_status read_graph_field(reader *r, uint32_t which)
{
    pbi_field field = {graph_fields[which].bytes, NULL, 0};
    const pb_machine *machine = NULL;
    uint64_t value = 0;
    pb_status status;
    switch ((enum graph_field)which) {
    case FORMAT: return read_format(r, field);
    case NAME:
    case COST_UNIT:
    case SIZE_UNIT: return read_graph_text(r, field, which);
    case FIXED_SIZE:
        status = pbi_read_whole(&r->json, field, &value);
        pb_builder_set_fixed_size(r->builder, value);
        return status;
    case NODES: return read_nodes(r, field);
    case EDGES: return read_edges(r, field);
    case TARGETS: return read_list(r, field, PBI_USE_TARGET);
    case ORDER: return read_list(r, field, PBI_USE_ORDER);
    case FIXED: return pbi_work_read_fixed(&r->work, &r->json, field, r->builder);
    case MACHINE:
        status = pbi_machine_json_read(&r->json, r->scratch, r->result, &machine);
        pb_builder_set_machine(r->builder, machine);
        return status;
    case GRAPH_FIELDS: break;
    }
    return PB_OK;
}

static pb_status read_document(reader *r)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(&r->json, &kind);
    pbi_place place = r->json.place;
    if (status == PB_OK && kind != PBI_JSON_OBJECT)
        return pbi_text_fail(r->json.text, place, "expected a graph, which is an object, not %s",
                             pbi_json_kind_name(kind));
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, kind);
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, graph_fields, GRAPH_FIELDS);
        if (which == GRAPH_FIELDS) {
            status = pbi_json_keep(&r->json, key, &r->graph_extra, &r->graph_keys);
            continue;
        }
        status = pbi_refuse_twice(&r->json, (pbi_field){graph_fields[which].bytes, NULL, 0}, which, &r->seen);
        if (status == PB_OK)
            status = read_graph_field(r, which);
    }
    if (status == PB_OK)
        status = pbi_json_end(&r->json);
    for (uint32_t which = FORMAT; status == PB_OK && which <= NODES; which += NODES - FORMAT)
        if (!(r->seen & UINT32_C(1) << which))
            return pbi_text_fail(r->json.text, place, "the graph has no field \"%s\"; add it, as in docs/formats.md",
                                 graph_fields[which].bytes);
    if (status == PB_OK)
        status = pbi_graph_resolve(r);
    if (status == PB_OK && r->graph_extra.length)
        status = pb_builder_set_extra(r->builder, PB_NO_NODE, r->graph_extra.bytes, r->graph_extra.length);
    return status;
}

pb_status pbi_graph_json_read(pbi_text *text, pb_arena *scratch, pb_arena *result, const pb_graph **out)
{
    reader r = {.ctx = text->ctx, .scratch = scratch, .result = result};
    pbi_mark mark = pbi_arena_mark(result);
    pbi_work_init(&r.work, scratch);
    pbi_json_init(&r.json, text, scratch);
    pb_arena_init(&r.waits, text->ctx);
    pb_buffer_init(&r.names, &r.waits);
    pb_buffer *buffers[] = {&r.graph_extra, &r.node_extra, &r.node_name, &r.node_group};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        pb_buffer_init(buffers[i], scratch);
    pbi_graph_recipes_init(&r, scratch);
    pbi_keys_init(&r.graph_keys, scratch);
    pbi_keys_init(&r.node_keys, scratch);
    pb_status status = pb_builder_new(text->ctx, &r.builder);
    if (status != PB_OK)
        return status;
    status = read_document(&r);
    pb_arena_release(&r.waits);
    if (status == PB_OK)
        status = pbi_builder_name_cost_unit(r.builder);
    if (status == PB_OK)
        status = pb_builder_freeze(r.builder, result, out);
    pb_builder_free(r.builder);
    if (status != PB_OK)
        pbi_arena_rewind(result, mark);
    return status;
}
