/* tape_parts.h -- shared by the parts of the tape: rules, values and records of operations. */
#ifndef PBI_TAPE_PARTS_H
#define PBI_TAPE_PARTS_H

#include "tape/tape.h"

/* What a gradient reads in addition to the gradient of the output. */
enum {
    PBI_READS_IN0 = 1,
    PBI_READS_IN1 = 2,
    PBI_READS_IN2 = 4,
    PBI_READS_OUT = 8,
    PBI_READS_SIDE = 16,
    PBI_READS_SELF = 32 /* the input that it is the gradient of */
};
enum { PBI_TAPE_RULED = 3 }; /* inputs that a rule distinguishes */

typedef struct pbi_tape_rule {
    uint8_t inputs;                     /* that have gradients; later ones have none */
    uint8_t overwrites;                 /* inputs that the output may overwrite, if they are as large */
    uint8_t grad_reads[PBI_TAPE_RULED]; /* by each input's gradient */
    uint8_t per_element;                /* flop, if the operation states no cost */
    uint8_t grad_flops[PBI_TAPE_RULED]; /* per element */
    uint8_t terms;                      /* inputs that are only added: their gradients are sums of the output's */
    uint8_t passes;                     /* inputs whose gradient is the output's, if they are as large: no node */
    bool by_output;                     /* grad_flops count elements of the output, not of the input */
    bool any_number;                    /* of inputs, all like the first */
    bool joint;           /* one kernel computes all gradients: the later ones are by-products of the first */
    bool joint_weights;   /* one kernel computes those of all parameters */
    bool grad_overwrites; /* a gradient may overwrite that of the output */
    bool last;            /* a loss: its gradient starts the backward pass */
    bool grad_slices;     /* an input's gradient reads only its own part of the output's */
    pbi_work_kind work;
} pbi_tape_rule;

extern const pbi_tape_rule pbi_tape_rules[PBI_OP_KINDS];

typedef struct pbi_tape_value {
    pb_node node;     /* PB_NO_NODE: in fixed memory */
    pb_node grad;     /* sum of the contributions, PB_NO_NODE before */
    uint32_t sums;    /* additions so far */
    uint32_t readers; /* of a parameter: operations that have not contributed their gradients yet */
    pbi_dims dims;
    pbi_type type;
    const char *group, *name;
    bool wants_grad;
    bool reached; /* the loss depends on it through operations with gradients */
    bool given;
    bool saved; /* the backward pass reads it */
} pbi_tape_value;

typedef struct pbi_tape_record {
    pbi_op op;
    const char *group;
    const pbi_value *in;
    uint32_t in_count;
    pbi_value out;  /* the first; the others follow it */
    uint32_t parts; /* how many others there are */
} pbi_tape_record;

/* Whether the rule gives input i a gradient, and its row. */
static inline bool pbi_rule_gives(const pbi_tape_rule *r, uint32_t i) { return r->any_number || i < r->inputs; }
static inline uint32_t pbi_rule_row(const pbi_tape_rule *r, uint32_t i) { return r->any_number || r->joint ? 0 : i; }
static inline bool pbi_rule_marks(uint8_t mask, uint32_t i) { return i < PBI_TAPE_RULED && (mask >> i & 1); }

static inline uint64_t pbi_tape_size(const pbi_tape_value *value)
{
    return pbi_times(pbi_dims_elements(value->dims), value->type.size);
}

void pbi_tape_no_memory(pbi_tape *t);
/* A recipe that draws a mask again. */
void pbi_tape_redraw(pbi_tape *t, pb_node mask, uint64_t flops, uint64_t bytes);
/* The spec of a node of `group`; its name is in t->label until the next call. `number` 0: no number after the name. */
pb_node_spec pbi_tape_spec(pbi_tape *t, const char *group, const char *name, const char *suffix, uint64_t number);
/* Of a gradient: parameters of mixed precision have it in the master's type. */
static inline uint64_t pbi_tape_grad_size(const pbi_tape *t, const pbi_tape_value *value)
{
    bool mixed = value->node == PB_NO_NODE && t->options.master.size;
    return mixed ? pbi_times(pbi_dims_elements(value->dims), t->options.master.size) : pbi_tape_size(value);
}

/* Whether input i needs a gradient, of a parameter or of a value that was computed. */
static inline bool pbi_tape_needs_gradient(const pbi_tape *t, const pbi_tape_record *o, uint32_t i, bool parameter)
{
    const pbi_tape_value *in = &t->values[o->in[i]];
    return in->wants_grad && (in->node == PB_NO_NODE) == parameter && pbi_rule_gives(&pbi_tape_rules[o->op.kind], i);
}

/* Whether the gradient of input i reads input k. */
static inline bool pbi_rule_reads(uint8_t reads, uint32_t i, uint32_t k)
{
    return pbi_rule_marks(reads, k) || (k == i && (reads & PBI_READS_SELF));
}

/* tape_work.c: what the nodes of an operation do, for machines; `flops` is the node's cost. */
pb_work pbi_tape_forward_work(const pbi_tape *t, const pbi_tape_record *o, uint64_t flops);
pb_work pbi_tape_gradient_work(const pbi_tape *t, const pbi_tape_record *o, uint32_t i, uint64_t flops);
pb_work pbi_tape_sum_work(const pbi_tape *t, const pbi_tape_value *value, uint64_t flops, bool twice);
pb_work pbi_tape_update_work(const pbi_tape *t, const pbi_tape_value *parameter, uint64_t flops);
pb_work pbi_tape_draw_work(const pbi_tape *t, uint64_t size, uint64_t flops);
/* Bytes of a number that the optimiser keeps: never below four. */
uint64_t pbi_tape_state_size(const pbi_tape *t);

/* Reading from fixed memory is not an edge. */
void pbi_tape_read(pbi_tape *t, pb_node from, pb_node reader);

#endif
