/* bare_parts.c -- the parts of the library that need other libraries, as a build without these has them. The linker then leaves out
 * the library's own. */
#undef PBI_WITH_CBC
#undef PBI_WITH_CADICAL
#undef PBI_WITH_DNNL
#include "plan/milp/cbc.c"
#include "plan/reversible/sat/cadical.c"
