#pragma once
#include <filesystem>
#include <functional>

namespace headscope::system {

/// Calls `visit` with the path of each file below a folder, in no particular order. Links to folders are not
/// followed, and what cannot be read is left out. A system that tells with its names what they are is not
/// asked again about each.
void for_each_file_below(const std::filesystem::path& folder,
                         const std::function<void(const std::filesystem::path&)>& visit);

}  // namespace headscope::system
