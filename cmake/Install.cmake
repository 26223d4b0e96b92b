# cmake --install: a program that finds its assets beside itself (bin/../share/headscope), wherever it is put.
set(files share/headscope)
if(WIN32)
  install(TARGETS headscope_packaged RUNTIME DESTINATION bin)
else()
  install(TARGETS headscope RUNTIME DESTINATION bin)
endif()
install(DIRECTORY assets/models DESTINATION ${files} PATTERN "*.py" EXCLUDE)
install(DIRECTORY assets/examples assets/tours assets/guide assets/python DESTINATION ${files} PATTERN "__pycache__" EXCLUDE)
# The pictures that the guide shows.
install(DIRECTORY assets/gallery DESTINATION ${files} FILES_MATCHING PATTERN "*.png")
if(WIN32)
  install(FILES LICENSE DESTINATION .)
  # The libraries are part of the program, so their licenses come with it.
  foreach(name cairo cli11 curl eigen expat fontconfig freetype glfw imgui json mimalloc pixman stb utf8proc zlib)
    foreach(license COPYING debian/copyright)  # pixman may have come without Debian's part
      if(EXISTS ${HEADSCOPE_WINDOWS_LIBRARIES}/src/${name}/${license})
        install(FILES ${HEADSCOPE_WINDOWS_LIBRARIES}/src/${name}/${license} DESTINATION licenses RENAME ${name}.txt)
      endif()
    endforeach()
  endforeach()
  foreach(package mingw-w64-common gcc-mingw-w64-base)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION licenses RENAME ${package}.txt OPTIONAL)
  endforeach()
  return()
endif()
install(FILES assets/headscope.desktop DESTINATION share/applications)
install(FILES assets/headscope.svg DESTINATION share/icons/hicolor/scalable/apps)
install(FILES assets/package/headscope.xml DESTINATION share/mime/packages)
install(FILES assets/package/copyright DESTINATION share/doc/headscope)
configure_file(assets/package/org.headscope.headscope.metainfo.xml.in org.headscope.headscope.metainfo.xml @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/org.headscope.headscope.metainfo.xml DESTINATION share/metainfo)

# The manual page of packages is made from --help.
if(HEADSCOPE_PACKAGE)
  find_program(HEADSCOPE_HELP2MAN help2man REQUIRED)
  set(manual ${PROJECT_BINARY_DIR}/headscope.1)
  add_custom_command(OUTPUT ${manual}.gz
    COMMAND ${HEADSCOPE_HELP2MAN} --no-info --name "see inside GPT-2 while it runs" --output ${manual}
            "${CMAKE_CROSSCOMPILING_EMULATOR} '$<TARGET_FILE:headscope>'"  # for a shell
    COMMAND gzip -9nf ${manual}
    DEPENDS headscope VERBATIM)
  add_custom_target(headscope_manual ALL DEPENDS ${manual}.gz)
  install(FILES ${manual}.gz DESTINATION share/man/man1)
endif()
