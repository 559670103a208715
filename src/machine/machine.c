/* machine.c -- times from a machine's rates, bandwidths and links; and the rules that a machine must obey. */
#include "machine/machine_parts.h"

#include "base/checked.h"
#include "base/context.h"
#include "machine/machine_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t pb_time_unit_per_second(const char *time_unit)
{
    static const struct {
        const char *name;
        uint64_t per_second;
    } units[] = {{"ns", 1000000000}, {"us", 1000000}, {"ms", 1000}, {"s", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, time_unit) == 0)
            return units[i].per_second;
    return 0;
}

static uint64_t rate_of(const pb_machine_rate *rates, uint32_t count, const char *key)
{
    for (uint32_t i = 0; key && i < count; i++)
        if (strcmp(rates[i].key, key) == 0)
            return rates[i].per_second;
    return 0;
}

/* Operations per second: by operation and type, by type, else "other"; 0: none of them is there. */
static uint64_t flop_rate(const pb_machine_processor *p, const pb_work *work)
{
    char key[PB_MACHINE_KEY];
    uint64_t rate = 0;
    if (work->op && work->dtype && (size_t)snprintf(key, sizeof key, "%s/%s", work->op, work->dtype) < sizeof key)
        rate = rate_of(p->rates, p->rate_count, key);
    if (!rate)
        rate = rate_of(p->rates, p->rate_count, work->dtype);
    return rate ? rate : rate_of(p->rates, p->rate_count, "other");
}

static pb_status no_rate(pb_context *ctx, const pb_machine *m, const pb_machine_processor *p, const pb_work *work)
{
    const char *op = work->op ? work->op : "computations";
    if (!work->dtype)
        return pbi_fail(
            ctx, PB_EINVAL,
            "machine %.60s: processor %.60s has no rate for %.60s without dtype; add \"other\" to its rates", m->name,
            p->name, op);
    return pbi_fail(
        ctx, PB_EINVAL,
        "machine %.60s: processor %.60s has no rate for %.60s in %.60s; add \"%.60s\" or \"other\" to its rates",
        m->name, p->name, op, work->dtype, work->dtype);
}

pb_status pb_machine_duration(pb_context *ctx, const pb_machine *m, const pb_machine_processor *p, const pb_work *work,
                              uint64_t cost, uint64_t *out)
{
    uint64_t computing = 0, moving = 0, rate = 0;
    bool fits = true;
    if (!m->per_second || (!work->has_flops && !work->has_bytes)) {
        *out = cost;
        return PB_OK;
    }
    if (work->has_flops && work->flops) {
        rate = flop_rate(p, work);
        if (!rate)
            return no_rate(ctx, m, p, work);
        fits = pbi_mul_div_up(work->flops, m->per_second, rate, &computing);
    }
    if (work->has_bytes && work->bytes) {
        rate = rate_of(p->bandwidths, p->bandwidth_count, work->op);
        rate = rate ? rate : p->bandwidth;
        fits = fits && (!rate || pbi_mul_div_up(work->bytes, m->per_second, rate, &moving));
    }
    if (!fits || !pbi_add(computing > moving ? computing : moving, p->overhead, out))
        return pbi_fail(ctx, PB_ERANGE, "machine %.60s: a computation takes more than 2^64 %s; use a coarser time_unit",
                        m->name, m->time_unit);
    return PB_OK;
}

uint64_t pb_machine_copy_time(const pb_machine *m, const pb_machine_link *link, uint64_t size)
{
    uint64_t units, bytes = 0;
    if (!pbi_mul(link->per_unit, size, &units) ||
        (link->bandwidth && m->per_second && !pbi_mul_div_up(size, m->per_second, link->bandwidth, &bytes)))
        return UINT64_MAX;
    return pbi_add_saturated(pbi_add_saturated(link->latency, units), bytes);
}

/* A check under way: the machine, and the part that is looked at. */
typedef struct checking {
    pb_context *ctx;
    const pb_machine *m;
    pbi_part part;
} checking;

static pb_status wrong(const checking *c, const char *why)
{
    static const char *const kinds[] = {"memory", "processor", "link"};
    const pb_machine *m = c->m;
    uint32_t i = c->part.index;
    const char *name = c->part.kind == PBI_MEMORY      ? m->memories[i].name
                       : c->part.kind == PBI_PROCESSOR ? m->processors[i].name
                                                       : m->links[i].name;
    return pbi_fail(c->ctx, PB_EFORMAT, "machine \"%.60s\": %s \"%.60s\" %s", m->name, kinds[c->part.kind], name, why);
}

