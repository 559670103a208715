/* graphs.c -- graphs for other languages: from arrays, bytes and families, and back to arrays; see bindings.h. */
#include "api/session/session.h"

#include "base/context.h"
#include "pebble/generate.h"
#include "pebble/io.h"

#include <string.h>

enum { MOST_PARAMETERS = 64 };

static pb_status wrong(pb_session *s, const char *sentence)
{
    return pbi_session_end(s, pbi_fail(&s->ctx, PB_EINVAL, "%s", sentence));
}

/* ---- from arrays ---- */

pb_status pbi_session_need_builder(pb_session *s) { return s->builder ? PB_OK : pb_builder_new(&s->ctx, &s->builder); }

static void forget_labels(pb_session *s)
{
    s->names = NULL;
    s->name_count = 0;
    s->group = (pbi_draft_labels){.index = NULL};
    s->work = (pbi_draft_work){.flops = NULL};
}

/* A failure drops what was added: the next graph begins empty, and keeps no pointer to the caller's labels. */
pb_status pbi_session_end_draft(pb_session *s, pb_status status)
{
    if (status != PB_OK) {
        pb_builder_free(s->builder);
        s->builder = NULL;
        forget_labels(s);
    }
    return pbi_session_end(s, status);
}

pb_status pbi_session_drop(pb_session *s, const char *sentence)
{
    return pbi_session_end_draft(s, pbi_fail(&s->ctx, PB_EINVAL, "%s", sentence));
}

/* Counts the texts in these bytes. False: the last one does not end with NUL. */
static bool texts_count(const char *texts, uint64_t length, uint64_t *count)
{
    *count = 0;
    if (!length)
        return true;
    if (!texts || texts[length - 1] != '\0')
        return false;
    for (const char *at = texts, *end = texts + length; at < end; at += strlen(at) + 1)
        ++*count;
    return true;
}

pb_status pb_session_name_nodes(pb_session *s, uint32_t count, const char *names, uint64_t length)
{
    if (!s)
        return PB_EINVAL;
    uint64_t found;
    if (!texts_count(names, length, &found) || found != count)
        return pbi_session_drop(s, "expected one name per node, each ended by NUL");
    s->names = names;
    s->name_count = count;
    return PB_OK;
}

pb_status pbi_session_labels(pb_session *s, uint32_t count, const uint32_t *index, const char *names, uint64_t length,
                             pbi_draft_labels *out)
{
    uint64_t found, k = 0;
    if (!texts_count(names, length, &found) || (count && !index))
        return pbi_session_drop(s, "expected names, each ended by NUL, and an index for each node");
    for (uint32_t i = 0; i < count; i++)
        if (index[i] != UINT32_MAX && index[i] >= found)
            return pbi_session_drop(s, "a node has an index that has no name; add the name");
    const char **list = pb_arena_alloc(&s->arena, (size_t)found + 1, sizeof *list);
    if (!list)
        return pbi_session_end_draft(s, PB_ENOMEM);
    for (const char *at = names; k < found; at += strlen(at) + 1)
        list[k++] = at;
    *out = (pbi_draft_labels){index, list, count};
    return PB_OK;
}

const char *pbi_draft_label(const pbi_draft_labels *labels, uint32_t i)
{
    return labels->index && labels->index[i] != UINT32_MAX ? labels->names[labels->index[i]] : NULL;
}

pb_status pb_session_group_nodes(pb_session *s, uint32_t count, const uint32_t *group, const char *names,
                                 uint64_t length)
{
    return s ? pbi_session_labels(s, count, group, names, length, &s->group) : PB_EINVAL;
}

static pb_status add_nodes(pb_session *s, uint32_t count, const uint64_t *cost, const uint64_t *size,
                           const uint64_t *workspace, const uint16_t *flags)
{
    const uint16_t own = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW | PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_TARGET;
    const char *name = s->names;
    pb_status status = pbi_session_need_builder(s);
    pb_node added;
    if (status == PB_OK && count && (!cost || !size))
        return pbi_fail(&s->ctx, PB_EINVAL, "nodes need costs and sizes; pass both arrays");
    if (status == PB_OK && ((s->names && s->name_count != count) || (s->group.index && s->group.count != count) ||
                            !pbi_draft_work_fits(&s->work, count)))
        return pbi_fail(&s->ctx, PB_EINVAL,
                        "names, groups, counts and words must be as many as nodes; pass one of each per node");
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        pb_node_spec spec = {.name = name,
                             .cost = cost[i],
                             .size = size[i],
                             .workspace = workspace ? workspace[i] : 0,
                             .flags = flags ? (uint16_t)(flags[i] & own & ~PB_NODE_TARGET) : 0,
                             .group = pbi_draft_label(&s->group, i),
                             .work = pbi_draft_work_at(&s->work, i)};
        if (flags && (flags[i] & ~own))
            return pbi_fail(&s->ctx, PB_EINVAL,
                            "node %u has unknown flags; use GIVEN, GIVEN_SLOW, ONCE, KEEP and TARGET only",
                            (unsigned)i);
        status = pb_builder_add_node(s->builder, &spec, &added);
        if (status == PB_OK && flags && (flags[i] & PB_NODE_TARGET))
            status = pb_builder_add_target(s->builder, added);
        name = name ? name + strlen(name) + 1 : NULL;
    }
    return status;
}

