/* highs.c -- see highs.h.
 *
 * The library is opened for each program and closed afterwards, because libpebble has no state of its own. The
 * dynamic linker finds it: in its usual folders, in those of LD_LIBRARY_PATH, or already loaded by the program. Only
 * functions of HiGHS's C interface are used whose form has not changed since version 1.6; its integers have 32 bits.
 */
#define _POSIX_C_SOURCE 200809L /* dlopen */
#include "plan/milp/highs.h"

#include "base/arena.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

#ifdef __wasm__

bool pbi_highs_found(void) { return false; }

pb_status pbi_highs_solve(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                          pbi_program_answer *answer)
{
    (void)ctx, (void)p, (void)limits, (void)arena;
    *answer = (pbi_program_answer){.end = PBI_UNSOLVED};
    return PB_OK;
}

#else

#include <dlfcn.h>

enum {
    ROW_WISE = 2,
    MINIMIZE = 1,
    OPTIMAL = 7, /* HighsModelStatus */
    INFEASIBLE = 8,
    TIME_LIMIT = 13,
    FEASIBLE = 2,   /* the solution status of a point */
    ON_SIMPLEX = 1, /* callbacks that may interrupt */
    ON_INTERIOR = 2,
    ON_SEARCH = 6
};

/* What a callback may answer: the first field of HiGHS's struct. */
typedef struct highs_input {
    int interrupt;
} highs_input;
typedef void (*highs_callback)(int kind, const char *message, const void *data, highs_input *input, void *state);

typedef struct highs {
    void *library, *model;
    void *(*create)(void);
    void (*destroy)(void *model);
    int (*size_of_int)(const void *model);
    int (*pass)(void *model, int columns, int rows, int entries, int format, int sense, double offset,
                const double *price, const double *low, const double *high, const double *row_low,
                const double *row_high, const int *start, const int *index, const double *value, const int *whole);
    int (*set_bool)(void *model, const char *option, int value);
    int (*set_int)(void *model, const char *option, int value);
    int (*set_double)(void *model, const char *option, double value);
    int (*set_callback)(void *model, highs_callback callback, void *state);
    int (*start_callback)(void *model, int kind);
    int (*run)(void *model);
    int (*status)(const void *model);
    int (*info_int)(const void *model, const char *info, int *value);
    int (*solution)(const void *model, double *x, double *dual, double *row, double *row_dual);
    double (*value)(const void *model);
} highs;

static bool find(const highs *h, const char *name, void *function)
{
    void *symbol = dlsym(h->library, name);
    memcpy(function, &symbol, sizeof symbol); /* C has no cast from an object's to a function's pointer */
    return symbol != NULL;
}

static void shut(highs *h)
{
    if (h->model)
        h->destroy(h->model);
    if (h->library)
        dlclose(h->library);
    *h = (highs){0};
}

