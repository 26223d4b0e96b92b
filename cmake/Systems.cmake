# headscope_select_platform_sources(LIST): removes from a list of files those of other systems: *_windows.cpp are for Windows alone,
# *_posix.cpp for all others (CONTRIBUTING.md). Tests are named alike.
function(headscope_select_platform_sources list)
  if(WIN32)
    set(other posix)
  else()
    set(other windows)
  endif()
  list(FILTER ${list} EXCLUDE REGEX "(^|[/_])${other}(_test)?\\.cpp$")
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
