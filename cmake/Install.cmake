# cmake --install: a program that finds its assets beside itself (bin/../share/headscope), wherever it is put.
install(TARGETS headscope RUNTIME DESTINATION bin)
install(DIRECTORY assets/models DESTINATION share/headscope PATTERN "*.py" EXCLUDE)
install(FILES assets/prompts.txt DESTINATION share/headscope)
install(DIRECTORY assets/tours DESTINATION share/headscope)
install(FILES assets/headscope.desktop DESTINATION share/applications)
install(FILES assets/headscope.svg DESTINATION share/icons/hicolor/scalable/apps)
install(FILES LICENSE DESTINATION share/doc/headscope RENAME copyright)
