/* store_print.c -- see store_print.h. */
#include "store_print.h"

#include "common/json_print.h"
#include "plain_print.h"

#include <inttypes.h>
#include <stdio.h>

static void print_outcomes(const uint64_t outcomes[4])
{
    static const struct {
        pb_outcome outcome;
        const char *words;
    } order[] = {
        {PB_OPTIMAL, "optimal"}, {PB_FOUND, "found"}, {PB_INFEASIBLE, "proved infeasible"}, {PB_GAVE_UP, "no plan"}};
    const char *before = "  ";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (outcomes[order[i].outcome]) {
            printf("%s%" PRIu64 " %s", before, outcomes[order[i].outcome], order[i].words);
            before = ", ";
        }
    putchar('\n');
}

static void print_text(const pb_store_state *s)
{
    char left[32] = "";
    printf("%" PRIu64 " cells of %" PRIu64 " %s\n", s->cells, s->sweeps, s->sweeps == 1 ? "sweep" : "sweeps");
    printf("  done     %8" PRIu64, s->done);
    print_outcomes(s->outcomes);
    printf("  leased   %8" PRIu64 "  %" PRIu64 " %s, %" PRIu64 " %s\n", s->leased, s->workers,
           s->workers == 1 ? "worker" : "workers", s->threads, s->threads == 1 ? "thread" : "threads");
    printf("  to do    %8" PRIu64, s->todo);
    if (s->rate > 0 && s->seconds_left > 0) {
        pb_amount_text((uint64_t)(s->seconds_left * 1e9), "ns", left, sizeof left);
        printf("  %.3g cells per second, %s left", s->rate, left);
    }
    putchar('\n');
    if (s->given_up)
        printf("  failed   %8" PRIu64 "  too many workers died with them; `pebble store gc` puts them back\n",
               s->given_up);
    if (s->reason_count)
        puts("why cells have no plan");
    for (uint32_t i = 0; i < s->reason_count; i++)
        print_line(stdout, "  %8" PRIu64 "  %s", s->reasons[i].cells, s->reasons[i].text);
}

static void print_json(const pb_store_state *s)
{
    printf("{\"format\":\"pebble-store-status/1\",\"sweeps\":%" PRIu64 ",\"cells\":%" PRIu64 ",\"done\":%" PRIu64
           ",\"leased\":%" PRIu64 ",\"todo\":%" PRIu64 ",\"failed\":%" PRIu64,
           s->sweeps, s->cells, s->done, s->leased, s->todo, s->given_up);
    fputs(",\n\"outcomes\":{", stdout);
    for (int i = 0; i < 4; i++)
        printf("%s\"%s\":%" PRIu64, i ? "," : "", pb_outcome_name((pb_outcome)i), s->outcomes[i]);
    fputs("},\n\"reasons\":[", stdout);
    for (uint32_t i = 0; i < s->reason_count; i++) {
        printf("%s{\"cells\":%" PRIu64 ",\"reason\":", i ? "," : "", s->reasons[i].cells);
        json_text(stdout, s->reasons[i].text);
        putchar('}');
    }
    printf("],\n\"workers\":%" PRIu64 ",\"threads\":%" PRIu64, s->workers, s->threads);
    if (s->rate > 0)
        printf(",\"cells_per_second\":%.6g,\"seconds_left\":%.6g}\n", s->rate, s->seconds_left);
    else
        fputs(",\"cells_per_second\":null,\"seconds_left\":null}\n", stdout);
}

exit_code store_print_state(app *a, pb_store *store)
{
    pb_store_state *s = pb_arena_zero(&a->arena, 1, sizeof *s);
    if (!s)
        return app_status(a, PB_ENOMEM);
    pb_status status = pb_store_look(&a->ctx, store, s);
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        print_json(s);
    else
        print_text(s);
    return EXIT_DONE;
}
