#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/recipe/recipe.h"

namespace headscope::app {

/// An entry of the folder browser.
struct FolderEntry {
  /// A folder, a folder with a GPT-2's config.json, or a file: a session, a picture with its recipe,
  /// attention patterns (see PatternFile), or a list of prompts (see PromptList).
  enum class Kind { folder, model, session, figure, patterns, prompts };
  std::string name;  ///< any bytes
  Kind kind = Kind::folder;
  std::string about = {};  ///< of a figure: the command that makes it
  bool operator==(const FolderEntry&) const = default;
};

/// The contents of a folder, for the folder browser.
struct FolderListing {
  std::filesystem::path folder;  ///< with symbolic links resolved; as requested if it cannot be listed
  std::vector<FolderEntry> entries = {};  ///< all except hidden ones, in natural order
  bool is_model = false;                  ///< the folder itself is a model
  std::string problem = {};               ///< one sentence; empty: everything could be read
  bool operator==(const FolderListing&) const = default;
};

/// Lists a folder and reads the config.json of each folder and the recipe of each picture in it. May take
/// long on a slow or dead disk, so do not call it on the window's thread (see Background). Never throws.
/// Entries that cannot be read (a broken link, another user's folder) are skipped or do not count as models.
FolderListing list_folder(const std::filesystem::path& folder) noexcept;

/// What a file may be, judging by its name; nothing: nothing that can be opened.
std::optional<FolderEntry::Kind> kind_by_name(const std::filesystem::path& file);
/// Likewise: whether it may hold attention patterns; it may be a model's weights, too.
bool may_hold_patterns(const std::filesystem::path& file);
/// Whether it may hold those or a model's weights.
bool may_hold_tensors(const std::filesystem::path& file);

/// A session that a window kept, in a file of its own.
struct KeptSession {
  std::filesystem::file_time_type written;
  std::filesystem::path file;
  auto operator<=>(const KeptSession&) const = default;
};

/// The last sessions in the state folder, the last one first. Deletes older ones, but not those of the last
/// days, whose windows may be open. Never throws.
std::vector<KeptSession> kept_sessions(const std::filesystem::path& folder);

/// Puts a path, unless it is empty, in front of at most kMaxRecent, each once; a slash at its end does not
/// count.
void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used);
/// Settings with the recent paths in a file, which another window may have written, after their own.
Settings with_recents_of_others(Settings own, const std::filesystem::path& file);

/// Natural order: ignores case and compares numbers by value; ties are ordered by bytes.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace headscope::app
