# Windows' libraries are opened when the first of their functions is called, not when the program starts: most of what the program
# does takes no window, no network and no clipboard, and by their start those libraries had taken as long as a small picture takes.
# MinGW's linker knows no such thing by itself: what stands in for these libraries is made here of their lists of functions, in a
# folder that is searched first.
set(delayed ${PROJECT_BINARY_DIR}/delayed)
foreach(name advapi32 bcrypt crypt32 gdi32 ole32 shell32 user32 ws2_32)
  if(EXISTS ${delayed}/lib${name}.a)
    continue()
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${name}.a
                  OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_DLLTOOL} --identify ${library}
                  OUTPUT_VARIABLE dll OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_NM} --defined-only ${library}
                  OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " I __imp_[^\n]+" functions "${symbols}")
  list(TRANSFORM functions REPLACE " I __imp_" "")
  list(REMOVE_DUPLICATES functions)
  list(JOIN functions "\n" functions)
  file(WRITE ${delayed}/${name}.def "LIBRARY ${dll}\nEXPORTS\n${functions}\n")
  execute_process(COMMAND ${CMAKE_DLLTOOL} --input-def ${name}.def --output-delaylib lib${name}.a
                  WORKING_DIRECTORY ${delayed} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
add_link_options(-L${delayed})
string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -ldelayimp")
