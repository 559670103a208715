/* explain_json.c -- explanations as JSON. Steps count from 0; null is "none". */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"
#include "report/explain.h"
#include "report/phases.h"

enum { LONGEST_LIST = 1000 };

static void field_u64(pbi_out *out, const char *key, uint64_t value)
{
    pbi_out_format(out, ",\"%s\":", key);
    pbi_out_json_u64(out, value);
}

static void field_step(pbi_out *out, const char *key, pb_step step)
{
    pbi_out_format(out, ",\"%s\":", key);
    if (step == PBI_NO_STEP)
        pbi_out_text(out, "null");
    else
        pbi_out_json_u64(out, step);
}

static void field_u128(pbi_out *out, const char *key, pb_u128 value)
{
    pbi_out_format(out, ",\"%s\":", key);
    pbi_out_json_u128(out, value);
}

/* saves: the work, or null if the value could not be recomputed. */
static void field_saves(pbi_out *out, uint64_t work, bool complete, bool possible)
{
    if (possible)
        field_u64(out, "saves", work);
    else
        pbi_out_text(out, ",\"saves\":null");
    pbi_out_format(out, ",\"exact\":%s", complete && possible ? "true" : "false");
}

/* The cap that keeping a value would need, the excess over the cap (0: it would have fit), what it saves. */
static void fields_need(pbi_out *out, const pb_game *game, uint64_t need, uint64_t saves)
{
    field_u64(out, "cap_to_keep", need);
    field_u64(out, "over_cap", need > game->cap ? need - game->cap : 0);
    field_u64(out, "keeping_spares", saves);
}

static void write_life(pbi_out *out, const pbi_story *s, const pbi_life *life)
{
    const pb_graph *g = s->game->graph;
    const char *made = life->made == PBI_NO_STEP ? "given" : pb_op_name((pb_op)s->moves->move[life->made].op);
    pbi_out_format(out, "{\"made_by\":\"%s\"", made);
    field_step(out, "made", life->made);
    if (life->made != PBI_NO_STEP && s->moves->move[life->made].op == PB_COMPUTE && s->moves->move[life->made].by)
        field_u64(out, "recipe", s->moves->move[life->made].by);
    field_step(out, "removed", life->removed);
    if (life->removed != PBI_NO_STEP)
        pbi_out_format(out, ",\"removed_by\":\"%s\"", pb_op_name((pb_op)s->moves->move[life->removed].op));
    field_step(out, "made_again", life->again);
    field_u64(out, "uses", life->uses);
    field_step(out, "first_use", life->first_use);
    field_step(out, "last_use", life->last_use);
    if (life->full_step != PBI_NO_STEP) {
        pbi_out_text(out, ",\"while_away\":{\"memory\":");
        pbi_out_json_u64(out, life->full);
        field_step(out, "step", life->full_step);
        pbi_out_text(out, ",\"resident\":[");
        for (size_t i = 0; i < life->other_count; i++) {
            if (i)
                pbi_out_char(out, ',');
            pbi_out_json_text(out, pb_graph_name(g, s->others[life->first_other + i]));
        }
        pbi_out_char(out, ']');
        field_u64(out, "more", life->others_left);
        fields_need(out, s->game, life->need, life->saves);
        pbi_out_char(out, '}');
    }
    pbi_out_text(out, ",\"waits\":[");
    for (size_t i = 0; i < life->gap_count; i++) {
        const pbi_gap *gap = &s->gaps[life->first_gap + i];
        pbi_out_format(out, "%s{\"to_end\":%s", i ? "," : "", gap->to_end ? "true" : "false");
        field_step(out, "from", gap->from);
        field_step(out, "to", gap->to_end ? PBI_NO_STEP : gap->to);
        field_u64(out, "time", gap->time);
        field_u128(out, "memory_time", gap->held);
        field_saves(out, gap->saves.work, gap->saves.complete, gap->saves.possible);
        pbi_out_char(out, '}');
    }
    pbi_out_text(out, "]}");
}

static void write_story(pbi_out *out, const pbi_story *s)
{
    const pb_graph *g = s->game->graph;
    pbi_out_text(out, "{\"node\":");
    pbi_out_json_text(out, pb_graph_name(g, s->node));
    field_u64(out, "index", s->node);
    field_u64(out, "cost", g->cost[s->node]);
    field_u64(out, "size", g->size[s->node]);
    field_u64(out, "computed", s->computed);
    field_u64(out, "uncomputed", s->uncomputed);
    field_u64(out, "loaded", s->loaded);
    field_u64(out, "spent_again", s->spent_again);
    field_u128(out, "memory_time", s->held);
    pbi_out_text(out, ",\"lives\":[");
    for (size_t i = 0; i < s->life_count; i++) {
        pbi_out_text(out, i ? ",\n" : "\n");
        write_life(out, s, &s->lives[i]);
    }
    pbi_out_text(out, s->life_count ? "\n]}\n" : "]}\n");
}

