/* schedule_timed.c -- what only schedules of the timed game have: start times, lanes, peaks by memory.
 *
 * Moves name processors, links and memories, and the machine may come after them in the file: the names are numbered
 * when they are read, and looked up when the document is complete.
 */
#include "base/arena.h"
#include "base/context.h"
#include "io/schedule_reader.h"

#include <string.h>

static const char *const place_keys[PB_OP_COUNT] = {[PB_COMPUTE] = "on", [PB_COPY] = "link", [PB_FREE] = "in"};
static const char *const place_words[PB_OP_COUNT] = {
    [PB_COMPUTE] = "processor", [PB_COPY] = "link", [PB_FREE] = "memory"};

/* ---- moves ---- */

/* Machines have few parts, and most moves are on the lane of one of the last ones. */
static pb_status find_word(pbi_schedule_reader *r, pbi_slice name, pb_op op, uint32_t *out)
{
    for (size_t i = 0; i < r->word_count; i++)
        if (r->words[i].op == (uint8_t)op && strlen(r->words[i].text) == name.length &&
            memcmp(r->words[i].text, name.bytes, name.length) == 0) {
            *out = (uint32_t)i;
            return PB_OK;
        }
    void *items = r->words;
    if (r->word_count > 3 * PB_MACHINE_MAX_PARTS)
        return pbi_field_fail(&r->json, (pbi_field){"moves", NULL, 0},
                              "name more processors, links and memories than a machine has; correct the names");
    if (!pbi_arena_reserve(r->scratch, &items, &r->word_room, r->word_count + 1, sizeof *r->words))
        return PB_ENOMEM;
    r->words = items;
    pbi_word word = {pb_arena_text(r->scratch, name.bytes, name.length), (uint8_t)op, r->json.place};
    if (!word.text)
        return PB_ENOMEM;
    *out = (uint32_t)r->word_count;
    r->words[r->word_count++] = word;
    return PB_OK;
}

pb_status pbi_schedule_read_when(pbi_schedule_reader *r, pbi_field field, int which, pb_op op, pbi_timed_move *out)
{
    pbi_slice name;
    if (which == PBI_TIMED_AT) {
        out->has_at = true;
        return pbi_read_whole(&r->json, field, &out->at);
    }
    pb_status status = pbi_read_text(&r->json, field, &name);
    out->has_word = true;
    return status == PB_OK ? find_word(r, name, op, &out->word) : status;
}

pb_status pbi_schedule_add_when(pbi_schedule_reader *r, pbi_field field, const pbi_timed_move *t, pbi_place place)
{
    pb_moves *moves = &r->s->moves;
    bool timed = t && (t->has_at || t->has_word);
    if (timed && (!t->has_at || !t->has_word)) {
        const char *key = place_keys[moves->move[moves->count - 1].op];
        r->json.place = place;
        return pbi_field_fail(&r->json, field, "of the timed game needs \"%s\" and \"at\"; add \"%s\"",
                              key ? key : "on", t->has_at ? (key ? key : "on") : "at");
    }
    if (timed && !r->any_timed)
        r->first_timed = place;
    if (!timed && !r->any_untimed)
        r->first_untimed = place;
    r->any_timed |= timed;
    r->any_untimed |= !timed;
    return timed && !r->any_untimed ? pb_moves_set_when(moves, t->word, t->at) : PB_OK;
}

/* ---- peaks ---- */

pb_status pbi_schedule_read_peaks(pbi_schedule_reader *r, pbi_field field)
{
    pbi_slice key;
    bool more;
    r->peaks_place = r->json.place;
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        void *items = r->peaks;
        if (r->peak_count > PB_MACHINE_MAX_PARTS)
            return pbi_field_fail(&r->json, field, "name more memories than a machine has; leave some out");
        if (!pbi_arena_reserve(r->scratch, &items, &r->peak_room, r->peak_count + 1, sizeof *r->peaks))
            return PB_ENOMEM;
        r->peaks = items;
        pbi_peak *peak = &r->peaks[r->peak_count++];
        peak->memory = pb_arena_text(r->scratch, key.bytes, key.length);
        if (!peak->memory)
            return PB_ENOMEM;
        status = pbi_read_whole(&r->json, field, &peak->amount);
    }
    return status;
}

