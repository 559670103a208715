/* machine.c -- times from a machine's rates, bandwidths and links; and the rules that a machine must obey. */
#include "pebble/machine.h"

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
            return pbi_fail(ctx, PB_EINVAL,
                            "machine %.60s: processor %.60s has no rate for %s%s%.60s; add \"%.60s\" or "
                            "\"other\" to its rates",
                            m->name, p->name, work->op ? work->op : "", work->op ? " in " : "",
                            work->dtype ? work->dtype : "this node", work->dtype ? work->dtype : "other");
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

static pb_status wrong(pb_context *ctx, const pb_machine *m, const char *kind, const char *name, const char *why)
{
    return pbi_fail(ctx, PB_EFORMAT, "machine \"%.60s\": %s \"%.60s\" %s", m->name, kind, name, why);
}

/* The parts of one kind, whatever their type: name i is at first + i * stride. */
static pb_status check_names(pb_context *ctx, const pb_machine *m, const char *kind, const void *parts, uint32_t count,
                             size_t stride)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)parts + i * stride);
        if (!*name)
            return wrong(ctx, m, kind, name, "needs a name");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(name, *(const char *const *)((const char *)parts + k * stride)) == 0)
                return wrong(ctx, m, kind, name, "appears twice; rename one of them");
    }
    return PB_OK;
}

static pb_status check_processor(pb_context *ctx, const pb_machine *m, const pb_machine_processor *p)
{
    for (uint32_t i = 0; i < p->rate_count; i++)
        if (!p->rates[i].per_second)
            return wrong(ctx, m, "processor", p->name, "has a rate of 0; rates are above 0");
    for (uint32_t i = 0; i < p->bandwidth_count; i++)
        if (!p->bandwidths[i].per_second)
            return wrong(ctx, m, "processor", p->name, "has a bandwidth of 0; bandwidths are above 0");
    for (uint32_t i = 0; i < p->model_count; i++) {
        const char *why = pbi_model_wrong(p, i);
        if (why)
            return pbi_fail(ctx, PB_EFORMAT, "machine \"%.60s\": processor \"%.60s\", model of %.60s: it %s", m->name,
                            p->name, p->models[i].op, why);
    }
    return PB_OK;
}

pb_status pb_machine_check(pb_context *ctx, const pb_machine *m)
{
    pb_status status = check_names(ctx, m, "memory", m->memories, m->memory_count, sizeof *m->memories);
    if (status == PB_OK)
        status = check_names(ctx, m, "processor", m->processors, m->processor_count, sizeof *m->processors);
    if (status == PB_OK)
        status = check_names(ctx, m, "link", m->links, m->link_count, sizeof *m->links);
    if (status == PB_OK && (!m->memory_count || !m->processor_count))
        status = pbi_fail(ctx, PB_EFORMAT, "machine \"%.60s\" has no %s; add at least one", m->name,
                          m->memory_count ? "processors" : "memories");
    if (status == PB_OK && m->reference.what && !m->reference.time)
        status = pbi_fail(ctx, PB_EFORMAT, "machine \"%.60s\": its reference takes no time; remove it", m->name);
    for (uint32_t i = 0; i < m->memory_count && status == PB_OK; i++)
        if (m->memories[i].reserve > m->memories[i].cap)
            status = wrong(ctx, m, "memory", m->memories[i].name, "reserves more than its cap; lower the reserve");
    for (uint32_t i = 0; i < m->processor_count && status == PB_OK; i++) {
        if (m->processors[i].memory >= m->memory_count)
            status = wrong(ctx, m, "processor", m->processors[i].name, "uses a memory that the machine does not have");
        else
            status = check_processor(ctx, m, &m->processors[i]);
    }
    for (uint32_t i = 0; i < m->link_count && status == PB_OK; i++) {
        const pb_machine_link *l = &m->links[i];
        if (l->from >= m->memory_count || l->to >= m->memory_count)
            status = wrong(ctx, m, "link", l->name, "joins a memory that the machine does not have");
        else if (l->from == l->to)
            status = wrong(ctx, m, "link", l->name, "leads from a memory to itself; change `from` or `to`");
    }
    return status;
}
