/* merkle_layers.h -- pebble merkle --proofs: which layers of a hash tree to keep. */
#ifndef PEBBLE_APP_MERKLE_LAYERS_H
#define PEBBLE_APP_MERKLE_LAYERS_H

#include "app.h"

exit_code merkle_layers(app *a, const pb_proof_request *request);

#endif
