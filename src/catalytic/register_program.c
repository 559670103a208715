/* register_program.c -- Ben-Or and Cleve's register programs: iterating over their instructions in both directions, and
 * running them.
 *
 * Problem     R[j] += R[i] * f, for a formula f, with a third register R[k] of unknown content that is restored.
 * Idea        f is a leaf x: that is the instruction. f = g + h: one after the other. f = g * h:
 *                 R[k] += R[i] * g;  R[j] += R[k] * h;  R[k] -= R[i] * g;  R[j] -= R[k] * h
 *             adds (R[k] + R[i]*g) * h - R[k] * h = R[i]*g*h to R[j], whatever R[k] was; each line is a program of
 * the same
 *             kind with the remaining register as its helper. If R[i] is the number one, f itself is added.
 * Invariants  a program of opposite sign undoes what a program did; every prefix can be undone by running it backwards.
 * Cost        the instructions of a sum are those of its parts, of a product twice as many: at most 4^depth.
 * Source      M. Ben-Or and R. Cleve, "Computing algebraic formulas using a constant number of registers", 1988.
 * Limits      formulas, in which every value is used once: shared values of a graph must be expanded.
 */
#include "pebble/catalytic.h"

#include "base/context.h"

enum { FORWARD = 1, BACK = -1, POLL = 1 << 19 /* lanes of instructions between two polls */ };

/* The leaves of the unfolded program are its instructions; a cursor is the path to one of them. */
struct pbi_register_frame {
    uint32_t node; /* of the formula; TOP: the whole program */
    uint8_t by, to;
    bool subtract;
    uint8_t child; /* the part with which the path continues */
};
typedef struct pbi_register_frame frame;

#define TOP UINT32_MAX
#define COPY (UINT32_MAX - 1) /* the instruction that adds the first register to the output */
#define ABSENT UINT32_MAX

static bool is_leaf(const pb_formula *f, uint32_t node)
{
    return node == COPY ||
           (node != TOP && (f->node[node].op == PB_FORMULA_VARIABLE || f->node[node].op == PB_FORMULA_CONSTANT));
}

static unsigned child_count(const pb_register_program *p, const frame *at)
{
    if (at->node == TOP)
        return p->borrowed == PB_REGISTERS ? 4 : 1;
    const pb_formula_node *n = &p->formula->node[at->node];
    return n->op == PB_FORMULA_MULTIPLY ? 4 : n->left == ABSENT ? 1 : 2;
}

/* A register that is neither of the two. */
static uint8_t helper(const pb_register_program *p, uint8_t a, uint8_t b)
{
    uint8_t last = p->borrowed == PB_REGISTERS ? 2 : PB_REGISTER_OUTPUT;
    return a != 0 && b != 0 ? 0 : a != 1 && b != 1 ? 1 : last;
}

/* The whole program: with three borrowed registers the output gets the difference of the first one with and without
 * the formula. */
static frame top_child(const pb_register_program *p, unsigned child)
{
    uint32_t root = p->formula->node_count - 1;
    if (p->borrowed != PB_REGISTERS)
        return (frame){root, PB_REGISTER_ONE, PB_REGISTER_OUTPUT, false, 0};
    if (child % 2 == 0)
        return (frame){COPY, 0, PB_REGISTER_OUTPUT, child == 0, 0};
    return (frame){root, PB_REGISTER_ONE, 0, child == 3, 0};
}

static frame child_of(const pb_register_program *p, const frame *at, unsigned child)
{
    if (at->node == TOP)
        return top_child(p, child);
    const pb_formula_node *n = &p->formula->node[at->node];
    if (n->op != PB_FORMULA_MULTIPLY) {
        bool second = child == 1 || n->left == ABSENT;
        bool turned = second && n->op == PB_FORMULA_SUBTRACT;
        return (frame){second ? n->right : n->left, at->by, at->to, at->subtract != turned, 0};
    }
    uint8_t k = helper(p, at->by, at->to);
    if (child % 2 == 0)
        return (frame){n->left, at->by, k, child == 2, 0};
    return (frame){n->right, k, at->to, (child == 3) != at->subtract, 0};
}

/* Descends from the last frame to a leaf, by first or by last children. */
static void descend(pb_register_program *p, int way)
{
    frame *at = &p->frame[p->frames - 1];
    while (!is_leaf(p->formula, at->node)) {
        at->child = (uint8_t)(way == FORWARD ? 0 : child_count(p, at) - 1);
        at[1] = child_of(p, at, at->child);
        at++;
        p->frames++;
    }
}

/* Moves to the next leaf in that direction; false: there is none, and the cursor is at that end. */
static bool step(pb_register_program *p, int way)
{
    int other_end = way == FORWARD ? -1 : 1; /* of `stage`: before the first, inside, after the last */
    if (p->stage == -other_end)
        return false;
    if (p->stage == other_end) {
        p->stage = 0;
        p->frames = 1;
        descend(p, way);
        return true;
    }
    for (p->frames--; p->frames > 0; p->frames--) {
        frame *at = &p->frame[p->frames - 1];
        if (way == FORWARD ? at->child + 1u == child_count(p, at) : at->child == 0)
            continue;
        at->child = (uint8_t)(at->child + way);
        at[1] = child_of(p, at, at->child);
        p->frames++;
        descend(p, way);
        return true;
    }
    p->stage = -other_end;
    return false;
}

