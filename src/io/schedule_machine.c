/* schedule_machine.c -- decimal prices of tiers as links of a machine, for replays that only support whole numbers
 * as prices. Our own reader uses the decimals, not the machine. */
#include "io/formats.h"
#include "io/schedule_reader.h"

static void write_link(pbi_out *out, const pb_price_link *l, uint32_t tier, bool load)
{
    if (load)
        pbi_out_format(out, ",{\"name\":\"load%u\",\"from\":\"slow%u\",\"to\":\"fast\"", tier, tier);
    else
        pbi_out_format(out, "%s{\"name\":\"store%u\",\"from\":\"fast\",\"to\":\"slow%u\"", tier > 1 ? "," : "", tier,
                       tier);
    pbi_out_text(out, ",\"latency\":");
    pbi_out_json_u64(out, l->latency);
    pbi_out_text(out, ",\"per_unit\":");
    pbi_out_json_u64(out, l->per_unit);
    if (l->bandwidth) {
        pbi_out_text(out, ",\"bandwidth\":");
        pbi_out_json_u64(out, l->bandwidth);
    }
    pbi_out_char(out, '}');
}

void pbi_schedule_write_machine(pbi_out *out, const pb_schedule *s)
{
    pbi_out_text(out, ",\n\"machine\":{\"format\":\"pebble-machine/1\",\"name\":\"" PBI_PRICES_MACHINE
                      "\",\"time_unit\":\"ns\","
                      "\"memories\":[{\"name\":\"fast\"}");
    for (uint32_t i = 0; i < s->tier_count; i++)
        pbi_out_format(out, ",{\"name\":\"slow%u\"}", i + 1);
    pbi_out_text(
        out, "],\"processors\":[{\"name\":\"unit\",\"memory\":\"fast\",\"rates\":{\"other\":1000000000}}],\"links\":[");
    for (uint32_t i = 0; i < s->tier_count; i++) {
        write_link(out, &s->links[i][0], i + 1, false);
        write_link(out, &s->links[i][1], i + 1, true);
    }
    pbi_out_text(out, "]}");
}
