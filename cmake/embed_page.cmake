# Builds the page (npm ci, npm run build) and writes its files as C arrays: cmake -DWEB= -DOUT= -DWITH_PAGE= -DNPM= -P.
# If npm fails, the build prints why and embeds no files: the command is then built without the page.
set(files "")
if(WITH_PAGE)
  set(failed FALSE)
  if(NOT EXISTS ${WEB}/node_modules/.package-lock.json OR
     ${WEB}/package-lock.json IS_NEWER_THAN ${WEB}/node_modules/.package-lock.json)
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${WEB}
                    RESULT_VARIABLE failed OUTPUT_QUIET)
  endif()
  if(NOT failed)
    execute_process(COMMAND ${NPM} run --silent build WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed)
  endif()
  if(failed)
    message(WARNING "npm could not build the page: the command is made without it")
  else()
    file(GLOB_RECURSE files RELATIVE ${WEB}/dist ${WEB}/dist/*)
    list(FILTER files EXCLUDE REGEX "\\.map$")
  endif()
endif()

set(arrays "")
set(rows "")
set(count 0)
foreach(file ${files})
  file(READ ${WEB}/dist/${file} bytes HEX)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char file_${count}[] = {\n${bytes}0x00};\n")
  string(APPEND rows "    {\"/${file}\", file_${count}, ${length}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUT} "/* Made by cmake/embed_page.cmake from web/dist. */
#include \"server/page_files.h\"

${arrays}
const page_file page_files[] = {
${rows}    {0, 0, 0},
};
const size_t page_file_count = ${count};
")