/* The parts of one kind, whatever their type: the name comes first in each of them. */
static pb_status check_names(checking *c, pbi_part_kind kind, const void *parts, uint32_t count, size_t stride)
{
    c->part.kind = kind;
    if (count > PB_MACHINE_MAX_PARTS) {
        c->part.index = PB_MACHINE_MAX_PARTS;
        return wrong(c, "is one part too many; a machine has at most 1024 of each kind");
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)parts + i * stride);
        c->part.index = i;
        if (!*name)
            return wrong(c, "needs a name");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(name, *(const char *const *)((const char *)parts + k * stride)) == 0)
                return wrong(c, "appears twice; rename one of them");
    }
    return PB_OK;
}

static pb_status check_rates(const checking *c, const pb_machine_rate *rates, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!rates[i].per_second || rates[i].per_second > PB_MACHINE_MAX_RATE)
            return wrong(c, "has a rate or bandwidth that is not from 1 to 2^63 per second; correct it");
        if (strlen(rates[i].key) >= PB_MACHINE_KEY)
            return wrong(c, "has a rate or bandwidth whose key has more than 127 bytes; shorten it");
    }
    return PB_OK;
}

static uint64_t count_points(const pb_machine_processor *p)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->model_count; i++)
        for (uint32_t k = 0; k < p->models[i].curve_count; k++)
            count += p->models[i].curves[k].count;
    return count;
}

static pb_status check_processor(const checking *c, const pb_machine_processor *p)
{
    if (p->memory >= c->m->memory_count)
        return wrong(c, "uses a memory that the machine does not have; add it");
    if (p->bandwidth > PB_MACHINE_MAX_RATE)
        return wrong(c, "has a bandwidth above 2^63 per second; correct it");
    if (p->rate_count > PB_MACHINE_MAX_PARTS || p->bandwidth_count > PB_MACHINE_MAX_PARTS ||
        p->model_count > PB_MACHINE_MAX_PARTS)
        return wrong(c, "has more than 1024 rates, bandwidths or models; leave some operations or types out");
    if (count_points(p) > PB_MACHINE_MAX_POINTS)
        return wrong(c, "has more than 1048576 points in its models; leave some out");
    pb_status status = check_rates(c, p->rates, p->rate_count);
    if (status == PB_OK)
        status = check_rates(c, p->bandwidths, p->bandwidth_count);
    for (uint32_t i = 0; i < p->model_count && status == PB_OK; i++) {
        const char *why = pbi_model_wrong(p, i);
        char text[256];
        snprintf(text, sizeof text, "has a model of %.60s that %s", p->models[i].op, why ? why : "");
        status = why ? wrong(c, text) : PB_OK;
    }
    return status;
}

static pb_status check_link(const checking *c, const pb_machine_link *l)
{
    if (l->from >= c->m->memory_count || l->to >= c->m->memory_count)
        return wrong(c, "joins a memory that the machine does not have; add it");
    if (l->from == l->to)
        return wrong(c, "leads from a memory to itself; change `from` or `to`");
    return l->bandwidth > PB_MACHINE_MAX_RATE ? wrong(c, "has a bandwidth above 2^63 per second; correct it") : PB_OK;
}

static pb_status check_parts(checking *c)
{
    const pb_machine *m = c->m;
    pb_status status = check_names(c, PBI_MEMORY, m->memories, m->memory_count, sizeof *m->memories);
    if (status == PB_OK)
        status = check_names(c, PBI_PROCESSOR, m->processors, m->processor_count, sizeof *m->processors);
    if (status == PB_OK)
        status = check_names(c, PBI_LINK, m->links, m->link_count, sizeof *m->links);
    for (uint32_t i = 0; i < m->memory_count && status == PB_OK; i++) {
        c->part = (pbi_part){PBI_MEMORY, i};
        if (m->memories[i].reserve > m->memories[i].cap)
            status = wrong(c, "reserves more than its cap; lower the reserve");
    }
    for (uint32_t i = 0; i < m->processor_count && status == PB_OK; i++) {
        c->part = (pbi_part){PBI_PROCESSOR, i};
        status = check_processor(c, &m->processors[i]);
    }
    for (uint32_t i = 0; i < m->link_count && status == PB_OK; i++) {
        c->part = (pbi_part){PBI_LINK, i};
        status = check_link(c, &m->links[i]);
    }
    return status;
}

pb_status pbi_machine_check(pb_context *ctx, const pb_machine *m, pbi_part *bad)
{
    checking c = {ctx, m, {PBI_PART_KINDS, 0}};
    if (!m->memory_count || !m->processor_count) {
        *bad = c.part;
        return pbi_fail(ctx, PB_EFORMAT, "machine \"%.60s\" has no %s; add at least one", m->name,
                        m->memory_count ? "processors" : "memories");
    }
    pb_status status = check_parts(&c);
    *bad = c.part;
    return status;
}

pb_status pb_machine_check(pb_context *ctx, const pb_machine *m)
{
    pbi_part bad;
    return pbi_machine_check(ctx, m, &bad);
}
