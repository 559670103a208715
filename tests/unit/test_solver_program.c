/* test_solver_program.c -- Checkmate's program as MPS and LP: read by readers of this test, solved, and solutions in the
 * forms of several solvers read back as plans. */
#include "strategy_fixture.h"

#include "pebble/api.h"
#include "plan/milp/cbc.h"
#include "plan/milp/highs.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 4000, ROWS = 4000, NAME = 32 };

/* A program under construction from text. */
typedef struct parsed {
    pbi_program p;
    char (*column)[NAME];
    int columns;
    double low[ROWS], high[ROWS]; /* of rows by number */
    int row_count, *row_column[ROWS];
    double *row_factor[ROWS];
    int row_entries[ROWS];
    double price[COLUMNS], from[COLUMNS], to[COLUMNS];
    bool whole[COLUMNS];
} parsed;

static parsed *parsed_new(void)
{
    parsed *q = calloc(1, sizeof *q);
    q->column = calloc(COLUMNS, sizeof *q->column);
    for (int c = 0; c < COLUMNS; c++)
        q->to[c] = HUGE_VAL;
    return q;
}

static void parsed_free(parsed *q)
{
    for (int r = 0; r < ROWS; r++) {
        free(q->row_column[r]);
        free(q->row_factor[r]);
    }
    free(q->column);
    free(q);
}

static int column(parsed *q, const char *name)
{
    for (int c = q->columns; c-- > 0;)
        if (strcmp(q->column[c], name) == 0)
            return c;
    assert_true(q->columns < COLUMNS);
    snprintf(q->column[q->columns], NAME, "%s", name);
    return q->columns++;
}

static void entry(parsed *q, int row, int c, double factor)
{
    int n = q->row_entries[row]++;
    q->row_column[row] = realloc(q->row_column[row], sizeof(int) * (size_t)(n + 1));
    q->row_factor[row] = realloc(q->row_factor[row], sizeof(double) * (size_t)(n + 1));
    for (int i = 0; i < n; i++)
        assert_true(q->row_column[row][i] != c); /* each column once */
    q->row_column[row][n] = c;
    q->row_factor[row][n] = factor;
}

static void read_mps(parsed *q, char *text)
{
    char part[16] = "", kinds[ROWS] = "";
    bool whole = false, ended = false;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char a[64] = "", b[64] = "", c[64] = "", d[64] = "";
        int n = sscanf(line, "%63s %63s %63s %63s", a, b, c, d);
        if (*line == '*')
            continue;
        if (*line != ' ') {
            snprintf(part, sizeof part, "%.15s", a);
            ended = strcmp(a, "ENDATA") == 0;
        } else if (strcmp(part, "ROWS") == 0 && *a != 'N') {
            int r = atoi(b + 1);
            assert_true(r == q->row_count && r < ROWS);
            kinds[q->row_count++] = *a;
            q->low[r] = *a == 'L' ? -HUGE_VAL : 0;
            q->high[r] = *a == 'G' ? HUGE_VAL : 0;
        } else if (strcmp(part, "COLUMNS") == 0 && strcmp(b, "'MARKER'") == 0) {
            whole = strcmp(c, "'INTORG'") == 0;
        } else if (strcmp(part, "COLUMNS") == 0) {
            int x = column(q, a);
            q->whole[x] = whole;
            if (strcmp(b, "work") == 0)
                q->price[x] = atof(c);
            else
                entry(q, atoi(b + 1), x, atof(c));
        } else if (strcmp(part, "RHS") == 0) {
            int r = atoi(b + 1);
            q->low[r] = kinds[r] == 'L' ? -HUGE_VAL : atof(c);
            q->high[r] = kinds[r] == 'G' ? HUGE_VAL : atof(c);
        } else if (strcmp(part, "RANGES") == 0) {
            int r = atoi(b + 1);
            assert_true(kinds[r] == 'G');
            q->high[r] = q->low[r] + atof(c);
        } else if (strcmp(part, "BOUNDS") == 0) {
            assert_int_equal(n, 4);
            *(*a == 'L' ? &q->from[column(q, c)] : &q->to[column(q, c)]) = atof(d);
        }
    }
    assert_true(ended);
}

