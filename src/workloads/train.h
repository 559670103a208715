/* train.h -- networks as graphs of kernels: shared by the files of the workload train.
 *
 * Operations are recorded in forward order, each with a function that adds its gradients; pbi_train_backward visits
 * them in reverse. A node is made in steps:
 *
 *     pbi_making m = pbi_making_begin(t, "conv1", ".dx", bytes, cost);
 *     pbi_making_reads(t, &m, u);                             // u is m.job->in[0]
 *     pbi_dnn *d = pbi_making_call(t, &m, pd);                // a primitive; its scratchpad is part of the workspace
 *     pbi_dnn_arg(t, d, DNNL_ARG_SRC, &md, pbi_at_value(u));
 *     m.job->loop = sum_rows;                                 // plain C after it
 *     pbi_making_does(&m, "conv.dx", flops);                  // for machines
 *     pb_node v = pbi_making_end(t, &m);
 *
 * After a failure t->status is set, and every later call does nothing.
 */
#ifndef PBI_TRAIN_H
#define PBI_TRAIN_H

#include "workloads/plain_loops.h"
#include "workloads/train_params.h"
#include "workloads/workload.h"

#include <oneapi/dnnl/dnnl.h>

/* ---- running ---- */

/* Where an argument is when the kernel runs. */
typedef struct pbi_place {
    enum { PBI_AT_VALUE, PBI_AT_FIXED, PBI_AT_WORK } kind;
    pb_node node;
    uint64_t offset;
    uint64_t spare; /* of a by-product: its offset in the workspace if it is not needed */
} pbi_place;
static inline pbi_place pbi_at_value(pb_node v) { return (pbi_place){PBI_AT_VALUE, v, 0, 0}; }
static inline pbi_place pbi_at_fixed(uint64_t at) { return (pbi_place){PBI_AT_FIXED, PB_NO_NODE, at, 0}; }
static inline pbi_place pbi_at_work(uint64_t at) { return (pbi_place){PBI_AT_WORK, PB_NO_NODE, at, 0}; }

/* One call of the library: a primitive and its arguments. */
enum { PBI_DNN_ARGS = 9 };
typedef struct pbi_dnn {
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t arg[PBI_DNN_ARGS];
    pbi_place place[PBI_DNN_ARGS];
    uint64_t bytes; /* that it reads and writes */
} pbi_dnn;

typedef struct pbi_train pbi_train;
typedef struct pbi_job pbi_job;
typedef pb_status (*pbi_loop)(const pbi_train *t, const pbi_job *job, const pb_call *call);

enum { PBI_JOB_CALLS = 2, PBI_JOB_INPUTS = 4, PBI_JOB_NUMBERS = 6 };
/* What a node runs: calls of the library, then a loop. */
struct pbi_job {
    pbi_dnn *call[PBI_JOB_CALLS];
    uint32_t call_count;
    pbi_loop loop;                                                     /* may be NULL */
    void (*fill)(const pbi_train *t, const pbi_job *job, void *bytes); /* of given values */
    pb_node in[PBI_JOB_INPUTS];
    uint32_t in_count;
    uint64_t at;                 /* its parameters or statistics in fixed memory */
    uint64_t n[PBI_JOB_NUMBERS]; /* shapes, as its loop needs them */
    float f;
    pb_node owner; /* of a by-product, else PB_NO_NODE */
    uint64_t used; /* bytes of the value that the kernel writes; the remaining ones are cleared */
};

/* ---- building ---- */

typedef uint32_t pbi_tensor;
#define PBI_NO_TENSOR UINT32_MAX

typedef struct pbi_tensor_row {
    const char *name;
    pb_node node, grad; /* PB_NO_NODE: none yet */
    bool learns;        /* something before it has parameters */
    dnnl_memory_desc_t md;
    uint64_t bytes; /* without rounding of sizes */
    uint64_t count; /* numbers, without padding of the layout */
    uint32_t sums;  /* parts of the gradient so far */
} pbi_tensor_row;

typedef struct pbi_op pbi_op;
struct pbi_op {
    void (*back)(pbi_train *t, const pbi_op *op);
    const char *name, *group;
    pbi_tensor in[2], out;
    pb_node side; /* saved in addition to the output: statistics, places of maxima */
    uint32_t param;
    uint64_t n[PBI_JOB_NUMBERS];
    uint64_t cost;
    dnnl_primitive_desc_t pd; /* the forward primitive, a hint for the others */
};

/* A value that comes back by recipe, and the numbers of it by which the result is compared with the first one. */
enum { PBI_PROBES = 256 };
typedef struct pbi_recovered {
    pb_node node;
    pbi_job job;
    float probe[PBI_PROBES];
    bool known;
} pbi_recovered;

typedef struct pbi_train_options {
    const char *model;
    uint64_t batch, depth, width, image, sequence, heads, classes, seed;
    float dropout, rate, momentum;
} pbi_train_options;

typedef struct pbi_pointers {
    void **at;
    uint32_t count, room;
} pbi_pointers;