pb_status pb_session_add_nodes(pb_session *s, uint32_t count, const uint64_t *cost, const uint64_t *size,
                               const uint64_t *workspace, const uint16_t *flags)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = add_nodes(s, count, cost, size, workspace, flags);
    forget_labels(s);
    return pbi_session_end_draft(s, status);
}

pb_status pb_session_add_pairs(pb_session *s, const char *what, uint64_t count, const uint32_t *first,
                               const uint32_t *second)
{
    if (!s)
        return PB_EINVAL;
    pb_status (*add)(pb_builder *, pb_node, pb_node) = strcmp(what, "edge") == 0           ? pb_builder_add_edge
                                                       : strcmp(what, "inplace") == 0      ? pb_builder_add_inplace
                                                       : strcmp(what, "byproduct_of") == 0 ? pb_builder_set_byproduct
                                                                                           : NULL;
    if (!add || (count && (!first || !second)))
        return pbi_session_drop(s, "expected pairs of kind edge, inplace or byproduct_of, with two arrays of nodes");
    pb_status status = pbi_session_need_builder(s);
    for (uint64_t i = 0; i < count && status == PB_OK; i++)
        status = add(s->builder, first[i], second[i]);
    return pbi_session_end_draft(s, status);
}

pb_status pb_session_add_priorities(pb_session *s, uint64_t count, const uint32_t *node, const uint64_t *priority)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = pbi_session_need_builder(s);
    if (status == PB_OK && count && (!node || !priority))
        status = pbi_fail(&s->ctx, PB_EINVAL, "priorities need nodes and values; pass both arrays");
    for (uint64_t i = 0; i < count && status == PB_OK; i++)
        status = pb_builder_set_priority(s->builder, node[i], priority[i]);
    return pbi_session_end_draft(s, status);
}

pb_status pb_session_add_list(pb_session *s, const char *what, uint64_t count, const uint32_t *node)
{
    if (!s)
        return PB_EINVAL;
    pb_status (*add)(pb_builder *, pb_node) = strcmp(what, "target") == 0  ? pb_builder_add_target
                                              : strcmp(what, "order") == 0 ? pb_builder_add_order
                                                                           : NULL;
    if (!add || (count && !node))
        return pbi_session_drop(s, "expected a list of kind target or order, with an array of nodes");
    pb_status status = pbi_session_need_builder(s);
    for (uint64_t i = 0; i < count && status == PB_OK; i++)
        status = add(s->builder, node[i]);
    return pbi_session_end_draft(s, status);
}

pb_status pb_session_make_graph(pb_session *s, const char *name, const char *cost_unit, const char *size_unit,
                                uint64_t fixed_size, const pb_graph **out)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = pbi_session_need_builder(s);
    if (status == PB_OK)
        status = pb_builder_set_texts(s->builder, name, cost_unit, size_unit);
    if (status == PB_OK) {
        pb_builder_set_fixed_size(s->builder, fixed_size);
        status = pb_builder_freeze(s->builder, &s->arena, out);
    }
    pb_builder_free(s->builder);
    s->builder = NULL;
    forget_labels(s);
    return pbi_session_end(s, status);
}

/* ---- from files and families ---- */

pb_status pbi_session_read(pb_session *s, pb_source source, const char *path, const pb_graph **out)
{
    static const pb_dim_words words = {"dims={", "\"", "\": 1", ", ", "}"}; /* as the Python package writes them */
    pb_read_options how = {.path = path, .dim_words = &words};
    pbi_session_begin_reading(s);
    pb_status status = pb_settings_reading(&s->ctx, &s->settings, &s->arena, &how);
    if (status != PB_OK && s->settings.wrong < PB_SETTING_COUNT)
        pb_error_name(&s->ctx, pb_setting_name(s->settings.wrong));
    if (status != PB_OK)
        return status;
    s->settings.wrong = PB_SETTING_COUNT;
    return pb_graph_read_with(&s->ctx, source, &how, &s->arena, out);
}

pb_status pb_session_read_graph(pb_session *s, const char *bytes, uint64_t length, const char *path,
                                const pb_graph **out)
{
    if (!s)
        return PB_EINVAL;
    pb_memory memory = {.bytes = bytes ? bytes : "", .length = bytes ? (size_t)length : 0};
    pb_status status = pbi_session_read(s, pb_source_memory(&memory), path, out);
    s->settings.wrong = PB_SETTING_COUNT;
    return pbi_session_finish(s, status);
}

