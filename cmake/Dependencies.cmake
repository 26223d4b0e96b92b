# Third-party targets: the installed libraries (on Debian, the packages of debian-packages.txt), else sources pinned by
# commit, else one message that names everything there is to install.
#
#   cmake -DHEADSCOPE_FETCH=OFF                      never download
#   cmake -DHEADSCOPE_FROM_SOURCE="imgui;stb"        the pinned sources even of what is installed
#   cmake -DFETCHCONTENT_SOURCE_DIR_IMGUI=DIR        sources of your own in their place
option(HEADSCOPE_FETCH "Download pinned sources of the libraries that are not installed" ON)
set(HEADSCOPE_FROM_SOURCE "" CACHE STRING "Libraries to build from pinned sources even where they are installed")

include(cmake/PinnedSources.cmake)

set(missing "")  # names from PinnedSources.cmake

# Looks for an installed library that brings `target`; the rest of the arguments are find_package's.
macro(headscope_find name target)
  if(NOT "${name}" IN_LIST HEADSCOPE_FROM_SOURCE)
    find_package(${ARGN} QUIET)
  endif()
  if(NOT TARGET ${target})
    list(APPEND missing ${name})
  endif()
endmacro()

# The same for libraries that only pkg-config knows. The target is PkgConfig::<prefix>.
macro(headscope_find_module name prefix)
  if(PkgConfig_FOUND AND NOT "${name}" IN_LIST HEADSCOPE_FROM_SOURCE)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${ARGN})
  endif()
  if(NOT TARGET PkgConfig::${prefix})
    list(APPEND missing ${name})
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
headscope_find(eigen Eigen3::Eigen Eigen3 3.4 NO_MODULE)
headscope_find(json nlohmann_json::nlohmann_json nlohmann_json 3.10)
headscope_find_module(utf8proc UTF8PROC libutf8proc)
if(NOT WIN32)  # which has its own hashes
  headscope_find(openssl OpenSSL::Crypto OpenSSL 1.1.1)
endif()
if(NOT HEADSCOPE_MODEL_ONLY)
  find_path(HEADSCOPE_GL_HEADERS GL/gl.h)
  headscope_find(cli11 CLI11::CLI11 CLI11 2.1)
  headscope_find(glfw glfw glfw3 3.3)
  headscope_find(curl CURL::libcurl CURL 7.85)  # CURLOPT_PROTOCOLS_STR
  headscope_find_module(cairo CAIRO cairo-pdf cairo-ft fontconfig)
  set(ZLIB_USE_STATIC_LIBS ${MINGW})
  headscope_find(zlib ZLIB::ZLIB ZLIB 1.2.9)  # crc32_z
  headscope_find_module(stb STB stb)
  headscope_find_module(imgui IMGUI imgui freetype2)  # Debian's libimgui.a calls FreeType, and its imgui.pc does not say so
endif()
if(HEADSCOPE_TESTS)
  headscope_find(googletest GTest::gmock_main GTest 1.12)
endif()

# Cairo has its buffers checked.
if(MINGW AND TARGET PkgConfig::CAIRO)
  set_property(TARGET PkgConfig::CAIRO PROPERTY INTERFACE_COMPILE_OPTIONS "")
  set_property(TARGET PkgConfig::CAIRO APPEND PROPERTY INTERFACE_LINK_LIBRARIES ssp)
endif()

# A package fits the next release of a system, too, in which libutf8proc.so has another number.
if(HEADSCOPE_PACKAGE AND TARGET PkgConfig::UTF8PROC)
  find_library(UTF8PROC_ARCHIVE libutf8proc.a HINTS ${UTF8PROC_LIBRARY_DIRS} REQUIRED)
  set_target_properties(PkgConfig::UTF8PROC PROPERTIES INTERFACE_LINK_LIBRARIES ${UTF8PROC_ARCHIVE}
                        INTERFACE_COMPILE_DEFINITIONS UTF8PROC_STATIC)
endif()

set(packages_to_install "")
if(NOT HEADSCOPE_MODEL_ONLY)
  if(NOT HEADSCOPE_GL_HEADERS)
    list(APPEND packages_to_install libgl-dev)
  endif()
endif()
foreach(name IN LISTS missing)
  headscope_can_fetch(${name} can_fetch)
  if(NOT can_fetch)
    list(APPEND packages_to_install ${${name}_PACKAGES})
  endif()
endforeach()
if(packages_to_install)
  if(NOT PkgConfig_FOUND)
    list(APPEND packages_to_install pkg-config)
  endif()
  list(REMOVE_DUPLICATES packages_to_install)
  list(JOIN packages_to_install " " packages_to_install)
  message(FATAL_ERROR "headscope needs libraries that are not installed and cannot be downloaded (HEADSCOPE_FETCH is "
          "${HEADSCOPE_FETCH}). On Debian and Ubuntu, install them so:\n  sudo apt-get install ${packages_to_install}\n"
          "On other systems, install the libraries of the same names.")
endif()
foreach(name IN LISTS missing)
  message(STATUS "${name}: taking its pinned sources")
  headscope_fetch(${name})
endforeach()

if(HEADSCOPE_MODEL_ONLY)
  return()
endif()

# One name each for the rest of the build.
add_library(headscope_stb INTERFACE)
target_include_directories(headscope_stb SYSTEM INTERFACE ${STB_INCLUDE_DIRS})
add_library(headscope_imgui INTERFACE)
target_link_libraries(headscope_imgui INTERFACE PkgConfig::IMGUI)
# A shared GLFW is not linked: the program opens it when it opens a window, so that commands work without it.
add_library(headscope_glfw INTERFACE)
get_target_property(type glfw TYPE)
if(type STREQUAL "SHARED_LIBRARY" AND NOT WIN32)
  target_include_directories(headscope_glfw SYSTEM INTERFACE $<TARGET_PROPERTY:glfw,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(headscope_glfw INTERFACE HEADSCOPE_GLFW_LIBRARY="libglfw.so.3")
else()
  target_link_libraries(headscope_glfw INTERFACE glfw)
endif()
