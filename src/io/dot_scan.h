/* dot_scan.h -- the words and signs of the DOT language, with their positions. */
#ifndef PBI_DOT_SCAN_H
#define PBI_DOT_SCAN_H

#include "io/text_source.h"

typedef enum pbi_dot_kind {
    PBI_DOT_END,    /* of the file */
    PBI_DOT_WORD,   /* a bare identifier or numeral */
    PBI_DOT_QUOTED, /* decoded: \" and \\ mean " and \, a backslash at the end of a line is removed */
    PBI_DOT_HTML,   /* <...>, without the outer brackets */
    PBI_DOT_ARROW,  /* -> */
    PBI_DOT_LINE,   /* -- */
    PBI_DOT_SIGN    /* one of { } [ ] ; , = : */
} pbi_dot_kind;

typedef struct pbi_dot {
    pbi_text *text;
    pbi_dot_kind kind; /* of the current token */
    char sign;         /* of PBI_DOT_SIGN, else NUL */
    pbi_place place;   /* where it begins */
    pb_buffer token;   /* of words and texts; NUL-terminated behind token.length */
} pbi_dot;

void pbi_dot_init(pbi_dot *dot, pbi_text *text, pb_arena *scratch);
/* Takes the next token; skips comments and white space, joins "a" + "b". */
pb_status pbi_dot_next(pbi_dot *dot);
/* Whether the token is an identifier. */
static inline bool pbi_dot_is_name(const pbi_dot *dot)
{
    return dot->kind == PBI_DOT_WORD || dot->kind == PBI_DOT_QUOTED;
}
/* Whether it is this keyword, not quoted, ignoring case. */
bool pbi_dot_is_keyword(const pbi_dot *dot, const char *word);
/* PB_EFORMAT: expected this, found the token. */
pb_status pbi_dot_unexpected(pbi_dot *dot, const char *expected);

#endif
