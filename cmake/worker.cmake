# The core as WebAssembly, for the page without a server (docs/page.md): the library, and the handlers of apps/server on
# the worker's queue instead of HTTP. What only the command uses is left out: workloads, the engine and stores.
file(GLOB_RECURSE PB_CORE_SOURCES CONFIGURE_DEPENDS src/*.c)
list(FILTER PB_CORE_SOURCES EXCLUDE REGEX "/src/(engine|workloads|catalytic|store|api/run|api/campaign)/|/(io/file|session/stores|session/run)\\.c$")
set_source_files_properties(src/plan/milp/cbc.c PROPERTIES COMPILE_DEFINITIONS _WASI_EMULATED_SIGNAL)
add_library(pebble_core STATIC ${PB_CORE_SOURCES})
target_include_directories(pebble_core PUBLIC include PRIVATE src)
target_include_directories(pebble_core SYSTEM PUBLIC apps/worker/shim)
target_compile_definitions(pebble_core PRIVATE PBI_WITHOUT_OPENSSL)

set(names api arguments binary control gallery handle_about handle_graph handle_job job job_events job_read job_sweep
    response store text_out whole)
list(TRANSFORM names PREPEND apps/server/)
list(TRANSFORM names APPEND .c)
file(GLOB common CONFIGURE_DEPENDS apps/common/*.c apps/worker/*.c)
list(FILTER common EXCLUDE REGEX "/output\\.c$")
add_executable(pebble_worker ${names} ${common})
target_include_directories(pebble_worker PRIVATE apps)
target_link_libraries(pebble_worker PRIVATE pebble_core)
set_target_properties(pebble_worker PROPERTIES OUTPUT_NAME pebble SUFFIX .wasm)
target_link_options(pebble_worker PRIVATE -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first
                    -Wl,-z,stack-size=4194304 -Wl,--max-memory=4294901760 -Wl,--error-limit=0 -Wl,--export=malloc -Wl,--export=worker_start
                    -Wl,--export=worker_number_graph -Wl,--export=worker_request -Wl,--export=worker_release
                    -Wl,--export=worker_run -Wl,--allow-undefined-file=${CMAKE_SOURCE_DIR}/apps/worker/imports.txt)
