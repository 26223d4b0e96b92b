# cpack: a .deb and a tar.gz, and for Windows a zip and an installer; but for the installer they run
# wherever they are unpacked. The preset `package` has what packages want of a build.
set(HEADSCOPE_CONTACT "the headscope authors <authors@headscope.example>" CACHE STRING "Who answers for the packages")

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME headscope)
set(CPACK_PACKAGE_CONTACT "${HEADSCOPE_CONTACT}")
set(CPACK_PACKAGE_VENDOR "the headscope authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "see inside GPT-2 while it runs")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

if(WIN32)
  set(CPACK_GENERATOR ZIP NSIS)
  set(CPACK_MODULE_PATH ${PROJECT_SOURCE_DIR}/assets/windows)  # has NSIS.template.in, which replaces CPack's own
  set(CPACK_NSIS_MUI_ICON ${PROJECT_BINARY_DIR}/headscope.ico)  # WindowsResources.cmake draws it
  set(CPACK_NSIS_MUI_UNIICON ${PROJECT_BINARY_DIR}/headscope.ico)
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  include(CPack)
  return()
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date -u -R -d ${HEADSCOPE_DATE}
                OUTPUT_VARIABLE changelog_date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
configure_file(assets/package/changelog.in changelog @ONLY)
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/changelog COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION share/doc/headscope)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# What is opened only with a window: GLFW, its X11 libraries, and OpenGL with its drivers.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, fonts-dejavu-core, fonts-droid-fallback, fonts-symbola, \
libglfw3, libgl1, libgl1-mesa-dri, libxcursor1, libxi6, libxinerama1, libxrandr2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "xclip | wl-clipboard")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"headscope runs GPT-2 in process and makes visible what happens inside: every
attention head of every layer, what a query scored against which key, what
each part adds to a guess. Change the computation and see what changes, and
take any picture away as a file.
.
Beside the window there are commands for pictures and numbers, which need no
display. A small model comes with it; any GPT-2 in Hugging Face layout can be
opened.")
include(CPack)
