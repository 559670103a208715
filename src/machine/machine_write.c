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

static void write_processor(pbi_out *out, const pb_machine *m, const pb_machine_processor *p)
{
    write_name(out, "{\"name\":", p->name);
    write_name(out, ",\"memory\":", m->memories[p->memory].name);
    write_number(out, ",\"overhead\":", p->overhead);
    write_number(out, ",\"bandwidth\":", p->bandwidth);
    write_rates(out, ",\"rates\":", p->rates, p->rate_count);
    write_rates(out, ",\"bandwidths\":", p->bandwidths, p->bandwidth_count);
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
                write_processor(out, m, &m->processors[i]);
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
