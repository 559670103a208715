/* cmd_catalytic.c -- pebble catalytic: evaluates a formula in memory that holds other data, and restores that data. */
#include "commands.h"
#include "common/figures.h"
#include "common/json_print.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

enum { CHECKED_LANES = 10000 };

/* Content that can be recomputed, so that checking whether it was restored needs no copy. */
static uint64_t word_of(uint64_t seed, uint64_t buffer, uint64_t lane)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15u + buffer * 0xd1b54a32d192ed03u + lane * 0x8cb92ba72f3d8dd7u;
    z = (z ^ z >> 32) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 29) * 0x94d049bb133111ebu;
    return z ^ z >> 32;
}

typedef struct trial {
    pb_formula f;
    pb_catalytic_buffers buffers;
    uint64_t seed, lanes, length, checked;
    bool right, restored;
    double seconds;
} trial;

static uint64_t *new_buffer(app *a, const trial *t, uint64_t number)
{
    uint64_t *words = pb_arena_alloc(&a->arena, (size_t)t->lanes, sizeof *words);
    for (uint64_t l = 0; words && l < t->lanes; l++)
        words[l] = word_of(t->seed, number, l);
    return words;
}

static pb_status make_buffers(app *a, trial *t)
{
    const uint64_t **input = pb_arena_alloc(&a->arena, t->f.variable_count, sizeof *input);
    pb_catalytic_buffers *b = &t->buffers;
    b->lanes = (size_t)t->lanes;
    b->input = input;
    b->output = pb_arena_zero(&a->arena, (size_t)t->lanes, sizeof *b->output);
    bool made = input && b->output;
    for (uint32_t i = 0; made && i < b->borrowed; i++)
        made = (b->lent[i] = new_buffer(a, t, i)) != NULL;
    for (uint32_t i = 0; made && i < t->f.variable_count; i++)
        made = (input[i] = new_buffer(a, t, PB_REGISTERS + i)) != NULL;
    return made ? PB_OK : PB_ENOMEM;
}

/* Compares every borrowed word with its original, and lanes with direct evaluation. */
static pb_status check(app *a, trial *t)
{
    const pb_catalytic_buffers *b = &t->buffers;
    pb_status status = PB_OK;
    t->restored = t->right = true;
    for (uint32_t i = 0; i < b->borrowed; i++)
        for (uint64_t l = 0; l < t->lanes; l++)
            t->restored &= b->lent[i][l] == word_of(t->seed, i, l);
    t->checked = t->lanes < CHECKED_LANES ? t->lanes : CHECKED_LANES;
    for (uint64_t l = 0; l < t->checked && status == PB_OK; l++) {
        uint64_t value;
        status = pb_formula_value(&a->ctx, &t->f, b->ring, b->input, (size_t)l, &value);
        t->right &= status == PB_OK && value == b->output[l];
    }
    return status;
}

static void figure(const char *name, const char *text) { printf("  %-13s %s\n", name, text); }

static void print_text(const trial *t)
{
    char text[4 * FIGURE_ROOM], one[FIGURE_ROOM], two[FIGURE_ROOM];
    const pb_formula *f = &t->f;
    const pb_catalytic_buffers *b = &t->buffers;
    uint64_t buffer = 8 * t->lanes, values = f->values > 1 ? f->values : 1;
    printf("%u variable%s, %u lea%s, depth %u\n", (unsigned)f->variable_count, f->variable_count == 1 ? "" : "s",
           (unsigned)f->leaf_count, f->leaf_count == 1 ? "f" : "ves", (unsigned)f->depth);
    pb_quantity_text(t->length, NULL, one, sizeof one);
    snprintf(text, sizeof text, "%s over %u registers, R += S * x", one, (unsigned)PB_REGISTERS);
    figure("instructions", text);
    amount_text(buffer, "byte", one);
    snprintf(text, sizeof text, "%s, for the output", one);
    figure("own memory", text);
    amount_text(buffer * b->borrowed, "byte", one);
    snprintf(text, sizeof text, "%s of other data, in %u registers", one, (unsigned)b->borrowed);
    figure("borrowed", text);
    amount_text(buffer * values, "byte", one);
    pb_quantity_text(f->node_count - f->leaf_count, NULL, two, sizeof two);
    snprintf(text, sizeof text, "%s operation%s, %u value%s in memory at a time: %s", two,
             f->node_count - f->leaf_count == 1 ? "" : "s", (unsigned)values, values == 1 ? "" : "s", one);
    figure("directly", text);
    pb_quantity_text(t->checked, NULL, one, sizeof one);
    snprintf(text, sizeof text, "%s in the %s lane%s that %s also computed directly", t->right ? "correct" : "WRONG",
             one, t->checked == 1 ? "" : "s", t->checked == 1 ? "was" : "were");
    figure("result", text);
    figure("restored", t->restored ? "yes, every borrowed bit" : "NO: borrowed data was changed");
    snprintf(text, sizeof text, "%.3g s", t->seconds);
    figure("time", text);
}

