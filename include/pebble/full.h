/* full.h -- everything that libpebble offers; pebble.h alone is enough to load, plan and save. */
#ifndef PEBBLE_FULL_H
#define PEBBLE_FULL_H

#include "adjoint.h"
#include "api.h"
#include "base.h"
#include "bindings.h"
#include "bound.h"
#include "catalytic.h"
#include "dynamic.h"
#include "engine.h"
#include "game.h"
#include "generate.h"
#include "graph.h"
#include "hashtree.h"
#include "io.h"
#include "layout.h"
#include "metrics.h"
#include "pack.h"
#include "pebble.h"
#include "plan.h"
#include "profile.h"
#include "report.h"
#include "run.h"
#include "schedule.h"
#include "settings.h"
#include "summary.h"
#include "sweep.h"
#include "verify.h"
#include "workload.h"

#endif
