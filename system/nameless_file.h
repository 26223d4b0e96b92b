#pragma once
#include <filesystem>

#include "system/file.h"

// Files without a name, which leave nothing when the program is killed. Not every system has them.
namespace headscope::system {

/// A new file in `folder` (empty: the current one) that can be given a name later; closed if the system or
/// the file system has none.
File nameless_file(const std::filesystem::path& folder);

/// Gives it a name that no file has. Returns errno, or 0.
int name_it(const File& file, const std::filesystem::path& name);

/// A new file that never gets a name, in memory where the system can do that. Throws std::system_error.
File scratch_file();

/// Whether a path leads to what a process has open (/dev/stdout, /dev/fd/3), not to a name in a folder.
bool names_a_descriptor(const std::filesystem::path& path);

}  // namespace headscope::system
