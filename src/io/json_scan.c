/* json_scan.c -- see json_scan.h. */
#include "io/json_scan.h"

enum { NUMBER_BYTES = 1000 };

const char *pbi_json_kind_name(pbi_json_kind kind)
{
    static const char *const names[] = {"null",     "a boolean", "a boolean", "a number",
                                        "a string", "an array",  "an object"};
    return names[kind];
}

void pbi_json_init(pbi_json *json, pbi_text *text, pb_arena *scratch)
{
    *json = (pbi_json){.text = text};
    pb_buffer_init(&json->token, scratch);
}

/* An error about the byte at text->at. */
static pb_status unexpected(pbi_json *json, const char *expected)
{
    pbi_text *text = json->text;
    char room[24];
    return pbi_text_fail(text, pbi_text_place(text), "expected %s, found %s", expected, pbi_text_seen(text, room));
}

/* Skips white space; returns the next byte, NUL at the end of the file. */
static char next_char(pbi_text *text)
{
    for (;;) {
        switch (*text->at) {
        case ' ':
        case '\t':
        case '\r': text->at++; break;
        case '\n':
            text->at++;
            pbi_text_newline(text);
            break;
        case '\0':
            if (text->at < text->end || !pbi_text_more(text))
                return '\0';
            break;
        default: return *text->at;
        }
    }
}

pb_status pbi_json_peek(pbi_json *json, pbi_json_kind *kind)
{
    char c = next_char(json->text);
    json->place = pbi_text_place(json->text);
    switch (c) {
    case '{': *kind = PBI_JSON_OBJECT; break;
    case '[': *kind = PBI_JSON_ARRAY; break;
    case '"': *kind = PBI_JSON_STRING; break;
    case 't': *kind = PBI_JSON_TRUE; break;
    case 'f': *kind = PBI_JSON_FALSE; break;
    case 'n': *kind = PBI_JSON_NULL; break;
    default:
        if (c != '-' && (c < '0' || c > '9'))
            return unexpected(json, "a value");
        *kind = PBI_JSON_NUMBER;
    }
    return PB_OK;
}

pb_status pbi_json_enter(pbi_json *json, pbi_json_kind kind)
{
    if (json->depth == PBI_JSON_DEPTH)
        return pbi_text_fail(json->text, json->place, "values are nested more than %d deep; flatten them",
                             PBI_JSON_DEPTH);
    uint64_t bit = UINT64_C(1) << json->depth++;
    json->objects = kind == PBI_JSON_OBJECT ? json->objects | bit : json->objects & ~bit;
    json->first = true;
    json->text->at++;
    return PB_OK;
}

/* Advances to the next element of the innermost container, which `close` ends. */
static pb_status advance(pbi_json *json, char close, bool *more)
{
    pbi_text *text = json->text;
    bool object = close == '}';
    char c = next_char(text);
    *more = c != close;
    if (c == close) {
        text->at++;
        json->depth--;
        json->first = false;
        return PB_OK;
    }
    if (!json->first) {
        if (c != ',')
            return unexpected(json, object ? "',' or '}' in an object" : "',' or ']' in an array");
        text->at++;
        if (next_char(text) == close)
            return unexpected(json, object ? "a member after ','" : "a value after ','");
    }
    json->first = false;
    return PB_OK;
}

pb_status pbi_json_item(pbi_json *json, bool *more) { return advance(json, ']', more); }

pb_status pbi_json_member(pbi_json *json, pbi_slice *key, bool *more)
{
    pb_status status = advance(json, '}', more);
    if (status != PB_OK || !*more)
        return status;
    pbi_text *text = json->text;
    if (*text->at != '"')
        return unexpected(json, "a key in quotes");
    pbi_place place = pbi_text_place(text);
    status = pbi_json_string(json, key);
    if (status != PB_OK)
        return status;
    /* The key may be in the buffer, which moves when more is read: it is then copied to the token first. */
    if (*text->at != ':') {
        if (key->bytes != json->token.bytes) {
            json->token.length = 0;
            if (!pbi_bytes_add(&json->token, key->bytes, key->length))
                return PB_ENOMEM;
            key->bytes = json->token.bytes;
        }
        if (next_char(text) != ':')
            return unexpected(json, "':' after a key");
    }
    text->at++;
    json->place = place;
    return PB_OK;
}

