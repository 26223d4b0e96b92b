# Compiles for Windows on Linux. The compiler is Debian's g++-mingw-w64-x86-64-posix, which has std::thread.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# Libraries of this machine do not fit. windows_libraries.sh builds some; what CMake compiles has its sources there.
if(DEFINED ENV{HEADSCOPE_WINDOWS_LIBRARIES})
  set(HEADSCOPE_WINDOWS_LIBRARIES $ENV{HEADSCOPE_WINDOWS_LIBRARIES})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(HEADSCOPE_WINDOWS_LIBRARIES $ENV{XDG_CACHE_HOME}/headscope/windows)
else()
  set(HEADSCOPE_WINDOWS_LIBRARIES $ENV{HOME}/.cache/headscope/windows)
endif()
foreach(name eigen json cli11 stb imgui glfw utf8proc googletest)
  string(TOUPPER ${name} upper_name)
  if(IS_DIRECTORY ${HEADSCOPE_WINDOWS_LIBRARIES}/src/${name} AND NOT FETCHCONTENT_SOURCE_DIR_${upper_name})
    set(FETCHCONTENT_SOURCE_DIR_${upper_name} ${HEADSCOPE_WINDOWS_LIBRARIES}/src/${name})
  endif()
endforeach()
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${HEADSCOPE_WINDOWS_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${HEADSCOPE_WINDOWS_LIBRARIES}/lib/pkgconfig)
set(PKG_CONFIG_ARGN --static)

# Tests are run by Wine, where it is installed.
find_program(HEADSCOPE_WINE NAMES wine wine64 PATHS /usr/lib/wine NO_CACHE)
if(HEADSCOPE_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HEADSCOPE_WINE})
endif()

# A program needs no libraries of the compiler beside it.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
