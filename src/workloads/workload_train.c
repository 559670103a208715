/* workload_train.c -- training steps of networks: forward pass, loss and backward pass as one graph, with oneDNN.
 *
 * Parameters, momentum and running statistics are fixed memory; gradients and the loss are kept values. The optimiser's
 * step follows the run and is not part of the plan. docs/train.md.
 */
#include "workloads/train_params.h"
#include "workloads/workload.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL, BATCH, DEPTH, WIDTH, IMAGE, SEQUENCE, HEADS, CLASSES, DROPOUT, RATE, MOMENTUM, SEED, OPTIONS };
static const pb_workload_option options[OPTIONS] = {
    [MODEL] = {"model", "mlp", "mlp, resnet, unet, transformer or revnet"},
    [BATCH] = {"batch", "auto", "images or sequences of a step"},
    [DEPTH] = {"depth", "auto", "hidden layers, blocks of each stage, halvings, or blocks"},
    [WIDTH] = {"width", "auto", "width of a layer or token; channels at full resolution"},
    [IMAGE] = {"image", "auto", "height and width of images"},
    [SEQUENCE] = {"sequence", "auto", "tokens of a sequence"},
    [HEADS] = {"heads", "auto", "attention heads; they must divide width"},
    [CLASSES] = {"classes", "auto", "classes, or tokens of the vocabulary"},
    [DROPOUT] = {"dropout", "auto", "dropout probability, below 1"},
    [RATE] = {"rate", "auto", "learning rate"},
    [MOMENTUM] = {"momentum", "0.9", "momentum of the optimizer, below 1"},
    [SEED] = {"seed", "1", "seed of data, initial parameters and dropout"},
};

#ifdef PBI_WITH_DNNL

#include "workloads/train.h"

/* The meaning of `auto`, by model: a step of a tenth of a second or a few on one core. */
typedef struct defaults {
    const char *model;
    const char *value[OPTIONS];
} defaults;
static const defaults by_model[] = {
    {"mlp",
     {[BATCH] = "2048",
      [DEPTH] = "12",
      [WIDTH] = "384",
      [IMAGE] = "16",
      [SEQUENCE] = "1",
      [HEADS] = "1",
      [CLASSES] = "10",
      [DROPOUT] = "0.1",
      [RATE] = "0.01"}},
    {"revnet",
     {[BATCH] = "2048",
      [DEPTH] = "8",
      [WIDTH] = "256",
      [IMAGE] = "16",
      [SEQUENCE] = "1",
      [HEADS] = "1",
      [CLASSES] = "10",
      [DROPOUT] = "0",
      [RATE] = "0.002"}},
    {"resnet",
     {[BATCH] = "32",
      [DEPTH] = "3",
      [WIDTH] = "16",
      [IMAGE] = "32",
      [SEQUENCE] = "1",
      [HEADS] = "1",
      [CLASSES] = "10",
      [DROPOUT] = "0",
      [RATE] = "0.05"}},
    {"unet",
     {[BATCH] = "4",
      [DEPTH] = "3",
      [WIDTH] = "16",
      [IMAGE] = "96",
      [SEQUENCE] = "1",
      [HEADS] = "1",
      [CLASSES] = "8",
      [DROPOUT] = "0",
      [RATE] = "0.05"}},
    {"transformer",
     {[BATCH] = "8",
      [DEPTH] = "4",
      [WIDTH] = "128",
      [IMAGE] = "1",
      [SEQUENCE] = "128",
      [HEADS] = "4",
      [CLASSES] = "256",
      [DROPOUT] = "0.1",
      [RATE] = "0.1"}},
};

/* ---- options ---- */

static pb_status read_integer(pb_context *ctx, int which, const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    uint64_t least = which == SEED ? 0 : which == CLASSES ? 2 : 1;
    if (*text < '0' || *text > '9' || *end || value < least || value > most)
        return pbi_fail(ctx, PB_EINVAL, "train: %s=%s: expected a whole number from %llu to %llu", options[which].key,
                        text, (unsigned long long)least, (unsigned long long)most);
    *out = value;
    return PB_OK;
}

