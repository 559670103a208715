/* test_catalytic.c -- formulas in borrowed registers: right values, and every borrowed word as it was. */
#include "base/rng.h"
#include "pebble/catalytic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 5, MOST_INPUTS = 80, TEXT = 4000 };

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_formula f;
    pbi_rng rng;
    uint64_t input[MOST_INPUTS][LANES], lent[PB_REGISTERS][LANES], before[PB_REGISTERS][LANES];
    uint64_t output[LANES], output_before[LANES];
    const uint64_t *inputs[MOST_INPUTS];
    pb_catalytic_buffers buffers;
} desk;

static void fill(desk *d, uint64_t *words)
{
    for (int i = 0; i < LANES; i++)
        words[i] = pbi_rng_next(&d->rng);
}

static void open_desk(desk *d, const char *text, pb_ring ring, uint32_t borrowed, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->rng.state = seed;
    pb_status status = pb_formula_parse(&d->ctx, text, &d->arena, &d->f);
    if (status != PB_OK)
        fail_msg("\"%s\": %s", text, d->ctx.error.message);
    assert_true(d->f.variable_count <= MOST_INPUTS);
    for (uint32_t i = 0; i < MOST_INPUTS; i++) {
        fill(d, d->input[i]);
        d->inputs[i] = d->input[i];
    }
    d->buffers = (pb_catalytic_buffers){
        .ring = ring, .borrowed = borrowed, .lanes = LANES, .input = d->inputs, .output = d->output};
    for (uint32_t i = 0; i < borrowed; i++) {
        fill(d, d->lent[i]);
        d->buffers.lent[i] = d->lent[i];
    }
    fill(d, d->output);
    memcpy(d->before, d->lent, sizeof d->lent);
    memcpy(d->output_before, d->output, sizeof d->output);
}

