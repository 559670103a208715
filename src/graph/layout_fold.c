/* layout_fold.c -- long layouts in rows below one another, like lines of text.
 *
 * A network of hundreds of layers is a thousand times as wide as high, and cannot be shown at once. It is cut into
 * rows of about equal width, so that the whole is about twice as wide as high. Cuts are placed where they split the
 * fewest groups.
 */
#include "graph/layout_parts.h"

#include <math.h>
#include <string.h>

#define LONGEST 10.0 /* width over height, beyond which it is folded */
#define SHAPE 2.2    /* desired width over height */
#define ROW_GAP 2.0f

/* The best number of rows; 1: do not fold. */
static uint32_t row_count(const pb_layout *l)
{
    double width = l->width, row = l->height + ROW_GAP;
    if (width < LONGEST * l->height || width < 40)
        return 1;
    double rows = floor(sqrt(width / (SHAPE * row)) + 0.5);
    return rows < 1 ? 1 : rows > width / 8 ? (uint32_t)(width / 8) : (uint32_t)rows;
}

/* parted[c]: groups that a cut at the left edge of column c would split. */
static bool count_parted(const pb_graph *g, const pb_layout *l, uint32_t columns, int32_t *parted, pb_arena *scratch)
{
    float *low = pb_arena_alloc(scratch, g->group_count, sizeof *low);
    float *high = pb_arena_alloc(scratch, g->group_count, sizeof *high);
    if (!low || !high)
        return false;
    memset(parted, 0, ((size_t)columns + 2) * sizeof *parted);
    for (uint32_t i = 0; i < g->group_count; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    for (pb_node v = 0; g->group && v < g->node_count; v++) {
        uint32_t i = g->group[v];
        if (i == UINT32_MAX)
            continue;
        low[i] = fminf(low[i], l->x[v]);
        high[i] = fmaxf(high[i], l->x[v]);
    }
    for (uint32_t i = 0; i < g->group_count; i++)
        if (low[i] <= high[i]) {
            parted[(uint32_t)floorf(low[i]) + 1]++;
            parted[(uint32_t)floorf(high[i]) + 1]--;
        }
    for (uint32_t c = 1; c <= columns; c++)
        parted[c] += parted[c - 1];
    return true;
}

/* The first column of the next row: near `ideal`, where the fewest groups are split. */
static uint32_t choose_cut(const int32_t *parted, uint32_t ideal, uint32_t slack, uint32_t least, uint32_t most)
{
    uint32_t best = ideal;
    for (uint32_t away = 0; away <= slack; away++)
        for (int side = 0; side < 2; side++) {
            uint32_t cut = side ? ideal + away : ideal > away ? ideal - away : 0;
            if (cut > least && cut < most && parted[cut] < parted[best])
                best = cut;
        }
    return best;
}

static void move_rows(const pb_graph *g, pb_layout *l, const uint32_t *row, const float *left, uint32_t rows)
{
    float high = l->height + ROW_GAP, widest = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        l->x[v] -= left[row[v]];
        l->y[v] += (float)row[v] * high;
        widest = fmaxf(widest, l->x[v] + 0.5f);
    }
    l->width = widest;
    l->height += (float)(rows - 1) * high;
}

/* The row that each column belongs to. */
static bool cut_columns(const pb_graph *g, const pb_layout *l, uint32_t rows, uint32_t columns, pb_arena *scratch,
                        uint32_t *row_of)
{
    int32_t *parted = pb_arena_alloc(scratch, (size_t)columns + 2, sizeof *parted);
    if (!parted || !count_parted(g, l, columns, parted, scratch))
        return false;
    uint32_t start = 0;
    for (uint32_t r = 1; r <= rows; r++) {
        uint32_t ideal = (uint32_t)((double)columns * r / rows), end = columns + 1;
        if (r < rows)
            end = choose_cut(parted, ideal, columns / rows / 5, start, columns);
        for (; start < end; start++)
            row_of[start] = r - 1;
    }
    return true;
}

pb_status pbi_layout_fold(const pb_graph *g, pb_arena *scratch, pb_layout *l)
{
    uint32_t rows = row_count(l), columns = (uint32_t)ceilf(l->width);
    if (rows < 2)
        return PB_OK;
    uint32_t *row_of = pb_arena_alloc(scratch, (size_t)columns + 1, sizeof *row_of);
    uint32_t *row = pb_arena_alloc(scratch, g->node_count, sizeof *row);
    float *left = pb_arena_alloc(scratch, rows, sizeof *left);
    if (!row_of || !row || !left || !cut_columns(g, l, rows, columns, scratch, row_of))
        return PB_ENOMEM;
    for (uint32_t r = 0; r < rows; r++)
        left[r] = INFINITY;
    for (pb_node v = 0; v < g->node_count; v++) {
        row[v] = row_of[(uint32_t)floorf(l->x[v])];
        left[row[v]] = fminf(left[row[v]], l->x[v] - 0.5f); /* of its content */
    }
    move_rows(g, l, row, left, rows);
    return PB_OK;
}
