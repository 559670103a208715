/* graph_json_write.c -- writes pebble-graph/1: one node per line; fields that have their default are omitted. */
#include "base/out.h"
#include "io/formats.h"
#include "io/graph_json.h"
#include "io/node_work.h"
#include "machine/machine_parts.h"

#include <inttypes.h>
#include <stdio.h>

enum { EDGES_PER_LINE = 16 };

static void write_number(pbi_out *out, const char *key, uint64_t value)
{
    pbi_out_text(out, key);
    pbi_out_json_u64(out, value);
}

static void write_row(pbi_out *out, const char *key, const pb_node *row, uint32_t count)
{
    pbi_out_text(out, key);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            pbi_out_char(out, ',');
        if (i && i % EDGES_PER_LINE == 0)
            pbi_out_char(out, '\n');
        pbi_out_u64(out, row[i]);
    }
    pbi_out_char(out, ']');
}

static void write_word(pbi_out *out, const char *key, const pb_graph *g, uint32_t word)
{
    if (word == PB_NO_WORD)
        return;
    pbi_out_text(out, key);
    pbi_out_json_text(out, g->words[word]);
}

/* {"gpu":12345,...} */
static void write_times(pbi_out *out, const char *key, const pb_graph *g, const pb_note *note, uint32_t count)
{
    pbi_out_text(out, key);
    for (uint32_t i = 0; i < count; i++) {
        write_word(out, i ? "," : "{", g, note[i].word);
        write_number(out, ":", note[i].value);
    }
    pbi_out_char(out, '}');
}

/* What is for machines, apart from `keep`. */
static void write_work(pbi_out *out, const pb_graph *g, pb_node v)
{
    const pb_node_work *work = g->work ? &g->work[v] : NULL;
    uint32_t count;
    if (work && work->has_flops)
        write_number(out, ",\"flops\":", work->flops);
    if (work && work->has_bytes)
        write_number(out, ",\"bytes\":", work->bytes);
    write_word(out, ",\"op\":", g, work ? work->op : PB_NO_WORD);
    write_word(out, ",\"dtype\":", g, work ? work->dtype : PB_NO_WORD);
    const pb_note *note = pbi_notes_of(g, v, PB_NOTE_TIME, &count);
    if (count)
        write_times(out, ",\"times\":", g, note, count);
    note = pbi_notes_of(g, v, PB_NOTE_ON, &count);
    for (uint32_t i = 0; i < count; i++)
        write_word(out, i ? "," : count > 1 ? ",\"on\":[" : ",\"on\":", g, note[i].word);
    if (count > 1)
        pbi_out_char(out, ']');
    note = pbi_notes_of(g, v, PB_NOTE_IN, &count);
    if (count)
        write_word(out, ",\"in\":", g, note->word);
}

/* On one line, since DOT and CSV have it as a text. */
static void write_recipe_row(pbi_out *out, const char *key, const pb_node *row, uint32_t count)
{
    pbi_out_text(out, key);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            pbi_out_char(out, ',');
        pbi_out_u64(out, row[i]);
    }
    pbi_out_char(out, ']');
}

static void write_recipe(pbi_out *out, const pb_graph *g, const pb_recipe *r)
{
    pbi_out_char(out, '{');
    if (*r->name) {
        pbi_out_text(out, "\"name\":");
        pbi_out_json_text(out, r->name);
        pbi_out_char(out, ',');
    }
    write_recipe_row(out, "\"inputs\":[", r->in, r->in_count);
    if (r->cost)
        write_number(out, ",\"cost\":", r->cost);
    if (r->workspace)
        write_number(out, ",\"workspace\":", r->workspace);
    if (r->inplace_count)
        write_recipe_row(out, ",\"inplace\":[", r->inplace, r->inplace_count);
    if (r->work.has_flops)
        write_number(out, ",\"flops\":", r->work.flops);
    if (r->work.has_bytes)
        write_number(out, ",\"bytes\":", r->work.bytes);
    write_word(out, ",\"op\":", g, r->work.op);
    write_word(out, ",\"dtype\":", g, r->work.dtype);
    if (r->time_count)
        write_times(out, ",\"times\":", g, r->time, r->time_count);
    if (*r->extra) {
        pbi_out_char(out, ',');
        pbi_out_text(out, r->extra);
    }
    pbi_out_char(out, '}');
}

void pbi_recipes_write(pbi_out *out, const pb_graph *g, pb_node v)
{
    for (uint32_t i = 0; i < pb_graph_recipes(g, v); i++) {
        pbi_out_char(out, i ? ',' : '[');
        write_recipe(out, g, &g->recipe[g->recipe_start[v] + i]);
    }
    pbi_out_char(out, ']');
}

