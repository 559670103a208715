# The server behind `pebble ui`, where libmicrohttpd and jansson are installed, and the page, where npm is: the server
# sends it, and `pebble export --as html` writes its player. Sets PB_WITH_SERVER; pb_add_server(TARGET) adds both to the
# command. Everything else is the same without them.
option(PB_SERVER "Build the server where libmicrohttpd and jansson are installed" ON)
option(PB_PAGE "Build the page with npm and put it into the command" ON)
set(PB_WITH_SERVER FALSE)
if(PB_SERVER)
  find_path(MHD_INCLUDE microhttpd.h)
  find_library(MHD_LIBRARY microhttpd)
  find_path(JANSSON_INCLUDE jansson.h)
  find_library(JANSSON_LIBRARY jansson)
  mark_as_advanced(MHD_INCLUDE MHD_LIBRARY JANSSON_INCLUDE JANSSON_LIBRARY)
  if(MHD_INCLUDE AND MHD_LIBRARY AND JANSSON_INCLUDE AND JANSSON_LIBRARY)
    set(PB_WITH_SERVER TRUE)
  else()
    message(STATUS "libmicrohttpd or jansson is not installed: `pebble ui` will only say so")
  endif()
endif()

# The page as one C file. Built anew when a file of web/ changes; without npm, or where its packages cannot be had, the
# table is empty and the command says so.
function(pb_page_source out)
  set(source ${CMAKE_BINARY_DIR}/page/page_files.c)
  set(${out} ${source} PARENT_SCOPE)
  find_program(NPM npm)
  mark_as_advanced(NPM)
  set(with_page FALSE)
  if(PB_PAGE AND NPM AND EXISTS ${CMAKE_SOURCE_DIR}/web/package.json)
    set(with_page TRUE)
  else()
    message(STATUS "npm is not installed or there is no web/: the command is built without the page; install npm, then make")
  endif()
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/*.json
       ${CMAKE_SOURCE_DIR}/web/*.html ${CMAKE_SOURCE_DIR}/web/*.mjs ${CMAKE_SOURCE_DIR}/web/*.css)
  list(FILTER inputs EXCLUDE REGEX "/web/(node_modules|dist)/")
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DWEB=${CMAKE_SOURCE_DIR}/web -DOUT=${source} -DWITH_PAGE=${with_page} -DNPM=${NPM}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${inputs} ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
    COMMENT "Building the page" VERBATIM)
endfunction()

function(pb_add_server target)
  pb_page_source(page)
  target_sources(${target} PRIVATE ${page})
  if(NOT PB_WITH_SERVER)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/apps/server/*.c)
  target_sources(${target} PRIVATE ${sources})
  target_include_directories(${target} SYSTEM PRIVATE ${MHD_INCLUDE} ${JANSSON_INCLUDE})
  target_compile_definitions(${target} PRIVATE PEBBLE_WITH_SERVER)
  target_link_libraries(${target} PRIVATE ${MHD_LIBRARY} ${JANSSON_LIBRARY} Threads::Threads)
endfunction()
