# cmake --install: a program that finds its assets beside itself (bin/../share/headscope), wherever it is put.
set(files share/headscope)
if(WIN32)
  install(TARGETS headscope_packaged RUNTIME DESTINATION bin)
else()
  install(TARGETS headscope RUNTIME DESTINATION bin)
endif()
install(DIRECTORY assets/models DESTINATION ${files} PATTERN "*.py" EXCLUDE)
install(FILES assets/prompts.txt DESTINATION ${files})
install(DIRECTORY assets/tours assets/guide assets/python DESTINATION ${files} PATTERN "__pycache__" EXCLUDE)
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

# The manual page and what shells complete by are written by the program itself.
set(HEADSCOPE_ZSH_FOLDER share/zsh/site-functions CACHE STRING "Where zsh looks for completions, below the prefix")
set(written ${PROJECT_BINARY_DIR}/written)
file(MAKE_DIRECTORY ${written})
add_custom_command(OUTPUT ${written}/headscope.1.gz ${written}/bash ${written}/zsh ${written}/fish
  COMMAND headscope completion bash > bash
  COMMAND headscope completion zsh > zsh
  COMMAND headscope completion fish > fish
  COMMAND headscope manual > headscope.1
  COMMAND gzip -9nf headscope.1
  DEPENDS headscope WORKING_DIRECTORY ${written} VERBATIM)
add_custom_target(headscope_written ALL DEPENDS ${written}/headscope.1.gz ${written}/bash ${written}/zsh ${written}/fish)
install(FILES ${written}/headscope.1.gz DESTINATION share/man/man1)
install(FILES ${written}/bash DESTINATION share/bash-completion/completions RENAME headscope)
install(FILES ${written}/zsh DESTINATION ${HEADSCOPE_ZSH_FOLDER} RENAME _headscope)
install(FILES ${written}/fish DESTINATION share/fish/vendor_completions.d RENAME headscope.fish)
