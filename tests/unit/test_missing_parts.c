/* test_missing_parts.c -- a build without the optional solvers names the package to install.
 *
 * The sources of the solvers are taken in here as they are built without their libraries; the linker then leaves out the
 * library's own. */
#undef PBI_WITH_CBC
#undef PBI_WITH_CADICAL
#include "plan/milp/cbc.c"
#include "plan/reversible/sat/cadical.c"

#include "strategy_fixture.h"

static void strategies_without_their_solver_name_its_package(void **state)
{
    (void)state;
    static const struct {
        const char *strategy, *reason;
        pb_game_kind kind;
    } cases[] = {
        {"milp", "does not apply: Cbc is not built in (install coinor-libcbc-dev, then make)", PB_GAME_REMAT},
        {"lp-rounding", "does not apply: Cbc is not built in (install coinor-libcbc-dev, then make)", PB_GAME_REMAT},
        {"sat", "does not apply: CaDiCaL is not built in (install libcadical-dev, then make)", PB_GAME_REVERSIBLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        desk d;
        desk_generate(&d, "chain", 1, (pb_option[]){{"nodes", "6"}});
        d.game.kind = cases[i].kind;
        d.game.cap = 6;
        const pb_schedule *s = desk_plan(&d, "%s", cases[i].strategy);
        assert_int_equal(s->outcome, PB_GAVE_UP);
        assert_string_equal(s->reason, cases[i].reason);
        desk_shut(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strategies_without_their_solver_name_its_package)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