/* 1: a character that is copied unchanged and takes one byte. */
static const unsigned char plain[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};

/* The four digits of \uXXXX at `c`; false if they are not hexadecimal. */
static bool hex4(const char *c, uint32_t *out)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char d = c[i];
        unsigned digit = d >= '0' && d <= '9'   ? (unsigned)(d - '0')
                         : d >= 'a' && d <= 'f' ? (unsigned)(d - 'a' + 10)
                         : d >= 'A' && d <= 'F' ? (unsigned)(d - 'A' + 10)
                                                : 16;
        if (digit > 15)
            return false;
        value = value << 4 | digit;
    }
    *out = value;
    return true;
}

static size_t encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(lead[length] | code);
    return length;
}

/* Takes the escape at text->at; its character goes to the token. */
static pb_status take_escape(pbi_json *json)
{
    pbi_text *text = json->text;
    pbi_text_ensure(text, 12);
    const char *c = text->at;
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const char *simple = c + 1 < text->end ? strchr(names, c[1]) : NULL;
    if (simple && *simple) {
        text->at += 2;
        return pbi_bytes_add(&json->token, codes + (simple - names), 1) ? PB_OK : PB_ENOMEM;
    }
    uint32_t code, low;
    if (text->end - c < 6 || c[1] != 'u' || !hex4(c + 2, &code))
        return pbi_text_fail(text, pbi_text_place(text),
                             "a string contains a '\\' that is not a JSON escape; write \\\\");
    size_t length = 6;
    if (code >= 0xd800 && code < 0xdc00 && text->end - c >= 12 && c[6] == '\\' && c[7] == 'u' && hex4(c + 8, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    if (code >= 0xd800 && code < 0xe000)
        return pbi_text_fail(text, pbi_text_place(text),
                             "a string contains half of a surrogate pair (\\u%04x); write both halves", code);
    text->at += length;
    char bytes[4];
    return pbi_bytes_add(&json->token, bytes, encode(code, bytes)) ? PB_OK : PB_ENOMEM;
}

/* Takes the byte that ended a sequence of plain characters: *closed at the end of the string. */
static pb_status take_special(pbi_json *json, pbi_place start, bool *closed)
{
    pbi_text *text = json->text;
    unsigned char c = (unsigned char)*text->at;
    *closed = c == '"';
    if (c == '"') {
        text->at++;
        return PB_OK;
    }
    if (c == '\\')
        return take_escape(json);
    if (c >= 0x80) {
        pbi_text_ensure(text, 4);
        size_t length = pbi_text_wide(text);
        if (length == 0)
            return pbi_text_fail(text, pbi_text_place(text),
                                 "the bytes starting with 0x%02x are not UTF-8; save the file as UTF-8", c);
        return pbi_bytes_add(&json->token, text->at - length, length) ? PB_OK : PB_ENOMEM;
    }
    if (text->at < text->end)
        return pbi_text_fail(text, pbi_text_place(text), "a string contains the control character 0x%02x; escape it",
                             c);
    if (!pbi_text_more(text))
        return pbi_text_fail(text, start, "this string is never closed; end it with a quotation mark");
    return PB_OK;
}

pb_status pbi_json_string(pbi_json *json, pbi_slice *out)
{
    pbi_text *text = json->text;
    pbi_place start = pbi_text_place(text);
    const char *c = ++text->at;
    while (plain[(unsigned char)*c])
        c++;
    if (*c == '"') {
        *out = (pbi_slice){text->at, (size_t)(c - text->at)};
        text->at = c + 1;
        return PB_OK;
    }
    json->token.length = 0;
    bool closed = false;
    while (!closed) {
        if (!pbi_bytes_add(&json->token, text->at, (size_t)(c - text->at)))
            return PB_ENOMEM;
        text->at = c;
        pb_status status = take_special(json, start, &closed);
        if (status != PB_OK)
            return status;
        for (c = text->at; !closed && plain[(unsigned char)*c];)
            c++;
    }
    *out = (pbi_slice){json->token.bytes ? json->token.bytes : "", json->token.length};
    return PB_OK;
}

static const char *digits(const char *c)
{
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

/* The end of the number at `c`, NULL if it breaks the grammar. The NUL after the buffer stops it. */
static const char *number_end(const char *c)
{
    if (*c == '-')
        c++;
    const char *whole = c;
    c = digits(c);
    if (c == whole || (*whole == '0' && c > whole + 1))
        return NULL;
    if (*c == '.') {
        const char *fraction = ++c;
        c = digits(c);
        if (c == fraction)
            return NULL;
    }
    if (*c == 'e' || *c == 'E') {
        c++;
        if (*c == '+' || *c == '-')
            c++;
        const char *exponent = c;
        c = digits(c);
        if (c == exponent)
            return NULL;
    }
    return c;
}

bool pbi_json_is_number(const char *text)
{
    const char *end = number_end(text);
    return end && *end == '\0';
}

pb_status pbi_json_number(pbi_json *json, pbi_slice *out)
{
    pbi_text *text = json->text;
    pbi_text_ensure(text, PBI_TEXT_AHEAD);
    const char *end = number_end(text->at);
    if (!end || (*end && strchr("+-.0123456789eE", *end)))
        return pbi_text_fail(text, json->place, "this is not a JSON number; write it as in 3, -1 or 0.25");
    size_t length = (size_t)(end - text->at);
    if (length > NUMBER_BYTES)
        return pbi_text_fail(text, json->place, "a number has more than %d characters; round it", NUMBER_BYTES);
    *out = (pbi_slice){text->at, length};
    text->at = end;
    return PB_OK;
}

pb_status pbi_json_word(pbi_json *json, pbi_json_kind kind)
{
    pbi_text *text = json->text;
    const char *word = kind == PBI_JSON_NULL ? "null" : kind == PBI_JSON_TRUE ? "true" : "false";
    size_t length = strlen(word);
    pbi_text_ensure(text, length + 1);
    char after = (size_t)(text->end - text->at) >= length ? text->at[length] : 'x';
    bool joined = (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z') || (after >= '0' && after <= '9');
    if (joined || memcmp(text->at, word, length) != 0)
        return pbi_text_fail(text, json->place,
                             "this is not a JSON word; expected null, true or false, or a text in quotes");
    text->at += length;
    return PB_OK;
}

pb_status pbi_json_skip(pbi_json *json)
{
    uint32_t outside = json->depth;
    pbi_slice ignored;
    do {
        pbi_json_kind kind;
        pb_status status = pbi_json_peek(json, &kind);
        if (status != PB_OK)
            return status;
        if (kind >= PBI_JSON_ARRAY)
            status = pbi_json_enter(json, kind);
        else if (kind == PBI_JSON_STRING)
            status = pbi_json_string(json, &ignored);
        else
            status = kind == PBI_JSON_NUMBER ? pbi_json_number(json, &ignored) : pbi_json_word(json, kind);
        bool more = false;
        while (status == PB_OK && !more && json->depth > outside) {
            bool object = json->objects >> (json->depth - 1) & 1;
            status = object ? pbi_json_member(json, &ignored, &more) : pbi_json_item(json, &more);
        }
        if (status != PB_OK)
            return status;
    } while (json->depth > outside);
    return PB_OK;
}

pb_status pbi_json_raw(pbi_json *json, pb_buffer *into)
{
    next_char(json->text);
    pbi_text_keep(json->text, into);
    pb_status status = pbi_json_skip(json);
    pb_status kept = pbi_text_keep_end(json->text);
    return status != PB_OK ? status : kept;
}

pb_status pbi_json_end(pbi_json *json)
{
    next_char(json->text);
    if (json->text->at < json->text->end || json->text->status != PB_OK)
        return unexpected(json, "nothing after the document");
    return PB_OK;
}
