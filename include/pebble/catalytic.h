/* catalytic.h -- arithmetic formulas evaluated in borrowed memory.
 *
 * Ben-Or and Cleve's register programs: instructions R += S * x over three registers that may hold anything, and hold the
 * same again at the end. The registers are borrowed: nothing of their content is known, copied or lost.
 *
 *     pb_formula f;
 *     pb_formula_parse(ctx, "(a + b)*(c - 2)", arena, &f);
 *     pb_catalytic_run(ctx, &f, &buffers);          // buffers.output gets the value in every lane
 */
#ifndef PEBBLE_CATALYTIC_H
#define PEBBLE_CATALYTIC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_formula_op {
    PB_FORMULA_VARIABLE, /* left is its number */
    PB_FORMULA_CONSTANT, /* left is its number */
    PB_FORMULA_ADD,
    PB_FORMULA_SUBTRACT,
    PB_FORMULA_MULTIPLY,
} pb_formula_op;

typedef struct pb_formula_node {
    pb_formula_op op;
    uint32_t left, right; /* nodes before this one */
} pb_formula_node;

typedef struct pb_formula {
    const pb_formula_node *node; /* the last one is the formula */
    uint32_t node_count, leaf_count;
    const char *const *name; /* of the variables, in the order of their first appearance */
    uint32_t variable_count;
    const uint64_t *constant;
    uint32_t constant_count;
    uint32_t depth;         /* of operations, after products of several factors were balanced */
    uint32_t values;        /* that plain evaluation holds at a time, leaves read in place: Sethi-Ullman */
    uint64_t multiply_adds; /* instructions that add the formula to a register; UINT64_MAX: that many or more */
} pb_formula;

/* Names, whole numbers, + - * and parentheses, unary minus. Products are reordered so that the program is short. Texts live in
 * `arena`. PB_EFORMAT with the place. */
pb_status pb_formula_parse(pb_context *ctx, const char *text, pb_arena *arena, pb_formula *out);

/* Words: 64-bit integers, sums and products modulo 2^64. Bits: + and - are exclusive or, * is and; a constant is all ones where it
 * is odd. */
typedef enum pb_ring { PB_RING_WORDS, PB_RING_BITS } pb_ring;

enum { PB_REGISTERS = 3, PB_REGISTER_OUTPUT = 3, PB_REGISTER_ONE = 4 /* as `by`: x itself is added */ };

/* R[to] += or -= R[by] * x, where x is a variable or a constant. */
typedef struct pb_instruction {
    uint8_t to, by;
    bool subtract, is_constant; /* operand: a constant's number, or a variable's. PB_NO_OPERAND: x is 1 */
    uint32_t operand;
} pb_instruction;
#define PB_NO_OPERAND UINT32_MAX

/* One instruction after the other, without storing them: the stack grows with the depth of the formula. */
typedef struct pb_register_program {
    const pb_formula *formula;
    struct pbi_register_frame *frame;
    uint32_t frames, borrowed;
    int stage;
} pb_register_program;

/* `borrowed`: with 3 the registers are all borrowed, and the output gets their difference; with 2 the output is the third one,
 * for half of the work. PB_EINVAL for other numbers. */
pb_status pb_register_program_init(pb_context *ctx, const pb_formula *f, uint32_t borrowed, pb_arena *arena,
                                   pb_register_program *out);
/* False at the end. */
bool pb_register_program_next(pb_register_program *p, pb_instruction *out);
/* How many there will be; UINT64_MAX: that many or more. */
uint64_t pb_register_program_length(const pb_formula *f, uint32_t borrowed);

/* Each lane is an evaluation of its own. */
typedef struct pb_catalytic_buffers {
    pb_ring ring;
    uint32_t borrowed; /* 2 or 3 */
    size_t lanes;
    const uint64_t *const *input; /* for each variable */
    uint64_t *lent[PB_REGISTERS]; /* `borrowed` of them, with whatever is in them */
    uint64_t *output;             /* the formula's value is added to it */
} pb_catalytic_buffers;

/* The borrowed buffers come back as they were, also after a stop (PB_ECANCELLED), when the program is run backwards to where it
 * began; the output is then as before as well. */
pb_status pb_catalytic_run(pb_context *ctx, const pb_formula *f, const pb_catalytic_buffers *buffers);

/* The value of one lane, in memory of our own: for checks. */
pb_status pb_formula_value(pb_context *ctx, const pb_formula *f, pb_ring ring, const uint64_t *const *input,
                           size_t lane, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
