/* decimal.h -- decimals from text ("0.04", "1e-11", "2.50"), kept exactly. */
#ifndef PBI_DECIMAL_H
#define PBI_DECIMAL_H

#include "pebble/base.h"

/* 10^19 is the largest power of ten in 64 bits; one less leaves room for a digit before the point. */
#define PBI_MAX_DECIMALS 18

/* number / 10^digits, with as few digits as possible. */
typedef struct pbi_decimal {
    uint64_t number;
    uint32_t digits; /* at most PBI_MAX_DECIMALS */
} pbi_decimal;

typedef enum pbi_decimal_verdict {
    PBI_DECIMAL_FINE,
    PBI_DECIMAL_WRONG,  /* not a decimal of 0 or more */
    PBI_DECIMAL_TOO_FAR /* a decimal, but too large or too fine for 64 bits and PBI_MAX_DECIMALS */
} pbi_decimal_verdict;

/* Digits with an optional point, and an optional e with a power of ten. *out is set only on success. */
pbi_decimal_verdict pbi_decimal_parse(const char *text, size_t length, pbi_decimal *out);

/* 10^digits; digits is at most PBI_MAX_DECIMALS. */
uint64_t pbi_decimal_unit(uint32_t digits);

/* Writes number / 10^digits in its shortest form, without an exponent, with NUL. */
#define PBI_DECIMAL_TEXT 32
void pbi_decimal_text(pbi_decimal value, char text[PBI_DECIMAL_TEXT]);

#endif
