/* catalytic.h -- arithmetic formulas evaluated in borrowed memory.
 *
 * Ben-Or and Cleve's register programs: instructions R += S * x over three registers with any content, which is
 * restored at the end. The registers are borrowed: their content is not known, copied or lost.
 *
 *     pb_formula f;
 *     pb_formula_parse(ctx, "(a + b)*(c - 2)", arena, &f);
 *     pb_catalytic_run(ctx, &f, &buffers);          // adds the value to buffers.output in every lane
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
    const pb_formula_node *node; /* the last node is the formula */
    uint32_t node_count, leaf_count;
    const char *const *name; /* of the variables, in the order of their first appearance */
    uint32_t variable_count;
    const uint64_t *constant;
    uint32_t constant_count;
    uint32_t depth;         /* of operations, after balancing products of several factors */
    uint32_t values;        /* max values in memory at a time in plain evaluation, leaves read in place: Sethi-Ullman */
    uint64_t multiply_adds; /* instructions that add the formula to a register; UINT64_MAX: that many or more */
} pb_formula;

/* Names, whole numbers, + - * and parentheses, unary minus. Products are reordered to make the program short. Texts
 * live in `arena`. PB_EFORMAT with line and column. */
pb_status pb_formula_parse(pb_context *ctx, const char *text, pb_arena *arena, pb_formula *out);

/* Words: 64-bit integers, sums and products modulo 2^64. Bits: + and - are exclusive or, * is and; an odd constant
 * is all ones, an even one is 0. */
typedef enum pb_ring { PB_RING_WORDS, PB_RING_BITS } pb_ring;

enum { PB_REGISTERS = 3, PB_REGISTER_OUTPUT = 3, PB_REGISTER_ONE = 4 /* as `by`: x itself is added */ };

/* R[to] += or -= R[by] * x, where x is a variable or a constant. */
typedef struct pb_instruction {
    uint8_t to, by;
    bool subtract, is_constant; /* operand: the number of a constant or a variable. PB_NO_OPERAND: x is 1 */
    uint32_t operand;
} pb_instruction;
#define PB_NO_OPERAND UINT32_MAX

/* Generates one instruction after the other without storing them: the stack grows with the depth of the formula. */
typedef struct pb_register_program {
    const pb_formula *formula;
    struct pbi_register_frame *frame;
    uint32_t frames, borrowed;
    int stage;
} pb_register_program;

/* `borrowed`: 3: all registers are borrowed, and the output gets their difference; 2: the output is the third
 * register, which halves the work. PB_EINVAL for other numbers. */
pb_status pb_register_program_init(pb_context *ctx, const pb_formula *f, uint32_t borrowed, pb_arena *arena,
                                   pb_register_program *out);
/* False at the end. */
bool pb_register_program_next(pb_register_program *p, pb_instruction *out);
/* The number of instructions; UINT64_MAX: that many or more. */
uint64_t pb_register_program_length(const pb_formula *f, uint32_t borrowed);

/* Each lane is a separate evaluation. */
typedef struct pb_catalytic_buffers {
    pb_ring ring;
    uint32_t borrowed; /* 2 or 3 */
    size_t lanes;
    const uint64_t *const *input; /* for each variable */
    uint64_t *lent[PB_REGISTERS]; /* `borrowed` of them, with any content */
    uint64_t *output;             /* the formula's value is added to it */
} pb_catalytic_buffers;

/* Restores the borrowed buffers. After a stop (PB_ECANCELLED) it runs the program backwards to its start, so that
 * the buffers and the output are unchanged. */
pb_status pb_catalytic_run(pb_context *ctx, const pb_formula *f, const pb_catalytic_buffers *buffers);

/* The value of one lane, computed in our own memory: for checks. */
pb_status pb_formula_value(pb_context *ctx, const pb_formula *f, pb_ring ring, const uint64_t *const *input,
                           size_t lane, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
