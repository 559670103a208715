/* Claims about every family and about how parameters are read. */
#include "test_generate.h"

#include "graph/emit.h"

static void every_family_makes_a_sound_graph_by_default(void **state)
{
    (void)state;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    assert_true(count == 20);
    for (uint32_t i = 0; i < count; i++) {
        made m;
        const pb_graph *g = make_sound(&m, families[i].name, "");
        assert_true(g->node_count > 0);
        assert_true(g->order_named);
        assert_true(g->target_count > 0);
        assert_true(strlen(g->cost_unit) > 0 && strlen(g->size_unit) > 0);
        size_t length = strlen(families[i].name);
        assert_memory_equal(g->name, families[i].name, length);
        assert_int_equal(g->name[length], '(');
        /* Nothing is computed in vain. */
        for (pb_node v = 0; v < g->node_count; v++)
            assert_true(g->flags[v] & (PB_NODE_NEEDED | PB_NODE_GIVEN | PB_NODE_BYPRODUCT));
        unmake(&m);
    }
}

static void every_order_puts_inputs_first(void **state)
{
    (void)state;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        made m;
        const pb_graph *g = make_sound(&m, families[i].name, "");
        uint32_t *place = pb_arena_zero(&m.arena, g->node_count, sizeof *place);
        for (uint32_t k = 0; k < g->order_count; k++)
            place[g->order[k]] = k + 1;
        for (pb_node v = 0; v < g->node_count; v++) {
            for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
                pb_node u = g->in[k];
                if (g->flags[u] & PB_NODE_BYPRODUCT)
                    u = g->owner[u];
                assert_true(place[u] < place[v]);
                assert_true(place[u] > 0 || (g->flags[u] & PB_NODE_GIVEN));
            }
        }
        unmake(&m);
    }
}

static void equal_parameters_give_equal_graphs(void **state)
{
    (void)state;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        char one[PB_HASH_TEXT], two[PB_HASH_TEXT];
        expect_hash(families[i].name, "", one);
        expect_hash(families[i].name, "", two);
        assert_string_equal(one, two);
    }
}

static void another_seed_gives_another_graph(void **state)
{
    (void)state;
    static const char *const drawn[][2] = {{"chain", "profile=random"},
                                           {"adjoint-chain", "profile=random"},
                                           {"tree", "profile=random"},
                                           {"tree", "shape=random"},
                                           {"layered", "nodes=50"}};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        char words[64], one[PB_HASH_TEXT], two[PB_HASH_TEXT], again[PB_HASH_TEXT];
        snprintf(words, sizeof words, "%s seed=1", drawn[i][1]);
        expect_hash(drawn[i][0], words, one);
        expect_hash(drawn[i][0], words, again);
        snprintf(words, sizeof words, "%s seed=2", drawn[i][1]);
        expect_hash(drawn[i][0], words, two);
        assert_string_equal(one, again);
        assert_string_not_equal(one, two);
    }
}

/* FNV-1a over costs, sizes and inputs. */
static uint64_t fingerprint(const char *family, const char *words)
{
    made m;
    const pb_graph *g = make_sound(&m, family, words);
    uint64_t hash = 0xcbf29ce484222325u;
    for (pb_node v = 0; v < g->node_count; v++) {
        hash = (hash ^ g->cost[v]) * 0x100000001b3u;
        hash = (hash ^ g->size[v]) * 0x100000001b3u;
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            hash = (hash ^ g->in[i]) * 0x100000001b3u;
    }
    unmake(&m);
    return hash;
}

/* Drawn graphs are quoted in results: they may not change from one compiler, machine or release to the next. */
static void drawn_graphs_are_the_same_everywhere(void **state)
{
    (void)state;
    assert_int_equal(fingerprint("layered", "nodes=1000 seed=7"), 0x45c71955b0ea6282u);
    assert_int_equal(fingerprint("tree", "shape=random nodes=1000 profile=random"), 0xdd0ed8dbb6ad6960u);
    assert_int_equal(fingerprint("tree", "shape=skewed nodes=1000 skew=0.7 arity=3"), 0x8ae0ee8f3f53d8fau);
    assert_int_equal(fingerprint("adjoint-chain", "steps=100 profile=random"), 0xfc43f8158e29f19du);
}

