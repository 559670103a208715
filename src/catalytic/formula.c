/* formula.c -- arithmetic formulas: reading, and plain evaluation.
 *
 * A register program for a product takes twice the instructions of both factors, so a factor below many products is
 * expensive. Products of several factors are therefore regrouped, the two cheapest first, as in a Huffman code:
 * that is the cheapest order; n factors take about n^2 instructions, from left to right they would take 2^n.
 */
#include "pebble/catalytic.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "base/name_index.h"

#include <string.h>

#define ABSENT UINT32_MAX

typedef struct pending {
    char op; /* + - * ( or n for unary minus */
    size_t place;
} pending;

typedef struct reader {
    pb_context *ctx;
    const char *text;
    size_t at;
    pb_arena *arena, *scratch;
    pb_formula_node *node;
    size_t node_count, node_room;
    uint32_t *value; /* complete values, to be combined */
    size_t value_count, value_room;
    pending *wait;
    size_t wait_count, wait_room;
    char *names; /* of the variables, each with its NUL */
    uint64_t *name_start;
    size_t names_length, names_room, name_count, name_room;
    pbi_name_index index;
    uint64_t *constant;
    size_t constant_count, constant_room;
} reader;

#define RESERVE(r, arena, items, room, need) ((items) = reserve((arena), (items), &(r)->room, (need), sizeof *(items)))

static void *reserve(pb_arena *arena, void *items, size_t *room, size_t need, size_t size)
{
    return pbi_arena_reserve(arena, &items, room, need, size) ? items : NULL;
}

