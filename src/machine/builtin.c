/* builtin.c -- the machines that come with the library: published figures, and the share of them that kernels reach.
 *
 * docs/machines.md names the source of every number. A type alone ("float32") and `bandwidth` are the data sheet's
 * dense peak; "conv/float32" and `bandwidths` are what kernels of that operation reach.
 */
#include "base/context.h"
#include "base/nearest.h"
#include "pebble/machine.h"

#include <stdio.h>
#include <string.h>

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define KIB UINT64_C(1024)

enum { MAX_TYPES = 6, MAX_DEVICES = 64, NAME_ROOM = 32 };

typedef struct peak {
    const char *type;
    uint64_t rate;
} peak;

/* What kernels reach, in percent of the peak. */
typedef struct share {
    const char *op;
    uint32_t percent;
} share;

typedef struct shares {
    const share *rate;   /* of types that are not faster than the device's first one */
    const share *matrix; /* of types that are: they run on units for matrix products; the same operations */
    const share *bandwidth;
    uint32_t rate_count, bandwidth_count;
} shares;

typedef struct slow_memory {
    const char *name;
    uint64_t cap;
    uint64_t write, read; /* bytes per second */
    uint64_t latency;
} slow_memory;

/* One device and its slow memory. */
typedef struct device {
    const char *name, *text, *time_unit;
    const char *memory, *processor;
    uint64_t cap, reserve, overhead, bandwidth;
    peak peaks[MAX_TYPES]; /* the first one also holds for types that are not named */
    const shares *reached;
    slow_memory slow;
    uint64_t peer; /* bytes per second to a neighbour, each way; 0: there is only one device */
} device;

/* ---- what kernels reach ---- */

static const share gpu_rates[] = {{"matmul", 90},  {"conv", 85},      {"conv.dx", 80},
                                  {"conv.dw", 75}, {"attention", 70}, {"attention.dx", 60}};
static const share gpu_matrix[] = {{"matmul", 75},  {"conv", 60},      {"conv.dx", 55},
                                   {"conv.dw", 50}, {"attention", 60}, {"attention.dx", 45}};
static const share gpu_bandwidths[] = {
    {"elementwise", 90}, {"math", 90},      {"update", 90},       {"copy", 80},         {"reduce", 80},
    {"norm", 80},        {"norm.dx", 70},   {"softmax", 80},      {"softmax.dx", 80},   {"dropout", 80},
    {"loss", 80},        {"loss.dx", 80},   {"pool", 70},         {"pool.dx", 60},      {"embed", 60},
    {"embed.dw", 30},    {"depthwise", 50}, {"depthwise.dx", 50}, {"depthwise.dw", 20}, {"matmul", 80},
    {"conv", 80},        {"conv.dx", 80},   {"conv.dw", 80},      {"attention", 80},    {"attention.dx", 80}};
static const share cpu_rates[] = {{"matmul", 80},  {"conv", 60},      {"conv.dx", 50},
                                  {"conv.dw", 50}, {"attention", 40}, {"attention.dx", 40}};
static const share cpu_bandwidths[] = {
    {"elementwise", 70}, {"update", 70},  {"copy", 60},      {"reduce", 60},       {"norm", 40},        {"norm.dx", 40},
    {"softmax.dx", 40},  {"math", 30},    {"embed", 30},     {"softmax", 20},      {"pool", 20},        {"pool.dx", 20},
    {"embed.dw", 20},    {"dropout", 10}, {"depthwise", 40}, {"depthwise.dx", 40}, {"depthwise.dw", 20}};
static const share micro_rates[] = {{"matmul", 30}, {"conv", 30}, {"depthwise", 15}, {"filter", 30}};

#define COUNT(a) (sizeof(a) / sizeof *(a))
static const shares on_gpu = {gpu_rates, gpu_matrix, gpu_bandwidths, COUNT(gpu_rates), COUNT(gpu_bandwidths)};
static const shares on_cpu = {cpu_rates, cpu_rates, cpu_bandwidths, COUNT(cpu_rates), COUNT(cpu_bandwidths)};
static const shares on_micro = {micro_rates, micro_rates, NULL, COUNT(micro_rates), 0};

/* ---- the machines ---- */

