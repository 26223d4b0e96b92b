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

/// The contents of a folder, for the folder browser.
struct FolderListing {
  std::filesystem::path folder;           ///< symbolic links resolved; as requested if it cannot be listed
  std::vector<FolderEntry> entries = {};  ///< all but hidden ones, in natural order
  bool is_model = false;                  ///< the folder itself is one
  std::string problem = {};               ///< one sentence; empty: everything could be read
  bool operator==(const FolderListing&) const = default;
};

/// Reads a folder, and the config.json of each folder in it: that may take long on a slow or dead disk, so it
/// is no call for the window's thread (see Background). Never throws. Entries that cannot be read (a broken
/// link, somebody else's folder) are skipped or are no models.
FolderListing list_folder(const std::filesystem::path& folder) noexcept;

/// Natural order: ignores case, and compares numbers by value. Names that differ only in that are ordered by
/// their bytes.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace headscope::app
