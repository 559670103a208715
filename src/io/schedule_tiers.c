/* schedule_tiers.c -- reads the tiers of pebble-schedule/1: prices, or links of the schedule's machine. */
#include "game/price.h"
#include "io/schedule_reader.h"

/* Checks a price at its position, which is lost once all are read. */
static pb_status check_price(pbi_schedule_reader *r, pbi_field field, const char *text)
{
    if (pb_price_check(r->ctx, text) == PB_OK)
        return PB_OK;
    return pbi_field_fail(&r->json, field,
                          "must be a decimal of 0 or more with at most %d digits after the point, not %.60s",
                          PB_PRICE_DIGITS, text);
}

enum { CAP = PB_PRICE_COUNT, STORE, LOAD, TIER_FIELDS };
static const pbi_slice names[] = {/* the prices first, in the order of pb_price */
                                  PBI_NAME("store_cost"),    PBI_NAME("load_cost"), PBI_NAME("store_per_unit"),
                                  PBI_NAME("load_per_unit"), PBI_NAME("cap"),       PBI_NAME("store"),
                                  PBI_NAME("load")};

static pb_status read_tier_field(pbi_schedule_reader *r, pbi_field field, uint32_t which, pb_tier *tier,
                                 const char *price[PB_PRICE_COUNT])
{
    bool null;
    pb_status status = pbi_skip_null(&r->json, &null);
    if (status != PB_OK || null)
        return status;
    switch (which) {
    case CAP: return pbi_read_whole(&r->json, field, &tier->cap);
    case STORE: return pbi_read_copy(&r->json, field, r->result, &tier->store_link);
    case LOAD: return pbi_read_copy(&r->json, field, r->result, &tier->load_link);
    case TIER_FIELDS: return pbi_json_skip(&r->json);
    default: status = pbi_schedule_decimal(r, field, &price[which]);
    }
    return status == PB_OK ? check_price(r, field, price[which]) : status;
}

static pb_status read_tier(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK && r->s->tier_count == PB_MAX_TIERS)
        return pbi_field_fail(&r->json, field, "exceeds the limit of %d tiers; leave it out", PB_MAX_TIERS);
    uint32_t number = r->s->tier_count;
    if (status == PB_OK) {
        r->tier_place[number] = r->json.place;
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    }
    pb_tier tier = {.cap = PB_UNLIMITED};
    const char *price[PB_PRICE_COUNT] = {NULL};
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    field.of = "tier";
    field.index++;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, TIER_FIELDS);
        field.name = which < TIER_FIELDS ? names[which].bytes : "";
        if (which < TIER_FIELDS)
            status = pbi_refuse_twice(&r->json, field, which, &seen);
        if (status == PB_OK)
            status = read_tier_field(r, field, which, &tier, price);
    }
    if (status == PB_OK)
        status = pb_tier_prices_parse(r->ctx, NULL, price, &tier);
    if (status != PB_OK)
        return status;
    r->tier_priced[number] = price[0] || price[1] || price[2] || price[3];
    r->s->tiers[r->s->tier_count++] = tier;
    return PB_OK;
}

pb_status pbi_schedule_read_tiers(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    bool more;
    field.of = "item";
    for (; status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more; field.index++)
        status = read_tier(r, field);
    return status;
}

static const pb_machine_link *find_link(const pb_machine *m, const char *name)
{
    for (uint32_t i = 0; i < m->link_count; i++)
        if (strcmp(m->links[i].name, name) == 0)
            return &m->links[i];
    return NULL;
}

static pb_status link_tier(pbi_schedule_reader *r, pb_tier *tier, pbi_field field)
{
    const pb_machine *m = r->s->machine;
    if (!tier->store_link || !tier->load_link)
        return pbi_field_fail(&r->json, field, "is missing; name the link, or give prices");
    if (!m)
        return pbi_field_fail(&r->json, field, "names a link, but the schedule has no \"machine\"; add it");
    const pb_machine_link *store = find_link(m, tier->store_link), *load = find_link(m, tier->load_link);
    if (!store || !load) {
        field.name = store ? "load" : "store";
        return pbi_field_fail(&r->json, field, "names \"%.60s\", which is not a link of the machine; correct it",
                              store ? tier->load_link : tier->store_link);
    }
    if (store->from != 0 || load->to != 0 || store->to != load->from) {
        field.name = store->from != 0 ? "store" : "load";
        return pbi_field_fail(&r->json, field,
                              "must join the machine's first memory and the tier's: store from \"%.60s\", load back; "
                              "name other links",
                              m->memories[0].name);
    }
    uint64_t cap = tier->cap;
    *tier = pbi_machine_tier(m, store, load);
    tier->cap = cap;
    return PB_OK;
}

pb_status pbi_schedule_link_tiers(pbi_schedule_reader *r)
{
    pb_schedule *s = r->s;
    bool priced = false, linked = false;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < s->tier_count && status == PB_OK; i++) {
        pb_tier *tier = &s->tiers[i];
        if (!tier->store_link && !tier->load_link)
            continue;
        r->json.place = r->tier_place[i];
        if (r->tier_priced[i]) {
            tier->store_link = tier->load_link = NULL;
            priced = true;
        } else {
            status = link_tier(r, tier, (pbi_field){tier->store_link ? "load" : "store", "tier", i + 1});
            linked = true;
        }
    }
    /* Written for other programs; as a machine of the plan it would only change the unit of its costs. */
    if (priced && !linked && s->machine && strcmp(s->machine->name, PBI_PRICES_MACHINE) == 0)
        s->machine = NULL;
    return status;
}
