/* cadical.c -- see cadical.h. */
#include "plan/reversible/sat/cadical.h"

#include "base/context.h"
#include "pebble/plan.h"

#include <limits.h>
#include <string.h>

enum {
    FIRST_SLICE = 100, /* conflicts of the first slice; slices double up to the next number */
    LARGEST_SLICE = 3200,
    A_CONFLICT = 200,     /* ticks that a conflict counts */
    A_LITERAL_BYTES = 40, /* measured, with watches and learnt clauses */
    CALLS_A_POLL = 16     /* CaDiCaL calls often to ask whether to continue */
};

#ifndef PBI_WITH_CADICAL

const char *pb_sat_version(void) { return NULL; }
bool pbi_sat_open(pbi_sat *s, pb_context *ctx, uint64_t max_literals)
{
    *s = (pbi_sat){.ctx = ctx, .max_literals = max_literals};
    return false;
}
void pbi_sat_close(pbi_sat *s) { (void)s; }
static void add(pbi_sat *s, int literal) { (void)s, (void)literal; }
pb_status pbi_sat_solve(pbi_sat *s, uint64_t *conflicts, pbi_sat_answer *answer)
{
    (void)s, (void)conflicts;
    *answer = PBI_SAT_UNKNOWN;
    return PB_OK;
}
bool pbi_sat_value(const pbi_sat *s, int variable)
{
    (void)s, (void)variable;
    return false;
}

#else
#include <ccadical.h>

const char *pb_sat_version(void)
{
    const char *signature = ccadical_signature(); /* "cadical-sc2021" */
    const char *dash = strchr(signature, '-');
    return dash ? dash + 1 : signature;
}

static int asks_to_stop(void *state)
{
    pbi_sat *s = state;
    if (s->stopped == PB_OK && s->calls++ % CALLS_A_POLL == 0)
        s->stopped = pbi_poll(s->ctx);
    return s->stopped != PB_OK;
}

bool pbi_sat_open(pbi_sat *s, pb_context *ctx, uint64_t max_literals)
{
    *s = (pbi_sat){.ctx = ctx, .max_literals = max_literals};
    if (ctx->memory_limit) {
        size_t left = ctx->memory_limit > ctx->memory_used ? ctx->memory_limit - ctx->memory_used : 0;
        uint64_t fit = left / A_LITERAL_BYTES;
        s->max_literals = fit < s->max_literals ? fit : s->max_literals;
    }
    s->solver = ccadical_init();
    if (!s->solver)
        return false;
    ccadical_set_option(s->solver, "quiet", 1);
    ccadical_set_terminate(s->solver, s, asks_to_stop);
    return true;
}

void pbi_sat_close(pbi_sat *s)
{
    if (s->solver)
        ccadical_release(s->solver);
    s->solver = NULL;
}

static void add(pbi_sat *s, int literal) { ccadical_add(s->solver, literal); }

pb_status pbi_sat_solve(pbi_sat *s, uint64_t *conflicts, pbi_sat_answer *answer)
{
    uint64_t slice = FIRST_SLICE;
    *answer = PBI_SAT_UNKNOWN;
    while (*conflicts) {
        slice = slice < *conflicts ? slice : *conflicts;
        ccadical_limit(s->solver, "conflicts", (int)slice);
        s->stopped = pbi_poll(s->ctx); /* short formulas are solved before the solver polls */
        if (s->stopped != PB_OK)
            return s->stopped;
        int result = ccadical_solve(s->solver);
        *conflicts -= slice;
        if (s->stopped != PB_OK)
            return s->stopped;
        pb_status status = pbi_tick(s->ctx, slice * A_CONFLICT);
        if (result == 10 || result == 20) { /* the usual codes of SAT solvers */
            *answer = result == 10 ? PBI_SAT_YES : PBI_SAT_NO;
            return PB_OK;
        }
        if (status != PB_OK)
            return status;
        slice = 2 * slice < LARGEST_SLICE ? 2 * slice : LARGEST_SLICE;
    }
    return PB_OK;
}

bool pbi_sat_value(const pbi_sat *s, int variable) { return ccadical_val(s->solver, variable) > 0; }

#endif

int pbi_sat_new(pbi_sat *s)
{
    if (s->variables == INT_MAX)
        s->literals = UINT64_MAX; /* full */
    else
        s->variables++;
    return s->variables;
}

void pbi_sat_clause(pbi_sat *s, const int *literals, unsigned count)
{
    if (s->literals == UINT64_MAX)
        return;
    s->literals += count;
    if (pbi_sat_full(s))
        return;
    for (unsigned i = 0; i < count; i++)
        add(s, literals[i]);
    add(s, 0);
}

void pbi_sat_one(pbi_sat *s, int a) { pbi_sat_clause(s, &a, 1); }
void pbi_sat_two(pbi_sat *s, int a, int b) { pbi_sat_clause(s, (int[]){a, b}, 2); }
void pbi_sat_three(pbi_sat *s, int a, int b, int c) { pbi_sat_clause(s, (int[]){a, b, c}, 3); }