static bool open_library(highs *h)
{
    *h = (highs){.library = dlopen("libhighs.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (!h->library)
        return false;
    bool all = find(h, "Highs_create", &h->create) && find(h, "Highs_destroy", &h->destroy) &&
               find(h, "Highs_getSizeofHighsInt", &h->size_of_int) && find(h, "Highs_passMip", &h->pass) &&
               find(h, "Highs_setBoolOptionValue", &h->set_bool) && find(h, "Highs_setIntOptionValue", &h->set_int) &&
               find(h, "Highs_setDoubleOptionValue", &h->set_double) &&
               find(h, "Highs_setCallback", &h->set_callback) && find(h, "Highs_startCallback", &h->start_callback) &&
               find(h, "Highs_run", &h->run) && find(h, "Highs_getModelStatus", &h->status) &&
               find(h, "Highs_getIntInfoValue", &h->info_int) && find(h, "Highs_getSolution", &h->solution) &&
               find(h, "Highs_getObjectiveValue", &h->value);
    h->model = all ? h->create() : NULL;
    if (h->model && h->size_of_int(h->model) == (int)sizeof(int))
        return true;
    shut(h);
    return false;
}

bool pbi_highs_found(void)
{
    highs h;
    bool found = open_library(&h);
    shut(&h);
    return found;
}

typedef struct watch {
    pb_context *ctx;
    const pbi_program_limits *limits;
    uint64_t ticks;
    pbi_program_end end;
} watch;

static void on_poll(int kind, const char *message, const void *data, highs_input *input, void *state)
{
    watch *w = state;
    (void)kind, (void)message, (void)data;
    w->ticks += w->limits->ticks_per_poll;
    if (w->end == PBI_UNSOLVED && w->limits->ticks && w->ticks > w->limits->ticks)
        w->end = PBI_OUT_OF_TICKS;
    else if (w->end == PBI_UNSOLVED && pbi_poll(w->ctx) != PB_OK)
        w->end = PBI_STOPPED;
    if (w->end != PBI_UNSOLVED)
        input->interrupt = 1;
}

typedef struct packed {
    int *start, *index, *whole;
    double *value, *price, *low, *high, *row_low, *row_high;
} packed;

/* By rows, each column once. */
static int pack_rows(const pbi_program *p, packed *k, double *sum)
{
    int count = 0;
    for (size_t r = 0; r < p->rows; r++) {
        size_t from = p->row[r].start, to = r + 1 < p->rows ? p->row[r + 1].start : p->entries;
        k->start[r] = count;
        k->row_low[r] = p->row[r].low;
        k->row_high[r] = p->row[r].high;
        for (size_t e = from; e < to; e++)
            sum[p->entry[e].column] += p->entry[e].factor;
        for (size_t e = from; e < to; e++) {
            int c = p->entry[e].column;
            if (sum[c] != 0) {
                k->index[count] = c;
                k->value[count++] = sum[c];
            }
            sum[c] = 0;
        }
    }
    k->start[p->rows] = count;
    return count;
}

static bool pack(const pbi_program *p, pb_arena *arena, packed *k, int *entries)
{
    size_t n = p->columns + 1, rows = p->rows + 1;
    k->start = pb_arena_alloc(arena, rows, sizeof *k->start);
    k->index = pb_arena_alloc(arena, p->entries + 1, sizeof *k->index);
    k->whole = pb_arena_alloc(arena, n, sizeof *k->whole);
    k->value = pb_arena_alloc(arena, p->entries + 1, sizeof *k->value);
    k->price = pb_arena_alloc(arena, 3 * n + 2 * rows, sizeof *k->price);
    double *sum = pb_arena_zero(arena, n, sizeof *sum);
    if (!k->start || !k->index || !k->whole || !k->value || !k->price || !sum)
        return false;
    k->low = k->price + n;
    k->high = k->low + n;
    k->row_low = k->high + n;
    k->row_high = k->row_low + rows;
    for (size_t c = 0; c < p->columns; c++) {
        k->price[c] = p->column[c].price;
        k->low[c] = p->column[c].low;
        k->high[c] = p->column[c].high;
        k->whole[c] = p->column[c].whole;
    }
    *entries = pack_rows(p, k, sum);
    return true;
}

static void set_limits(const highs *h, const watch *w)
{
    const pbi_program_limits *l = w->limits;
    const pb_context *ctx = w->ctx;
    h->set_bool(h->model, "output_flag", 0);
    h->set_int(h->model, "threads", 1);
    h->set_double(h->model, "mip_rel_gap", 0);
    h->set_double(h->model, "mip_abs_gap", l->gap > 1e-9 ? l->gap : 1e-9);
    if (l->end_ns && ctx->clock_ns) {
        uint64_t now = ctx->clock_ns(ctx->callback_state);
        h->set_double(h->model, "time_limit", now < l->end_ns ? (double)(l->end_ns - now) * 1e-9 : 0);
    }
    h->set_callback(h->model, on_poll, (void *)w);
    h->start_callback(h->model, ON_SIMPLEX);
    h->start_callback(h->model, ON_INTERIOR);
    h->start_callback(h->model, ON_SEARCH);
}

static pb_status take_answer(const highs *h, const pbi_program *p, const watch *w, pb_arena *arena,
                             pbi_program_answer *answer)
{
    int status = h->status(h->model), point = 0;
    *answer = (pbi_program_answer){.end = w->end, .ticks = w->ticks};
    if (status == OPTIMAL)
        answer->end = PBI_SOLVED;
    else if (status == INFEASIBLE)
        answer->end = PBI_NO_ANSWER;
    else if (status == TIME_LIMIT && w->end == PBI_UNSOLVED)
        answer->end = PBI_OUT_OF_TICKS;
    if (h->info_int(h->model, "primal_solution_status", &point) != 0 || point != FEASIBLE)
        return PB_OK;
    double *x = pb_arena_alloc(arena, p->columns + 1, sizeof *x);
    double *rows = pb_arena_alloc(arena, 2 * p->rows + p->columns + 1, sizeof *rows);
    if (!x || !rows)
        return PB_ENOMEM;
    if (h->solution(h->model, x, rows + 2 * p->rows, rows, rows + p->rows) != 0)
        return PB_OK;
    answer->x = x;
    answer->value = h->value(h->model);
    answer->found = true;
    return PB_OK;
}

pb_status pbi_highs_solve(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                          pbi_program_answer *answer)
{
    highs h;
    packed k;
    int entries = 0;
    watch w = {.ctx = ctx, .limits = limits, .end = PBI_UNSOLVED};
    *answer = (pbi_program_answer){.end = PBI_UNSOLVED};
    if (p->failed || !pack(p, arena, &k, &entries))
        return PB_ENOMEM;
    if (!open_library(&h))
        return PB_OK;
    set_limits(&h, &w);
    pb_status status = PB_OK;
    if (h.pass(h.model, (int)p->columns, (int)p->rows, entries, ROW_WISE, MINIMIZE, 0, k.price, k.low, k.high,
               k.row_low, k.row_high, k.start, k.index, k.value, k.whole) == 0) {
        h.run(h.model);
        status = take_answer(&h, p, &w, arena, answer);
    }
    shut(&h);
    return status;
}

#endif
