/* svg.c -- see svg.h. */
#include "report/svg.h"

#include "pebble/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const pbi_svg_colors[PBI_SVG_COLORS] = {"#0a7cc4", "#d9600b", "#0f9d74", "#c0609a",
                                                    "#b8860b", "#7a6fd0", "#6b8e23", "#c0392b"};

static const char style[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#5c6670}\n"
    ".title{font-size:15px;font-weight:600}.small{font-size:11px}.best{font-weight:600}\n"
    ".grid{stroke:#808a94;stroke-opacity:.22}.axis{stroke:#808a94}\n"
    ".out{fill:#808a94;fill-opacity:.18}.none{fill:#808a94;fill-opacity:.38}\n"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}.flip{stroke:#808a94;stroke-dasharray:4 4}\n"
    ".knee{fill:none;stroke:#5c6670;stroke-width:1.5}\n"
    ".cap{stroke:#c0392b;stroke-width:1.5;stroke-dasharray:6 4}.peak{fill:#c0392b}\n"
    "@media(prefers-color-scheme:dark){text{fill:#aab4be}.knee{stroke:#aab4be}}\n"
    "</style>\n";

void pbi_svg_open(pbi_out *out, unsigned width, unsigned height)
{
    pbi_out_format(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n",
                   width, height, width, height);
    pbi_out_text(out, style);
}

void pbi_svg_escaped(pbi_out *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<': pbi_out_text(out, "&lt;"); break;
        case '>': pbi_out_text(out, "&gt;"); break;
        case '&': pbi_out_text(out, "&amp;"); break;
        default: pbi_out_char(out, (unsigned char)*text < 0x20 ? ' ' : *text);
        }
    }
}

void pbi_svg_label(pbi_out *out, double x, double y, const char *anchor, const char *class, const char *text)
{
    pbi_out_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, class);
    pbi_svg_escaped(out, text);
    pbi_out_text(out, "</text>\n");
}

void pbi_svg_segment(pbi_out *out, const char *class, double x1, double y1, double x2, double y2)
{
    pbi_out_format(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2,
                   y2);
}

double pbi_svg_step(double span, int parts)
{
    double rough = span / parts, power = pow(10, floor(log10(rough)));
    double share = rough / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

void pbi_svg_amount(uint64_t value, const char *unit, char *text, size_t room)
{
    static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E"};
    double shown = (double)value;
    int power = 0;
    if (value < 1000000 || strcmp(unit, "byte") == 0 || pb_unit_is_time(unit)) {
        pb_amount_text(value, unit, text, room);
        return;
    }
    for (; shown >= 999.95 && power < 6; power++)
        shown /= 1000;
    snprintf(text, room, "%.4g %s%s%.40s", shown, prefixes[power], strcmp(unit, "flop") == 0 ? "" : " ", unit);
}