/* Every family and parameter has its place on the page for users. */
static void the_page_names_every_family_and_parameter(void **state)
{
    (void)state;
    FILE *file = fopen(TEST_DIR "/../docs/generators.md", "r");
    assert_non_null(file);
    static char page[1 << 16];
    size_t length = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[length] = 0;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        char text[64];
        snprintf(text, sizeof text, "pebble gen %s", families[i].name);
        if (!strstr(page, text))
            fail_msg("the page has no '%s'", text);
        for (uint32_t k = 0; k < families[i].param_count; k++) {
            snprintf(text, sizeof text, "--%s", families[i].params[k].key);
            if (!strstr(page, text))
                fail_msg("the page has no '%s' of %s", text, families[i].name);
        }
    }
}

/* Each number one below its least (where that is a number) and one above its most; each word misspelt. */
static void every_parameter_out_of_range_is_refused_by_name(void **state)
{
    (void)state;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < families[i].param_count; k++) {
            const pb_param_spec *spec = &families[i].params[k];
            char words[128], start[128];
            snprintf(start, sizeof start, "%s: %s must be ", families[i].name, spec->key);
            made m;
            if (spec->kind == PB_PARAM_WORD || spec->kind == PB_PARAM_LIST) {
                snprintf(words, sizeof words, "%s=nonsense", spec->key);
                make(&m, families[i].name, words);
                assert_int_equal(m.status, PB_EINVAL);
            } else {
                bool seed = spec->max > 1e19;
                snprintf(words, sizeof words, "%s=%s", spec->key, seed ? "18446744073709551616" : "2000000000000000");
                make(&m, families[i].name, words);
                assert_int_equal(m.status, PB_ERANGE);
            }
            assert_memory_equal(m.ctx.error.message, start, strlen(start));
            unmake(&m);
            if (spec->kind == PB_PARAM_WORD || spec->kind == PB_PARAM_LIST || spec->min <= 0)
                continue;
            snprintf(words, sizeof words, "%s=0", spec->key);
            make(&m, families[i].name, words);
            assert_int_equal(m.status, PB_ERANGE);
            assert_memory_equal(m.ctx.error.message, start, strlen(start));
            unmake(&m);
        }
    }
}

static void refusals_are_sentences(void **state)
{
    (void)state;
    expect_refusal("tree", "height=99", PB_ERANGE, "tree: height must be between 0 and 30, not 99");
    expect_refusal("tree", "height=-1", PB_EINVAL,
                   "tree: height must be a whole number between 0 and 30 in plain digits, not '-1'");
    expect_refusal("tree", "hight=5", PB_EUNKNOWN,
                   "tree has no parameter 'hight'; it has height, arity, shape, nodes, skew, cost, size, profile, "
                   "spread, seed");
    expect_refusal("tree", "shape=round", PB_EINVAL, "tree: shape must be one of complete|skewed|random, not 'round'");
    expect_refusal("tree", "height=5 height=6", PB_EINVAL, "tree: height is given twice; leave one out");
    expect_refusal("tree", "skew=1.5", PB_ERANGE, "tree: skew must be between 0 and 1, not 1.5");
    expect_refusal("tree", "skew=half", PB_EINVAL,
                   "tree: skew must be a number between 0 and 1 in plain digits, not 'half'");
    expect_refusal("tree", "height=30", PB_ERANGE,
                   "tree: these parameters give about 2147483647 nodes; use smaller ones, for at most 199999999");
    expect_refusal("transformer", "heads=5", PB_EINVAL,
                   "transformer: heads (5) must divide width (768); change one of them");
    expect_refusal("merkle", "height=2 proof=5", PB_ERANGE,
                   "merkle: proof must be between 0 and 4, the number of leaves, not 5");
    expect_refusal("unet", "image=4 depth=3", PB_ERANGE,
                   "unet: an image of side 4 cannot be halved 3 times; use a smaller depth");
    expect_refusal(
        "tre", "", PB_EUNKNOWN,
        "there is no graph family 'tre'; choose one of chain, adjoint-chain, tree, merkle, merkle-traversal, "
        "merkle-proofs, recursive-checks, pyramid, grid, "
        "butterfly, adder, multiplier, layered, pipeline, mlp, revnet, resnet, unet, transformer, stages");
}

static void counts_too_large_are_refused_before_building(void **state)
{
    (void)state;
    static const char *const huge[][2] = {{"chain", "nodes=1000000000"},
                                          {"adjoint-chain", "steps=1000000000"},
                                          {"tree", "arity=1000 height=30"},
                                          {"tree", "shape=random nodes=1000000000"},
                                          {"merkle", "height=30"},
                                          {"grid", "rows=1000000000 cols=1000000000"},
                                          {"butterfly", "stages=24"},
                                          {"layered", "nodes=1000000000"},
                                          {"pipeline", "width=1000000 height=1000000 tile=1"},
                                          {"unet", "convs=1000000 depth=12 image=4096"},
                                          {"transformer", "blocks=10000000 width=12"}};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        made m;
        make(&m, huge[i][0], huge[i][1]);
        assert_int_equal(m.status, PB_ERANGE);
        assert_non_null(strstr(m.ctx.error.message, "these parameters give about"));
        unmake(&m);
    }
}