struct pbi_train {
    pb_context *ctx;
    pb_arena *arena;
    pb_status status;
    pbi_train_options options;
    uint64_t step; /* of the data and of dropout */
    double loss;   /* of the last run */

    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attr; /* we provide the scratchpads */

    pb_builder *builder;
    const char *group;
    pb_node seed_node, label_node, loss_node; /* PB_NO_NODE: none */
    uint32_t dropouts;
    uint64_t fixed; /* bytes so far */
    uint32_t slow_calls;

    pbi_job *job; /* by node */
    pbi_tensor_row *tensor;
    pbi_op *op;
    pbi_param *param;
    uint32_t job_count, job_room, tensor_count, tensor_room, op_count, op_room, param_count, param_room;
    pbi_recovered *recovered; /* ascending by node, one recipe each */
    uint32_t recovered_count, recovered_room;
    uint64_t comparisons;  /* of recovered values with the first ones, since the first step */
    double max_difference; /* of them, relative to the largest number of the value */
    pbi_pointers calls;    /* pbi_dnn: to be released, as the next */
    pbi_pointers descs;    /* of primitives */
    pbi_job no_job;        /* is written to after a failure */
    pbi_op no_op;
};

/* Estimates of costs until they are measured: how many operations in registers take as long as one number of these. */
enum {
    PBI_FLOP_MOVE = 64, /* copies, sums, rectifiers */
    PBI_FLOP_DROPOUT = 100,
    PBI_FLOP_NORM = 80,
    PBI_FLOP_SOFTMAX = 80,
    PBI_FLOP_GELU = 100,
    PBI_FLOP_POOL = 140,
    PBI_FLOP_LOSS = 400
};

static inline uint64_t pbi_round64(uint64_t bytes) { return (bytes + 63) & ~UINT64_C(63); }

/* ---- train_net.c: nodes, tensors, parameters ---- */

typedef struct pbi_making {
    pbi_job *job;
    const char *name, *suffix;
    pb_node node; /* its number once it is made */
    uint64_t bytes, cost, work;
    const char *op;
    uint64_t flops, traffic;
    bool slices; /* its loop reads as much of an input as it writes */
    uint16_t flags;
    pb_node over[2];
    uint32_t over_count;
} pbi_making;
pbi_making pbi_making_begin(pbi_train *t, const char *name, const char *suffix, uint64_t bytes, uint64_t cost);
void pbi_making_reads(pbi_train *t, pbi_making *m, pb_node u);
/* It may overwrite an input: the kernel supports both being at one address. */
void pbi_making_over(pbi_making *m, pb_node u);
/* The operation and its flop, for machines. Memory traffic follows from the arguments of calls or, without any, from
 * inputs and result; `traffic` adds what a loop reads and writes beyond that. */
void pbi_making_does(pbi_making *m, const char *op, uint64_t flops);
/* Reserves workspace; returns its offset. */
uint64_t pbi_making_work(pbi_making *m, uint64_t bytes);
pb_node pbi_making_end(pbi_train *t, pbi_making *m);
/* Another result of the most recent node. */
pb_node pbi_net_byproduct(pbi_train *t, pb_node owner, const char *name, const char *suffix, uint64_t bytes,
                          uint16_t flags);

pb_node pbi_net_given(pbi_train *t, const char *name, uint64_t bytes,
                      void (*fill)(const pbi_train *, const pbi_job *, void *), const uint64_t *numbers,
                      uint32_t count);
pbi_tensor pbi_net_tensor(pbi_train *t, const char *name, pb_node node, const dnnl_memory_desc_t *md, bool learns);
/* Records the operation: `back` adds its gradients. */
pbi_op *pbi_net_op(pbi_train *t, const char *name, pbi_tensor out, void (*back)(pbi_train *, const pbi_op *));
uint64_t pbi_net_fixed(pbi_train *t, uint64_t bytes);
uint32_t pbi_net_param(pbi_train *t, uint64_t count, uint64_t lead, float deviation);
void pbi_net_group(pbi_train *t, const char *name, uint64_t number);
const char *pbi_net_text(pbi_train *t, const char *text, uint64_t number);
/* sum = x + relu(linear(other)): brings x back from the sum, in its memory, and from `other`. */
void pbi_net_inverse(pbi_train *t, pbi_tensor x, pbi_tensor sum, pbi_tensor other, pb_node linear);
/* Adds a part of a tensor's gradient; the parts are summed. */
void pbi_net_add_grad(pbi_train *t, pbi_tensor x, pb_node part);
void pbi_train_backward(pbi_train *t);

/* ---- train_dnn.c: oneDNN ---- */