static void write_keep(pbi_out *out, const pb_graph *g, pb_node v)
{
    uint32_t count;
    const pb_note *note = pbi_notes_of(g, v, PB_NOTE_KEEP, &count);
    if (count)
        write_word(out, ",\"keep\":", g, note->word);
    else
        pbi_out_text(out, ",\"keep\":true");
}

static void write_node(pbi_out *out, const pb_graph *g, pb_node v, const char *extra)
{
    const char *name = pb_graph_name(g, v);
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, v);
    pbi_out_char(out, '{');
    if (strcmp(name, number) != 0) {
        pbi_out_text(out, "\"name\":");
        pbi_out_json_text(out, name);
        pbi_out_char(out, ',');
    }
    if (g->cost[v]) {
        write_number(out, "\"cost\":", g->cost[v]);
        pbi_out_char(out, ',');
    }
    write_number(out, "\"size\":", g->size[v]);
    if (g->workspace[v])
        write_number(out, ",\"workspace\":", g->workspace[v]);
    if (g->priority && g->priority[v])
        write_number(out, ",\"priority\":", g->priority[v]);
    if (g->flags[v] & PB_NODE_GIVEN)
        pbi_out_text(out, g->flags[v] & PB_NODE_GIVEN_SLOW ? ",\"given\":\"slow\"" : ",\"given\":true");
    if (g->flags[v] & PB_NODE_ONCE)
        pbi_out_text(out, ",\"once\":true");
    if (g->flags[v] & PB_NODE_KEEP)
        write_keep(out, g, v);
    if (g->inplace_start && g->inplace_start[v] < g->inplace_start[v + 1])
        write_row(out, ",\"inplace\":[", g->inplace + g->inplace_start[v],
                  g->inplace_start[v + 1] - g->inplace_start[v]);
    if (g->owner && g->owner[v] != PB_NO_NODE)
        write_number(out, ",\"byproduct_of\":", g->owner[v]);
    if (g->group && g->group[v] != UINT32_MAX) {
        pbi_out_text(out, ",\"group\":");
        pbi_out_json_text(out, g->group_names[g->group[v]]);
    }
    write_work(out, g, v);
    if (pb_graph_recipes(g, v)) {
        pbi_out_text(out, ",\"recipes\":");
        pbi_recipes_write(out, g, v);
    }
    if (extra) {
        pbi_out_char(out, ',');
        pbi_out_text(out, extra);
    }
    pbi_out_char(out, '}');
}

static void write_edges(pbi_out *out, const pb_graph *g)
{
    pbi_out_text(out, "\"edges\":[");
    uint32_t written = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
            if (written)
                pbi_out_char(out, ',');
            if (written++ % EDGES_PER_LINE == 0)
                pbi_out_char(out, '\n');
            pbi_out_char(out, '[');
            pbi_out_u64(out, v);
            pbi_out_char(out, ',');
            pbi_out_u64(out, g->out[k]);
            pbi_out_char(out, ']');
        }
    pbi_out_char(out, ']');
}

pb_status pbi_graph_json_write(pb_context *ctx, const pb_graph *g, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_out_text(&out, "{\"format\":\"pebble-graph/1\"");
    const char *texts[] = {g->name, g->cost_unit, g->size_unit};
    static const char *const keys[] = {",\"name\":", ",\"cost_unit\":", ",\"size_unit\":"};
    for (int i = 0; i < 3; i++)
        if (i || *texts[i]) { /* a graph without a name has none in the file */
            pbi_out_text(&out, keys[i]);
            pbi_out_json_text(&out, texts[i]);
        }
    if (g->fixed_size)
        write_number(&out, ",\"fixed_size\":", g->fixed_size);
    if (g->fixed_count)
        write_times(&out, ",\"fixed\":", g, g->fixed, g->fixed_count);
    if (*g->extra) {
        pbi_out_text(&out, ",\n");
        pbi_out_text(&out, g->extra);
    }
    if (g->machine) {
        pbi_out_text(&out, ",\n\"machine\":");
        pbi_machine_write(&out, g->machine, true);
    }
    pbi_out_text(&out, ",\n\"nodes\":[");
    uint32_t extra = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        pbi_out_text(&out, v ? ",\n" : "\n");
        bool has = extra < g->extra_count && g->extra_node[extra] == v;
        write_node(&out, g, v, has ? g->extra_text[extra] : NULL);
        extra += has;
    }
    pbi_out_text(&out, "],\n");
    write_edges(&out, g);
    if (g->targets_named)
        write_row(&out, ",\n\"targets\":[", g->targets, g->target_count);
    if (g->order_named && g->order_count)
        write_row(&out, ",\n\"order\":[", g->order, g->order_count);
    pbi_out_text(&out, "}\n");
    return pbi_out_finish(&out);
}
