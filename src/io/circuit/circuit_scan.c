/* circuit_scan.c -- see circuit_scan.h. */
#include "io/circuit/circuit_scan.h"

#include "base/arena.h"
#include "base/context.h"

void pbi_words_init(pbi_words *w, pbi_text *text, pb_arena *arena, const char *signs, bool joined, bool comments)
{
    *w = (pbi_words){.text = text, .signs = signs, .joined = joined, .comments = comments};
    pb_buffer_init(&w->word, arena);
    for (unsigned c = 0x21; c < 0x7f; c++)
        w->plain[c] = !strchr(signs, (int)c) && !(comments && c == '#') && !(joined && c == '\\');
}

/* The byte at text->at; NUL at the end and for a NUL, which *ended distinguishes. */
static unsigned char peek_byte(pbi_text *text, bool *ended)
{
    if (text->at == text->end)
        pbi_text_more(text);
    *ended = text->at == text->end;
    return (unsigned char)*text->at;
}

/* Length of a backslash and the line end after it at text->at; 0 if the line is not continued here. */
static size_t joint(pbi_words *w)
{
    if (!w->joined || *w->text->at != '\\')
        return 0;
    pbi_text_ensure(w->text, 3);
    const char *c = w->text->at;
    return c[1] == '\n' ? 2 : c[1] == '\r' && c[2] == '\n' ? 3 : 0;
}

/* Old files have comments in any encoding: their bytes are skipped without decoding. */
static pb_status skip_comment(pbi_words *w)
{
    bool ended;
    for (unsigned char c = peek_byte(w->text, &ended); !ended && c != '\n'; c = peek_byte(w->text, &ended))
        w->text->at++;
    return w->text->status;
}

static pb_status skip_blanks(pbi_words *w)
{
    pbi_text *text = w->text;
    for (;;) {
        bool ended;
        unsigned char c = peek_byte(text, &ended);
        size_t join = ended ? 0 : joint(w);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            text->at++;
        } else if (join) {
            text->at += join;
            pbi_text_newline(text);
        } else if (c == '#' && w->comments) {
            pb_status status = skip_comment(w);
            if (status != PB_OK)
                return status;
        } else {
            return text->status;
        }
    }
}

static bool take(pbi_words *w, size_t length)
{
    w->text->at += length;
    return pbi_bytes_add(&w->word, w->text->at - length, length);
}

/* Takes the bytes of a word from here on; with `blanks`, everything up to the end of the line. */
static pb_status take_word(pbi_words *w, bool blanks)
{
    pbi_text *text = w->text;
    w->word.length = 0;
    for (;;) {
        const char *c = text->at;
        while (w->plain[(unsigned char)*c])
            c++;
        if (!take(w, (size_t)(c - text->at)))
            return PB_ENOMEM;
        bool ended;
        unsigned char next = peek_byte(text, &ended);
        if (ended || next == '\n')
            break;
        if (w->plain[next])
            continue; /* more bytes were read */
        if (next >= 0x80) {
            pbi_text_ensure(text, 4);
            size_t length = pbi_text_wide(text);
            if (!length)
                return pbi_text_fail(text, pbi_text_place(text),
                                     "the bytes starting with 0x%02x are not UTF-8; save the file as UTF-8", next);
            if (!pbi_bytes_add(&w->word, text->at - length, length))
                return PB_ENOMEM;
            continue;
        }
        bool inside = (next == '\\' && !joint(w)) || (blanks && next != '\0');
        if (!inside)
            break;
        if (!take(w, 1))
            return PB_ENOMEM;
    }
    while (blanks && w->word.length && strchr(" \t\r", w->word.bytes[w->word.length - 1]))
        w->word.length--;
    return pbi_bytes_add(&w->word, "", 1) ? text->status : PB_ENOMEM;
}

pb_status pbi_words_next(pbi_words *w)
{
    pbi_text *text = w->text;
    pb_status status = skip_blanks(w);
    if (status != PB_OK)
        return status;
    bool ended;
    unsigned char c = peek_byte(text, &ended);
    w->place = pbi_text_place(text);
    w->sign = '\0';
    w->kind = ended ? PBI_WORD_END : c == '\n' ? PBI_WORD_LINE : PBI_WORD;
    if (ended)
        return text->status;
    if (c == '\n') {
        text->at++;
        pbi_text_newline(text);
        return PB_OK;
    }
    if (c && strchr(w->signs, c)) {
        w->kind = PBI_WORD_SIGN;
        w->sign = (char)c;
        text->at++;
        return PB_OK;
    }
    if (c < 0x20 || c == 0x7f)
        return pbi_text_fail(text, w->place, "the file contains the control character 0x%02x; remove it", c);
    return take_word(w, false);
}

pb_status pbi_words_rest(pbi_words *w)
{
    pb_status status = skip_blanks(w);
    w->place = pbi_text_place(w->text);
    w->kind = PBI_WORD;
    return status == PB_OK ? take_word(w, true) : status;
}

pb_status pbi_words_skip_line(pbi_words *w)
{
    pb_status status = PB_OK;
    while (status == PB_OK && w->kind != PBI_WORD_LINE && w->kind != PBI_WORD_END)
        status = pbi_words_next(w);
    return status;
}

bool pbi_words_is(const pbi_words *w, const char *word)
{
    size_t length = strlen(word);
    if (w->kind != PBI_WORD || w->word.length != length + 1)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = w->word.bytes[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
            return false;
    }
    return true;
}

pb_status pbi_words_unexpected(pbi_words *w, const char *expected)
{
    switch (w->kind) {
    case PBI_WORD: return pbi_text_fail(w->text, w->place, "expected %s, not \"%.60s\"", expected, w->word.bytes);
    case PBI_WORD_SIGN: return pbi_text_fail(w->text, w->place, "expected %s, not '%c'", expected, w->sign);
    case PBI_WORD_LINE: return pbi_text_fail(w->text, w->place, "expected %s, not the end of the line", expected);
    case PBI_WORD_END: break;
    }
    return pbi_text_fail(w->text, w->place, "expected %s, not the end of the file", expected);
}