static pb_status read_real(pb_context *ctx, int which, const char *text, float *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && (float)value < 1)) /* 0.99999999 is 1 as a float */
        return pbi_fail(ctx, PB_EINVAL, "train: %s=%s: expected a number from 0 to less than 1", options[which].key,
                        text);
    *out = (float)value;
    return PB_OK;
}

static pb_status read_options(pb_context *ctx, const char *const *values, pbi_train_options *o)
{
    const defaults *d = NULL;
    for (size_t i = 0; i < sizeof by_model / sizeof *by_model; i++)
        if (strcmp(by_model[i].model, values[MODEL]) == 0)
            d = &by_model[i];
    if (!d)
        return pbi_fail(ctx, PB_EINVAL, "train: model=%s: expected mlp, resnet, unet, transformer or revnet",
                        values[MODEL]);
    const struct {
        int which;
        uint64_t most, *out;
    } integers[] = {{BATCH, 65536, &o->batch},     {DEPTH, 1024, &o->depth},        {WIDTH, 4096, &o->width},
                    {IMAGE, 4096, &o->image},      {SEQUENCE, 8192, &o->sequence},  {HEADS, 256, &o->heads},
                    {CLASSES, 65536, &o->classes}, {SEED, UINT64_MAX - 1, &o->seed}};
    const struct {
        int which;
        float *out;
    } reals[] = {{DROPOUT, &o->dropout}, {RATE, &o->rate}, {MOMENTUM, &o->momentum}};
    pb_status status = PB_OK;
    o->model = d->model;
    for (size_t i = 0; i < sizeof integers / sizeof *integers && status == PB_OK; i++) {
        int k = integers[i].which;
        const char *text = strcmp(values[k], "auto") ? values[k] : d->value[k];
        status = read_integer(ctx, k, text, integers[i].most, integers[i].out);
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals && status == PB_OK; i++) {
        int k = reals[i].which;
        status = read_real(ctx, k, strcmp(values[k], "auto") ? values[k] : d->value[k], reals[i].out);
    }
    return status;
}

/* ---- open, run, close ---- */

static pb_status fill_given(void *state, pb_context *ctx, pb_node given, void *bytes)
{
    (void)ctx;
    const pbi_train *t = state;
    const pbi_job *job = &t->job[given];
    memset(bytes, 0, pbi_round64(job->used));
    job->fill(t, job, bytes);
    return PB_OK;
}

static pb_status make_kernels(pb_workload *w, const pbi_train *t)
{
    pb_kernel *of = pb_arena_zero(&w->arena, (size_t)t->job_count + 1, sizeof *of);
    if (!of)
        return PB_ENOMEM;
    for (pb_node v = 0; v < t->job_count; v++)
        of[v] = pb_graph_is_computed(w->graph, v) ? pbi_train_run : NULL;
    uint32_t recipes = w->graph->recipe_start ? w->graph->recipe_start[w->graph->node_count] : 0;
    pb_kernel *recipe = pb_arena_zero(&w->arena, (size_t)recipes + 1, sizeof *recipe);
    if (!recipe)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < recipes; i++)
        recipe[i] = pbi_train_run;
    w->kernels.recipe = recipe;
    w->kernels.of = of;
    w->kernels.fill = fill_given;
    return PB_OK;
}

static pb_status build(pb_workload *w, pbi_train *t)
{
    char title[160];
    const pbi_train_options *o = &t->options;
    snprintf(title, sizeof title, "train-%s-%llu", o->model, (unsigned long long)o->batch);
    int threads = pbi_threads_pin();
    t->status = pb_builder_new(w->ctx, &t->builder);
    if (t->status == PB_OK && pbi_dnn_open(t) == PB_OK)
        pbi_train_model(t);
    pbi_threads_unpin(threads);
    if (t->status == PB_OK)
        t->status = pb_builder_set_texts(t->builder, title, "flop", "byte");
    if (t->status == PB_OK) {
        pb_builder_set_fixed_size(t->builder, t->fixed);
        t->status = pb_builder_freeze(t->builder, &w->arena, &w->graph);
    }
    pb_builder_free(t->builder);
    t->builder = NULL;
    return t->status == PB_OK ? make_kernels(w, t) : t->status;
}