/* "r3: + 2 R_1_0 - 1 X_4 <= 1", possibly over several lines. */
static void read_lp(parsed *q, char *text)
{
    enum { START, PRICE, ROW, BOUND, WHOLE, END } part = START;
    double sign = 1, factor = 0, bound = 0;
    int row = -1;
    char side = 0, after = 0;
    for (char *line = text; line && *line == '\\';)
        text = line = strchr(line, '\n') + 1;
    for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
        char *end;
        double number = strtod(word, &end);
        bool is_number = end != word && !*end;
        if (strcmp(word, "Minimize") == 0)
            part = PRICE;
        else if (strcmp(word, "Subject") == 0 || strcmp(word, "To") == 0)
            part = ROW;
        else if (strcmp(word, "Bounds") == 0)
            part = BOUND;
        else if (strcmp(word, "General") == 0)
            part = WHOLE;
        else if (strcmp(word, "End") == 0)
            part = END;
        else if (word[strlen(word) - 1] == ':') {
            row = part == ROW ? q->row_count++ : -1;
        } else if (strcmp(word, "+") == 0 || strcmp(word, "-") == 0) {
            sign = *word == '-' ? -1 : 1;
        } else if (strchr("<>=", *word)) {
            side = after = *word;
        } else if (is_number && part == ROW && after) {
            q->low[row] = side == '<' ? -HUGE_VAL : number;
            q->high[row] = side == '>' ? HUGE_VAL : number;
            after = 0;
        } else if (is_number && part == BOUND) {
            if (side && after && row >= 0)
                *(side == '>' ? &q->from[row] : &q->to[row]) = number;
            bound = number;
            after = 0;
        } else if (is_number) {
            factor = sign * number;
        } else if (part == PRICE) {
            q->price[column(q, word)] = factor;
        } else if (part == ROW) {
            entry(q, row, column(q, word), factor);
        } else if (part == BOUND) {
            row = column(q, word); /* "0 <= name <= 1" or "name >= 0" */
            if (side == '<')
                q->from[row] = bound;
            side = 0;
        } else if (part == WHOLE) {
            q->whole[column(q, word)] = true;
        }
    }
    assert_int_equal(part, END);
}

/* Solves what was read; writes a value for each column. */
static double solve(pb_context *ctx, parsed *q, pb_arena *arena, const double **x)
{
    pbi_program_answer answer;
    pbi_program_limits limits = {HUGE_VAL, false, 0, 1000, 0, 0};
    pbi_program_init(&q->p, arena);
    for (int c = 0; c < q->columns; c++)
        pbi_program_column(&q->p, (pbi_column){q->from[c], q->to[c], q->price[c], q->whole[c]});
    for (int r = 0; r < q->row_count; r++) {
        pbi_program_row(&q->p, q->low[r], q->high[r]);
        for (int e = 0; e < q->row_entries[r]; e++)
            pbi_program_entry(&q->p, q->row_column[r][e], q->row_factor[r][e]);
    }
    assert_int_equal((pb_solver_version() ? pbi_program_solve : pbi_highs_solve)(ctx, &q->p, &limits, arena, &answer),
                     PB_OK);
    assert_int_equal(answer.end, PBI_SOLVED);
    assert_true(answer.found);
    *x = answer.x;
    return answer.value;
}

/* The solution as a solver writes it. */
static char *solution_text(const parsed *q, const double *x, int form)
{
    static const char *const heads[] = {
        "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 3\n# Columns\n",
        "Optimal - objective value 3.00000000\n",
        "<?xml version = \"1.0\"?>\n<CPLEXSolution version=\"1.2\">\n <variables>\n", "# Objective value = 3\n",
        "solution status: optimal\nobjective value: 3\n"};
    char *text = malloc((size_t)q->columns * 120 + 200), *at = text;
    at += sprintf(at, "%s", heads[form]);
    for (int c = 0; c < q->columns; c++) {
        const char *name = q->column[c];
        if (form == 0 || form == 3)
            at += sprintf(at, "%s %.9g\n", name, x[c]);
        else if (form == 1 && x[c] != 0)
            at += sprintf(at, "%7d %-12s %22.10g %22d\n", c, name, x[c], 0);
        else if (form == 2)
            at += sprintf(at, "  <variable name=\"%s\" index=\"%d\" value=\"%.9g\"/>\n", name, c, x[c]);
        else if (form == 4 && x[c] != 0)
            at += sprintf(at, "%-30s %20.9g \t(obj:%g)\n", name, x[c], q->price[c]);
    }
    sprintf(at, "%s", form == 0 ? "# Rows 1\nr0 1\n" : form == 2 ? " </variables>\n</CPLEXSolution>\n" : "");
    return text;
}

static void read_back(desk *d, const parsed *q, const double *x, uint64_t work)
{
    for (int form = 0; form < 5; form++) {
        pb_plan_result planned;
        char *text = solution_text(q, x, form);
        pb_file_text file = {"solver.sol", text, strlen(text)};
        pb_request request = PB_REQUEST_DEFAULT;
        if (pb_solution_plan(&d->ctx, &d->game, &request, &file, &d->arena, &planned) != PB_OK)
            fail_msg("form %d: %s", form, d->ctx.error.message);
        assert_true(planned.certificate != NULL);
        assert_true(planned.schedule.metrics.work == work);
        assert_true(planned.schedule.metrics.peak <= d->game.cap);
        free(text);
    }
}