static void print_json(const trial *t)
{
    const pb_formula *f = &t->f;
    printf("{\"variables\":[");
    for (uint32_t i = 0; i < f->variable_count; i++) {
        fputs(i ? "," : "", stdout);
        json_text(stdout, f->name[i]);
    }
    printf("],\"leaves\":%u,\"depth\":%u,\"ring\":\"%s\",\"lanes\":", (unsigned)f->leaf_count, (unsigned)f->depth,
           t->buffers.ring == PB_RING_BITS ? "bits" : "words");
    json_u64(stdout, t->lanes);
    fputs(",\"instructions\":", stdout);
    json_u64(stdout, t->length);
    printf(",\"registers\":%u,\"plain_values\":%u,\"own_bytes\":", (unsigned)t->buffers.borrowed, (unsigned)f->values);
    json_u64(stdout, 8 * t->lanes);
    fputs(",\"borrowed_bytes\":", stdout);
    json_u64(stdout, 8 * t->lanes * t->buffers.borrowed);
    fputs(",\"checked_lanes\":", stdout);
    json_u64(stdout, t->checked);
    printf(",\"right\":%s,\"restored\":%s,\"seconds\":", t->right ? "true" : "false", t->restored ? "true" : "false");
    json_double(stdout, t->seconds);
    puts("}");
}

static exit_code read_settings(app *a, trial *t)
{
    const char *ring = app_option(a, OPT_RING);
    uint64_t registers;
    if (!app_number(a, OPT_LANES, 1000, &t->lanes) || !app_number(a, OPT_REGISTERS, PB_REGISTERS, &registers) ||
        !app_number(a, OPT_SEED, 1, &t->seed) || !setting_limits(a))
        return EXIT_USAGE;
    if (registers != 2 && registers != PB_REGISTERS)
        return app_usage(a, "--registers: expected 2 or 3, not %llu", (unsigned long long)registers);
    if (!t->lanes || t->lanes > UINT64_C(1) << 40)
        return app_usage(a, "--lanes: expected a number from 1 to 2^40");
    if (ring && strcmp(ring, "words") != 0 && strcmp(ring, "bits") != 0)
        return app_usage(a, "--ring: expected words or bits, not `%s`", ring);
    t->buffers.ring = ring && strcmp(ring, "bits") == 0 ? PB_RING_BITS : PB_RING_WORDS;
    t->buffers.borrowed = (uint32_t)registers;
    return EXIT_DONE;
}

exit_code cmd_catalytic(app *a)
{
    trial t = {.seed = 1};
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one formula, as in pebble catalytic '(a + b)*(c - d)'");
    exit_code code = read_settings(a, &t);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_formula_parse(&a->ctx, a->opts.positional[0], &a->arena, &t.f);
    if (status == PB_EFORMAT)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    t.length = pb_register_program_length(&t.f, t.buffers.borrowed);
    status = make_buffers(a, &t);
    double begin = seconds_now();
    progress_planning(&a->progress, true);
    if (status == PB_OK)
        status = pb_catalytic_run(&a->ctx, &t.f, &t.buffers);
    progress_planning(&a->progress, false);
    t.seconds = seconds_now() - begin;
    pb_status checked = status == PB_OK || status == PB_ECANCELLED ? check(a, &t) : status;
    if (status == PB_ECANCELLED) {
        char length[FIGURE_ROOM];
        pb_quantity_text(t.length, NULL, length, sizeof length);
        app_note(a, "stopped before the end of %s%s instructions, and undone: %s", length,
                 t.length == UINT64_MAX ? " or more" : "",
                 t.restored ? "every borrowed bit is restored" : "BORROWED DATA WAS CHANGED");
        return progress_interrupted() ? EXIT_INTERRUPTED : EXIT_NOTHING;
    }
    if (checked != PB_OK)
        return app_status(a, checked);
    if (app_option(a, OPT_JSON))
        print_json(&t);
    else
        print_text(&t);
    return t.right && t.restored ? EXIT_DONE : EXIT_ILLEGAL;
}