/* The figures in the order of the machine's memories: each must be there once. */
static pb_status settle_peaks(pbi_schedule_reader *r)
{
    const pb_machine *m = r->s->machine;
    uint64_t *peaks = pb_arena_alloc(r->result, m->memory_count, sizeof *peaks);
    r->json.place = r->peaks_place;
    if (!peaks)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < m->memory_count; i++) {
        size_t at = 0;
        while (at < r->peak_count && strcmp(r->peaks[at].memory, m->memories[i].name) != 0)
            at++;
        if (at == r->peak_count || r->peak_count != m->memory_count)
            return pbi_field_fail(&r->json, (pbi_field){"peaks", NULL, 0},
                                  "must have one figure for each memory of the machine");
        peaks[i] = r->peaks[at].amount;
    }
    r->s->metrics.peaks = peaks;
    return PB_OK;
}

/* ---- the whole document ---- */

static uint32_t part_of(const pb_machine *m, const pbi_word *word)
{
    uint32_t count = word->op == PB_COMPUTE ? m->processor_count
                     : word->op == PB_COPY  ? m->link_count
                                            : m->memory_count;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = word->op == PB_COMPUTE ? m->processors[i].name
                           : word->op == PB_COPY  ? m->links[i].name
                                                  : m->memories[i].name;
        if (strcmp(name, word->text) == 0)
            return i;
    }
    return UINT32_MAX;
}

static pb_status settle_places(pbi_schedule_reader *r)
{
    pb_moves *moves = &r->s->moves;
    uint32_t *part = pb_arena_alloc(r->scratch, r->word_count + 1, sizeof *part);
    if (!part)
        return PB_ENOMEM;
    for (size_t i = 0; i < r->word_count; i++) {
        const pbi_word *word = &r->words[i];
        part[i] = part_of(r->s->machine, word);
        if (part[i] != UINT32_MAX)
            continue;
        r->json.place = word->place;
        return pbi_field_fail(&r->json, (pbi_field){place_keys[word->op], NULL, 0},
                              "names %s \"%.60s\", which the schedule's machine does not have; correct the name",
                              place_words[word->op], word->text);
    }
    for (pb_step k = 0; k < moves->when_count; k++)
        moves->when[k].place = part[moves->when[k].place];
    return PB_OK;
}

pb_status pbi_schedule_settle_lanes(pbi_schedule_reader *r, pbi_place start)
{
    pb_schedule *s = r->s;
    if (s->game != PB_GAME_TIMED) {
        r->json.place = r->first_timed;
        return !r->any_timed ? PB_OK
                             : pbi_field_fail(&r->json, (pbi_field){"game", NULL, 0},
                                              "must be timed, because the moves have start times");
    }
    if (!s->machine)
        return pbi_text_fail(r->json.text, start, "a schedule of the timed game needs the field \"machine\"; add it");
    if (s->borrow || s->tier_count)
        return pbi_text_fail(r->json.text, start,
                             "the timed game has no \"%s\": its memories are those of the machine; leave it out",
                             s->borrow ? "borrow" : "tiers");
    if (s->cap != PB_UNLIMITED && s->cap != s->machine->memories[0].cap) {
        r->json.place = r->cap_place;
        return pbi_field_fail(&r->json, (pbi_field){"cap", NULL, 0},
                              "of a timed schedule must be that of the machine's first memory, or null");
    }
    if (r->any_untimed) {
        r->json.place = r->first_untimed;
        return pbi_field_fail(
            &r->json, (pbi_field){"moves", NULL, 0},
            "of the timed game need a start time, as in [\"compute\", 3, {\"on\": \"gpu\", \"at\": 120}]");
    }
    pb_status status = r->word_count ? settle_places(r) : PB_OK;
    return status == PB_OK && (s->metrics_stated & PB_STATED_PEAKS) ? settle_peaks(r) : status;
}

/* ---- writing ---- */

void pbi_schedule_write_peaks(pbi_out *out, const pb_schedule *s)
{
    for (uint32_t i = 0; i < s->machine->memory_count; i++) {
        pbi_out_char(out, i ? ',' : '{');
        pbi_out_json_text(out, s->machine->memories[i].name);
        pbi_out_char(out, ':');
        pbi_out_json_u64(out, s->metrics.peaks[i]);
    }
    pbi_out_char(out, '}');
}

void pbi_schedule_write_when(pbi_out *out, const pb_schedule *s, pb_step k)
{
    const pb_when *when = &s->moves.when[k];
    const pb_machine *m = s->machine;
    pb_op op = (pb_op)s->moves.move[k].op;
    const char *name = op == PB_COMPUTE ? m->processors[when->place].name
                       : op == PB_COPY  ? m->links[when->place].name
                                        : m->memories[when->place].name;
    pbi_out_format(out, "\"%s\":", place_keys[op]);
    pbi_out_json_text(out, name);
    pbi_out_text(out, ",\"at\":");
    pbi_out_json_u64(out, when->at);
}
