# The language, the warnings and the sanitizers, the same for library, command, tests and benchmarks.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
                    -Wwrite-strings -Wundef)
if(PB_WERROR)
  add_compile_options(-Werror)
endif()
# The objects serve both libraries; inside them a pb_ call is always our own pb_ function.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI") # where nothing is shared
  add_compile_options(-fno-semantic-interposition)
endif()

if(PB_DEBUG)
  add_compile_definitions(PB_DEBUG)
endif()

if(PB_SANITIZE)
  set(flags -fsanitize=${PB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${flags})
  add_link_options(${flags})
  # gcc warns about ranges and values that only the sanitizers' own checks hide from it.
  add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(PB_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PB_FUZZ needs clang: use the preset `fuzz`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
