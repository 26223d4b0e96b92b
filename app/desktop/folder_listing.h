#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// One line of the folder browser.
struct FolderEntry {
  /// A folder, one with a GPT-2's config.json, or a file: a session, attention patterns (see PatternFile), a
  /// list of prompts (see PromptList).
  enum class Kind { folder, model, session, patterns, prompts };
  std::string name;  ///< any bytes
  Kind kind = Kind::folder;
  bool operator==(const FolderEntry&) const = default;
};

/// What the folder browser shows of one folder.
struct FolderListing {
  std::filesystem::path folder;  ///< symbolic links resolved; as it was asked where it cannot be listed
  std::vector<FolderEntry> entries = {};  ///< all but hidden ones, in natural order
  bool is_model = false;                  ///< the folder itself is one
  std::string problem = {};               ///< one sentence; empty: all of it could be read
  bool operator==(const FolderListing&) const = default;
};

/// Reads a folder, and of each folder in it the config.json: on a slow or dead disk that takes as long as it
/// takes, so not on the window's thread (see Background). Never throws. What cannot be read inside (a broken
/// link, a folder of somebody else) is passed over or is no model.
FolderListing list_folder(const std::filesystem::path& folder) noexcept;

/// The order in which people look for names: small and capital letters alike, numbers by their value. Total:
/// names that differ only so are ordered by their bytes.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace headscope::app
