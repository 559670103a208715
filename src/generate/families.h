/* families.h -- the function behind each row of families.def.
 *
 * A generator writes nodes, edges and order into `builder`; the caller has set the graph's name and freezes it. It
 * checks its counts with pbi_emit_budget before it builds, and gives equal bytes for equal parameters on every machine.
 */
#ifndef PBI_FAMILIES_H
#define PBI_FAMILIES_H

#include "generate/params.h"

typedef pb_status pbi_generator(pb_context *ctx, const pbi_params *params, pb_builder *builder);

#define FAMILY(id, name, help) pbi_generator pbi_generate_##id;
#define MAIN(key, default_text, min, max, help)
#define INTEGER(key, default_text, min, max, help)
#define REAL(key, default_text, min, max, help)
#define WORD(key, default_text, words, help)
#define LIST(key, default_text, help)
#define MAIN_WITH(key, default_text, min, max, with, help)
#define INTEGER_WITH(key, default_text, min, max, with, help)
#define REAL_WITH(key, default_text, min, max, with, help)
#define END(id)
#include "generate/families.def"
#undef FAMILY
#undef MAIN
#undef INTEGER
#undef REAL
#undef WORD
#undef LIST
#undef MAIN_WITH
#undef INTEGER_WITH
#undef REAL_WITH
#undef END

#endif
