# What Windows reads in the program's file: its icon, its version, and what it asks of the system. The icon is drawn from
# assets/headscope.svg in the sizes that Windows takes; the largest is a PNG in it, the others are bitmaps.
enable_language(RC)
find_program(HEADSCOPE_RSVG_CONVERT rsvg-convert)
find_program(HEADSCOPE_ICOTOOL icotool)
if(NOT HEADSCOPE_RSVG_CONVERT OR NOT HEADSCOPE_ICOTOOL)
  message(FATAL_ERROR "The program's icon for Windows is drawn by rsvg-convert and icotool, which are not both installed. "
          "On Debian and Ubuntu, install them so:\n  sudo apt-get install librsvg2-bin icoutils")
endif()
set(HEADSCOPE_ICON ${PROJECT_BINARY_DIR}/headscope.ico)
set(draw "")
set(pictures "")
foreach(size 16 20 24 32 40 48 64 256)
  list(APPEND draw COMMAND ${HEADSCOPE_RSVG_CONVERT} --width ${size} --height ${size}
       --output icon-${size}.png ${PROJECT_SOURCE_DIR}/assets/headscope.svg)
  if(NOT size EQUAL 256)
    list(APPEND pictures icon-${size}.png)
  endif()
endforeach()
add_custom_command(OUTPUT ${HEADSCOPE_ICON} ${draw}
  COMMAND ${HEADSCOPE_ICOTOOL} --create --output headscope.ico ${pictures} --raw icon-256.png
  DEPENDS ${PROJECT_SOURCE_DIR}/assets/headscope.svg WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)

configure_file(${PROJECT_SOURCE_DIR}/assets/windows/headscope.manifest.in ${PROJECT_BINARY_DIR}/headscope.manifest @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/assets/windows/headscope.rc.in ${PROJECT_BINARY_DIR}/headscope.rc @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/headscope.rc PROPERTIES
  OBJECT_DEPENDS "${HEADSCOPE_ICON};${PROJECT_BINARY_DIR}/headscope.manifest")
foreach(program headscope headscope_packaged)
  target_sources(${program} PRIVATE ${PROJECT_BINARY_DIR}/headscope.rc)
endforeach()
