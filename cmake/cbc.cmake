# Cbc and Clp, where they are installed: the linear programs behind the strategies milp and lp-rounding. Everything else
# is the same without them. Sets PB_WITH_CBC; pb_link_cbc(TARGET) links the libraries.
option(PB_CBC "Use Cbc where it is installed" ON)
set(PB_WITH_CBC FALSE)
set(PB_CBC_LIBS "")
if(PB_CBC)
  find_path(CBC_INCLUDE Cbc_C_Interface.h PATH_SUFFIXES coin coin-or)
  find_library(CBC_SOLVER_LIBRARY CbcSolver)
  find_library(CLP_LIBRARY Clp)
  mark_as_advanced(CBC_INCLUDE CBC_SOLVER_LIBRARY CLP_LIBRARY)
  if(CBC_INCLUDE AND CBC_SOLVER_LIBRARY AND CLP_LIBRARY)
    set(PB_WITH_CBC TRUE)
    set(PB_CBC_LIBS "-lCbcSolver -lClp")
  else()
    message(STATUS "Cbc is not installed: the strategies milp and lp-rounding will give up")
  endif()
endif()

function(pb_link_cbc target)
  if(PB_WITH_CBC)
    target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:${CBC_SOLVER_LIBRARY};${CLP_LIBRARY}>"
                          "$<INSTALL_INTERFACE:CbcSolver;Clp>")
  endif()
endfunction()
