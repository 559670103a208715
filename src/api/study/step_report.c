/* step_report.c -- what is in memory at the peak of program order, and where the time goes; see summary.h. */
#include "api/study/step_report.h"

#include "base/arena.h"
#include "base/checked.h"
#include "io/json_read.h"
#include "pebble/layout.h"
#include "report/metrics_json.h"

#include <stdlib.h>
#include <string.h>

const char *pb_memory_kind_name(pb_memory_kind kind)
{
    static const char *const names[] = {"parameters",  "optimizer_state", "fixed",    "inputs",
                                        "activations", "gradients",       "workspace"};
    return names[kind];
}

/* ---- fixed memory ---- */

/* The members of "fixed_parts", in the order of `parts`. */
static pb_status read_parts(pbi_json *json, uint64_t parts[3])
{
    static const pbi_slice names[] = {PBI_NAME("parameters"), PBI_NAME("gradients"), PBI_NAME("optimizer_state")};
    pbi_slice key;
    bool more;
    pb_status status = pbi_read_kind(json, (pbi_field){"fixed_parts", NULL, 0}, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(json, PBI_JSON_OBJECT);
    while (status == PB_OK && (status = pbi_json_member(json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, 3);
        status = which < 3 ? pbi_read_whole(json, (pbi_field){names[which].bytes, "fixed_parts", 0}, &parts[which])
                           : pbi_json_skip(json);
    }
    return status;
}

static pb_status read_extra(pbi_json *json, uint64_t parts[3])
{
    static const pbi_slice name[] = {PBI_NAME("fixed_parts")};
    pbi_slice key;
    bool more;
    pb_status status = pbi_json_enter(json, PBI_JSON_OBJECT);
    while (status == PB_OK && (status = pbi_json_member(json, &key, &more)) == PB_OK && more)
        status = pbi_key_find(key, name, 1) == 0 ? read_parts(json, parts) : pbi_json_skip(json);
    return status;
}

/* The file may state what its fixed memory is for; a statement that does not fit it is ignored. */
static pb_status split_fixed(pb_context *ctx, const pb_graph *g, pb_arena *scratch, uint64_t *in_use)
{
    size_t length = strlen(g->extra);
    char *document = pb_arena_alloc(scratch, length + 3, 1);
    uint64_t parts[3] = {0};
    pbi_text text;
    pbi_json json;
    if (!document)
        return PB_ENOMEM;
    document[0] = '{';
    memcpy(document + 1, g->extra, length);
    memcpy(document + 1 + length, "}", 2);
    pb_memory memory = {.bytes = document, .length = length + 2};
    pb_status status = pbi_text_init(&text, ctx, pb_source_memory(&memory), scratch);
    pbi_json_init(&json, &text, scratch);
    if (status == PB_OK)
        status = read_extra(&json, parts);
    if (status == PB_ENOMEM || status == PB_ECANCELLED)
        return status;
    uint64_t sum = pbi_add_saturated(parts[0], pbi_add_saturated(parts[1], parts[2]));
    bool holds = status == PB_OK && sum <= g->fixed_size;
    in_use[PB_MEMORY_PARAMETERS] = holds ? parts[0] : 0;
    in_use[PB_MEMORY_GRADIENTS] = holds ? parts[1] : 0;
    in_use[PB_MEMORY_OPTIMIZER] = holds ? parts[2] : 0;
    in_use[PB_MEMORY_FIXED] = g->fixed_size - (holds ? sum : 0);
    return PB_OK;
}

/* ---- operations ---- */

/* The operation of v's computation without what follows the point: "conv" of "conv.dx"; NULL: not stated. */
static pb_status op_of(const pb_graph *g, pb_node v, pb_arena *result, const char **out)
{
    const char *op = pb_graph_work(g, pb_graph_maker(g, v)).op;
    size_t length = op ? strcspn(op, ".") : 0;
    *out = op && op[length] ? pb_arena_text(result, op, length) : op;
    return op && !*out ? PB_ENOMEM : PB_OK;
}

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static int by_time(const void *a, const void *b)
{
    const pb_op_time *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return strcmp(x->op ? x->op : "", y->op ? y->op : "");
}

static pb_status add_times(const pb_graph *g, pb_arena *result, pb_step_report *r)
{
    pb_op_time *ops = pb_arena_alloc(result, (size_t)g->word_count + 1, sizeof *ops);
    if (!ops)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        const char *op;
        uint32_t at = 0;
        if (op_of(g, v, result, &op) != PB_OK)
            return PB_ENOMEM;
        while (at < r->op_count && !same(ops[at].op, op))
            at++;
        if (at == r->op_count)
            ops[r->op_count++] = (pb_op_time){.op = op};
        ops[at].time += g->cost[v];
        ops[at].nodes++;
        r->time += g->cost[v];
    }
    qsort(ops, r->op_count, sizeof *ops, by_time);
    r->ops = ops;
    return PB_OK;
}

/* ---- the peak ---- */

static int by_names(const pb_memory_row *x, const pb_memory_row *y)
{
    int order = strcmp(x->group ? x->group : "", y->group ? y->group : "");
    order = order ? order : strcmp(x->op ? x->op : "", y->op ? y->op : "");
    return order ? order : (int)x->kind - (int)y->kind;
}

static int by_what(const void *a, const void *b) { return by_names(a, b); }

static int by_size(const void *a, const void *b)
{
    const pb_memory_row *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return by_names(x, y);
}

/* Merges rows of the same kind, group and operation; keeps the largest. */
static void keep_largest(pb_memory_row *rows, uint32_t count, pb_step_report *r)
{
    uint32_t kept = 0;
    qsort(rows, count, sizeof *rows, by_what);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && by_names(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].size += rows[i].size;
            rows[kept - 1].values++;
        } else {
            rows[kept++] = rows[i];
        }
    }
    qsort(rows, kept, sizeof *rows, by_size);
    r->row_count = kept < PB_MEMORY_ROWS ? kept : PB_MEMORY_ROWS;
    memcpy(r->rows, rows, r->row_count * sizeof *rows);
}

