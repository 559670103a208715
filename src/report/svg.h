/* svg.h -- what the pictures share: text that cannot break the markup, round steps on axes, colours, one style. */
#ifndef PBI_SVG_H
#define PBI_SVG_H

#include "base/out.h"

enum { PBI_SVG_COLORS = 8 };
/* Legible on light and on dark backgrounds; pictures have no background. */
extern const char *const pbi_svg_colors[PBI_SVG_COLORS];

/* <svg ...> with its size and style; the end is "</svg>\n". */
void pbi_svg_open(pbi_out *out, unsigned width, unsigned height);
/* Text with <, > and & escaped, and control characters as spaces. */
void pbi_svg_escaped(pbi_out *out, const char *text);
void pbi_svg_label(pbi_out *out, double x, double y, const char *anchor, const char *class, const char *text);
void pbi_svg_segment(pbi_out *out, const char *class, double x1, double y1, double x2, double y2);
/* 1, 2 or 5 times a power of ten, so that `span` has about `parts` steps. */
double pbi_svg_step(double span, int parts);
/* An amount in at most four digits where it has a million or more: 1.193 Tflop. */
void pbi_svg_amount(uint64_t value, const char *unit, char *text, size_t room);

#endif
