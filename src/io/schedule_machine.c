/* schedule_machine.c -- decimal prices of tiers as links of a machine, for replays that know prices as whole numbers only.
 *
 * Idea    a link that moves B size units in the 10^9 ticks of a second costs ceil(size * 10^9 / B). With B = ceil(10^9 / f) for
 *         the part f = num / den of a price behind the point this is ceil(size * f) wherever size * num^2 < 10^9 * den: the two
 *         differ by less than 1 / den, and size * f is that far from the next smaller whole number. Where num divides
 *         10^9 * den they are equal for every size.
 * Limits  a price for which the largest value does not keep to that is not written as a link. Our own reader takes the
 *         decimals, not the machine.
 */
#include "base/checked.h"
#include "base/decimal.h"
#include "io/formats.h"

#define SECOND UINT64_C(1000000000)

/* ceil(price * size) as whole * size + ceil(size * SECOND / bandwidth); bandwidth 0: the price is whole. */
typedef struct price_link {
    uint64_t whole, bandwidth;
} price_link;

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* False where no link costs the same for every size up to `largest`; 0: not known. */
static bool find_link(uint64_t price, uint32_t digits, uint64_t largest, price_link *out)
{
    uint64_t den = pbi_decimal_unit(digits), num = price % den, divisor = common_divisor(den, num);
    *out = (price_link){price / den, 0};
    if (!num)
        return true;
    num /= divisor;
    den /= divisor;
    uint64_t ticks = SECOND * den; /* digits are at most 9 */
    out->bandwidth = ticks / num + (ticks % num != 0);
    return ticks % num == 0 || (largest && pb_u128_compare(pbi_u128_product(largest, num * num), pbi_u128(ticks)) < 0);
}

bool pbi_schedule_needs_machine(const pb_schedule *s)
{
    bool decimal = false;
    price_link l;
    for (uint32_t i = 0; i < s->tier_count; i++) {
        const pb_tier *tier = &s->tiers[i];
        decimal |= tier->digits > 0;
        if (!find_link(tier->store_per_unit, tier->digits, s->largest, &l) ||
            !find_link(tier->load_per_unit, tier->digits, s->largest, &l))
            return false;
    }
    return decimal;
}

static void write_link(pbi_out *out, const pb_schedule *s, uint32_t i, bool load)
{
    const pb_tier *tier = &s->tiers[i];
    price_link l;
    find_link(load ? tier->load_per_unit : tier->store_per_unit, tier->digits, s->largest, &l);
    if (load)
        pbi_out_format(out, ",{\"name\":\"load%u\",\"from\":\"slow%u\",\"to\":\"fast\"", i + 1, i + 1);
    else
        pbi_out_format(out, "%s{\"name\":\"store%u\",\"from\":\"fast\",\"to\":\"slow%u\"", i ? "," : "", i + 1, i + 1);
    pbi_out_text(out, ",\"latency\":");
    pbi_out_json_u64(out, load ? tier->load_cost : tier->store_cost);
    pbi_out_text(out, ",\"per_unit\":");
    pbi_out_json_u64(out, l.whole);
    if (l.bandwidth) {
        pbi_out_text(out, ",\"bandwidth\":");
        pbi_out_json_u64(out, l.bandwidth);
    }
    pbi_out_char(out, '}');
}

void pbi_schedule_write_machine(pbi_out *out, const pb_schedule *s)
{
    pbi_out_text(
        out, ",\n\"machine\":{\"format\":\"pebble-machine/1\",\"name\":\"prices of the tiers\",\"time_unit\":\"ns\","
             "\"memories\":[{\"name\":\"fast\"}");
    for (uint32_t i = 0; i < s->tier_count; i++)
        pbi_out_format(out, ",{\"name\":\"slow%u\"}", i + 1);
    pbi_out_text(out, "],\"processors\":[{\"name\":\"unit\",\"memory\":\"fast\"}],\"links\":[");
    for (uint32_t i = 0; i < s->tier_count; i++) {
        write_link(out, s, i, false);
        write_link(out, s, i, true);
    }
    pbi_out_text(out, "]}");
}