pb_status pbi_dnn_open(pbi_train *t);
void pbi_dnn_close(pbi_train *t);
/* NULL after a failure. `desc` is any dnnl_*_desc_t. */
dnnl_primitive_desc_t pbi_dnn_pd(pbi_train *t, const void *desc, dnnl_primitive_desc_t hint);
dnnl_primitive_desc_t pbi_dnn_reorder(pbi_train *t, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to);
dnnl_memory_desc_t pbi_dnn_md(dnnl_primitive_desc_t pd, dnnl_query_t what);
pbi_dnn *pbi_making_call(pbi_train *t, pbi_making *m, dnnl_primitive_desc_t pd);
void pbi_dnn_arg(pbi_train *t, pbi_dnn *d, int arg, const dnnl_memory_desc_t *md, pbi_place place);
dnnl_memory_desc_t pbi_md_vector(uint64_t count);
dnnl_memory_desc_t pbi_md_rows(uint64_t rows, uint64_t columns);
dnnl_memory_desc_t pbi_md_image(uint64_t n, uint64_t c, uint64_t h, uint64_t w, dnnl_format_tag_t tag);
/* Records a status of the library that is not success. */
bool pbi_dnn_good(pbi_train *t, dnnl_status_t status, const char *what);
/* Of recovered values: how far they may be from the first ones, relative to their largest number. */
#define PBI_TRAIN_TOLERANCE 1e-3
/* train_inverse.c: notes or compares the value of a node that has just been computed. PB_EINVAL: too far. */
pb_status pbi_train_probe(pbi_train *t, pb_context *ctx, const pb_call *call);
/* The job of a call: of its node, or of its recipe. */
const pbi_job *pbi_train_job(const pbi_train *t, const pb_call *call);
/* Runs a node: the kernel of all nodes. */
pb_status pbi_train_run(void *state, pb_context *ctx, const pb_call *call);
/* The library's results depend on the number of threads: always uses one. */
int pbi_threads_pin(void);
void pbi_threads_unpin(int before);

typedef struct pbi_matrix {
    const float *at;
    uint64_t stride; /* between rows as stored */
    bool turned;     /* transposed when read */
} pbi_matrix;
/* c (rows x columns) = scale * a b, plus the content of c if `add`. */
typedef struct pbi_product {
    uint64_t rows, columns, inner;
    float scale;
    bool add;
} pbi_product;
pb_status pbi_multiply(const pbi_train *t, const pbi_product *p, pbi_matrix a, pbi_matrix b, float *c,
                       uint64_t c_stride);

/* ---- operations ---- */

/* train_ops.c */
pbi_tensor pbi_net_relu(pbi_train *t, const char *name, pbi_tensor x);
pbi_tensor pbi_net_add(pbi_train *t, const char *name, pbi_tensor a, pbi_tensor b);
pbi_tensor pbi_net_dropout(pbi_train *t, const char *name, pbi_tensor x); /* x itself if dropout is 0 */
pbi_tensor pbi_net_gelu(pbi_train *t, const char *name, pbi_tensor x);
pbi_tensor pbi_net_reorder(pbi_train *t, const char *name, pbi_tensor x, const dnnl_memory_desc_t *md);
/* Mean over rows of softmax cross-entropy: the last operation of the network. */
void pbi_net_loss(pbi_train *t, pbi_tensor logits, uint64_t rows, uint64_t classes);

/* train_conv.c */
pbi_tensor pbi_net_conv(pbi_train *t, const char *name, pbi_tensor x, uint64_t channels, uint64_t kernel,
                        uint64_t stride);
/* Twice the height and width, by a transposed convolution of 2 x 2. */
pbi_tensor pbi_net_conv_up(pbi_train *t, const char *name, pbi_tensor x, uint64_t channels);
/* train_image.c */
pbi_tensor pbi_net_batch_norm(pbi_train *t, const char *name, pbi_tensor x);
pbi_tensor pbi_net_max_pool(pbi_train *t, const char *name, pbi_tensor x);
pbi_tensor pbi_net_mean_pool(pbi_train *t, const char *name, pbi_tensor x); /* to 1 x 1 */
pbi_tensor pbi_net_concat(pbi_train *t, const char *name, pbi_tensor a, pbi_tensor b);

/* train_text.c */
/* y = x W + b for rows of inputs; a gain of 2 compensates for a rectifier after it. */
pbi_tensor pbi_net_linear(pbi_train *t, const char *name, pbi_tensor x, uint64_t inputs, uint64_t outputs, float gain);
pbi_tensor pbi_net_layer_norm(pbi_train *t, const char *name, pbi_tensor x, uint64_t rows, uint64_t width);
pbi_tensor pbi_net_embed(pbi_train *t, const char *name, pb_node tokens);
/* train_attention.c */
pbi_tensor pbi_net_scores(pbi_train *t, const char *name, pbi_tensor q, pbi_tensor k);
pbi_tensor pbi_net_softmax(pbi_train *t, const char *name, pbi_tensor x); /* of each row */
pbi_tensor pbi_net_context(pbi_train *t, const char *name, pbi_tensor probs, pbi_tensor v);

/* ---- train_data.c ---- */

pb_node pbi_data_images(pbi_train *t, uint64_t channels); /* one class for each: options.batch of them */
pb_node pbi_data_scenes(pbi_train *t, uint64_t channels); /* a class for each pixel */
pb_node pbi_data_tokens(pbi_train *t);                    /* options.batch sequences */
pb_node pbi_data_seed(pbi_train *t);                      /* what dropout reads */
void pbi_data_start(const pbi_train *t, const pbi_param *p, float *w, uint32_t number);

/* ---- train_models.c ---- */

/* The whole graph of the options' model; t->status. */
void pbi_train_model(pbi_train *t);

#endif
