/* small_game.h -- a small game as plain editable data: what random tests make, shrink, relabel and print.
 *
 *     small_game s;
 *     small_game_random(seed, PB_GAME_ALL, &s);
 *     small_built b;
 *     if (small_game_build(&ctx, &s, &arena, &b)) ... b.game ...
 */
#ifndef SMALL_GAME_H
#define SMALL_GAME_H

#include "pebble/game.h"

#include <stdio.h>

enum { SMALL_MAX = 24, SMALL_RECIPES = 2 };

typedef struct small_recipe {
    uint32_t in, inplace;
    uint64_t cost, workspace;
} small_recipe;

/* Sets of nodes are bit masks. Node i reads only nodes below i until the game is relabelled. */
typedef struct small_game {
    uint32_t node_count;
    uint64_t cost[SMALL_MAX], size[SMALL_MAX], workspace[SMALL_MAX];
    uint16_t flags[SMALL_MAX]; /* GIVEN, GIVEN_SLOW, ONCE, KEEP */
    uint32_t in[SMALL_MAX], inplace[SMALL_MAX];
    pb_node owner[SMALL_MAX]; /* PB_NO_NODE: not a by-product */
    uint32_t recipe_count[SMALL_MAX];
    small_recipe recipe[SMALL_MAX][SMALL_RECIPES];
    uint32_t targets; /* 0: none named */
    bool order_named;
    uint64_t fixed_size;
    pb_node order[SMALL_MAX]; /* with order_named: every node, inputs first */

    pb_game_kind kind;
    uint64_t cap, borrow;
    pb_weights weights;
    uint32_t tier_count;
    pb_tier tiers[PB_MAX_TIERS];
    uint64_t seed; /* for printing */
} small_game;

/* No nodes, remat, no cap, default weights. */
void small_game_init(small_game *s);
/* Adds a node of this cost and size that reads `in`; returns its index. */
pb_node small_game_add(small_game *s, uint64_t cost, uint64_t size, uint32_t in);

/* A random game of one of `kinds`; every feature of the model turns up. The cap is left unlimited. */
void small_game_random(uint64_t seed, unsigned kinds, small_game *s);
/* The same with 8 to SMALL_MAX nodes: too large for the exhaustive search. */
void small_game_random_large(uint64_t seed, unsigned kinds, small_game *s);

/* Gives some of its nodes recipes, at random from its seed; at least one, if the game has two nodes. */
void small_game_add_recipes(small_game *s);

/* The library's graph and game; false when the model refuses it (ctx->error says why). */
bool small_game_build(pb_context *ctx, const small_game *s, pb_arena *arena, pb_game *out);

/* Node v becomes node to[v]. */
void small_game_relabel(const small_game *s, const uint8_t *to, small_game *out);

/* pebble-graph/1 JSON, then one line that names the game. */
void small_game_print(const small_game *s, FILE *file);

/* Does the property fail on this game? A game that cannot be built must answer false. */
typedef bool (*small_fails)(void *state, const small_game *s);

/* Removes nodes, edges and features and lowers numbers while `fails` stays true. */
void small_game_shrink(small_fails fails, void *state, small_game *s);

#endif
