/* gallery.c -- the examples of the page. */
#include "handlers.h"

#include <string.h>

const gallery_item gallery[] = {
    {"tree", "Tree under a cap of 50",
     "Keeping everything stops at move 50, which needs 51; partial checkpointing fits with 127 operations, reversible "
     "recursion with 407. Below 10 reversible plans are impossible, while freeing values still fits at 8.",
     "tree", "height=6", NULL, "50", "cache-all last-use partial chen dtr bennett", NULL,
     "cache-all/remat bennett/reversible"},
    {"chain", "100-layer chain",
     "A hundred forward steps and the gradients that read them backwards: the simplest model of training a deep "
     "network. "
     "Lower the cap step by step and see how few checkpoints are enough, and how much extra work they cost.",
     "adjoint-chain", "steps=100", "remat", "25%", "auto sqrt every-k chain griewank last-use", NULL, NULL},
    {"merkle", "Merkle tree",
     "A hash tree over 256 leaves, as in block chains and ZK provers: each inner node hashes its two children. "
     "In the right order nine hashes of memory are enough, while keeping everything fails early; then try the "
     "reversible "
     "game, where freeing a value costs work.",
     "merkle", "height=8", "remat", "90%", "auto last-use order recompute-all cache-all", NULL, NULL},
    {"unet", "U-Net training",
     "A training step of a U-Net, whose skip connections keep large values from the encoder until the decoder. "
     "Go below 50 % and see which of them are recomputed, and where the baseline fails.",
     "unet", "depth=4", "remat", "55%", "auto chen sqrt every-k last-use", NULL, "last-use/remat chen/remat"},
    {"transformer", "Transformer training",
     "A training step of a decoder with twelve blocks of attention and MLP; groups are blocks. "
     "Compare recomputing whole blocks (chen, sqrt) with what auto finds at this cap.",
     "transformer", "blocks=12", "remat", "60%", "auto chen sqrt dtr last-use", NULL, NULL},
    {"pipeline", "Image pipeline",
     "Blur, transform, edges and detection on an image in tiles, each stage reading a halo around its tile. "
     "In program order it runs stage by stage and fails at this cap; another order fits without any recomputation, and "
     "below 70 % tiles are recomputed.",
     "pipeline", "width=1024 height=1024 tile=128", "remat", "80%", "auto order dtr every-k last-use", NULL, NULL},
    {"reversible", "Reversible circuit",
     "A chain of 64 gates that may be run backwards but not erased, as on a quantum machine: every intermediate value "
     "must be uncomputed. Move the cap between 8 and 64 pebbles and see Bennett's trade of space for time.",
     "chain", "nodes=64", "reversible", "16", "auto bennett knill eager-uncompute", NULL, NULL},
    {"adder", "Adder of 16 bits",
     "A ripple-carry adder gate by gate, in the reversible game: only the sum may be left in memory. "
     "From 80 pebbles down to 19 every qubit saved costs moves; compare search with eager uncomputation.",
     "adder", "bits=16", "reversible", "30", "auto search eager-uncompute", NULL, NULL},
    {"offload", "Training with slow memory",
     "The chain with an additional slow memory: a store costs half a step, and so does a load. "
     "Make transfers more expensive and see when recomputing is cheaper.",
     "adjoint-chain", "steps=100 step-cost=10 grad-cost=20", "tiered", "20%", "auto two-level every-k demand",
     "{\"store_cost\":5,\"load_cost\":5,\"store_per_unit\":0,\"load_per_unit\":0,\"slow_cap\":\"none\"}", NULL},
    {"large", "A very deep transformer",
     "The training step with 240 blocks: ten thousand nodes, to see how a plan plays at this size. "
     "Collapse the groups for an overview, and compare keeping block ends (chen) with cuts chosen by cost (cut).",
     "transformer", "blocks=240", "remat", "40%", "auto cut chen sqrt last-use", NULL, NULL},
};
const size_t gallery_count = sizeof gallery / sizeof *gallery;

int gallery_parameters(const gallery_item *item, pb_arena *arena, pb_option params[MAX_PARAMETERS])
{
    int count = 0;
    for (const char *at = item->parameters; *at && count < MAX_PARAMETERS;) {
        size_t key = strcspn(at, "="), whole = strcspn(at, " ");
        params[count].key = pb_arena_text(arena, at, key);
        params[count].value = pb_arena_text(arena, at + key + 1, whole - key - 1);
        if (!params[count].key || !params[count].value)
            return -1;
        count++;
        at += whole + (at[whole] == ' ');
    }
    return count;
}
