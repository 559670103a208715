/* bare_train.c -- see bare_parts.c; a file of its own, since names inside are the same. */
#undef PBI_WITH_DNNL
#include "workloads/workload_train.c"
