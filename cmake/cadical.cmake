# CaDiCaL, where it is installed: the formulas behind the strategy sat. Everything else is the same without it. Sets
# PB_WITH_CADICAL; pb_link_cadical(TARGET) links the archive and the C++ library that it needs.
option(PB_CADICAL "Use CaDiCaL where it is installed" ON)
set(PB_WITH_CADICAL FALSE)
set(PB_CADICAL_LIBS "")
if(PB_CADICAL)
  find_path(CADICAL_INCLUDE ccadical.h)
  find_library(CADICAL_LIBRARY cadical)
  mark_as_advanced(CADICAL_INCLUDE CADICAL_LIBRARY)
  if(CADICAL_INCLUDE AND CADICAL_LIBRARY)
    set(PB_WITH_CADICAL TRUE)
    set(PB_CADICAL_LIBS "-lcadical -lstdc++")
  else()
    message(STATUS "CaDiCaL is not installed: the strategy sat will give up")
  endif()
endif()

function(pb_link_cadical target)
  if(PB_WITH_CADICAL)
    target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:${CADICAL_LIBRARY}>" "$<INSTALL_INTERFACE:cadical>"
                          stdc++)
  endif()
endfunction()
