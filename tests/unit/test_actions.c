/* test_actions.c -- plans of adjoint chains as actions: every strategy's plan, read back and carried out. */
#include "pebble/adjoint.h"
#include "pebble/full.h"
#include "support/cases.h"
#include "unit/report_fixture.h"

#include <inttypes.h>

enum { MOST = 64 };

/* An adjoint code that knows only which states and data are where. */
typedef struct code {
    unsigned steps, work, undone;
    bool reads_output, forward_ended, ended;
    bool ram[MOST], disk[MOST], tape[MOST]; /* tape: reverse-step data, by step */
    unsigned forward_steps, ram_count, ram_most, writes, reads;
    const char *line, *whole; /* for complaints */
} code;

static void complain(const code *c, const char *why) { fail_msg("%s: %s\n%s", c->line, why, c->whole); }

static bool known(const code *c, unsigned state) { return c->work == state || c->ram[state] || state == 0; }

static void count_ram(code *c)
{
    c->ram_count = 0;
    for (unsigned i = 0; i < MOST; i++)
        c->ram_count += c->ram[i];
    c->ram_most = c->ram_count > c->ram_most ? c->ram_count : c->ram_most;
}

static void forward(code *c, unsigned n0, unsigned n1, bool restart, bool reverse, const char *storage)
{
    if (c->work != n0 || n0 >= n1 || n1 > c->steps)
        complain(c, "the working state is another one");
    if (!restart && !reverse)
        assert_string_equal(storage, "NONE");
    if (restart && strcmp(storage, "DISK") == 0) {
        c->disk[n0] = true;
        c->writes++;
    } else if (restart) {
        assert_string_equal(storage, "RAM");
        c->ram[n0] = true;
    }
    for (unsigned i = n0; i < n1 && reverse; i++)
        c->tape[i] = true;
    c->forward_steps += n1 - n0;
    c->work = n1;
    count_ram(c);
}

static void transfer(code *c, unsigned n, const char *from, const char *to, bool move)
{
    bool *source = strcmp(from, "RAM") == 0 ? &c->ram[n] : strcmp(from, "DISK") == 0 ? &c->disk[n] : NULL;
    if (source ? !*source : c->work != n)
        complain(c, "it is not there");
    c->reads += strcmp(from, "DISK") == 0;
    if (move && source)
        *source = false;
    if (strcmp(to, "WORK") == 0) {
        c->work = n;
    } else if (strcmp(to, "RAM") == 0) {
        c->ram[n] = true;
    } else {
        assert_string_equal(to, "DISK");
        c->disk[n] = true;
        c->writes++;
    }
    count_ram(c);
}

static void reverse(code *c, unsigned n1, unsigned n0)
{
    if (n1 != c->undone || n0 >= n1 || !c->forward_ended)
        complain(c, "another step is next");
    for (unsigned i = n1; i-- > n0;) {
        if (!c->tape[i] && !(c->reads_output && known(c, i) && known(c, i + 1)))
            complain(c, "there are no data to reverse it");
        c->tape[i] = false;
    }
    c->undone = n0;
    for (unsigned i = n0 + c->reads_output; i < MOST; i++)
        c->ram[i] = false; /* of no more use */
    if (!c->reads_output)
        c->work = UINT32_MAX;
}

static void carry_out(code *c, const char *line)
{
    unsigned a, b;
    char x[8], y[8], from[8], to[8];
    c->line = line;
    if (sscanf(line, "Forward(%u, %u, %7[a-z], %7[a-z], %7[A-Z])", &a, &b, x, y, to) == 5)
        forward(c, a, b, strcmp(x, "true") == 0, strcmp(y, "true") == 0, to);
    else if (sscanf(line, "Reverse(%u, %u)", &a, &b) == 2)
        reverse(c, a, b);
    else if (sscanf(line, "Copy(%u, %7[A-Z], %7[A-Z])", &a, from, to) == 3)
        transfer(c, a, from, to, false);
    else if (sscanf(line, "Move(%u, %7[A-Z], %7[A-Z])", &a, from, to) == 3)
        transfer(c, a, from, to, true);
    else if (strcmp(line, "EndForward()") == 0 && c->work == c->steps && !c->forward_ended)
        c->forward_ended = true;
    else if (strcmp(line, "EndReverse()") == 0 && c->undone == 0 && !c->ended)
        c->ended = true;
    else
        complain(c, "what is this?");
}

static char *copy_text(const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(malloc(length), text, length);
}

static code carry_out_all(char *text, unsigned steps, bool reads_output)
{
    char *whole = copy_text(text);
    code c = {.steps = steps, .undone = steps, .reads_output = reads_output, .whole = whole};
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        carry_out(&c, line);
    if (!c.ended)
        complain(&c, "no end");
    free(whole);
    c.whole = NULL;
    return c;
}

typedef struct instance {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *graph;
    unsigned steps;
    bool reads_output, inplace;
} instance;

static void open_instance(instance *x, unsigned steps, bool reads_output, bool inplace)
{
    char number[12];
    snprintf(number, sizeof number, "%u", steps);
    pb_option params[] = {{"steps", number},
                          {"grad-size", "0"},
                          {"form", reads_output ? "inputs-outputs" : "inputs"},
                          {"inplace", inplace ? "yes" : "no"}};
    pb_context_init(&x->ctx);
    pb_arena_init(&x->arena, &x->ctx);
    x->steps = steps;
    x->reads_output = reads_output;
    x->inplace = inplace;
    assert_int_equal(pb_generate(&x->ctx, "adjoint-chain", params, 4, &x->arena, &x->graph), PB_OK);
}

