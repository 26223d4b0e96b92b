#pragma once

namespace headscope::system {

/// A function of a library that is looked for while the program runs; null if there is no library or it lacks
/// the function. The library stays open: drivers start threads and register exit handlers.
void* library_function(const char* library, const char* function);

}  // namespace headscope::system
