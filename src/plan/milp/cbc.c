/* cbc.c -- see cbc.h. */
#define _POSIX_C_SOURCE 200809L /* signal masks */
#include "plan/milp/cbc.h"

#include "base/arena.h"
#include "base/context.h"
#include "pebble/plan.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifdef PBI_WITH_CBC
#include <Cbc_C_Interface.h>
#include <Clp_C_Interface.h>
#endif

void pbi_program_init(pbi_program *p, pb_arena *arena) { *p = (pbi_program){.arena = arena}; }

int pbi_program_column(pbi_program *p, pbi_column column)
{
    void *items = p->column;
    if (p->failed || p->columns >= INT32_MAX / 2 ||
        !pbi_arena_reserve(p->arena, &items, &p->column_room, p->columns + 1, sizeof *p->column)) {
        p->failed = true;
        return 0;
    }
    p->column = items;
    p->column[p->columns] = column;
    return (int)p->columns++;
}

void pbi_program_row(pbi_program *p, double low, double high)
{
    void *items = p->row;
    if (p->failed || p->rows >= INT32_MAX / 2 ||
        !pbi_arena_reserve(p->arena, &items, &p->row_room, p->rows + 1, sizeof *p->row)) {
        p->failed = true;
        return;
    }
    p->row = items;
    p->row[p->rows++] = (pbi_row){low, high, p->entries};
}

void pbi_program_entry(pbi_program *p, int column, double factor)
{
    void *items = p->entry;
    if (p->failed || p->entries >= INT32_MAX / 2 ||
        !pbi_arena_reserve(p->arena, &items, &p->entry_room, p->entries + 1, sizeof *p->entry)) {
        p->failed = true;
        return;
    }
    p->entry = items;
    p->entry[p->entries++] = (pbi_entry){column, factor};
}

/* Measured: Cbc holds several copies of the program, and as much again for factors and cuts. */
uint64_t pbi_program_bytes(const pbi_program *p)
{
    return 400 * ((uint64_t)p->columns + p->rows) + 120 * (uint64_t)p->entries;
}

#ifndef PBI_WITH_CBC

const char *pb_solver_version(void) { return NULL; }

static pb_status no_solver(pbi_program_answer *answer)
{
    *answer = (pbi_program_answer){.end = PBI_UNSOLVED};
    return PB_OK;
}

pb_status pbi_program_solve(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                            pbi_program_answer *answer)
{
    (void)ctx, (void)p, (void)limits, (void)arena;
    return no_solver(answer);
}

pb_status pbi_program_relax(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                            pbi_program_answer *answer)
{
    (void)ctx, (void)p, (void)limits, (void)arena;
    return no_solver(answer);
}

#else

const char *pb_solver_version(void) { return Cbc_getVersion(); }

/* The program by columns, as the solvers expect it. */
typedef struct packed {
    CoinBigIndex *start;
    int *index;
    double *value, *low, *high, *price, *row_low, *row_high;
    double *sum; /* of a row, per column */
} packed;

static size_t row_end(const pbi_program *p, size_t r) { return r + 1 < p->rows ? p->row[r + 1].start : p->entries; }

/* The solvers' infinity is the largest double. */
static double finite(double x) { return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x; }

/* Counts or adds the entries of a row. The solvers expect each column once in it, and no zeros. */
static void pack_row(const pbi_program *p, size_t r, packed *k, bool put)
{
    size_t from = p->row[r].start, to = row_end(p, r);
    for (size_t e = from; e < to; e++)
        k->sum[p->entry[e].column] += p->entry[e].factor;
    for (size_t e = from; e < to; e++) {
        int c = p->entry[e].column;
        if (k->sum[c] != 0 && put) {
            k->index[k->start[c + 1]] = (int)r;
            k->value[k->start[c + 1]++] = k->sum[c];
        } else if (k->sum[c] != 0) {
            k->start[c + 2]++;
        }
        k->sum[c] = 0;
    }
}

static bool pack(const pbi_program *p, pb_arena *arena, packed *k)
{
    k->start = pb_arena_zero(arena, p->columns + 2, sizeof *k->start);
    k->index = pb_arena_alloc(arena, p->entries + 1, sizeof *k->index);
    k->value = pb_arena_alloc(arena, p->entries + 1, sizeof *k->value);
    k->low = pb_arena_alloc(arena, 3 * p->columns + 2 * p->rows + 1, sizeof *k->low);
    k->sum = pb_arena_zero(arena, p->columns, sizeof *k->sum);
    if (!k->start || !k->index || !k->value || !k->low || !k->sum)
        return false;
    k->high = k->low + p->columns;
    k->price = k->high + p->columns;
    k->row_low = k->price + p->columns;
    k->row_high = k->row_low + p->rows;
    for (size_t c = 0; c < p->columns; c++) {
        k->low[c] = finite(p->column[c].low);
        k->high[c] = finite(p->column[c].high);
        k->price[c] = p->column[c].price;
    }
    for (size_t r = 0; r < p->rows; r++) {
        k->row_low[r] = finite(p->row[r].low);
        k->row_high[r] = finite(p->row[r].high);
    }
    /* start[c + 1] is where the next entry of c goes while they are added, and its end afterwards. */
    for (size_t r = 0; r < p->rows; r++)
        pack_row(p, r, k, false);
    for (size_t c = 0; c < p->columns; c++)
        k->start[c + 2] += k->start[c + 1];
    for (size_t r = 0; r < p->rows; r++)
        pack_row(p, r, k, true);
    return true;
}

