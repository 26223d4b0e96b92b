# Headers that are compiled once for all targets with the same flags: the standard library's, and GoogleTest's for the
# tests. Optimisation is one of the flags, and half of what compiling takes: -O3 is for the loops over numbers (model, viz,
# app/run); elsewhere it gained nothing that could be measured.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")

# headscope_precompile(target LEVEL O0|O1|O3 [TESTS]): sets the target's optimisation and shares the headers.
function(headscope_precompile target)
  cmake_parse_arguments(ARG "TESTS" "LEVEL" "" ${ARGN})
  set(shared headscope_precompiled_${ARG_LEVEL})
  if(ARG_TESTS)
    string(APPEND shared _tests)
  endif()
  if(NOT TARGET ${shared})
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(${shared} PUBLIC headscope_options)
    target_precompile_headers(${shared} PRIVATE <cmake/precompiled.h>)
    if(ARG_TESTS)
      target_link_libraries(${shared} PUBLIC GTest::gmock)
      target_precompile_headers(${shared} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    headscope_optimise(${shared} ${ARG_LEVEL})
  endif()
  headscope_optimise(${target} ${ARG_LEVEL})
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

function(headscope_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-${level}>)
endfunction()
