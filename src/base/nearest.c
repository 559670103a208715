/* nearest.c -- the name that somebody meant: close by its letters. */
#include "base/nearest.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 63, ENDING = 34 /* bytes for ", " and how a list ends */ };

/* Edits that turn a into b, swaps of neighbours counting once. */
static unsigned edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned before[LONGEST_NAME + 2] = {0}, last[LONGEST_NAME + 2], row[LONGEST_NAME + 2];
    if (n > LONGEST_NAME || m > LONGEST_NAME)
        return LONGEST_NAME;
    for (size_t j = 0; j <= m; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned least = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < least)
                least = last[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            row[j] = least;
        }
        memcpy(before, last, sizeof last);
        memcpy(last, row, sizeof row);
    }
    return last[m];
}

const char *pb_nearest_name(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(word);
    /* Slips, not other words: one in seven letters or fewer, two in more; or the beginning of a name. */
    unsigned least = length <= 1 ? 1 : length <= 7 ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            continue;
        unsigned distance = edit_distance(word, names[i]);
        if (length >= 3 && strncmp(word, names[i], length) == 0)
            distance = 1;
        if (distance < least) {
            least = distance;
            best = names[i];
        }
    }
    return best;
}

/* "a, b or c"; names that do not fit are counted: "a, b or one of 30 others". */
static void list_names(const char *const *names, size_t count, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (used + strlen(names[i]) + ENDING > room) {
            snprintf(text + used, room - used, " or one of %zu others", count - i);
            return;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", !i ? "" : i + 1 < count ? ", " : " or ", names[i]);
    }
}

pb_status pbi_unknown_name(pb_context *ctx, const char *what, const char *word, const char *const *names, size_t count)
{
    char all[440];
    const char *near = pb_nearest_name(word, names, count);
    if (near)
        return pbi_fail(ctx, PB_EUNKNOWN, "there is no %s `%.60s`; did you mean %s?", what, word, near);
    list_names(names, count, all, sizeof all);
    return pbi_fail(ctx, PB_EUNKNOWN, "there is no %s `%.60s`%s%s", what, word, all[0] ? "; choose " : "", all);
}
