/* row_json.c -- see row_json.h. */
#include "row_json.h"

#include "figures.h"
#include "json_print.h"

void json_row_fields(FILE *out, const pb_planned *p, const pb_game *base)
{
    const pb_schedule *s = &p->schedule;
    char reason[512];
    fputs("\"strategy\":", out);
    json_text(out, s->strategy);
    fprintf(out, ",\"game\":\"%s\",\"outcome\":\"%s\",\"reason\":", pb_game_kind_name(s->game),
            pb_outcome_name(s->outcome));
    if (p->certificate) {
        json_text(out, s->reason);
    } else {
        pb_planned_reason(p, p->game ? p->game : base, reason, sizeof reason);
        json_text(out, reason);
    }
    fputs(",\"metrics\":", out);
    if (p->certificate)
        json_metrics(out, &s->metrics, &s->weights);
    else
        fputs("null", out);
    fputs(",\"lower_bound\":", out);
    if (s->bound_kind == PB_BOUND_NONE)
        fputs("null", out);
    else
        json_u64(out, s->lower_bound);
    fputs(",\"gap\":", out);
    if (p->certificate && s->metrics.gap >= 0)
        json_double(out, s->metrics.gap);
    else
        fputs("null", out);
    fputs(",\"seconds\":", out);
    json_double(out, p->seconds);
    fputs(",\"bound_kind\":", out);
    json_text(out, pb_bound_kind_name(s->bound_kind));
    fputs(",\"note\":", out);
    json_text(out, s->note);
    fputs(",\"options\":{", out);
    for (uint32_t i = 0; i < s->option_count; i++) {
        if (i)
            fputc(',', out);
        json_text(out, s->options[i].key);
        fputc(':', out);
        json_text(out, s->options[i].value);
    }
    fputc('}', out);
}

void facts_gather(const pb_graph *g, graph_facts *f)
{
    f->g = g;
    f->largest_at = PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (f->largest_at == PB_NO_NODE || g->size[v] > f->largest) {
            f->largest = g->size[v];
            f->largest_at = v;
        }
        f->given += (g->flags[v] & PB_NODE_GIVEN) != 0;
        f->byproducts += (g->flags[v] & PB_NODE_BYPRODUCT) != 0;
        f->once += (g->flags[v] & PB_NODE_ONCE) != 0;
        f->keep += (g->flags[v] & PB_NODE_KEEP) != 0;
    }
}

static void u64_field(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\"%s\":", key);
    json_u64(out, value);
}

static void text_field(FILE *out, const char *key, const char *value)
{
    fprintf(out, ",\"%s\":", key);
    json_text(out, value);
}

void json_info_fields(FILE *out, const graph_facts *f)
{
    const pb_graph *g = f->g;
    fputs("\"graph\":", out);
    json_text(out, g->name);
    u64_field(out, "nodes", g->node_count);
    u64_field(out, "edges", g->edge_count);
    text_field(out, "shape", pb_shape_name(g->shape));
    u64_field(out, "depth", g->max_depth);
    u64_field(out, "targets", g->target_count);
    u64_field(out, "given", f->given);
    u64_field(out, "needed_nodes", g->needed_count);
    text_field(out, "cost_unit", g->cost_unit);
    text_field(out, "size_unit", g->size_unit);
    u64_field(out, "needed_cost", g->needed_cost);
    u64_field(out, "total_size", g->total_size);
    u64_field(out, "fixed_size", g->fixed_size);
    u64_field(out, "largest_size", f->largest);
    text_field(out, "largest_node", f->largest_at == PB_NO_NODE ? NULL : pb_graph_name(g, f->largest_at));
    u64_field(out, "written_peak", f->written_peak);
    fputs(",\"games\":[", out);
    for (int i = 0; i < f->game_count; i++) {
        const least_fact *l = &f->games[i];
        fprintf(out, "%s{\"game\":\"%s\",\"impossible\":%s", i ? "," : "", pb_game_kind_name(l->kind),
                l->bounds.impossible ? "true" : "false");
        u64_field(out, "proved_cap", l->bounds.least_cap);
        text_field(out, "proved_by", l->bounds.least_why);
        text_field(out, "proved_at", l->bounds.least_at == PB_NO_NODE ? NULL : pb_graph_name(g, l->bounds.least_at));
        if (l->known)
            u64_field(out, "known_cap", l->cap);
        else
            fputs(",\"known_cap\":null", out);
        text_field(out, "strategy", l->strategy);
        fputc('}', out);
    }
    fputc(']', out);
}