static pb_status open_train(pb_workload *w, const char *const *values)
{
    pbi_train *t = pb_arena_zero(&w->arena, 1, sizeof *t);
    if (!t)
        return PB_ENOMEM;
    *t = (pbi_train){
        .ctx = w->ctx, .arena = &w->arena, .seed_node = PB_NO_NODE, .label_node = PB_NO_NODE, .loss_node = PB_NO_NODE};
    w->kernels.state = t;
    pb_status status = read_options(w->ctx, values, &t->options);
    return status == PB_OK ? build(w, t) : status;
}

static void close_train(pb_workload *w)
{
    if (w->kernels.state)
        pbi_dnn_close(w->kernels.state);
}

static pb_status begin_train(pb_workload *w, uint64_t step, pb_engine *e)
{
    pbi_train *t = w->kernels.state;
    unsigned char *fixed = pb_engine_fixed(e);
    t->step = step;
    if (step)
        return PB_OK;
    t->comparisons = 0;
    t->max_difference = 0;
    memset(fixed, 0, w->graph->fixed_size);
    for (uint32_t i = 0; i < t->param_count; i++)
        pbi_data_start(t, &t->param[i], (float *)(fixed + t->param[i].at), i);
    return PB_OK;
}

static pb_status end_train(pb_workload *w, uint64_t step, pb_engine *e)
{
    (void)step;
    pbi_train *t = w->kernels.state;
    unsigned char *fixed = pb_engine_fixed(e);
    t->loss = *(const double *)pb_engine_value(e, t->loss_node);
    for (uint32_t i = 0; i < t->param_count; i++) {
        const pbi_param *p = &t->param[i];
        pbi_loop_momentum((float *)(fixed + p->at), (float *)(fixed + p->momentum_at), pb_engine_value(e, p->grad),
                          p->count, t->options.rate, t->options.momentum);
    }
    return PB_OK;
}

static size_t write_text(pb_workload *w, char *text, size_t room)
{
    const pbi_train *t = w->kernels.state;
    int length = snprintf(text, room, "loss %.4f", t->loss);
    if (t->comparisons)
        length = snprintf(text, room,
                          "loss %.4f; inverted values differ by at most %.1e of their largest number (tolerance %.0e)",
                          t->loss, t->max_difference, PBI_TRAIN_TOLERANCE);
    return length < 0 ? 0 : (size_t)length;
}

const pbi_param *pbi_train_params(const pb_workload *w, uint32_t *count)
{
    const pbi_train *t = w->kernels.state;
    *count = t->param_count;
    return t->param;
}

uint32_t pbi_train_slow_calls(const pb_workload *w) { return ((const pbi_train *)w->kernels.state)->slow_calls; }

#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
const char *pb_train_library(void) { return DOTTED(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH); }

const pbi_workload_kind pbi_workload_train = {.options = options,
                                              .option_count = OPTIONS,
                                              .open = open_train,
                                              .close = close_train,
                                              .begin = begin_train,
                                              .end = end_train,
                                              .text = write_text};

#else

const pbi_param *pbi_train_params(const pb_workload *w, uint32_t *count)
{
    (void)w;
    *count = 0;
    return NULL;
}

uint32_t pbi_train_slow_calls(const pb_workload *w)
{
    (void)w;
    return 0;
}

const char *pb_train_library(void) { return NULL; }

const pbi_workload_kind pbi_workload_train = {
    .needs = "oneDNN is " PB_NOT_BUILT_IN(PB_PACKAGE_DNNL), .options = options, .option_count = OPTIONS};

#endif