static void close_desk(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

/* `text` once more by another way: the parser above it is not asked. */
typedef struct sum_of {
    const char *at;
    const desk *d;
    int lane;
} sum_of;

static uint64_t plus(bool bits, uint64_t a, uint64_t b) { return bits ? a ^ b : a + b; }
static uint64_t times(bool bits, uint64_t a, uint64_t b) { return bits ? a & b : a * b; }

static uint64_t read_sum(sum_of *s, bool bits);

static uint64_t read_factor(sum_of *s, bool bits)
{
    uint64_t value;
    if (*s->at == '-') {
        s->at++;
        value = read_factor(s, bits);
        return bits ? value : 0 - value;
    }
    if (*s->at == '(') {
        s->at++;
        value = read_sum(s, bits);
        s->at++;
        return value;
    }
    if (*s->at == 'x') {
        char *end, name[24];
        unsigned long k = strtoul(s->at + 1, &end, 10);
        snprintf(name, sizeof name, "x%lu", k);
        s->at = end;
        for (uint32_t i = 0; i < s->d->f.variable_count; i++)
            if (strcmp(s->d->f.name[i], name) == 0)
                return s->d->input[i][s->lane];
        fail_msg("no variable %s", name);
    }
    char *end;
    value = strtoull(s->at, &end, 10);
    s->at = end;
    return !bits ? value : value & 1 ? UINT64_MAX : 0;
}

static uint64_t read_sum(sum_of *s, bool bits)
{
    uint64_t sum = 0;
    for (char sign = '+';; sign = *s->at++) {
        uint64_t product = read_factor(s, bits);
        while (*s->at == '*') {
            s->at++;
            product = times(bits, product, read_factor(s, bits));
        }
        sum = plus(bits, sum, sign == '-' && !bits ? 0 - product : product);
        if (*s->at != '+' && *s->at != '-')
            return sum;
    }
}

static void check_run(const char *text, pb_ring ring, uint32_t borrowed, uint64_t seed)
{
    desk d;
    bool bits = ring == PB_RING_BITS;
    open_desk(&d, text, ring, borrowed, seed);
    assert_int_equal(pb_catalytic_run(&d.ctx, &d.f, &d.buffers), PB_OK);
    if (memcmp(d.lent, d.before, sizeof d.lent) != 0)
        fail_msg("\"%s\": what was borrowed did not come back", text);
    for (int lane = 0; lane < LANES; lane++) {
        sum_of s = {text, &d, lane};
        uint64_t expected = read_sum(&s, bits), plain;
        assert_int_equal(pb_formula_value(&d.ctx, &d.f, ring, d.inputs, (size_t)lane, &plain), PB_OK);
        if (plain != expected || d.output[lane] != plus(bits, d.output_before[lane], expected))
            fail_msg("\"%s\" with %u borrowed is wrong", text, (unsigned)borrowed);
    }
    close_desk(&d);
}

static void check_all(const char *text, uint64_t seed)
{
    for (uint32_t borrowed = 2; borrowed <= 3; borrowed++) {
        check_run(text, PB_RING_WORDS, borrowed, seed);
        check_run(text, PB_RING_BITS, borrowed, seed);
    }
}

static void formulas_come_out_right_and_registers_as_they_were(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x1",
        "7",
        "-x1",
        "x1+x2",
        "x1-x2",
        "x1*x2",
        "(x1+x2)*(x3-x4)",
        "x1*x1",
        "-(x1-x2)*3",
        "(((x1)))",
        "x1*x2*x3*x4*x5",
        "x1-x2-x3",
        "(x1*x2+x3)*x1-5*(x2-x3*(x1+2))",
        "--x1",
        "0*x1",
        "18446744073709551615*x1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_all(texts[i], i);
}

/* A random formula of about `size` leaves, without blanks. */
static size_t write_random(pbi_rng *rng, char *text, size_t at, uint32_t size)
{
    if (size <= 1) {
        if (pbi_rng_below(rng, 8) == 0)
            return at + (size_t)sprintf(text + at, "%u", (unsigned)pbi_rng_below(rng, 4));
        return at + (size_t)sprintf(text + at, "x%u", (unsigned)pbi_rng_below(rng, 6));
    }
    uint32_t left = 1 + (uint32_t)pbi_rng_below(rng, size - 1);
    bool minus = pbi_rng_below(rng, 10) == 0;
    at += (size_t)sprintf(text + at, "%s(", minus ? "-" : "");
    at = write_random(rng, text, at, left);
    text[at++] = "+-**"[pbi_rng_below(rng, 4)];
    at = write_random(rng, text, at, size - left);
    text[at++] = ')';
    text[at] = '\0';
    return at;
}

static void random_formulas_do_too(void **state)
{
    (void)state;
    pbi_rng rng = {5};
    char text[TEXT];
    for (uint64_t i = 0; i < 2000; i++) {
        write_random(&rng, text, 0, 2 + (uint32_t)pbi_rng_below(&rng, 12));
        check_all(text, i);
    }
}

static void lengths_are_those_of_the_programs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t length; /* with two borrowed registers */
        uint32_t depth, leaves, values;
    } cases[] = {
        {"a", 1, 0, 1, 0},
        {"a+b+c", 3, 2, 3, 1},
        {"a*b", 4, 1, 2, 1},
        {"a*b*c*d", 16, 2, 4, 2},
        {"(a*b)*(c*d)", 16, 2, 4, 2},
        {"a*b*c*d*e*f*g*h", 64, 3, 8, 3},
        {"(a+b)*(c+d)", 8, 2, 4, 2},
        {"a*(b*(c*(d+e)))", 20, 3, 5, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t borrowed = 2; borrowed <= 3; borrowed++) {
            desk d;
            pb_register_program p;
            pb_instruction instruction;
            uint64_t count = 0, expected = borrowed == 2 ? cases[i].length : 2 * cases[i].length + 2;
            open_desk(&d, cases[i].text, PB_RING_WORDS, borrowed, 1);
            assert_int_equal(pb_register_program_init(&d.ctx, &d.f, borrowed, &d.arena, &p), PB_OK);
            while (pb_register_program_next(&p, &instruction)) {
                assert_true(instruction.to != instruction.by);
                count++;
            }
            if (count != expected || pb_register_program_length(&d.f, borrowed) != expected)
                fail_msg("\"%s\": %d instructions", cases[i].text, (int)count);
            if (d.f.depth != cases[i].depth || d.f.leaf_count != cases[i].leaves || d.f.values != cases[i].values)
                fail_msg("\"%s\": depth %u, %u leaves, %u values", cases[i].text, d.f.depth, d.f.leaf_count,
                         d.f.values);
            close_desk(&d);
        }
}

static pb_stop stop_after_three(void *state)
{
    int *polls = state;
    return ++*polls > 3 ? PB_STOP_INTERRUPT : PB_GO_ON;
}

