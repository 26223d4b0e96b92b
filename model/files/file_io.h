#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace headscope::model {

/// The whole content of a file. Throws LoadError (one sentence with the path and the system's reason) if it
/// cannot be read, is a directory, has more than `max_bytes`, or is truncated while it is read.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

/// The same for a model's file. Rejects pipes and devices with a LoadError, since reading them might never
/// end.
std::string read_regular_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{1} << 30);

}  // namespace headscope::model