static void write_shares(pbi_out *out, const pb_graph *g, const pbi_share *shares, size_t count, bool kept)
{
    for (size_t i = 0; i < count; i++) {
        const pbi_share *share = &shares[i];
        pbi_out_text(out, i ? ",\n{\"node\":" : "\n{\"node\":");
        pbi_out_json_text(out, pb_graph_name(g, share->node));
        field_u64(out, "index", share->node);
        field_u64(out, "size", g->size[share->node]);
        field_u64(out, "computed", share->times);
        field_u64(out, "spent_again", share->work);
        if (kept) {
            field_u64(out, "waits", share->gaps);
            field_u128(out, "memory_time", share->held);
            field_saves(out, share->saves, share->complete, share->possible);
        }
        pbi_out_char(out, '}');
    }
    pbi_out_text(out, count ? "\n]" : "]");
}

static void write_absence(pbi_out *out, const pbi_overview *o, const pbi_absence *x)
{
    const pb_graph *g = o->game->graph;
    pbi_out_text(out, "{\"node\":");
    pbi_out_json_text(out, pb_graph_name(g, x->node));
    field_u64(out, "index", x->node);
    field_u64(out, "values", x->values);
    field_step(out, "removed", x->removed);
    field_step(out, "made_again", x->made);
    pbi_out_format(out, ",\"made_by\":\"%s\"", pb_op_name((pb_op)o->list->move[x->made].op));
    field_step(out, "fullest_step", x->full_step);
    field_u64(out, "memory", x->full);
    fields_need(out, o->game, x->need, x->saves);
    pbi_out_char(out, '}');
}

static void write_pressure(pbi_out *out, const pbi_overview *o)
{
    const pbi_pressure *p = &o->pressure;
    pbi_out_text(out, ",\"absences\":[");
    for (size_t i = 0; i < p->absence_count; i++) {
        pbi_out_text(out, i ? ",\n" : "\n");
        write_absence(out, o, &p->absences[i]);
    }
    pbi_out_text(out, p->absence_count ? "\n],\"moments\":[" : "],\"moments\":[");
    for (size_t i = 0; i < p->moment_count; i++) {
        const pbi_moment *m = &p->moments[i];
        pbi_out_text(out, i ? ",\n{\"step\":" : "\n{\"step\":");
        pbi_out_json_u64(out, m->step);
        field_u64(out, "memory", m->memory);
        field_u64(out, "absences", m->absences);
        field_u64(out, "work", m->work);
        pbi_out_char(out, '}');
    }
    pbi_out_text(out, p->moment_count ? "\n]" : "]");
    field_u64(out, "needless", p->spare);
    pbi_out_text(out, ",\"smallest_raise\":");
    if (p->raised)
        write_absence(out, o, &p->raise);
    else
        pbi_out_text(out, "null");
}

static void write_overview(pbi_out *out, const pbi_overview *o)
{
    const pb_graph *g = o->game->graph;
    pbi_out_text(out, "{\"graph\":");
    pbi_out_json_text(out, g->name);
    pbi_out_format(out, ",\"game\":\"%s\",\"cap\":", pb_game_kind_name(o->game->kind));
    if (o->game->cap == PB_UNLIMITED)
        pbi_out_text(out, "null");
    else
        pbi_out_json_u64(out, o->game->cap);
    field_u64(out, "moves", o->moves);
    field_u64(out, "peak", o->totals->peak);
    field_u64(out, "once_work", o->once_work);
    field_u64(out, "again_work", o->again_work);
    field_u64(out, "again_count", o->again_count);
    field_u64(out, "uncompute_work", o->totals->uncompute_work);
    field_u64(out, "io", o->totals->io);
    pbi_phases_json(out, &o->phases);
    field_u64(out, "again_values", o->again_values);
    field_u64(out, "kept_values", o->kept_values);
    field_u128(out, "memory_time", o->held);
    pbi_out_text(out, ",\"again\":[");
    write_shares(out, g, o->again, o->again_length, false);
    pbi_out_text(out, ",\"kept\":[");
    write_shares(out, g, o->kept, o->kept_length, true);
    write_pressure(out, o);
    pbi_out_text(out, "}\n");
}

pb_status pb_explain_json(pb_context *ctx, const pb_certificate *c, pb_node node, pb_sink sink)
{
    static const pbi_explain_writer writer = {LONGEST_LIST, write_overview, write_story};
    return pbi_explain(ctx, c, node, &writer, sink);
}