static void read_instruction(const pb_register_program *p, pb_instruction *out)
{
    const frame *at = &p->frame[p->frames - 1];
    *out = (pb_instruction){.to = at->to, .by = at->by, .subtract = at->subtract, .operand = PB_NO_OPERAND};
    if (at->node == COPY)
        return;
    out->is_constant = p->formula->node[at->node].op == PB_FORMULA_CONSTANT;
    out->operand = p->formula->node[at->node].left;
}

pb_status pb_register_program_init(pb_context *ctx, const pb_formula *f, uint32_t borrowed, pb_arena *arena,
                                   pb_register_program *out)
{
    if (borrowed != 2 && borrowed != PB_REGISTERS)
        return pbi_fail(ctx, PB_EINVAL, "a register program borrows 2 or 3 registers, not %u", (unsigned)borrowed);
    frame *frames = pb_arena_alloc(arena, (size_t)f->depth + 3, sizeof *frames);
    if (!frames)
        return PB_ENOMEM;
    frames[0] = (frame){.node = TOP};
    *out = (pb_register_program){.formula = f, .frame = frames, .frames = 1, .borrowed = borrowed, .stage = -1};
    return PB_OK;
}

bool pb_register_program_next(pb_register_program *p, pb_instruction *out)
{
    if (!step(p, FORWARD))
        return false;
    read_instruction(p, out);
    return true;
}

uint64_t pb_register_program_length(const pb_formula *f, uint32_t borrowed)
{
    uint64_t once = f->multiply_adds;
    if (borrowed != PB_REGISTERS)
        return once;
    return once > UINT64_MAX / 2 - 1 ? UINT64_MAX : 2 * once + 2;
}

/* ---- running ---- */

/* Lane by lane; `x` NULL: the same in all. Subtracting is adding the negative, which costs nothing here. */
static void multiply_add(size_t lanes, uint64_t *restrict to, const uint64_t *restrict by, const uint64_t *restrict x,
                         uint64_t same, uint64_t sign)
{
    if (by && x)
        for (size_t l = 0; l < lanes; l++)
            to[l] += sign * by[l] * x[l];
    else if (by)
        for (size_t l = 0; l < lanes; l++)
            to[l] += sign * same * by[l];
    else if (x)
        for (size_t l = 0; l < lanes; l++)
            to[l] += sign * x[l];
    else
        for (size_t l = 0; l < lanes; l++)
            to[l] += sign * same;
}

static void and_xor(size_t lanes, uint64_t *restrict to, const uint64_t *restrict by, const uint64_t *restrict x,
                    uint64_t same)
{
    if (by && x)
        for (size_t l = 0; l < lanes; l++)
            to[l] ^= by[l] & x[l];
    else if (by)
        for (size_t l = 0; l < lanes; l++)
            to[l] ^= by[l] & same;
    else if (x)
        for (size_t l = 0; l < lanes; l++)
            to[l] ^= x[l];
    else
        for (size_t l = 0; l < lanes; l++)
            to[l] ^= same;
}

static void execute(const pb_formula *f, const pb_catalytic_buffers *b, const pb_instruction *i, bool undo)
{
    uint64_t *to = i->to == PB_REGISTER_OUTPUT ? b->output : b->lent[i->to];
    const uint64_t *by = i->by == PB_REGISTER_ONE ? NULL : i->by == PB_REGISTER_OUTPUT ? b->output : b->lent[i->by];
    bool number = i->operand == PB_NO_OPERAND || i->is_constant;
    uint64_t same = i->operand == PB_NO_OPERAND ? 1 : i->is_constant ? f->constant[i->operand] : 0;
    const uint64_t *x = number ? NULL : b->input[i->operand];
    if (b->ring == PB_RING_BITS)
        and_xor(b->lanes, to, by, x, same & 1 ? UINT64_MAX : 0);
    else
        multiply_add(b->lanes, to, by, x, same, i->subtract != undo ? UINT64_MAX : 1);
}

/* Undoes everything, from the last instruction to the first. */
static void run_backwards(pb_register_program *p, const pb_catalytic_buffers *b)
{
    pb_instruction i;
    do {
        read_instruction(p, &i);
        execute(p->formula, b, &i, true);
    } while (step(p, BACK));
}

pb_status pb_catalytic_run(pb_context *ctx, const pb_formula *f, const pb_catalytic_buffers *b)
{
    pb_arena scratch;
    pb_register_program p;
    pb_instruction i;
    uint64_t done = 0, worked = 0, all = pb_register_program_length(f, b->borrowed);
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_register_program_init(ctx, f, b->borrowed, &scratch, &p);
    while (status == PB_OK && pb_register_program_next(&p, &i)) {
        execute(f, b, &i, false);
        done++;
        worked += b->lanes + 16;
        if (worked < POLL)
            continue;
        worked = 0;
        pbi_progress(ctx, "instructions", done, all);
        status = pbi_poll(ctx);
        if (status != PB_OK)
            run_backwards(&p, b);
    }
    pb_arena_release(&scratch);
    return status;
}
