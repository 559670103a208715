/* machine_write.c -- a machine as the JSON text pebble-machine/1. */
#include "machine/machine_parts.h"

static void write_number(pbi_out *out, const char *key, uint64_t value)
{
    if (!value)
        return;
    pbi_out_text(out, key);
    pbi_out_json_u64(out, value);
}

static void write_name(pbi_out *out, const char *key, const char *name)
{
    pbi_out_text(out, key);
    pbi_out_json_text(out, name);
}

static void write_extra(pbi_out *out, const char *extra, bool file)
{
    if (!file || !extra || !*extra)
        return;
    pbi_out_char(out, ',');
    pbi_out_text(out, extra);
}

static void write_rates(pbi_out *out, const char *key, const pb_machine_rate *rates, uint32_t count)
{
    if (!count)
        return;
    pbi_out_text(out, key);
    for (uint32_t i = 0; i < count; i++) {
        pbi_out_char(out, i ? ',' : '{');
        pbi_out_json_text(out, rates[i].key);
        write_number(out, ":", rates[i].per_second);
    }
    pbi_out_char(out, '}');
}

static void write_memory(pbi_out *out, const pb_machine_memory *memory)
{
    write_name(out, "{\"name\":", memory->name);
    if (memory->cap != PB_UNLIMITED) {
        pbi_out_text(out, ",\"cap\":");
        pbi_out_json_u64(out, memory->cap);
    }
    write_number(out, ",\"reserve\":", memory->reserve);
}

static void write_model(pbi_out *out, const pb_machine_model *m)
{
    write_name(out, "{\"op\":", m->op);
    if (m->dtype)
        write_name(out, ",\"dtype\":", m->dtype);
    write_number(out, ",\"overhead\":", m->overhead);
    write_number(out, ",\"rate\":", m->rate);
    write_number(out, ",\"bandwidth\":", m->bandwidth);
    write_name(out, ",\"by\":", pb_model_by_name(m->by));
    pbi_out_text(out, ",\"curves\":[");
    for (uint32_t i = 0; i < m->curve_count; i++) {
        pbi_out_text(out, i ? ",[" : "[");
        for (uint32_t k = 0; k < m->curves[i].count; k++) {
            const pb_machine_point *p = &m->curves[i].points[k];
            pbi_out_text(out, k ? ",[" : "[");
            pbi_out_json_u64(out, p->flops);
            pbi_out_char(out, ',');
            pbi_out_json_u64(out, p->bytes);
            pbi_out_char(out, ',');
            pbi_out_json_u64(out, p->time);
            pbi_out_char(out, ']');
        }
        pbi_out_char(out, ']');
    }
    pbi_out_text(out, "]}");
}

/* Models and the reference are not canonical: plans do not depend on them. */
static void write_models(pbi_out *out, const pb_machine_processor *p, bool file)
{
    if (!file || !p->model_count)
        return;
    pbi_out_text(out, ",\"models\":[");
    for (uint32_t i = 0; i < p->model_count; i++) {
        pbi_out_text(out, i ? ",\n" : "\n");
        write_model(out, &p->models[i]);
    }
    pbi_out_char(out, ']');
}

static void write_reference(pbi_out *out, const pb_machine_reference *r, bool file)
{
    if (!file || !r->what)
        return;
    write_name(out, ",\"reference\":{\"what\":", r->what);
    write_number(out, ",\"time\":", r->time);
    pbi_out_char(out, '}');
}

static void write_processor(pbi_out *out, const pb_machine *m, const pb_machine_processor *p, bool file)
{
    write_name(out, "{\"name\":", p->name);
    write_name(out, ",\"memory\":", m->memories[p->memory].name);
    write_number(out, ",\"overhead\":", p->overhead);
    write_number(out, ",\"bandwidth\":", p->bandwidth);
    write_rates(out, ",\"rates\":", p->rates, p->rate_count);
    write_rates(out, ",\"bandwidths\":", p->bandwidths, p->bandwidth_count);
    write_models(out, p, file);
}

static void write_link(pbi_out *out, const pb_machine *m, const pb_machine_link *link)
{
    write_name(out, "{\"name\":", link->name);
    write_name(out, ",\"from\":", m->memories[link->from].name);
    write_name(out, ",\"to\":", m->memories[link->to].name);
    write_number(out, ",\"bandwidth\":", link->bandwidth);
    write_number(out, ",\"latency\":", link->latency);
    write_number(out, ",\"per_unit\":", link->per_unit);
    if (link->lane)
        write_name(out, ",\"lane\":", link->lane);
}

void pbi_machine_write(pbi_out *out, const pb_machine *m, bool file)
{
    static const char *const lists[] = {"\"memories\":[", "\"processors\":[", "\"links\":["};
    const uint32_t counts[] = {m->memory_count, m->processor_count, m->link_count};
    const char *line = file ? ",\n" : ",";
    pbi_out_text(out, "{\"format\":\"pebble-machine/1\"");
    if (*m->name)
        write_name(out, ",\"name\":", m->name);
    write_name(out, ",\"time_unit\":", m->time_unit);
    write_reference(out, &m->reference, file);
    write_extra(out, m->extra, file);
    for (int kind = PBI_MEMORY; kind < PBI_PART_KINDS; kind++) {
        if (!counts[kind])
            continue;
        pbi_out_text(out, line);
        pbi_out_text(out, lists[kind]);
        for (uint32_t i = 0; i < counts[kind]; i++) {
            pbi_out_text(out, i ? line : line + 1);
            if (kind == PBI_MEMORY)
                write_memory(out, &m->memories[i]);
            else if (kind == PBI_PROCESSOR)
                write_processor(out, m, &m->processors[i], file);
            else
                write_link(out, m, &m->links[i]);
            write_extra(out,
                        kind == PBI_MEMORY      ? m->memories[i].extra
                        : kind == PBI_PROCESSOR ? m->processors[i].extra
                                                : m->links[i].extra,
                        file);
            pbi_out_char(out, '}');
        }
        pbi_out_char(out, ']');
    }
    pbi_out_char(out, '}');
}