/* Writes, reads, solves and reads back: the work is that of milp, which the exhaustive tests compare with every plan. */
static unsigned checked;
static void check_program(desk *d)
{
    checked++;
    const pb_schedule *least = desk_plan(d, pb_solver_version() ? "milp:solver=cbc" : "milp:solver=highs");
    assert_true(least->has_metrics);
    uint64_t work = least->metrics.work;
    for (int form = 0; form < 2; form++) {
        pb_buffer text;
        const double *x;
        parsed *q = parsed_new();
        pb_buffer_init(&text, &d->arena);
        assert_int_equal(
            pb_program_write(&d->ctx, &d->game, form ? PB_PROGRAM_LP : PB_PROGRAM_MPS, pb_sink_buffer(&text)), PB_OK);
        if (form)
            read_lp(q, text.bytes);
        else
            read_mps(q, text.bytes);
        solve(&d->ctx, q, &d->arena, &x);
        read_back(d, q, x, work);
        parsed_free(q);
    }
}

static bool has_solver(void) { return pb_solver_version() || pbi_highs_found(); }

static void check_caps(desk *d)
{
    uint64_t peak;
    assert_int_equal(pb_graph_program_peak(&d->ctx, d->game.graph, &peak), PB_OK);
    for (uint64_t part = 15; part <= 19; part += 2) {
        d->game.cap = peak * part / 20;
        if (desk_plan(d, "milp")->has_metrics)
            check_program(d);
    }
    desk_shut(d);
}

static void programs_are_solved_and_read_back(void **state)
{
    (void)state;
    desk d;
    if (!has_solver())
        skip();
    desk_generate(&d, "adjoint-chain", 3, (pb_option[]){{"steps", "6"}, {"profile", "random"}, {"spread", "4"}});
    check_caps(&d);
    desk_generate(&d, "layered", 2, (pb_option[]){{"nodes", "14"}, {"seed", "3"}});
    check_caps(&d);
    desk_generate(
        &d, "mlp", 3,
        (pb_option[]){{"depth", "3"}, {"batch", "4096"}, {"norm", "layer"}}); /* by-products, steps in place */
    check_caps(&d);
    assert_true(checked >= 5);
}

static void what_is_no_solution_is_refused(void **state)
{
    (void)state;
    desk d;
    pb_plan_result planned;
    pb_request request = PB_REQUEST_DEFAULT;
    static const char *const texts[] = {"", "R_", "r_1_0 1", "Optimal 3", "S_1_0 1", "R_0_1 1", "R_99_1 1", "R_1_0a 1"};
    desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "5"}});
    d.game.cap = 5;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pb_file_text file = {"x.sol", texts[i], strlen(texts[i])};
        assert_int_equal(pb_solution_plan(&d.ctx, &d.game, &request, &file, &d.arena, &planned), PB_EFORMAT);
    }
    pb_file_text nothing = {"x.sol", "R_1_0 0", 7}; /* everything once: over the cap */
    assert_int_equal(pb_solution_plan(&d.ctx, &d.game, &request, &nothing, &d.arena, &planned), PB_EFORMAT);
    d.game.kind = PB_GAME_REVERSIBLE;
    assert_int_equal(pb_solution_plan(&d.ctx, &d.game, &request, &nothing, &d.arena, &planned), PB_EINVAL);
    d.game.kind = PB_GAME_REMAT;
    d.game.cap = PB_UNLIMITED;
    pb_buffer text;
    pb_buffer_init(&text, &d.arena);
    assert_int_equal(pb_program_write(&d.ctx, &d.game, PB_PROGRAM_MPS, pb_sink_buffer(&text)), PB_EINVAL);
    desk_shut(&d);
}

static void a_gap_is_enough(void **state)
{
    (void)state;
    desk d;
    pb_plan_result planned;
    desk_generate(&d, "adjoint-chain", 3, (pb_option[]){{"steps", "12"}, {"profile", "random"}, {"spread", "9"}});
    uint64_t peak;
    assert_int_equal(pb_graph_program_peak(&d.ctx, d.game.graph, &peak), PB_OK);
    d.game.cap = peak * 6 / 10;
    static const double gaps[] = {0, 0.02, 0.5, 4};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        pb_request request = PB_REQUEST_DEFAULT;
        request.gap = gaps[i];
        assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &planned), PB_OK);
        assert_true(planned.certificate && planned.schedule.metrics.gap <= gaps[i] + 1e-12);
    }
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_solved_and_read_back),
        cmocka_unit_test(what_is_no_solution_is_refused),
        cmocka_unit_test(a_gap_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