pb_status pb_session_generate(pb_session *s, const char *family, const char *parameters, const pb_graph **out)
{
    if (!s)
        return PB_EINVAL;
    pb_option params[MOST_PARAMETERS];
    uint32_t count = 0;
    for (const char *at = parameters ? parameters : ""; *at;) {
        size_t length = strcspn(at, "\n");
        const char *sign = memchr(at, '=', length);
        if (!sign || count == MOST_PARAMETERS)
            return wrong(s, "expected parameters as lines key=value, at most 64 of them");
        char *key = pb_arena_text(&s->arena, at, (size_t)(sign - at));
        char *value = pb_arena_text(&s->arena, sign + 1, length - (size_t)(sign - at) - 1);
        if (!key || !value)
            return pbi_session_end(s, PB_ENOMEM);
        params[count++] = (pb_option){key, value};
        at += length + (at[length] == '\n');
    }
    pbi_session_begin_reading(s);
    return pbi_session_finish(s, pb_generate(&s->ctx, family, params, count, &s->arena, out));
}

/* ---- back to arrays ---- */

const void *pb_graph_array(const pb_graph *g, const char *field, uint64_t *count, uint32_t *width)
{
    const uint64_t n = g->node_count, rows = n + 1;
    const uint64_t names = n ? g->name_start[n - 1] + strlen(g->name_text + g->name_start[n - 1]) + 1 : 0;
    const struct {
        const char *name;
        const void *array;
        uint64_t count;
        uint32_t width;
    } fields[] = {
        {"cost", g->cost, n, 8},
        {"size", g->size, n, 8},
        {"workspace", g->workspace, n, 8},
        {"priority", g->priority, n, 8},
        {"flags", g->flags, n, 2},
        {"in_start", g->in_start, rows, 4},
        {"in", g->in, g->edge_count, 4},
        {"out_start", g->out_start, rows, 4},
        {"out", g->out, g->edge_count, 4},
        {"inplace_start", g->inplace_start, rows, 4},
        {"inplace", g->inplace, g->inplace_start ? g->inplace_start[n] : 0, 4},
        {"owner", g->owner, n, 4},
        {"part_start", g->part_start, rows, 4},
        {"part", g->part, g->part_start ? g->part_start[n] : 0, 4},
        {"order", g->order, g->order_count, 4},
        {"depth", g->depth, n, 4},
        {"targets", g->targets, g->target_count, 4},
        {"group", g->group, n, 4},
        {"name_start", g->name_start, n, 8},
        {"name_text", g->name_text, names, 1},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, field) == 0) {
            *count = fields[i].array ? fields[i].count : 0;
            *width = fields[i].width;
            return fields[i].array;
        }
    *count = *width = 0;
    return NULL;
}

uint64_t pb_graph_number(const pb_graph *g, const char *field)
{
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"node_count", g->node_count},     {"edge_count", g->edge_count},       {"fixed_size", g->fixed_size},
        {"order_count", g->order_count},   {"order_named", g->order_named},     {"max_depth", g->max_depth},
        {"target_count", g->target_count}, {"targets_named", g->targets_named}, {"group_count", g->group_count},
        {"needed_cost", g->needed_cost},   {"needed_count", g->needed_count},   {"total_size", g->total_size},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, field) == 0)
            return fields[i].value;
    return UINT64_MAX;
}

const char *pb_graph_text(const pb_graph *g, const char *field)
{
    if (strcmp(field, "shape") == 0)
        return pb_shape_name(g->shape);
    return strcmp(field, "name") == 0        ? g->name
           : strcmp(field, "cost_unit") == 0 ? g->cost_unit
           : strcmp(field, "size_unit") == 0 ? g->size_unit
                                             : NULL;
}

const char *pb_graph_node_name(const pb_graph *g, uint32_t node)
{
    return node < g->node_count ? pb_graph_name(g, node) : NULL;
}

const char *pb_graph_group_label(const pb_graph *g, uint32_t group)
{
    return group < g->group_count ? g->group_names[group] : NULL;
}

uint32_t pb_graph_find_node(const pb_graph *g, const char *name) { return pb_graph_find(g, name); }

pb_status pb_session_write_graph(pb_session *s, const pb_graph *g, const char *form)
{
    if (!s)
        return PB_EINVAL;
    char hash[PB_HASH_TEXT];
    pb_format format;
    if (strcmp(form, "hash") == 0) {
        pb_status status = pb_graph_hash(&s->ctx, g, hash);
        return pbi_session_end(s, status == PB_OK ? pbi_session_say(s, hash) : status);
    }
    if (!pb_format_parse(form, &format) ||
        (format != PB_FORMAT_JSON && format != PB_FORMAT_DOT && format != PB_FORMAT_CSV))
        return wrong(s, "a graph can be written as json, dot or csv; choose one of them");
    return pbi_session_end(s, pb_graph_write(&s->ctx, g, format, pbi_session_write(s)));
}

pb_status pb_session_program_peak(pb_session *s, const pb_graph *g, uint64_t *peak)
{
    if (!s)
        return PB_EINVAL;
    return pbi_session_end(s, pb_graph_program_peak(&s->ctx, g, peak));
}

pb_status pb_session_size(pb_session *s, const pb_graph *g, const char *text, uint64_t *size)
{
    if (!s)
        return PB_EINVAL;
    uint64_t value;
    pb_status status = pb_size_read(&s->ctx, g, text, &value);
    if (status == PB_OK)
        *size = value;
    return pbi_session_end(s, status);
}
