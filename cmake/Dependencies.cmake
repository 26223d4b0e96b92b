# Third-party targets. Debian's packages are taken where they are installed.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(glfw3 3.3 REQUIRED)
find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET imgui)
pkg_check_modules(STB REQUIRED IMPORTED_TARGET stb)

# One name each for the rest of the build.
add_library(headscope_imgui INTERFACE)
target_include_directories(headscope_imgui SYSTEM INTERFACE ${IMGUI_INCLUDE_DIRS})
target_link_libraries(headscope_imgui INTERFACE ${IMGUI_LINK_LIBRARIES} glfw OpenGL::OpenGL freetype)
add_library(headscope_stb INTERFACE)
target_include_directories(headscope_stb SYSTEM INTERFACE ${STB_INCLUDE_DIRS})

if(HEADSCOPE_TESTS)
  find_package(GTest REQUIRED)
endif()