/* One plan: the actions are legal, run as many steps as the plan, and hold no more states. */
static void check_plan(instance *x, const pb_plan_result *plan)
{
    pb_buffer text;
    pb_buffer_init(&text, &x->arena);
    pb_status status = pb_actions_write(&x->ctx, plan->certificate, pb_sink_buffer(&text));
    if (status == PB_EINVAL && strstr(x->ctx.error.message, "gradients in slow memory"))
        return;
    if (status != PB_OK)
        fail_msg("%s: %s", plan->schedule.strategy, x->ctx.error.message);
    code c = carry_out_all(text.bytes, x->steps, x->reads_output);
    const pb_moves *moves = pb_certificate_moves(plan->certificate);
    unsigned steps = 0, stores = 0, loads = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        unsigned depth = x->graph->depth[moves->move[k].node];
        steps += moves->move[k].op == PB_COMPUTE && (!x->reads_output || depth <= x->steps);
        stores += moves->move[k].op == PB_STORE;
        loads += moves->move[k].op == PB_LOAD;
    }
    assert_int_equal(c.forward_steps, steps);
    assert_int_equal(c.writes, stores);
    assert_int_equal(c.reads, loads);
    assert_true(c.ram_most <= plan->game->cap);
    if (x->inplace && !x->reads_output && strcmp(plan->schedule.strategy, "chain") == 0)
        assert_true(c.ram_most < plan->game->cap); /* s snapshots are a cap of s + 1 */
}

static void check_all(unsigned steps, bool reads_output, bool inplace, uint64_t cap)
{
    instance x;
    open_instance(&x, steps, reads_output, inplace);
    pb_game game = {
        .graph = x.graph, .kind = PB_GAME_REMAT, .cap = cap, .weights = PB_WEIGHTS_DEFAULT, .tier_count = 1};
    game.tiers[0] = (pb_tier){.store_cost = 2, .load_cost = 2, .cap = PB_UNLIMITED};
    x.ctx.tick_limit = test_is_sample() ? 20000 : 200000; /* any plan will do */
    pb_comparison rows;
    pb_compare_request request = {.games = PB_GAME_REMAT | PB_GAME_TIERED, .plan = PB_REQUEST_DEFAULT};
    assert_int_equal(pb_compare(&x.ctx, &game, &request, &x.arena, &rows), PB_OK);
    for (uint32_t i = 0; i < rows.row_count; i++)
        if (rows.rows[i].certificate)
            check_plan(&x, &rows.rows[i]);
    pb_arena_release(&x.arena);
}

static void every_plan_can_be_carried_out(void **state)
{
    (void)state;
    uint64_t turn = 0;
    for (unsigned steps = 2; steps <= 14; steps += 3)
        for (unsigned form = 0; form < 4; form++)
            for (uint64_t cap = 2; cap <= steps + 2; cap++)
                if (test_turn(&turn))
                    check_all(steps, form & 1, form & 2, cap);
}

/* The plan of least work for s + 1 values is the stream for s snapshots, in forward steps. */
static void plans_for_a_cap_are_streams_for_one_snapshot_less(void **state)
{
    (void)state;
    for (unsigned cap = 2; cap <= 7; cap++) {
        instance x;
        open_instance(&x, 40, false, true);
        pb_game game = {.graph = x.graph, .kind = PB_GAME_REMAT, .cap = cap, .weights = PB_WEIGHTS_DEFAULT};
        pb_request request = {.strategy = "chain", .seed = 1};
        pb_plan_result plan;
        pb_revolve_cost cost;
        pb_buffer text;
        pb_buffer_init(&text, &x.arena);
        assert_int_equal(pb_plan(&x.ctx, &game, &request, &x.arena, &plan), PB_OK);
        assert_non_null(plan.certificate);
        assert_int_equal(pb_actions_write(&x.ctx, plan.certificate, pb_sink_buffer(&text)), PB_OK);
        code c = carry_out_all(text.bytes, 40, false);
        assert_int_equal(pb_revolve_count(&x.ctx, 40, cap - 1, &cost), PB_OK);
        assert_int_equal(c.forward_steps, cost.forward_steps.low);
        assert_true(c.ram_most <= cap - 1);
        pb_arena_release(&x.arena);
    }
}

static void refuses(const small_game *s, const char *moves, const char *word)
{
    bench b;
    bench_open(&b, s, moves);
    assert_int_equal(pb_actions_write(&b.ctx, b.certificate, bench_sink(&b)), PB_EINVAL);
    if (!strstr(b.ctx.error.message, word))
        fail_msg("no `%s` in: %s", word, b.ctx.error.message);
    assert_string_equal(bench_text(&b), "");
    bench_close(&b);
}

static void other_graphs_and_games_get_a_sentence(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    refuses(&s, "", "the shape of this graph is empty");
    small_game_add(&s, 1, 1, 0);
    refuses(&s, "c0", "the shape of this graph is chain");
    small_game_add(&s, 1, 1, 0);
    refuses(&s, "c0 c1", "the shape of this graph is general");
    small_tiny(&s);
    refuses(&s, "c0 c1 c2", "start from a given state");
    s.kind = PB_GAME_REVERSIBLE;
    refuses(&s, "c0 c1 c2 u1 u0", "uncomputing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_can_be_carried_out),
        cmocka_unit_test(plans_for_a_cap_are_streams_for_one_snapshot_less),
        cmocka_unit_test(other_graphs_and_games_get_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
