/* law.h -- laws over thousands of small random games, with the exhaustive search at hand.
 *
 *     static bool broken(law_bench *b) { ... return law_broken(b, "peak %u", ...); }
 *     int main(int argc, char **argv)
 *     {
 *         law_run("bounds never exceed the optimum", broken, PB_GAME_ALL, law_cases(argc, argv, 10000));
 *         return law_finish();
 *     }
 *
 * A game that breaks a law is shrunk and printed as a pebble-graph/1 file with its game and seed.
 */
#ifndef LAW_H
#define LAW_H

#include "oracle/brute_force.h"
#include "support/small_game.h"

typedef struct law_bench {
    pb_context ctx;
    pb_arena arena; /* dropped after the game */
    const small_game *small;
    pb_game game; /* of `small`, with its cap */
    bf_problem problem;
    bf_space *space;
    bool skipped; /* the search gave no answer: nothing was judged */
    char why[600];
} law_bench;

/* Is the law broken by this game? */
typedef bool (*law_check)(law_bench *b);

/* Writes why (printf style) and returns true. */
bool law_broken(law_bench *b, const char *format, ...);
/* Marks the game as not judged and returns false. */
bool law_skip(law_bench *b);

/* The first argument of the program when there is one, else `standard` scaled by the environment. */
uint64_t law_cases(int argc, char **argv, uint64_t standard);
/* Checks the law on `cases` random games; each gets a cap from below the least one to none. Stops at the third game
 * that breaks it. */
void law_run(const char *law, law_check check, unsigned kinds, uint64_t cases);
/* The same on games in which some nodes have recipes. */
void law_run_recipes(const char *law, law_check check, unsigned kinds, uint64_t cases);
void law_run_large_recipes(const char *law, law_check check, unsigned kinds, uint64_t cases);
/* The same on games of up to SMALL_MAX nodes, where the search has no answer in time: caps go by the proven smallest one.
 */
void law_run_large(const char *law, law_check check, unsigned kinds, uint64_t cases);
/* Prints "N passed, M failed"; the exit code. */
int law_finish(void);

#endif
