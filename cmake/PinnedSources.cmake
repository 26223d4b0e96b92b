# The sources that stand in for libraries that are not installed. Each has a name, the Debian packages that spare the
# download, and a commit; headscope_fetch_<name> gives it the targets that the installed library would have brought.
include(FetchContent)

# A SOURCE_SUBDIR that does not exist makes FetchContent unpack the sources and leave their CMakeLists.txt alone.
macro(headscope_pin name packages repository commit)
  set(${name}_PACKAGES ${packages})
  set(${name}_REPOSITORY ${repository})
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit} SYSTEM ${ARGN})
endmacro()

headscope_pin(eigen libeigen3-dev https://gitlab.com/libeigen/eigen.git
              3147391d946bb4b6c68edd901f2add6ac1f31f8c SOURCE_SUBDIR headers-only)  # 3.4.0
headscope_pin(json nlohmann-json3-dev https://github.com/nlohmann/json.git
              9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03 SOURCE_SUBDIR headers-only)  # 3.11.3
headscope_pin(cli11 libcli11-dev https://github.com/CLIUtils/CLI11.git
              291c58789c031208f08f4f261a858b5b7083e8e2 SOURCE_SUBDIR headers-only)  # 2.3.2
headscope_pin(stb libstb-dev https://github.com/nothings/stb.git
              8b5f1f37b5b75829fc72d38e7b5d4bcbf8a26d55 SOURCE_SUBDIR headers-only)  # Debian 12's
headscope_pin(imgui "libimgui-dev;libfreetype-dev" https://github.com/ocornut/imgui.git
              6d910d5487d11ca567b61c7824b0c78c569d62f0 SOURCE_SUBDIR headers-only)  # 1.92.5
headscope_pin(glfw libglfw3-dev https://github.com/glfw/glfw.git
              7482de6071d21db77a7236155da44c172a7f6c9e)  # 3.3.8
headscope_pin(utf8proc libutf8proc-dev https://github.com/JuliaStrings/utf8proc.git
              1cb28a66ca79a0845e99433fd1056257456cef8b)  # 2.8.0, Unicode 15
headscope_pin(googletest "libgtest-dev;libgmock-dev" https://github.com/google/googletest.git
              58d77fa8070e8cec2dc1ed015d66b454c8d78850)  # 1.12.1

# Not pinned: what speaks to the network is the system's own, which keeps it safe and knows its certificates; so is what cairo
# is made of, and cairo itself.
set(curl_PACKAGES libcurl4-openssl-dev)
set(openssl_PACKAGES libssl-dev)
set(cairo_PACKAGES libcairo2-dev libfontconfig-dev)
set(zlib_PACKAGES zlib1g-dev)

# Whether headscope_fetch would succeed: asked first, as FetchContent's own failure is a page about git.
function(headscope_can_fetch name result)
  string(TOUPPER ${name} upper_name)
  if(FETCHCONTENT_SOURCE_DIR_${upper_name} OR HEADSCOPE_FETCHED_${name})
    set(${result} TRUE PARENT_SCOPE)
    return()
  endif()
  set(${result} FALSE PARENT_SCOPE)
  find_package(Git QUIET)
  if(NOT HEADSCOPE_FETCH OR NOT GIT_FOUND OR NOT ${name}_REPOSITORY)
    return()
  endif()
  if(name STREQUAL "glfw")
    find_package(X11 QUIET)
    if(NOT (X11_Xcursor_FOUND AND X11_Xi_FOUND AND X11_Xinerama_FOUND AND X11_Xrandr_FOUND))
      return()  # its sources include the headers of all of these
    endif()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_TERMINAL_PROMPT=0
                          ${GIT_EXECUTABLE} ls-remote --exit-code ${${name}_REPOSITORY} HEAD
                  TIMEOUT 20 RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status STREQUAL "0")
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

macro(headscope_fetch name)
  FetchContent_MakeAvailable(${name})
  set(HEADSCOPE_FETCHED_${name} TRUE CACHE INTERNAL "The sources of ${name} lie in the build tree")
  cmake_language(CALL headscope_fetch_${name})
endmacro()

# Of a project that is built by its own CMakeLists.txt: only what we link, and nothing of it is installed.
function(headscope_only_what_is_linked name)
  set_property(DIRECTORY ${${name}_SOURCE_DIR} PROPERTY EXCLUDE_FROM_ALL TRUE)
endfunction()

function(headscope_header_library target include_directory)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${include_directory})
endfunction()

function(headscope_fetch_eigen)
  headscope_header_library(Eigen3::Eigen ${eigen_SOURCE_DIR})
endfunction()

function(headscope_fetch_json)
  headscope_header_library(nlohmann_json::nlohmann_json ${json_SOURCE_DIR}/include)
endfunction()

function(headscope_fetch_cli11)
  headscope_header_library(CLI11::CLI11 ${cli11_SOURCE_DIR}/include)
endfunction()

function(headscope_fetch_stb)
  headscope_header_library(PkgConfig::STB ${stb_SOURCE_DIR})
  set(STB_INCLUDE_DIRS ${stb_SOURCE_DIR} PARENT_SCOPE)
endfunction()

function(headscope_fetch_imgui)
  add_library(imgui STATIC
    ${imgui_SOURCE_DIR}/imgui.cpp
    ${imgui_SOURCE_DIR}/imgui_draw.cpp
    ${imgui_SOURCE_DIR}/imgui_tables.cpp
    ${imgui_SOURCE_DIR}/imgui_widgets.cpp
    ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp)
  # Debian keeps the backends' headers in a folder of the include path, as the sources do.
  target_include_directories(imgui SYSTEM PUBLIC ${imgui_SOURCE_DIR} ${imgui_SOURCE_DIR}/backends)
  target_link_libraries(imgui PUBLIC ${CMAKE_DL_LIBS} $<$<BOOL:${WIN32}>:imm32>)
  add_library(PkgConfig::IMGUI ALIAS imgui)
endfunction()

function(headscope_fetch_glfw)
  headscope_only_what_is_linked(glfw)
endfunction()

function(headscope_fetch_utf8proc)
  headscope_only_what_is_linked(utf8proc)
  target_include_directories(utf8proc SYSTEM INTERFACE ${utf8proc_SOURCE_DIR})
  add_library(PkgConfig::UTF8PROC ALIAS utf8proc)
endfunction()

function(headscope_fetch_googletest)
  headscope_only_what_is_linked(googletest)
endfunction()

set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # lets variables stand in for the options of those projects
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # CMake 4 refuses the minimum that some of them state
set(GLFW_BUILD_DOCS OFF)
set(GLFW_BUILD_EXAMPLES OFF)
set(GLFW_BUILD_TESTS OFF)