typedef struct watch {
    pb_context *ctx;
    const pbi_program_limits *limits;
    uint64_t ticks;
    pbi_program_end end; /* PBI_UNSOLVED while there is no reason to stop */
    sigset_t mask;       /* of signals, outside of Cbc */
} watch;

/* Counts one poll; false when it is time to stop. */
static bool count_poll(watch *w)
{
    if (w->end != PBI_UNSOLVED)
        return false;
    w->ticks += w->limits->ticks_per_poll;
    if (w->limits->ticks && w->ticks > w->limits->ticks)
        w->end = PBI_OUT_OF_TICKS;
    else if (pbi_poll(w->ctx) != PB_OK)
        w->end = PBI_STOPPED;
    return w->end == PBI_UNSOLVED;
}

/* HUGE_VAL without a time limit. */
static double seconds_left(const watch *w)
{
    const pb_context *ctx = w->ctx;
    uint64_t now = w->limits->end_ns && ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0;
    if (!w->limits->end_ns || !ctx->clock_ns)
        return HUGE_VAL;
    return now < w->limits->end_ns ? (double)(w->limits->end_ns - now) * 1e-9 : 0;
}

static bool copy_answer(const pbi_program *p, const double *x, double value, pb_arena *arena,
                        pbi_program_answer *answer)
{
    double *copy = pb_arena_alloc(arena, p->columns, sizeof *copy);
    if (!copy)
        return false;
    if (p->columns)
        memcpy(copy, x, p->columns * sizeof *copy);
    answer->x = copy;
    answer->value = value;
    answer->found = true;
    return true;
}

/* Is there a row without entries that must not be 0? The solvers ignore such rows. */
static bool impossible(const pbi_program *p)
{
    for (size_t r = 0; r < p->rows; r++)
        if (p->row[r].start == row_end(p, r) && (p->row[r].low > 0 || p->row[r].high < 0))
            return true;
    return false;
}

enum { STRETCH = 500 };       /* simplex steps between two polls */
enum { MAX_REDUCED = 20000 }; /* entries up to which Cbc's reduction and heuristics are quick */
#define MIN_SECONDS 0.05 /* below, Cbc is not started */

pb_status pbi_program_relax(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                            pbi_program_answer *answer)
{
    packed k;
    watch w = {.ctx = ctx, .limits = limits, .end = PBI_UNSOLVED};
    *answer = (pbi_program_answer){.end = PBI_UNSOLVED};
    if (impossible(p)) {
        answer->end = PBI_NO_ANSWER;
        return PB_OK;
    }
    if (p->failed || !pack(p, arena, &k))
        return PB_ENOMEM;
    if (!p->columns) {
        answer->end = PBI_SOLVED;
        return copy_answer(p, k.low, 0, arena, answer) ? PB_OK : PB_ENOMEM;
    }
    Clp_Simplex *model = Clp_newModel();
    pb_status status = PB_OK;
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, (int)p->columns, (int)p->rows, k.start, k.index, k.value, k.low, k.high, k.price, k.row_low,
                    k.row_high);
    int end = 3;
    for (int steps = STRETCH; end == 3 && count_poll(&w); steps += STRETCH) {
        Clp_setMaximumIterations(model, steps);
        if (w.limits->end_ns) /* CPU time of the process, so this may come too early: then it continues */
            Clp_setMaximumSeconds(model, seconds_left(&w) + 0.01);
        end = Clp_dual(model, 0);
    }
    if (end == 0) {
        answer->end = PBI_SOLVED;
        if (!copy_answer(p, Clp_primalColumnSolution(model), Clp_objectiveValue(model), arena, answer))
            status = PB_ENOMEM;
    } else {
        answer->end = w.end != PBI_UNSOLVED ? w.end : end == 1 ? PBI_NO_ANSWER : PBI_UNSOLVED;
    }
    answer->ticks = w.ticks;
    Clp_deleteModel(model);
    return status;
}

/* Inside, Cbc and Clp have their own handler for SIGINT, which would hide the signal from the caller's handler. So
 * the signal is blocked while they solve, and delivered when they call back and at the end. */
static void hold_interrupts(sigset_t *before)
{
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, before);
}

