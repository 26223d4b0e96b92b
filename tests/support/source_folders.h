#pragma once
#include <filesystem>

// Where the sources are. One file alone is compiled with these paths, so that a compiler's cache serves every
// clone.
namespace headscope::testing {

/// The repository's root.
std::filesystem::path source_dir();
/// Models and vocabularies beside it that are too large for it; may be absent.
std::filesystem::path shared_dir();

}  // namespace headscope::testing
