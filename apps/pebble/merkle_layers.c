/* merkle_layers.c -- see merkle_layers.h. */
#include "merkle_layers.h"

#include "common/json_print.h"
#include "table.h"

#include <stdio.h>

enum { CELL = 64 };

static void count_text(uint64_t value, char text[CELL]) { short_number((pb_u128){0, value}, 9, text); }

static void mean_text(double value, char text[CELL])
{
    if (value < 1000)
        snprintf(text, CELL, "%.4g", value);
    else if (value < 1e18)
        count_text((uint64_t)(value + 0.5), text);
    else
        snprintf(text, CELL, "%.2e", value);
}

static bool add_row(table *tab, const app *a, const pb_proof_request *r, const pb_proof_choice *c, uint32_t d)
{
    const pb_proof_row *row = &c->row[d];
    char dropped[CELL], stored[CELL], leaves[CELL], hashes[CELL], work[CELL], single[CELL], batch[CELL];
    count_text(d, dropped);
    count_text(row->stored, stored);
    count_text(row->leaves, leaves);
    count_text(row->hashes, hashes);
    count_text(row->work, work);
    mean_text((double)row->work * (double)r->queries, single);
    mean_text(row->batch_work, batch);
    const char *mark = d == c->winner ? (a->unicode ? "★" : "*") : row->fits ? "" : a->unicode ? "✗" : "x";
    const char *cells[] = {mark, dropped, stored, leaves, hashes, work, single, batch};
    return table_row(tab, cells, d == c->winner ? "1" : row->fits ? NULL : "2");
}

static bool print_text(const app *a, const pb_proof_request *r, const pb_proof_choice *c, pb_arena *arena)
{
    static const table_column columns[] = {{"", false, 0},      {"layers dropped", true, 0}, {"stored", true, 0},
                                           {"leaves", true, 1}, {"hashes", true, 1},         {"work of one", true, 0},
                                           {"of all", true, 0}, {"at once", true, 0}};
    char leaves[CELL], queries[CELL], batch[CELL];
    table tab;
    count_text(UINT64_C(1) << r->height, leaves);
    count_text(r->queries, queries);
    mean_text(c->batch_hashes, batch);
    printf("a hash tree of height %u: %s leaves, proofs of %s of them at random\n", (unsigned)r->height, leaves,
           queries);
    printf("one proof has %u hashes; one of all leaves together has %s on average\n\n", (unsigned)r->height, batch);
    table_init(&tab, arena, columns, sizeof columns / sizeof *columns);
    tab.color = a->color;
    tab.width = a->width;
    tab.fit = true;
    for (uint32_t d = 0; d < c->row_count; d++)
        if (!add_row(&tab, a, r, c, d))
            return false;
    table_print(&tab, stdout);
    return true;
}

static void print_json(const pb_proof_request *r, const pb_proof_choice *c)
{
    printf("{\"height\":%u,\"cap\":", (unsigned)r->height);
    json_cap(stdout, r->cap);
    fputs(",\"proofs\":", stdout);
    json_u64(stdout, r->queries);
    fputs(",\"multiproof_hashes\":", stdout);
    json_double(stdout, c->batch_hashes);
    fputs(",\"winner\":", stdout);
    if (c->winner == UINT32_MAX)
        fputs("null", stdout);
    else
        printf("%u", (unsigned)c->winner);
    fputs(",\"layers\":[", stdout);
    for (uint32_t d = 0; d < c->row_count; d++) {
        const pb_proof_row *row = &c->row[d];
        printf("%s{\"dropped\":%u,\"fits\":%s,\"kept\":", d ? "," : "", (unsigned)d, row->fits ? "true" : "false");
        json_u64(stdout, row->kept);
        fputs(",\"stored\":", stdout);
        json_u64(stdout, row->stored);
        fputs(",\"leaves\":", stdout);
        json_u64(stdout, row->leaves);
        fputs(",\"hashes\":", stdout);
        json_u64(stdout, row->hashes);
        fputs(",\"work\":", stdout);
        json_u64(stdout, row->work);
        fputs(",\"subtrees\":", stdout);
        json_double(stdout, row->subtrees);
        fputs(",\"batch_work\":", stdout);
        json_double(stdout, row->batch_work);
        fputs("}", stdout);
    }
    puts("]}");
}

exit_code merkle_layers(app *a, const pb_proof_request *request)
{
    pb_proof_choice c;
    pb_status status = pb_proof_layers(&a->ctx, request, &c);
    if (status == PB_ERANGE)
        return app_usage(a, "--proofs: %s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        print_json(request, &c);
    else if (!print_text(a, request, &c, &a->arena))
        return app_status(a, PB_ENOMEM);
    if (c.winner != UINT32_MAX)
        return EXIT_DONE;
    if (!app_option(a, OPT_JSON))
        printf("\nnone fits the cap: a proof alone has %u hashes\n", (unsigned)request->height);
    return EXIT_NOTHING;
}