static const device devices[] = {
#define GPU(name_, text_, gb, launch, gbs, pcie, to_peer, f32, tf32, f16, bf16, f64, i8) \
    {name_,                                                                              \
     text_,                                                                              \
     .time_unit = "ns",                                                                  \
     .memory = "hbm",                                                                    \
     .processor = "gpu",                                                                 \
     .cap = (gb)*G,                                                                      \
     .overhead = launch,                                                                 \
     .bandwidth = (gbs)*G,                                                               \
     .reached = &on_gpu,                                                                 \
     .peer = (to_peer)*G,                                                                \
     .slow = {"host", PB_UNLIMITED, (pcie)*G, (pcie)*G, 10000},                          \
     .peaks = {{"float32", (f32)*G},                                                     \
               {"tf32", (tf32)*G},                                                       \
               {"float16", (f16)*G},                                                     \
               {"bfloat16", (bf16)*G},                                                   \
               {"float64", (f64)*G},                                                     \
               {"int8", (i8)*G}}},
#include "machine/gpus.def"
#undef GPU
    {"laptop", "laptop with 8 cores (AVX2, 3.2 GHz), 16 GB and an NVMe disk", .time_unit = "ns", .memory = "ram",
     .processor = "cpu", .cap = 16 * G, .reserve = 4 * G, /* the system and other programs */
     .overhead = 2000, .bandwidth = 75 * G, .peaks = {{"float32", 819 * G}, {"float64", 409 * G}, {"int8", 1638 * G}},
     .reached = &on_cpu, .slow = {"disk", PB_UNLIMITED, 2 * G, 3 * G, 100000}},
    {"cortex-m7", "ARM Cortex-M7 at 480 MHz, 512 KiB of SRAM and 32 MiB of SDRAM", .time_unit = "ns", .memory = "sram",
     .processor = "cpu", .cap = 512 * KIB, .overhead = 1000, .bandwidth = 1920 * M,
     .peaks = {{"float32", 960 * M}, {"float64", 240 * M}, {"int8", 1920 * M}}, .reached = &on_micro,
     .slow = {"sdram", 32 * KIB *KIB, 200 * M, 200 * M, 1000}},
    {"red-blue", "the two-level pebble game: 11 slots, a node takes its cost, a transfer 100", .time_unit = "step",
     .memory = "fast", .processor = "cpu", .cap = 11, .slow = {"slow", PB_UNLIMITED, 0, 0, 100}},
};

/* ---- building one ---- */

/* "hbm", or "hbm2" if there are several; NULL without memory. */
static const char *numbered(pb_arena *result, const char *name, uint32_t i, uint32_t count)
{
    char text[NAME_ROOM];
    int length = count > 1 ? snprintf(text, sizeof text, "%s%u", name, i) : snprintf(text, sizeof text, "%s", name);
    return pb_arena_text(result, text, (size_t)length);
}

/* `percent` of `whole`, without passing 64 bits. */
static uint64_t part_of(uint64_t whole, uint32_t percent)
{
    return whole / 100 * percent + whole % 100 * percent / 100;
}

static uint32_t type_count(const device *d)
{
    uint32_t count = 0;
    while (count < MAX_TYPES && d->peaks[count].type)
        count++;
    return count;
}

/* Each type's peak, what each operation reaches of it, and the first type for all others. */
static const pb_machine_rate *make_rates(const device *d, pb_arena *result, uint32_t *count)
{
    uint32_t types = type_count(d), ops = d->reached ? d->reached->rate_count : 0;
    pb_machine_rate *list = pb_arena_alloc(result, (size_t)types * (1 + ops) + 1, sizeof *list);
    *count = 0;
    for (uint32_t t = 0; list && t < types; t++) {
        const peak *p = &d->peaks[t];
        list[(*count)++] = (pb_machine_rate){p->type, p->rate};
        for (uint32_t i = 0; i < ops; i++) {
            const share *reached = p->rate > d->peaks[0].rate ? &d->reached->matrix[i] : &d->reached->rate[i];
            char key[PB_MACHINE_KEY];
            int length = snprintf(key, sizeof key, "%s/%s", reached->op, p->type);
            const char *kept = pb_arena_text(result, key, (size_t)length);
            if (!kept)
                return NULL;
            list[(*count)++] = (pb_machine_rate){kept, part_of(p->rate, reached->percent)};
        }
    }
    if (list && types)
        list[(*count)++] = (pb_machine_rate){"other", d->peaks[0].rate};
    return list;
}

static const pb_machine_rate *make_bandwidths(const device *d, pb_arena *result, uint32_t *count)
{
    *count = d->reached ? d->reached->bandwidth_count : 0;
    pb_machine_rate *list = pb_arena_alloc(result, (size_t)*count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < *count; i++) {
        const share *reached = &d->reached->bandwidth[i];
        list[i] = (pb_machine_rate){reached->op, part_of(d->bandwidth, reached->percent)};
    }
    return list;
}

/* Whether all parts got a name: numbered() had memory. */
static bool has_names(const pb_machine *m)
{
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (!m->memories[i].name)
            return false;
    for (uint32_t i = 0; i < m->processor_count; i++)
        if (!m->processors[i].name)
            return false;
    for (uint32_t i = 0; i < m->link_count; i++)
        if (!m->links[i].name)
            return false;
    return true;
}

