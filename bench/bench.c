/* bench.c -- the benchmarks: `bench [options] [part...]`, all parts but `large` when none is named. See README.md. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *name, *help;
    void (*run)(const bench *b);
    bool usual;
} part;

static const part parts[] = {
    {"verify", "replay and metrics: moves a second", bench_verify, true},
    {"io", "graph and schedule files of a million nodes: seconds, MB/s, memory", bench_io, true},
    {"plan", "planning time of each strategy as graphs grow", bench_plan, true},
    {"grid", "strategy x instance x cap: cost, peak, gap, ticks, seconds", bench_grid, true},
    {"adjoint", "streams of adjoint actions: actions a second", bench_adjoint, true},
    {"chain-equal", "plans of chains of equal steps, with published figures", bench_chain_equal, true},
    {"chain", "chains of blocks: exactly, and with memory in slots", bench_chain, true},
    {"tree", "least peak of trees of a million nodes: both orders and their ratio, seconds", bench_tree, true},
    {"layout", "where the page draws the nodes of graphs as they grow: seconds, memory", bench_layout, true},
    {"merkle", "hash trees: hashes a second against a bare loop by the same library", bench_merkle, true},
    {"engine", "a run of the engine against a loop over the same kernels: overhead", bench_engine, true},
    {"timed", "timed plans over throttled links: predicted and measured makespan; replay", bench_timed, true},
    {"dynamic", "online under a cap, policy by policy, against a plan of the same trace", bench_dynamic, true},
    {"scale", "plans of graphs up to a million nodes: overhead and bound, seconds, memory", bench_scale, false},
    {"large", "million-node graphs all the way; fails where a step does", bench_large, false},
};
enum { PART_COUNT = sizeof parts / sizeof *parts };

static void usage(FILE *file)
{
    fprintf(file, "usage: bench [options] [part...]\n\nparts\n");
    for (unsigned i = 0; i < PART_COUNT; i++)
        fprintf(file, "  %-14s %s%s\n", parts[i].name, parts[i].help, parts[i].usual ? "" : " (only when named)");
    fprintf(file, "\noptions\n"
                  "  --repeat N     best of N (5)\n"
                  "  --seconds S    limit of one plan (10)\n"
                  "  --ticks T      limit of one plan in ticks (none)\n"
                  "  --only TEXT    instances whose name has this text\n"
                  "  --size N       one size: moves for verify, nodes for io\n"
                  "  --full         plan up to a million nodes\n"
                  "  --smoke        tiny sizes: does it still run?\n"
                  "  --results P    also write P-<part>.csv\n");
}

static const char *value_of(int argc, char **argv, int *i)
{
    if (*i + 1 >= argc) {
        fprintf(stderr, "bench: %s needs a value\n", argv[*i]);
        exit(2);
    }
    return argv[++*i];
}

int main(int argc, char **argv)
{
    bench b = {.repeat = 5, .seconds = 10};
    bool chosen[PART_COUNT] = {0}, any = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0) {
            usage(stdout);
            return 0;
        } else if (strcmp(word, "--repeat") == 0) {
            b.repeat = (unsigned)strtoul(value_of(argc, argv, &i), NULL, 10);
        } else if (strcmp(word, "--seconds") == 0) {
            b.seconds = strtod(value_of(argc, argv, &i), NULL);
        } else if (strcmp(word, "--ticks") == 0) {
            b.ticks = strtoull(value_of(argc, argv, &i), NULL, 10);
        } else if (strcmp(word, "--only") == 0) {
            b.only = value_of(argc, argv, &i);
        } else if (strcmp(word, "--size") == 0) {
            b.size = strtoull(value_of(argc, argv, &i), NULL, 10);
        } else if (strcmp(word, "--full") == 0) {
            b.full = true;
        } else if (strcmp(word, "--smoke") == 0) {
            b.smoke = true;
        } else if (strcmp(word, "--results") == 0) {
            b.results = value_of(argc, argv, &i);
        } else {
            unsigned p = 0;
            while (p < PART_COUNT && strcmp(word, parts[p].name) != 0)
                p++;
            if (p == PART_COUNT) {
                fprintf(stderr, "bench: there is no part or option %s\n", word);
                usage(stderr);
                return 2;
            }
            chosen[p] = any = true;
        }
    }
    if (b.repeat == 0)
        b.repeat = 1;
    for (unsigned p = 0; p < PART_COUNT; p++)
        if (any ? chosen[p] : parts[p].usual)
            parts[p].run(&b);
    return 0;
}
