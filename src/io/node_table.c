/* node_table.c -- see node_table.h. */
#include "io/node_table.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "graph/graph_builder.h"
#include "io/graph_json.h"
#include "io/json_read.h"
#include "pebble/io.h"

pb_status pbi_node_table_init(pbi_node_table *table, pb_context *ctx, pb_arena *arena)
{
    *table = (pbi_node_table){.ctx = ctx, .arena = arena};
    pb_buffer_init(&table->text, arena);
    if (!pbi_bytes_add(&table->text, "", 1)) /* so that no text has offset 0 */
        return PB_ENOMEM;
    return pb_builder_new(ctx, &table->builder);
}

void pbi_node_table_release(pbi_node_table *table) { pb_builder_free(table->builder); }

pb_status pbi_node_table_keep(pbi_node_table *table, const char *text, size_t length, uint64_t *out)
{
    uint64_t at = table->text.length;
    if (!pbi_bytes_add(&table->text, text, length) || !pbi_bytes_add(&table->text, "", 1))
        return PB_ENOMEM;
    *out = at;
    return PB_OK;
}

pb_node pbi_node_table_find(const pbi_node_table *table, const char *name, size_t length)
{
    return pbi_name_index_find(&table->index, table->text.bytes, table->start, name, length);
}

pb_status pbi_node_table_get(pbi_node_table *table, const char *name, size_t length, const pbi_node_row *defaults,
                             pbi_place place, pb_node *out)
{
    *out = pbi_node_table_find(table, name, length);
    if (*out != PB_NO_NODE)
        return PB_OK;
    uint32_t v = table->count;
    if (v >= PB_MAX_NODES)
        return pbi_fail(table->ctx, PB_ERANGE, "the graph has more nodes than the limit of %u; use a smaller graph",
                        PB_MAX_NODES);
    void *starts = table->start, *rows = table->row;
    if (!pbi_arena_reserve(table->arena, &starts, &table->start_room, (size_t)v + 1, sizeof *table->start))
        return PB_ENOMEM;
    table->start = starts;
    if (!pbi_arena_reserve(table->arena, &rows, &table->row_room, (size_t)v + 1, sizeof *table->row))
        return PB_ENOMEM;
    table->row = rows;
    pb_status status = pbi_node_table_keep(table, name, length, &table->start[v]);
    if (status != PB_OK)
        return status;
    if (!pbi_name_index_add(&table->index, table->arena, table->text.bytes, table->start, v))
        return PB_ENOMEM;
    table->row[v] = *defaults;
    table->row[v].line = place.line;
    table->row[v].column = place.column;
    table->count++;
    *out = v;
    return PB_OK;
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

pb_status pbi_name_list_next(const char **list, pb_buffer *name, bool *more)
{
    const char *c = *list;
    while (blank(*c))
        c++;
    *more = *c != '\0';
    name->length = 0;
    while (*c && !blank(*c)) {
        if (c[0] == '\\' && c[1] == 'e') {
            c += 2;
            continue;
        }
        if (c[0] == '\\' && c[1])
            c++;
        if (!pbi_bytes_add(name, c++, 1))
            return PB_ENOMEM;
    }
    *list = c;
    return PB_OK;
}

bool pbi_name_list_add(pb_buffer *list, const char *name)
{
    bool ok = (!list->length || pbi_bytes_add(list, " ", 1)) && (*name || pbi_bytes_add(list, "\\e", 2));
    for (; *name && ok; name++) {
        ok = !(blank(*name) || *name == '\\') || pbi_bytes_add(list, "\\", 1);
        ok = ok && pbi_bytes_add(list, name, 1);
    }
    return ok;
}

static bool is(pbi_slice text, const char *word)
{
    return strlen(word) == text.length && memcmp(text.bytes, word, text.length) == 0;
}

static pb_status bad_value(pbi_node_table *table, pbi_slice key, pbi_slice value, pbi_place place, const char *expected)
{
    return pbi_fail_at(table->ctx, PB_EFORMAT, place.line, place.column, "%.*s must be %s, not \"%.*s\"",
                       (int)key.length, key.bytes, expected, (int)(value.length < 60 ? value.length : 60), value.bytes);
}

static pb_status set_whole(pbi_node_table *table, pbi_slice key, pbi_slice value, pbi_place place, uint64_t *out)
{
    if (pbi_u64_parse(value.bytes, value.length, out))
        return PB_OK;
    char name[16] = "", advice[PBI_WHOLE_ADVICE];
    memcpy(name, key.bytes, key.length < sizeof name ? key.length : sizeof name - 1);
    pbi_whole_advice(name, value, advice);
    return pbi_fail_at(table->ctx, PB_EFORMAT, place.line, place.column,
                       "%s must be a whole number from 0 to 2^64-1, written in digits, not \"%.*s\"%s", name,
                       (int)(value.length < 60 ? value.length : 60), value.bytes, advice);
}

static pb_status set_cost(pbi_node_table *table, pbi_slice value, pbi_place place, pbi_decimal *out)
{
    char why[PBI_WHOLE_ADVICE];
    if (pbi_cost_parse(value, out, why))
        return PB_OK;
    return pbi_fail_at(table->ctx, PB_EFORMAT, place.line, place.column, "cost %s", why);
}

/* A field for machines. */
static pb_status set_work(pbi_node_table *table, pbi_node_row *row, pbi_work_field which, pbi_slice value,
                          pbi_place place)
{
    if (which == PBI_WORK_FLOPS || which == PBI_WORK_BYTES) {
        *(which == PBI_WORK_FLOPS ? &row->has_flops : &row->has_bytes) = true;
        return set_whole(table, pbi_work_names[which], value, place, &row->work[which]);
    }
    if (which == PBI_WORK_KEEP)
        row->flags |= PB_NODE_KEEP;
    return pbi_node_table_keep(table, value.bytes, value.length, &row->work[which]);
}

static pb_status set_flag(pbi_node_table *table, pbi_node_row *row, pbi_slice key, pbi_slice value, pbi_place place)
{
    uint16_t bits = is(key, "given")  ? PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW
                    : is(key, "once") ? PB_NODE_ONCE
                    : is(key, "keep") ? PB_NODE_KEEP
                                      : PB_NODE_TARGET;
    bool given = bits & PB_NODE_GIVEN;
    if (!is(value, "true") && !is(value, "false") && !(given && is(value, "slow")))
        return bad_value(table, key, value, place, given ? "true, false or slow" : "true or false");
    row->flags &= (uint16_t)~bits;
    if (bits == PB_NODE_KEEP)
        row->work[PBI_WORK_KEEP] = 0;
    if (is(value, "slow"))
        row->flags |= bits;
    else if (is(value, "true"))
        row->flags |= bits & (uint16_t)~PB_NODE_GIVEN_SLOW;
    return PB_OK;
}

pb_status pbi_node_table_set(pbi_node_table *table, pbi_node_row *row, pbi_slice key, pbi_slice value, pbi_place place,
                             bool *known)
{
    *known = true;
    if (is(key, "cost")) {
        row->cost_stated = true;
        return set_cost(table, value, place, &row->cost);
    }
    if (is(key, "size"))
        return set_whole(table, key, value, place, &row->size);
    if (is(key, "workspace"))
        return set_whole(table, key, value, place, &row->workspace);
    if (is(key, "priority"))
        return set_whole(table, key, value, place, &row->priority);
    bool keep = is(key, "keep") && (is(value, "true") || is(value, "false"));
    if (is(key, "given") || is(key, "once") || keep || is(key, "target"))
        return set_flag(table, row, key, value, place);
    uint64_t *text = is(key, "inplace")        ? &row->inplace
                     : is(key, "byproduct_of") ? &row->owner
                     : is(key, "group")        ? &row->group
                     : is(key, "recipes")      ? &row->recipes
                                               : NULL;
    if (text)
        return pbi_node_table_keep(table, value.bytes, value.length, text);
    uint32_t which = pbi_key_find(key, pbi_work_names, PBI_WORK_FIELDS);
    *known = which < PBI_WORK_FIELDS;
    return *known ? set_work(table, row, (pbi_work_field)which, value, place) : PB_OK;
}

pb_status pbi_node_table_set_graph(pbi_node_table *table, pbi_slice key, pbi_slice value, pbi_place place, bool *known)
{
    bool name = is(key, "name"), cost = is(key, "cost_unit"), size = is(key, "size_unit");
    const struct {
        const char *name;
        uint64_t *text;
        pbi_place *place;
    } later[] = {{"order", &table->order, &table->order_place},
                 {"targets", &table->targets, &table->targets_place},
                 {"fixed", &table->fixed, &table->fixed_place},
                 {"machine", &table->machine, &table->machine_place}};
    *known = true;
    for (int i = 0; i < 4; i++)
        if (is(key, later[i].name)) {
            *later[i].place = place;
            return pbi_node_table_keep(table, value.bytes, value.length, later[i].text);
        }
    if (is(key, "fixed_size")) {
        uint64_t amount = 0;
        pb_status status = set_whole(table, key, value, place, &amount);
        pb_builder_set_fixed_size(table->builder, amount);
        return status;
    }
    *known = name || cost || size;
    if (!*known)
        return PB_OK;
    const char *text = pb_arena_text(table->arena, value.bytes, value.length);
    if (!text)
        return PB_ENOMEM;
    return pb_builder_set_texts(table->builder, name ? text : NULL, cost ? text : NULL, size ? text : NULL);
}

static pb_status unknown(pbi_node_table *table, pbi_place place, const char *field, const char *name, size_t length)
{
    return pbi_fail_at(table->ctx, PB_EGRAPH, place.line, place.column,
                       "%s names \"%.*s\", but no node has that name; check the spelling", field,
                       (int)(length < 80 ? length : 80), name);
}

/* Resolves the names of the list at `at`: inputs that v may overwrite, or the graph's order or targets (no v). */
static pb_status add_list(pbi_node_table *table, uint64_t at, pbi_place place, const char *field, pb_node v,
                          pb_buffer *name)
{
    const char *list = at ? table->text.bytes + at : "";
    bool more;
    pb_status status;
    while ((status = pbi_name_list_next(&list, name, &more)) == PB_OK && more) {
        pb_node node = pbi_node_table_find(table, name->bytes, name->length);
        if (node == PB_NO_NODE)
            return unknown(table, place, field, name->bytes, name->length);
        if (v != PB_NO_NODE)
            status = pb_builder_add_inplace(table->builder, v, node);
        else
            status = at == table->order ? pb_builder_add_order(table->builder, node)
                                        : pb_builder_add_target(table->builder, node);
        if (status != PB_OK)
            return status;
    }
    return status;
}

static pb_status relate(pbi_node_table *table, pb_node v, pb_buffer *name)
{
    const pbi_node_row *row = &table->row[v];
    pbi_place place = {row->line, row->column};
    pb_status status = add_list(table, row->inplace, place, "inplace", v, name);
    if (status != PB_OK || !row->owner)
        return status;
    const char *owner = table->text.bytes + row->owner;
    pb_node of = pbi_node_table_find(table, owner, strlen(owner));
    if (of == PB_NO_NODE)
        return unknown(table, place, "byproduct_of", owner, strlen(owner));
    return pb_builder_set_byproduct(table->builder, v, of);
}

static const char *work_text(const pbi_node_table *table, const pbi_node_row *row, pbi_work_field which)
{
    return row->work[which] ? table->text.bytes + row->work[which] : NULL;
}

/* Adds the position of what was read to an error of the builder, unless memory is exhausted. */
static pb_status placed(pbi_node_table *table, pb_status status, pbi_place place)
{
    if (status != PB_OK && status != PB_ENOMEM) {
        table->ctx->error.line = place.line;
        table->ctx->error.column = place.column;
    }
    return status;
}

/* What node v says about the parts of a machine. */
static pb_status add_notes(pbi_node_table *table, pb_node v, pb_buffer *name)
{
    static const pb_note_kind kinds[] = {PB_NOTE_TIME, PB_NOTE_ON, PB_NOTE_IN, PB_NOTE_KEEP};
    const pbi_node_row *row = &table->row[v];
    pb_status status = PB_OK;
    for (int i = 0; i < 4 && status == PB_OK; i++) {
        const char *text = work_text(table, row, (pbi_work_field)(PBI_WORK_TIMES + i));
        if (text && (kinds[i] == PB_NOTE_TIME || kinds[i] == PB_NOTE_ON))
            status = pbi_add_note_list(table->builder, v, kinds[i], text, name);
        else if (text)
            status = pb_builder_add_note(table->builder, v, kinds[i], text, 0);
    }
    return placed(table, status, (pbi_place){row->line, row->column});
}

/* The machine is JSON inside of a value: its errors are reported where the value begins. */
static pb_status add_machine(pbi_node_table *table, pb_arena *result)
{
    pb_memory memory = {table->text.bytes + table->machine, strlen(table->text.bytes + table->machine), 0};
    const pb_machine *machine = NULL;
    pb_status status = pb_machine_read(table->ctx, pb_source_memory(&memory), result, &machine);
    pb_builder_set_machine(table->builder, machine);
    return placed(table, status, table->machine_place);
}

static pb_status add_recipes(pbi_node_table *table, pb_node v)
{
    const pbi_node_row *row = &table->row[v];
    if (!row->recipes)
        return PB_OK;
    pb_status status = pbi_recipes_parse(table->builder, table->arena, v, table->text.bytes + row->recipes);
    return placed(table, status, (pbi_place){row->line, row->column});
}

static pb_status add_node(pbi_node_table *table, pb_node v)
{
    const pbi_node_row *row = &table->row[v];
    pb_node_spec spec = {.name = table->text.bytes + table->start[v],
                         .size = row->size,
                         .workspace = row->workspace,
                         .flags = row->flags,
                         .group = row->group ? table->text.bytes + row->group : NULL,
                         .work = {work_text(table, row, PBI_WORK_OP), work_text(table, row, PBI_WORK_DTYPE),
                                  row->has_flops, row->has_bytes, row->work[PBI_WORK_FLOPS],
                                  row->work[PBI_WORK_BYTES]}};
    pb_status status = PB_OK;
    if (!row->owner || row->cost_stated)
        status = pbi_builder_take_cost(table->builder, row->cost, &spec.cost);
    if (status != PB_OK)
        return placed(table, status, (pbi_place){row->line, row->column});
    status = pb_builder_add_node(table->builder, &spec, NULL);
    return status == PB_OK && row->priority ? pb_builder_set_priority(table->builder, v, row->priority) : status;
}

pb_status pbi_node_table_freeze(pbi_node_table *table, pb_arena *result, const pb_graph **out)
{
    pb_buffer name;
    pb_buffer_init(&name, table->arena);
    pb_status status = pbi_bytes_grow(&name, 64) ? PB_OK : PB_ENOMEM;
    for (pb_node v = 0; v < table->count && status == PB_OK; v++)
        status = add_node(table, v);
    for (pb_node v = 0; v < table->count && status == PB_OK; v++)
        status = relate(table, v, &name);
    for (pb_node v = 0; v < table->count && status == PB_OK; v++)
        status = add_notes(table, v, &name);
    for (pb_node v = 0; v < table->count && status == PB_OK; v++)
        status = add_recipes(table, v);
    if (status == PB_OK && table->fixed)
        status = placed(
            table, pbi_add_note_list(table->builder, PB_NO_NODE, PB_NOTE_TIME, table->text.bytes + table->fixed, &name),
            table->fixed_place);
    if (status == PB_OK && table->machine)
        status = add_machine(table, result);
    if (status == PB_OK)
        status = add_list(table, table->order, table->order_place, "order", PB_NO_NODE, &name);
    if (status == PB_OK)
        status = add_list(table, table->targets, table->targets_place, "targets", PB_NO_NODE, &name);
    if (status == PB_OK)
        status = pbi_builder_name_cost_unit(table->builder);
    return status == PB_OK ? pb_builder_freeze(table->builder, result, out) : status;
}
