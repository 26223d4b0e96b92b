# Flags shared by every target of the project. Linking `headscope_options` PUBLIC from the libraries gives all
# of them the same -march: Eigen's alignment is part of the ABI.
add_library(headscope_options INTERFACE)
target_include_directories(headscope_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(headscope_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -fno-math-errno
                       -ffp-contract=off  # the sources say which multiply-adds are fused
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
                       -Wno-maybe-uninitialized>)  # GCC 12 sees these in std::string and std::variant (its bugs 105651, 105593)
set(HEADSCOPE_BUILT_FOR "for any processor of its kind")  # in words
if(HEADSCOPE_MARCH)
  target_compile_options(headscope_options INTERFACE -march=${HEADSCOPE_MARCH})
  set(HEADSCOPE_BUILT_FOR "for ${HEADSCOPE_MARCH}")
elseif(HEADSCOPE_NATIVE)
  target_compile_options(headscope_options INTERFACE -march=native)
  set(HEADSCOPE_BUILT_FOR "for the processor it was built on")
endif()
if(CMAKE_UNITY_BUILD)  # where a source is a header for GCC, so that its unnamed namespace looks shared
  target_compile_options(headscope_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(MINGW)
  # Its stack is aligned to 16 bytes, so vectors of 32 and 64 on it must be moved as unaligned (GCC bug 54412).
  target_compile_options(headscope_options INTERFACE -Wa,-muse-unaligned-vector-move)
  target_link_options(headscope_options INTERFACE -Wl,--stack,8388608)  # as on Linux, for all threads
  # Sections begin at whole pages of the file, so that a start reads the pages that it touches: Wine copies others whole.
  target_link_options(headscope_options INTERFACE -Wl,--file-alignment=4096)
endif()
if(HEADSCOPE_WERROR)
  target_compile_options(headscope_options INTERFACE -Werror)
endif()
if(HEADSCOPE_PACKAGE AND NOT WIN32)
  target_link_options(headscope_options INTERFACE -Wl,-z,relro,-z,now)
endif()
if(HEADSCOPE_SANITIZE)
  target_compile_options(headscope_options INTERFACE -fsanitize=${HEADSCOPE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(headscope_options INTERFACE -fsanitize=${HEADSCOPE_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# headscope_optimise(TARGET LEVEL): -O3 is for loops over numbers (model, viz, app/run); elsewhere it gains nothing that could be
# measured, and optimisation is half of what compiling takes.
function(headscope_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-${level}>)
endfunction()