/* Memories of the devices in order, then the slow one; each with links to the slow one and to its neighbours. */
static bool make_parts(const device *d, uint32_t count, pb_arena *result, pb_machine *m)
{
    pb_machine_memory *memories = pb_arena_zero(result, (size_t)count + 1, sizeof *memories);
    pb_machine_processor *processors = pb_arena_zero(result, count, sizeof *processors);
    pb_machine_link *links = pb_arena_zero(result, (size_t)count * 4, sizeof *links), *next = links;
    pb_machine_processor p = {.overhead = d->overhead, .bandwidth = d->bandwidth};
    p.rates = make_rates(d, result, &p.rate_count);
    p.bandwidths = make_bandwidths(d, result, &p.bandwidth_count);
    if (!memories || !processors || !links || !p.rates || !p.bandwidths)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        memories[i].name = numbered(result, d->memory, i, count);
        memories[i].cap = d->cap;
        memories[i].reserve = d->reserve;
        p.name = numbered(result, d->processor, i, count);
        p.memory = i;
        processors[i] = p;
        pb_machine_link out = {.from = i, .to = count, .bandwidth = d->slow.write, .latency = d->slow.latency};
        pb_machine_link in = {.from = count, .to = i, .bandwidth = d->slow.read, .latency = d->slow.latency};
        out.name = numbered(result, "out", i, count);
        in.name = numbered(result, "in", i, count);
        *next++ = out;
        *next++ = in;
    }
    memories[count].name = d->slow.name;
    memories[count].cap = d->slow.cap;
    for (uint32_t i = 0; i + 1 < count; i++) {
        pb_machine_link up = {.from = i, .to = i + 1, .bandwidth = d->peer, .latency = d->slow.latency};
        pb_machine_link down = {.from = i + 1, .to = i, .bandwidth = d->peer, .latency = d->slow.latency};
        up.name = numbered(result, "up", i, count);
        down.name = numbered(result, "down", i, count);
        *next++ = up;
        *next++ = down;
    }
    *m = (pb_machine){.memories = memories, .processors = processors, .links = links, .extra = ""};
    m->memory_count = count + 1;
    m->processor_count = count;
    m->link_count = (uint32_t)(next - links);
    return has_names(m);
}

uint32_t pb_machine_builtin_count(void) { return COUNT(devices); }

pb_machine_summary pb_machine_builtin_at(uint32_t i) { return (pb_machine_summary){devices[i].name, devices[i].text}; }

static const device *find_device(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(devices); i++)
        if (strlen(devices[i].name) == length && strncmp(devices[i].name, name, length) == 0)
            return &devices[i];
    return NULL;
}

static pb_status unknown_machine(pb_context *ctx, const char *name)
{
    const char *names[COUNT(devices)];
    char alone[NAME_ROOM];
    for (size_t i = 0; i < COUNT(devices); i++)
        names[i] = devices[i].name;
    snprintf(alone, sizeof alone, "%.*s", (int)strcspn(name, "*"), name);
    return pbi_unknown_name(ctx, "machine", alone, names, COUNT(devices));
}

/* The number of devices after the name: "*4"; 0 if it is wrong. */
static uint32_t device_count(const char *text)
{
    uint32_t count = *text ? 0 : 1;
    for (text += *text != '\0'; *text; text++) {
        if (*text < '0' || *text > '9' || count > MAX_DEVICES)
            return 0;
        count = count * 10 + (uint32_t)(*text - '0');
    }
    return count <= MAX_DEVICES ? count : 0;
}

pb_status pb_machine_builtin(pb_context *ctx, const char *name, pb_arena *result, const pb_machine **out)
{
    size_t length = strcspn(name, "*");
    const device *d = find_device(name, length);
    if (!d)
        return unknown_machine(ctx, name);
    uint32_t count = device_count(name + length);
    if (!count)
        return pbi_fail(ctx, PB_EINVAL, "expected 1 to %d devices, as in %s*4, not `%.60s`", MAX_DEVICES, d->name,
                        name);
    if (count > 1 && !d->peer)
        return pbi_fail(ctx, PB_EINVAL, "%s is one device; describe several of them in a machine file", d->name);
    pb_machine *m = pb_arena_alloc(result, 1, sizeof *m);
    if (!m || !make_parts(d, count, result, m))
        return PB_ENOMEM;
    m->name = count > 1 ? pb_arena_text(result, name, strlen(name)) : d->name;
    m->time_unit = d->time_unit;
    m->per_second = pb_time_unit_per_second(d->time_unit);
    if (!m->name)
        return PB_ENOMEM;
    *out = m;
    return PB_OK;
}