static void a_stop_gives_back_what_was_borrowed(void **state)
{
    (void)state;
    char text[TEXT] = "(x0+x1)";
    for (int i = 2; i < 70; i++)
        sprintf(text + strlen(text), "*(x%d-x%d)", i, (i * 7) % i);
    for (uint32_t borrowed = 2; borrowed <= 3; borrowed++) {
        desk d;
        int polls = 0;
        open_desk(&d, text, PB_RING_WORDS, borrowed, 3);
        pb_formula again;
        char longer[3 * TEXT];
        snprintf(longer, sizeof longer, "((%s)*x3+1)*((%s)*x2-7)", text, text);
        assert_int_equal(pb_formula_parse(&d.ctx, longer, &d.arena, &again), PB_OK);
        assert_true(again.multiply_adds > 30000);
        d.ctx.stop = stop_after_three;
        d.ctx.callback_state = &polls;
        /* It asks every few runs: one of them is stopped on the way. */
        pb_status status = PB_OK;
        for (int i = 0; i < 2000 && status == PB_OK; i++) {
            memcpy(d.output_before, d.output, sizeof d.output);
            status = pb_catalytic_run(&d.ctx, &again, &d.buffers);
        }
        assert_int_equal(status, PB_ECANCELLED);
        assert_memory_equal(d.lent, d.before, sizeof d.lent);
        assert_memory_equal(d.output, d.output_before, sizeof d.output);
        close_desk(&d);
    }
}

static void faults_have_their_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "column 1 of the formula: expected a value, not the end of the formula"},
        {"  ", "column 3 of the formula: expected a value, not the end of the formula"},
        {"a+", "column 3 of the formula: expected a value, not the end of the formula"},
        {"a b", "column 3 of the formula: expected +, -, * or )"},
        {"a/b", "column 2"},
        {"(a", "column 1 of the formula: this ( has no matching ); close it"},
        {"a)", "column 2 of the formula: this ) has no matching (; remove it"},
        {"a+*b", "column 3 of the formula: expected a name"},
        {"()", "column 2"},
        {"18446744073709551616", "has more than 64 bits"},
        {"a+\x01", "column 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_formula f;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        assert_int_equal(pb_formula_parse(&ctx, cases[i].text, &arena, &f), PB_EFORMAT);
        if (!strstr(ctx.error.message, cases[i].words))
            fail_msg("\"%s\": %s", cases[i].text, ctx.error.message);
        pb_arena_release(&arena);
    }
}

static void deep_formulas_take_no_stack(void **state)
{
    (void)state;
    enum { DEEP = 200000 };
    pb_context ctx;
    pb_arena arena;
    pb_formula f;
    char *text = malloc(3 * DEEP + 2);
    assert_non_null(text);
    memset(text, '(', DEEP);
    text[DEEP] = 'a';
    for (int i = 0; i < DEEP; i++)
        memcpy(text + DEEP + 1 + 2 * i, i % 2 ? "*" : "+", 1), text[DEEP + 2 + 2 * i] = ')';
    text[3 * DEEP + 1] = '\0';
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_formula_parse(&ctx, text, &arena, &f), PB_EFORMAT); /* a value is missing behind the first + */
    for (int i = 0; i < DEEP; i++)
        text[i] = i % 2 ? '(' : '-';
    text[DEEP] = 'a';
    memset(text + DEEP + 1, ')', DEEP / 2);
    text[DEEP + 1 + DEEP / 2] = '\0';
    assert_int_equal(pb_formula_parse(&ctx, text, &arena, &f), PB_OK);
    assert_int_equal(f.multiply_adds, 1);
    pb_register_program p;
    pb_instruction i;
    assert_int_equal(pb_register_program_init(&ctx, &f, 2, &arena, &p), PB_OK);
    assert_true(pb_register_program_next(&p, &i));
    assert_false(i.subtract); /* an even number of signs */
    assert_false(pb_register_program_next(&p, &i));
    pb_arena_release(&arena);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_come_out_right_and_registers_as_they_were),
        cmocka_unit_test(random_formulas_do_too),
        cmocka_unit_test(lengths_are_those_of_the_programs),
        cmocka_unit_test(a_stop_gives_back_what_was_borrowed),
        cmocka_unit_test(faults_have_their_column),
        cmocka_unit_test(deep_formulas_take_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