static pb_status refuse(reader *r, size_t place, const char *why)
{
    return pbi_fail(r->ctx, PB_EFORMAT, "column %zu of the formula: %s", place + 1, why);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Adds a node, as the last complete value. */
static pb_status add_node(reader *r, pb_formula_op op, uint32_t left, uint32_t right)
{
    if (r->node_count == UINT32_MAX - 1)
        return pbi_fail(r->ctx, PB_ERANGE, "the formula has too many parts; use a shorter one");
    if (!RESERVE(r, r->scratch, r->node, node_room, r->node_count + 1) ||
        !RESERVE(r, r->scratch, r->value, value_room, r->value_count + 1))
        return PB_ENOMEM;
    r->node[r->node_count] = (pb_formula_node){op, left, right};
    r->value[r->value_count++] = (uint32_t)r->node_count++;
    return PB_OK;
}

static bool add_name(reader *r, const char *name, size_t length, uint32_t *out)
{
    if (!RESERVE(r, r->scratch, r->names, names_room, r->names_length + length + 1) ||
        !RESERVE(r, r->scratch, r->name_start, name_room, r->name_count + 1))
        return false;
    memcpy(r->names + r->names_length, name, length);
    r->names[r->names_length + length] = '\0';
    r->name_start[r->name_count] = r->names_length;
    r->names_length += length + 1;
    *out = (uint32_t)r->name_count;
    return pbi_name_index_add(&r->index, r->scratch, r->names, r->name_start, (uint32_t)r->name_count++);
}

static pb_status read_name(reader *r)
{
    size_t from = r->at;
    while (is_letter(r->text[r->at]) || is_digit(r->text[r->at]))
        r->at++;
    const char *name = r->text + from;
    size_t length = r->at - from;
    uint32_t variable = UINT32_MAX;
    if (r->name_count)
        variable = pbi_name_index_find(&r->index, r->names, r->name_start, name, length);
    if (variable == UINT32_MAX && !add_name(r, name, length, &variable))
        return PB_ENOMEM;
    return add_node(r, PB_FORMULA_VARIABLE, variable, 0);
}

static pb_status read_number(reader *r)
{
    uint64_t value = 0;
    size_t from = r->at;
    for (; is_digit(r->text[r->at]); r->at++)
        if (!pbi_mul(value, 10, &value) || !pbi_add(value, (uint64_t)(r->text[r->at] - '0'), &value))
            return refuse(r, from, "the number has more than 64 bits; use a smaller one");
    if (!RESERVE(r, r->scratch, r->constant, constant_room, r->constant_count + 1))
        return PB_ENOMEM;
    r->constant[r->constant_count++] = value;
    return add_node(r, PB_FORMULA_CONSTANT, (uint32_t)r->constant_count - 1, 0);
}

static int strength(char op) { return op == '(' ? 0 : op == '*' ? 2 : op == 'n' ? 3 : 1; }

static pb_status combine(reader *r)
{
    char op = r->wait[--r->wait_count].op;
    uint32_t right = r->value[--r->value_count];
    if (op == 'n')
        return add_node(r, PB_FORMULA_SUBTRACT, ABSENT, right);
    uint32_t left = r->value[--r->value_count];
    pb_formula_op what = op == '+' ? PB_FORMULA_ADD : op == '-' ? PB_FORMULA_SUBTRACT : PB_FORMULA_MULTIPLY;
    return add_node(r, what, left, right);
}

static pb_status push_operator(reader *r, char op)
{
    if (!RESERVE(r, r->scratch, r->wait, wait_room, r->wait_count + 1))
        return PB_ENOMEM;
    r->wait[r->wait_count++] = (pending){op, r->at++};
    return PB_OK;
}

/* At the start of a value; *whole: one was read. */
static pb_status read_value(reader *r, bool *whole)
{
    char c = r->text[r->at];
    *whole = is_letter(c) || is_digit(c);
    if (*whole)
        return is_letter(c) ? read_name(r) : read_number(r);
    if (c == '(' || c == '-')
        return push_operator(r, c == '(' ? '(' : 'n');
    return refuse(r, r->at, c ? "expected a name, a number, - or (" : "expected a value, not the end of the formula");
}

static pb_status close_group(reader *r)
{
    pb_status status = PB_OK;
    while (status == PB_OK && r->wait_count && r->wait[r->wait_count - 1].op != '(')
        status = combine(r);
    if (status == PB_OK && !r->wait_count)
        return refuse(r, r->at, "this ) has no matching (; remove it");
    r->wait_count--;
    r->at++;
    return status;
}

/* After a value. *next: another one must follow. */
static pb_status read_operator(reader *r, bool *next)
{
    char c = r->text[r->at];
    pb_status status = PB_OK;
    *next = c == '+' || c == '-' || c == '*';
    if (c == ')')
        return close_group(r);
    if (!*next)
        return refuse(r, r->at, "expected +, -, * or ); formulas have no other operations");
    while (status == PB_OK && r->wait_count && strength(r->wait[r->wait_count - 1].op) >= strength(c))
        status = combine(r);
    return status == PB_OK ? push_operator(r, c) : status;
}

static pb_status read_all(reader *r)
{
    bool wanted = true, flag;
    pb_status status = PB_OK;
    for (; status == PB_OK; r->at += strspn(r->text + r->at, " \t\r\n")) {
        r->at += strspn(r->text + r->at, " \t\r\n");
        if (!r->text[r->at] && !wanted)
            break;
        if (wanted) {
            status = read_value(r, &flag);
            wanted = !flag;
        } else {
            status = read_operator(r, &wanted);
        }
    }
    while (status == PB_OK && r->wait_count) {
        if (r->wait[r->wait_count - 1].op == '(')
            return refuse(r, r->wait[r->wait_count - 1].place, "this ( has no matching ); close it");
        status = combine(r);
    }
    return status;
}

/* ---- regrouping products ---- */

typedef struct figures {
    uint64_t *cost; /* instructions */
    uint32_t *depth, *values;
} figures;

typedef struct builder {
    pb_formula_node *node;
    uint32_t count;
    figures of;
} builder;

static uint64_t twice(uint64_t a) { return a > UINT64_MAX / 2 ? UINT64_MAX : 2 * a; }

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t build(builder *b, pb_formula_op op, uint32_t left, uint32_t right)
{
    uint32_t v = b->count++;
    b->node[v] = (pb_formula_node){op, left, right};
    if (op == PB_FORMULA_VARIABLE || op == PB_FORMULA_CONSTANT) {
        b->of.cost[v] = 1;
        b->of.depth[v] = b->of.values[v] = 0;
        return v;
    }
    uint64_t cost = b->of.cost[right];
    uint32_t depth = b->of.depth[right], values = b->of.values[right];
    if (left != ABSENT) {
        cost = pbi_add_saturated(cost, b->of.cost[left]);
        depth = larger(depth, b->of.depth[left]);
        values = larger(values, b->of.values[left]) + (values == b->of.values[left]);
    }
    b->of.cost[v] = op == PB_FORMULA_MULTIPLY ? twice(cost) : cost;
    b->of.depth[v] = depth + 1;
    b->of.values[v] = larger(values, 1);
    return v;
}

/* A heap of nodes, the cheapest on top. */
static void sift_down(const builder *b, uint32_t *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && b->of.cost[heap[child + 1]] < b->of.cost[heap[child]];
        if (b->of.cost[heap[at]] <= b->of.cost[heap[child]])
            return;
        uint32_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* Multiplies the two cheapest factors at a time. */
static uint32_t multiply(builder *b, uint32_t *heap, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(b, heap, count, i);
    while (count > 1) {
        uint32_t first = heap[0];
        heap[0] = heap[--count];
        sift_down(b, heap, count, 0);
        heap[0] = build(b, PB_FORMULA_MULTIPLY, heap[0], first);
        sift_down(b, heap, count, 0);
    }
    return heap[0];
}

/* The factors of the product at `top`, as nodes of the new formula. */
static size_t gather(const reader *r, uint32_t top, const uint32_t *as, uint32_t *stack, uint32_t *factor)
{
    size_t waiting = 0, count = 0;
    stack[waiting++] = top;
    while (waiting) {
        const pb_formula_node *n = &r->node[stack[--waiting]];
        if (n->op == PB_FORMULA_MULTIPLY) {
            stack[waiting++] = n->right;
            stack[waiting++] = n->left;
        } else {
            factor[count++] = as[n - r->node];
        }
    }
    return count;
}

static pb_status rebuild(reader *r, pb_formula *out)
{
    size_t n = r->node_count;
    uint32_t *as = pb_arena_alloc(r->scratch, n, sizeof *as), *stack = pb_arena_alloc(r->scratch, n + 1, sizeof *stack);
    uint32_t *factor = pb_arena_alloc(r->scratch, n, sizeof *factor);
    uint8_t *inside = pb_arena_zero(r->scratch, n, 1); /* a factor of a product above, and a product itself */
    builder b = {.node = pb_arena_alloc(r->arena, n, sizeof *b.node),
                 .of = {pb_arena_alloc(r->scratch, n, sizeof *b.of.cost),
                        pb_arena_alloc(r->scratch, n, sizeof *b.of.depth),
                        pb_arena_alloc(r->scratch, n, sizeof *b.of.values)}};
    if (!as || !stack || !factor || !inside || !b.node || !b.of.cost || !b.of.depth || !b.of.values)
        return PB_ENOMEM;
    for (size_t v = 0; v < n; v++)
        if (r->node[v].op == PB_FORMULA_MULTIPLY)
            inside[r->node[v].left] = inside[r->node[v].right] = true;
    out->leaf_count = 0;
    for (uint32_t v = 0; v < n; v++) {
        const pb_formula_node *node = &r->node[v];
        bool leaf = node->op == PB_FORMULA_VARIABLE || node->op == PB_FORMULA_CONSTANT;
        out->leaf_count += leaf;
        if (node->op == PB_FORMULA_MULTIPLY)
            as[v] = inside[v] ? ABSENT : multiply(&b, factor, gather(r, v, as, stack, factor));
        else
            as[v] = build(&b, node->op, leaf || node->left == ABSENT ? node->left : as[node->left],
                          leaf ? 0 : as[node->right]);
    }
    out->node = b.node;
    out->node_count = b.count;
    out->depth = b.of.depth[b.count - 1];
    out->values = b.of.values[b.count - 1];
    out->multiply_adds = b.of.cost[b.count - 1];
    return PB_OK;
}

static pb_status keep_tables(reader *r, pb_formula *out)
{
    const char **name = pb_arena_alloc(r->arena, r->name_count, sizeof *name);
    const char *names = pb_arena_text(r->arena, r->names ? r->names : "", r->names_length);
    uint64_t *constant = pb_arena_alloc(r->arena, r->constant_count, sizeof *constant);
    if (!name || !names || !constant)
        return PB_ENOMEM;
    for (size_t i = 0; i < r->name_count; i++)
        name[i] = names + r->name_start[i];
    if (r->constant_count)
        memcpy(constant, r->constant, r->constant_count * sizeof *constant);
    out->name = name;
    out->variable_count = (uint32_t)r->name_count;
    out->constant = constant;
    out->constant_count = (uint32_t)r->constant_count;
    return PB_OK;
}

pb_status pb_formula_parse(pb_context *ctx, const char *text, pb_arena *arena, pb_formula *out)
{
    pb_arena scratch;
    pb_formula f = {.node = NULL};
    pb_arena_init(&scratch, ctx);
    reader r = {.ctx = ctx, .text = text, .arena = arena, .scratch = &scratch};
    pb_status status = read_all(&r);
    if (status == PB_OK)
        status = rebuild(&r, &f);
    if (status == PB_OK)
        status = keep_tables(&r, &f);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = f;
    return status;
}

pb_status pb_formula_value(pb_context *ctx, const pb_formula *f, pb_ring ring, const uint64_t *const *input,
                           size_t lane, uint64_t *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint64_t *value = pb_arena_alloc(&scratch, f->node_count, sizeof *value);
    bool bits = ring == PB_RING_BITS;
    for (uint32_t v = 0; value && v < f->node_count; v++) {
        const pb_formula_node *n = &f->node[v];
        bool leaf = n->op == PB_FORMULA_VARIABLE || n->op == PB_FORMULA_CONSTANT;
        uint64_t a = leaf || n->left == ABSENT ? 0 : value[n->left], b = leaf ? 0 : value[n->right], c;
        switch (n->op) {
        case PB_FORMULA_VARIABLE: value[v] = input[n->left][lane]; break;
        case PB_FORMULA_CONSTANT:
            c = f->constant[n->left];
            value[v] = !bits ? c : c & 1 ? UINT64_MAX : 0;
            break;
        case PB_FORMULA_ADD: value[v] = bits ? a ^ b : a + b; break;
        case PB_FORMULA_SUBTRACT: value[v] = bits ? a ^ b : a - b; break;
        case PB_FORMULA_MULTIPLY: value[v] = bits ? a & b : a * b; break;
        }
    }
    if (value)
        *out = value[f->node_count - 1];
    pb_arena_release(&scratch);
    return value ? PB_OK : PB_ENOMEM;
}