/* The resident values by kind, and as rows. */
static pb_status add_values(const pb_graph *g, const uint8_t *resident, const uint8_t *backward, pb_arena *result,
                            pb_step_report *r)
{
    uint32_t count = 0;
    pb_memory_row *rows = pb_arena_alloc(result, (size_t)g->node_count + 1, sizeof *rows);
    if (!rows)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!resident[v] || !g->size[v])
            continue;
        pb_memory_kind computed = backward[v] ? PB_MEMORY_GRADIENTS : PB_MEMORY_ACTIVATIONS;
        pb_memory_row row = {
            .kind = g->flags[v] & PB_NODE_GIVEN ? PB_MEMORY_INPUTS : computed, .size = g->size[v], .values = 1};
        if (g->group && g->group[v] != UINT32_MAX)
            row.group = g->group_names[g->group[v]];
        if (op_of(g, v, result, &row.op) != PB_OK)
            return PB_ENOMEM;
        r->in_use[row.kind] += g->size[v];
        rows[count++] = row;
    }
    keep_largest(rows, count, r);
    return PB_OK;
}

static pb_status add_peak(pb_context *ctx, const pb_graph *g, pb_arena *result, pb_step_report *r)
{
    pb_arena scratch;
    uint32_t position;
    pb_arena_init(&scratch, ctx);
    uint8_t *resident = pb_arena_zero(&scratch, (size_t)g->node_count + 1, sizeof *resident);
    uint8_t *backward = pb_arena_zero(&scratch, (size_t)g->node_count + 1, sizeof *backward);
    pb_status status = resident && backward ? pb_layout_backward(ctx, g, backward, &r->trains) : PB_ENOMEM;
    if (status == PB_OK)
        status = pb_graph_program_peak_at(ctx, g, &r->peak, &position, resident);
    if (status == PB_OK)
        status = split_fixed(ctx, g, &scratch, r->in_use);
    if (status == PB_OK)
        status = add_values(g, resident, backward, result, r);
    if (status == PB_OK && position != UINT32_MAX) {
        r->peak_at = g->order[position];
        r->position = position + 1;
        r->backward = backward[r->peak_at];
        r->in_use[PB_MEMORY_WORKSPACE] = g->workspace[r->peak_at];
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_step_report_make(pb_context *ctx, const pb_graph *g, pb_arena *result, pb_step_report *out)
{
    const pb_machine_memory *memory = &g->priced_by->memories[0];
    pb_step_report r = {.machine = g->priced_by,
                        .room = memory->cap == PB_UNLIMITED ? PB_UNLIMITED : memory->cap - memory->reserve,
                        .peak_at = PB_NO_NODE,
                        .computations = g->order_count};
    pb_status status = add_peak(ctx, g, result, &r);
    if (status == PB_OK)
        status = add_times(g, result, &r);
    if (status == PB_OK)
        *out = r;
    return status;
}

/* ---- JSON ---- */

void pbi_step_json(pbi_out *out, const pb_graph *g, const pb_step_report *r)
{
    pbi_put_text(out, ",\"machine\":", r->machine->name);
    pbi_put_cap(out, ",\"room\":", r->room);
    pbi_out_text(out, r->peak <= r->room ? ",\"fits\":true" : ",\"fits\":false");
    pbi_put_text(out, ",\"peak\":{\"node\":", r->peak_at == PB_NO_NODE ? NULL : pb_graph_name(g, r->peak_at));
    pbi_put_u64(out, ",\"position\":", r->position);
    pbi_put_u64(out, ",\"computations\":", r->computations);
    pbi_put_text(out, ",\"phase\":", !r->trains ? NULL : r->backward ? "backward" : "forward");
    for (int k = 0; k < PB_MEMORY_KINDS; k++) {
        pbi_out_format(out, ",\"%s\":", pb_memory_kind_name((pb_memory_kind)k));
        pbi_out_json_u64(out, r->in_use[k]);
    }
    pbi_out_text(out, ",\"largest\":[");
    for (uint32_t i = 0; i < r->row_count; i++) {
        const pb_memory_row *row = &r->rows[i];
        pbi_put_text(out, i ? ",{\"kind\":" : "{\"kind\":", pb_memory_kind_name(row->kind));
        pbi_put_text(out, ",\"group\":", row->group);
        pbi_put_text(out, ",\"op\":", row->op);
        pbi_put_u64(out, ",\"values\":", row->values);
        pbi_put_u64(out, ",\"size\":", row->size);
        pbi_out_char(out, '}');
    }
    pbi_put_u64(out, "]},\"time\":", r->time);
    pbi_out_text(out, ",\"time_by_op\":[");
    for (uint32_t i = 0; i < r->op_count; i++) {
        pbi_put_text(out, i ? ",{\"op\":" : "{\"op\":", r->ops[i].op);
        pbi_put_u64(out, ",\"nodes\":", r->ops[i].nodes);
        pbi_put_u64(out, ",\"time\":", r->ops[i].time);
        pbi_out_char(out, '}');
    }
    pbi_out_char(out, ']');
}
