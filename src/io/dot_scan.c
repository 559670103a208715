/* dot_scan.c -- see dot_scan.h. */
#include "io/dot_scan.h"

void pbi_dot_init(pbi_dot *dot, pbi_text *text, pb_arena *scratch)
{
    *dot = (pbi_dot){.text = text};
    pb_buffer_init(&dot->token, scratch);
}

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

bool pbi_dot_is_keyword(const pbi_dot *dot, const char *word)
{
    if (dot->kind != PBI_DOT_WORD || dot->token.length != strlen(word))
        return false;
    for (size_t i = 0; word[i]; i++) {
        char c = dot->token.bytes[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
            return false;
    }
    return true;
}

pb_status pbi_dot_unexpected(pbi_dot *dot, const char *expected)
{
    const char *found = dot->kind == PBI_DOT_END     ? "the end of the file"
                        : dot->kind == PBI_DOT_HTML  ? "an HTML text"
                        : dot->kind == PBI_DOT_ARROW ? "'->'"
                        : dot->kind == PBI_DOT_LINE  ? "'--'"
                                                     : NULL;
    if (found)
        return pbi_text_fail(dot->text, dot->place, "expected %s, found %s", expected, found);
    if (dot->kind == PBI_DOT_SIGN)
        return pbi_text_fail(dot->text, dot->place, "expected %s, found '%c'", expected, dot->sign);
    size_t length = dot->token.length < 60 ? dot->token.length : 60;
    return pbi_text_fail(dot->text, dot->place, "expected %s, found \"%.*s\"", expected, (int)length, dot->token.bytes);
}

/* Steps over one character, counting lines and wide characters; with `keep`, its bytes go to the token. */
static pb_status take_char(pbi_dot *dot, bool keep)
{
    pbi_text *text = dot->text;
    unsigned char c = (unsigned char)*text->at;
    size_t length = 1;
    if (c >= 0x80) {
        pbi_text_ensure(text, 4);
        length = pbi_text_wide(text);
        if (!length)
            return pbi_text_fail(text, pbi_text_place(text),
                                 "the bytes starting with 0x%02x are not UTF-8; save the file as UTF-8", c);
    } else {
        if (c == '\0')
            return pbi_text_fail(text, pbi_text_place(text), "the file contains a NUL character; remove it");
        text->at++;
        if (c == '\n')
            pbi_text_newline(text);
    }
    return !keep || pbi_bytes_add(&dot->token, text->at - length, length) ? PB_OK : PB_ENOMEM;
}

/* The byte at text->at, reading more if the buffer is at its end; *ended at the end of the file. */
static unsigned char peek_byte(pbi_text *text, bool *ended)
{
    if (text->at == text->end)
        pbi_text_more(text);
    *ended = text->at == text->end;
    return (unsigned char)*text->at;
}

static pb_status skip_line(pbi_dot *dot)
{
    bool ended;
    pb_status status = PB_OK;
    while (status == PB_OK && peek_byte(dot->text, &ended) != '\n' && !ended)
        status = take_char(dot, false);
    return status;
}

static pb_status skip_block(pbi_dot *dot)
{
    pbi_place start = pbi_text_place(dot->text);
    dot->text->at += 2;
    for (;;) {
        pbi_text_ensure(dot->text, 2);
        const char *c = dot->text->at;
        if (c == dot->text->end)
            return pbi_text_fail(dot->text, start, "this comment is never closed; end it with */");
        if (c[0] == '*' && c[1] == '/') {
            dot->text->at += 2;
            return PB_OK;
        }
        pb_status status = take_char(dot, false);
        if (status != PB_OK)
            return status;
    }
}

static pb_status skip_blank(pbi_dot *dot)
{
    pbi_text *text = dot->text;
    for (;;) {
        pbi_text_ensure(text, 2);
        const char *c = text->at;
        pb_status status = PB_OK;
        if (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\n' || *c == '\f' || *c == '\v')
            status = take_char(dot, false);
        else if (*c == '#' || (c[0] == '/' && c[1] == '/'))
            status = skip_line(dot);
        else if (c[0] == '/' && c[1] == '*')
            status = skip_block(dot);
        else
            return PB_OK;
        if (status != PB_OK)
            return status;
    }
}

static pb_status take_quoted(pbi_dot *dot)
{
    pbi_text *text = dot->text;
    pbi_place start = pbi_text_place(text);
    text->at++;
    for (;;) {
        pbi_text_ensure(text, 3);
        const char *c = text->at;
        if (c == text->end)
            return pbi_text_fail(text, start, "this quoted text is never closed; end it with a quotation mark");
        if (*c == '"') {
            text->at++;
            return PB_OK;
        }
        bool joins = c[0] == '\\' && (c[1] == '\n' || (c[1] == '\r' && c[2] == '\n'));
        if (c[0] == '\\' && (c[1] == '"' || c[1] == '\\' || joins))
            text->at++;
        if (joins && *text->at == '\r')
            text->at++;
        pb_status status = take_char(dot, !joins);
        if (status != PB_OK)
            return status;
    }
}

/* "a" + "b" is one text. */
static pb_status take_joined(pbi_dot *dot)
{
    dot->kind = PBI_DOT_QUOTED;
    for (;;) {
        pb_status status = take_quoted(dot);
        if (status == PB_OK)
            status = skip_blank(dot);
        if (status != PB_OK || *dot->text->at != '+')
            return status;
        dot->text->at++;
        status = skip_blank(dot);
        if (status != PB_OK)
            return status;
        if (*dot->text->at != '"')
            return pbi_text_fail(dot->text, pbi_text_place(dot->text), "'+' must be followed by another quoted text");
    }
}

static pb_status take_html(pbi_dot *dot)
{
    pbi_text *text = dot->text;
    dot->kind = PBI_DOT_HTML;
    text->at++;
    for (uint64_t depth = 1;;) {
        bool ended;
        unsigned char c = peek_byte(text, &ended);
        if (ended)
            return pbi_text_fail(text, dot->place, "this HTML text is never closed; end it with >");
        depth += c == '<';
        depth -= c == '>';
        if (depth == 0) {
            text->at++;
            return PB_OK;
        }
        pb_status status = take_char(dot, true);
        if (status != PB_OK)
            return status;
    }
}

static pb_status take_word(pbi_dot *dot)
{
    pbi_text *text = dot->text;
    bool ended, number = !is_letter((unsigned char)*text->at), point = false;
    dot->kind = PBI_DOT_WORD;
    if (*text->at == '-') {
        pb_status status = take_char(dot, true);
        if (status != PB_OK)
            return status;
    }
    size_t digits = 0;
    for (;;) {
        unsigned char c = peek_byte(text, &ended);
        bool dot_sign = number && c == '.' && !point;
        if (ended || !(is_digit(c) || is_letter(c) || dot_sign))
            break;
        if (number && is_letter(c))
            return pbi_text_fail(text, dot->place, "a name that begins with a digit must be a number or in quotes");
        point = point || dot_sign;
        digits += is_digit(c);
        pb_status status = take_char(dot, true);
        if (status != PB_OK)
            return status;
    }
    if (number && !digits)
        return pbi_text_fail(text, dot->place, "expected a digit in this number");
    return PB_OK;
}

static pb_status take_token(pbi_dot *dot)
{
    pbi_text *text = dot->text;
    pbi_text_ensure(text, 2);
    char c = *text->at;
    if (c == '\0') {
        dot->kind = PBI_DOT_END;
        return text->at == text->end && text->status == PB_OK
                   ? PB_OK
                   : pbi_text_fail(text, dot->place, "the file contains a NUL character; remove it");
    }
    if (c == '"')
        return take_joined(dot);
    if (c == '<')
        return take_html(dot);
    if (c == '-' && (text->at[1] == '>' || text->at[1] == '-')) {
        dot->kind = text->at[1] == '>' ? PBI_DOT_ARROW : PBI_DOT_LINE;
        text->at += 2;
        return PB_OK;
    }
    if (is_letter((unsigned char)c) || is_digit((unsigned char)c) || c == '-' || c == '.')
        return take_word(dot);
    if (!strchr("{}[];,=:", c)) {
        char room[24];
        return pbi_text_fail(text, dot->place, "%s has no meaning in DOT; remove it, or put the name in quotes",
                             pbi_text_seen(text, room));
    }
    dot->kind = PBI_DOT_SIGN;
    dot->sign = c;
    text->at++;
    return PB_OK;
}

pb_status pbi_dot_next(pbi_dot *dot)
{
    dot->token.length = 0;
    dot->sign = '\0';
    pb_status status = skip_blank(dot);
    dot->place = pbi_text_place(dot->text);
    if (status == PB_OK)
        status = take_token(dot);
    if (status == PB_OK && !pbi_bytes_add(&dot->token, "", 1))
        return PB_ENOMEM;
    if (status == PB_OK)
        dot->token.length--;
    return status;
}