static void let_interrupts_in(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

/* Called when Cbc looks for cuts, so at every part of its search. The C interface cannot stop it from inside, but a
 * cut that nothing satisfies makes it drop all the remaining parts at once. */
static void on_cuts(void *solver, void *cuts, void *state)
{
    watch *w = state;
    int column = 0;
    double factor = 1;
    sigset_t inside;
    let_interrupts_in(&w->mask);
    hold_interrupts(&inside);
    if (!count_poll(w) && Osi_getNumCols(solver) > 0)
        OsiCuts_addRowCut(cuts, 1, &column, &factor, 'G', 1e10);
}

/* Are the integer columns of x whole numbers? */
static bool is_whole(const pbi_program *p, const double *x)
{
    for (size_t c = 0; c < p->columns; c++)
        if (p->column[c].whole && fabs(x[c] - round(x[c])) > 1e-7)
            return false;
    return true;
}

/* Stops if the context stops, or is about to. */
static void check_time(watch *w, double min)
{
    if (w->end == PBI_UNSOLVED && pbi_poll(w->ctx) != PB_OK)
        w->end = PBI_STOPPED;
    else if (w->end == PBI_UNSOLVED && seconds_left(w) <= min)
        w->end = PBI_OUT_OF_TICKS;
}

/* Cbc calls back at cuts only: neither while it reduces the program, nor in the heuristics before its first cuts.
 * With a large program both take many seconds, so they are switched off, and Cbc watches the time itself. It must
 * not do so while it reduces a program: it would read through a null pointer. */
static void limit_large(const watch *w, Cbc_Model *model)
{
    double seconds = seconds_left(w);
    char text[32];
    Cbc_setParameter(model, "preprocess", "off");
    if (w->limits->has_answer)
        Cbc_setParameter(model, "heuristics", "off"); /* they are for a first solution */
    if (seconds < 1e6) {
        snprintf(text, sizeof text, "%.3f", seconds + 0.01); /* then the context reports the stop */
        Cbc_setParameter(model, "timeMode", "elapsed");
        Cbc_setParameter(model, "sec", text);
    }
}

static void solve(watch *w, Cbc_Model *model)
{
    hold_interrupts(&w->mask);
    Cbc_solve(model);
    let_interrupts_in(&w->mask);
    check_time(w, 0);
}

static Cbc_Model *load(const pbi_program *p, const packed *k)
{
    Cbc_Model *model = Cbc_newModel();
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "logLevel", "0");
    Cbc_loadProblem(model, (int)p->columns, (int)p->rows, k->start, k->index, k->value, k->low, k->high, k->price,
                    k->row_low, k->row_high);
    for (size_t c = 0; c < p->columns; c++)
        if (p->column[c].whole)
            Cbc_setInteger(model, (int)c);
    return model;
}

/* Does reducing the program show that it has no solution? Cbc 2.10 must not find that out with a callback in place:
 * it would read through a null pointer. So this is tested first, without one. */
static bool reduces_to_nothing(watch *w, const pbi_program *p, const packed *k)
{
    Cbc_Model *model = load(p, k);
    Cbc_setParameter(model, "cuts", "off");
    Cbc_setParameter(model, "heuristics", "off");
    Cbc_setMaximumNodes(model, 0);
    solve(w, model);
    bool nothing = w->end == PBI_UNSOLVED && Cbc_status(model) == 0 && Cbc_isProvenInfeasible(model);
    Cbc_deleteModel(model);
    return nothing;
}

static pb_status branch(watch *w, const pbi_program *p, pb_arena *arena, pbi_program_answer *answer)
{
    packed k;
    bool large = p->entries > MAX_REDUCED;
    *answer = (pbi_program_answer){.end = PBI_NO_ANSWER, .ticks = w->ticks};
    if (!pack(p, arena, &k))
        return PB_ENOMEM;
    if (!large && !w->limits->has_answer && reduces_to_nothing(w, p, &k))
        return PB_OK;
    check_time(w, MIN_SECONDS);
    if (w->end != PBI_UNSOLVED) {
        answer->end = w->end;
        return PB_OK;
    }
    Cbc_Model *model = load(p, &k);
    Cbc_setAllowableGap(model, w->limits->gap > 1e-9 ? w->limits->gap : 1e-9);
    if (large)
        limit_large(w, model);
    Cbc_addCutCallback(model, on_cuts, "watch", w);
    solve(w, model);
    const double *x = Cbc_bestSolution(model);
    pb_status status = PB_OK;
    if (x && !copy_answer(p, x, Cbc_getObjValue(model), arena, answer))
        status = PB_ENOMEM;
    answer->ticks = w->ticks;
    answer->end = w->end != PBI_UNSOLVED            ? w->end
                  : Cbc_isProvenOptimal(model) && x ? PBI_SOLVED
                  : Cbc_isProvenInfeasible(model)   ? PBI_NO_ANSWER
                                                    : PBI_UNSOLVED;
    Cbc_deleteModel(model);
    return status;
}

/* The relaxation first: Clp can be stopped, and Cbc does not expect programs in which nothing is left to decide. */
pb_status pbi_program_solve(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                            pbi_program_answer *answer)
{
    watch w = {.ctx = ctx, .limits = limits, .end = PBI_UNSOLVED};
    pb_status status = pbi_program_relax(ctx, p, limits, arena, answer);
    if (status != PB_OK || answer->end != PBI_SOLVED)
        return status;
    if (answer->value >= limits->below) {
        answer->found = false;
        answer->end = PBI_NO_ANSWER;
    }
    if (answer->end != PBI_SOLVED || is_whole(p, answer->x))
        return PB_OK;
    w.ticks = answer->ticks;
    return branch(&w, p, arena, answer);
}

#endif
