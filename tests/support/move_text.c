/* move_text.c -- see move_text.h. */
#include "support/move_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "cufsld"; /* in the order of pb_op */

static pb_node read_node(const char **at)
{
    char *end;
    unsigned long long v = strtoull(*at, &end, 10);
    if (end == *at) {
        fprintf(stderr, "no node at \"%s\"\n", *at);
        abort();
    }
    *at = end;
    return (pb_node)v;
}

void moves_from_text(const char *text, pb_moves *out)
{
    for (const char *at = text; *at;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        if (*at == 'b') { /* computed in borrowed memory */
            at++;
            if (pb_moves_add_borrowed(out, read_node(&at)) != PB_OK)
                abort();
            continue;
        }
        const char *letter = strchr(letters, *at);
        if (!letter) {
            fprintf(stderr, "no move at \"%s\"\n", at);
            abort();
        }
        at++;
        pb_node v = read_node(&at), over = PB_NO_NODE, also[8];
        uint32_t count = 0;
        uint8_t tier = 0, by = 0;
        for (; *at == '/' || *at == '+' || *at == ':' || *at == '@';) {
            char what = *at++;
            pb_node u = read_node(&at);
            if (what == '/')
                over = u;
            else if (what == ':')
                tier = (uint8_t)u;
            else if (what == '@')
                by = (uint8_t)u;
            else
                also[count++] = u;
        }
        pb_op op = (pb_op)(letter - letters);
        if ((op == PB_COMPUTE ? pb_moves_add_compute(out, v, over, also, count) : pb_moves_add(out, op, v, tier)) !=
            PB_OK)
            abort();
        out->move[out->count - 1].by = by;
    }
}

void moves_to_text(const pb_moves *moves, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (pb_step k = 0; k < moves->count; k++) {
        if (room - used < 200) {
            snprintf(text + used, room - used, "...");
            return;
        }
        const pb_move *m = &moves->move[k];
        uint32_t count;
        const pb_node *also = pb_moves_also(moves, k, &count);
        char letter = '?';
        if (m->op < PB_OP_COUNT)
            letter = m->flags & PB_MOVE_BORROW ? 'b' : letters[m->op];
        used += (size_t)snprintf(text + used, room - used, "%s%c%" PRIu32, k ? " " : "", letter, m->node);
        if (pb_moves_over(moves, k) != PB_NO_NODE)
            used += (size_t)snprintf(text + used, room - used, "/%" PRIu32, pb_moves_over(moves, k));
        for (uint32_t i = 0; i < count && i < 8; i++)
            used += (size_t)snprintf(text + used, room - used, "+%" PRIu32, also[i]);
        if (m->by)
            used += (size_t)snprintf(text + used, room - used, "@%u", m->by);
        if (m->tier)
            used += (size_t)snprintf(text + used, room - used, ":%u", m->tier);
    }
}
