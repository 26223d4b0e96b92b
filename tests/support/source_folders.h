#pragma once
#include <filesystem>

// The location of the sources. Only one file is compiled with these paths, so that a compiler cache works for
// every clone.
namespace headscope::testing {

/// The root of the repository.
std::filesystem::path source_dir();

}  // namespace headscope::testing
