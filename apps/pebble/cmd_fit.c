#include "commands.h"
exit_code cmd_fit(app *a) { return app_fail(a, EXIT_FAILED, "not yet"); }
