/* graph_json_recipe.c -- reads the field `recipes` of a node: other ways to get its value back. */
#include "base/arena.h"
#include "base/context.h"
#include "graph/graph_builder.h"
#include "io/graph_json.h"

#include <string.h>

enum recipe_field {
    RECIPE_NAME,
    RECIPE_INPUTS,
    RECIPE_COST,
    RECIPE_WORKSPACE,
    RECIPE_INPLACE,
    RECIPE_WORK, /* and the other fields of pbi_work_field up to `times` */
    RECIPE_FIELDS = RECIPE_WORK + PBI_WORK_TIMES + 1
};
static const pbi_slice recipe_fields[] = {
    PBI_NAME("name"),  PBI_NAME("inputs"), PBI_NAME("cost"), PBI_NAME("workspace"), PBI_NAME("inplace"),
    PBI_NAME("flops"), PBI_NAME("bytes"),  PBI_NAME("op"),   PBI_NAME("dtype"),     PBI_NAME("times"),
};

/* The recipe being read: its rows wait in lists, because its number comes from the builder when it is complete. */
typedef struct recipe_read {
    pb_recipe_spec spec;
    uint32_t seen;
    pbi_placed_reference *row[2]; /* inputs, inplace */
    size_t count[2], room[2];
} recipe_read;

void pbi_graph_recipes_init(pbi_graph_reader *r, pb_arena *arena)
{
    pbi_work_init(&r->recipe_work, arena);
    pb_buffer_init(&r->recipe_name, arena);
    pb_buffer_init(&r->recipe_extra, arena);
    pbi_keys_init(&r->recipe_keys, arena);
}

static pb_status read_row(pbi_graph_reader *r, pbi_field field, recipe_read *recipe, int which)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    bool more;
    while (status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more) {
        void *items = recipe->row[which];
        if (!pbi_arena_reserve(r->scratch, &items, &recipe->room[which], recipe->count[which] + 1,
                               sizeof *recipe->row[which]))
            return PB_ENOMEM;
        recipe->row[which] = items;
        pbi_placed_reference *entry = &recipe->row[which][recipe->count[which]++];
        status = pbi_graph_reference(r, field, &entry->node);
        entry->place = r->json.place;
    }
    return status;
}

static pb_status read_field(pbi_graph_reader *r, uint32_t which, pbi_field field, recipe_read *recipe)
{
    pbi_slice text;
    pbi_decimal cost = {0, 0};
    pb_status status;
    switch ((enum recipe_field)which) {
    case RECIPE_NAME:
        status = pbi_read_text(&r->json, field, &text);
        r->recipe_name.length = 0;
        if (status == PB_OK &&
            (!pbi_bytes_add(&r->recipe_name, text.bytes, text.length) || !pbi_bytes_add(&r->recipe_name, "", 1)))
            status = PB_ENOMEM;
        return status;
    case RECIPE_INPUTS: return read_row(r, field, recipe, 0);
    case RECIPE_COST:
        status = pbi_read_cost(&r->json, field, &cost);
        if (status == PB_OK)
            status = pbi_graph_placed(r, pbi_builder_take_cost(r->builder, cost, &recipe->spec.cost), r->json.place);
        return status;
    case RECIPE_WORKSPACE: return pbi_read_whole(&r->json, field, &recipe->spec.workspace);
    case RECIPE_INPLACE: return read_row(r, field, recipe, 1);
    case RECIPE_WORK:
    case RECIPE_FIELDS: break;
    }
    return pbi_work_read(&r->recipe_work, &r->json, field, (pbi_work_field)(which - RECIPE_WORK));
}

static pb_status finish_recipe(pbi_graph_reader *r, recipe_read *recipe, pb_node v, pbi_place place)
{
    uint32_t number;
    recipe->spec.work = pbi_work_of(&r->recipe_work);
    recipe->spec.name = recipe->seen & 1u << RECIPE_NAME ? r->recipe_name.bytes : NULL;
    if (r->recipe_extra.length) {
        if (!pbi_bytes_add(&r->recipe_extra, "", 1))
            return PB_ENOMEM;
        recipe->spec.extra = r->recipe_extra.bytes;
    }
    pb_status status = pbi_graph_placed(r, pb_builder_add_recipe(r->builder, v, &recipe->spec, &number), place);
    for (size_t i = 0; i < r->recipe_work.count && status == PB_OK; i++) {
        const pbi_waiting_note *note = &r->recipe_work.note[i];
        status = pb_builder_add_recipe_time(r->builder, number, r->recipe_work.text.bytes + note->at, note->value);
    }
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < recipe->count[which] && status == PB_OK; i++)
            status = pbi_graph_relate(r, which ? PBI_USE_RECIPE_INPLACE : PBI_USE_RECIPE, number,
                                      recipe->row[which][i].node, recipe->row[which][i].place);
    return status;
}

static pb_status read_recipe(pbi_graph_reader *r, pbi_field field, recipe_read *recipe, pb_node v)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    pbi_place place = r->json.place;
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    pbi_work_clear(&r->recipe_work);
    r->recipe_extra.length = 0;
    pbi_keys_clear(&r->recipe_keys);
    recipe->spec = (pb_recipe_spec){.cost = 0};
    recipe->seen = 0;
    recipe->count[0] = recipe->count[1] = 0;
    field.of = "recipe";
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, recipe_fields, RECIPE_FIELDS);
        if (which == RECIPE_FIELDS) {
            status = pbi_json_keep(&r->json, key, &r->recipe_extra, &r->recipe_keys);
            continue;
        }
        field.name = recipe_fields[which].bytes;
        status = pbi_refuse_twice(&r->json, field, which, &recipe->seen);
        if (status == PB_OK)
            status = read_field(r, which, field, recipe);
    }
    if (status == PB_OK && !(recipe->seen & 1u << RECIPE_INPUTS)) {
        r->json.place = place;
        field.name = "inputs";
        return pbi_field_fail(&r->json, field, "is missing: a recipe lists the nodes that it reads, [] for none");
    }
    return status == PB_OK ? finish_recipe(r, recipe, v, place) : status;
}

pb_status pbi_graph_read_recipes(pbi_graph_reader *r, pbi_field field, pb_node v)
{
    recipe_read recipe = {.seen = 0};
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    pbi_field item = {"recipes", "recipe", 1}; /* counted from 1, as in the `by` of a move */
    bool more;
    for (; status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more; item.index++)
        status = read_recipe(r, item, &recipe, v);
    return status;
}

pb_status pbi_recipes_parse(pb_builder *b, pb_arena *scratch, pb_node v, const char *text)
{
    pbi_graph_reader r = {.ctx = b->ctx, .scratch = scratch, .builder = b, .nodes_known = true};
    pbi_text source;
    pb_memory memory = {text, strlen(text), 0};
    pb_arena_init(&r.waits, b->ctx);
    pb_buffer_init(&r.names, &r.waits);
    pbi_graph_recipes_init(&r, scratch);
    pb_status status = pbi_text_init(&source, b->ctx, pb_source_memory(&memory), scratch);
    pbi_json_init(&r.json, &source, scratch);
    if (status == PB_OK)
        status = pbi_graph_read_recipes(&r, (pbi_field){"recipes", NULL, 0}, v);
    if (status == PB_OK)
        status = pbi_json_end(&r.json);
    pb_arena_release(&r.waits);
    return status;
}