static void sizes_past_64_bits_are_refused_by_node(void **state)
{
    (void)state;
    made m;
    make(&m, "resnet", "batch=1000000 image=65536 width=65536 channels=65536");
    assert_int_equal(m.status, PB_ERANGE);
    assert_non_null(strstr(m.ctx.error.message, "exceeds 2^64"));
    assert_non_null(strstr(m.ctx.error.message, "resnet: the size of 'images'"));
    unmake(&m);
}

static void a_title_lists_what_differs_from_the_defaults(void **state)
{
    (void)state;
    made m;
    assert_string_equal(make_sound(&m, "tree", "height=5")->name, "tree(height=5)");
    unmake(&m);
    assert_string_equal(make_sound(&m, "tree", "")->name, "tree(height=5)");
    unmake(&m);
    assert_string_equal(make_sound(&m, "tree", "shape=skewed nodes=127")->name, "tree(shape=skewed,nodes=127)");
    unmake(&m);
    assert_string_equal(make_sound(&m, "tree", "height=7 shape=random seed=2")->name, "tree(shape=random,seed=2)");
    unmake(&m);
    assert_string_equal(make_sound(&m, "tree", "height=7 nodes=99")->name, "tree(height=7)");
    unmake(&m);
    assert_string_equal(make_sound(&m, "layered", "seed=7 nodes=040 skip=0.250 reach=10")->name,
                        "layered(nodes=40,seed=7,skip=0.25)");
    unmake(&m);
    assert_string_equal(make_sound(&m, "resnet", "depth=18 blocks=1 image=32")->name,
                        "resnet(depth=18,blocks=1,image=32)");
    unmake(&m);
}

static pb_stop stop_at_once(void *state)
{
    ++*(int *)state;
    return PB_STOP_INTERRUPT;
}

static void a_large_graph_can_be_interrupted(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    int polls = 0;
    ctx.stop = stop_at_once;
    ctx.callback_state = &polls;
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = NULL;
    pb_option nodes = {"nodes", "1000000"};
    assert_int_equal(pb_generate(&ctx, "layered", &nodes, 1, &arena, &g), PB_ECANCELLED);
    assert_null(g);
    assert_true(polls > 0);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void running_out_of_memory_is_a_status(void **state)
{
    (void)state;
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t limit = 1000; limit < 400000; limit *= 3) {
            pb_context ctx;
            pb_context_init(&ctx);
            ctx.memory_limit = limit;
            pb_arena arena;
            pb_arena_init(&arena, &ctx);
            const pb_graph *g = NULL;
            pb_status status = pb_generate(&ctx, families[i].name, NULL, 0, &arena, &g);
            assert_true(status == PB_OK || status == PB_ENOMEM);
            assert_true((status == PB_OK) == (g != NULL));
            pb_arena_release(&arena);
            assert_int_equal(ctx.memory_used, 0);
        }
    }
}

static void labels_hold_what_fits(void **state)
{
    (void)state;
    pbi_label label;
    pbi_label_pair(&label, "p", 0, UINT64_MAX);
    assert_string_equal(label.text, "p0_18446744073709551615");
    for (int i = 0; i < 50; i++)
        pbi_label_text(&label, "abc");
    assert_int_equal(label.length, sizeof label.text - 1);
    assert_int_equal(strlen(label.text), label.length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_makes_a_sound_graph_by_default),
        cmocka_unit_test(every_order_puts_inputs_first),
        cmocka_unit_test(equal_parameters_give_equal_graphs),
        cmocka_unit_test(another_seed_gives_another_graph),
        cmocka_unit_test(drawn_graphs_are_the_same_everywhere),
        cmocka_unit_test(the_page_names_every_family_and_parameter),
        cmocka_unit_test(every_parameter_out_of_range_is_refused_by_name),
        cmocka_unit_test(refusals_are_sentences),
        cmocka_unit_test(counts_too_large_are_refused_before_building),
        cmocka_unit_test(sizes_past_64_bits_are_refused_by_node),
        cmocka_unit_test(a_title_lists_what_differs_from_the_defaults),
        cmocka_unit_test(a_large_graph_can_be_interrupted),
        cmocka_unit_test(running_out_of_memory_is_a_status),
        cmocka_unit_test(labels_hold_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
