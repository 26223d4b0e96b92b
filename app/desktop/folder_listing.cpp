#include "app/desktop/folder_listing.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <ranges>
#include <system_error>
#include <utility>

#include "app/ascii.h"
#include "app/run/prompt_list.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/export.h"
#include "model/files/file_io.h"
#include "system/file.h"
#include "system/machine.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Removes the leading digits from the text and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Less than, equal to or greater than 0. Different names compare equal only if they differ in leading zeros
/// or case.
int natural_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y); order != 0) return order;
    } else {
      const auto x = static_cast<unsigned char>(lower(a.front()));
      const auto y = static_cast<unsigned char>(lower(b.front()));
      if (x != y) return x < y ? -1 : 1;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(b.empty()) - static_cast<int>(a.empty());
}

std::string why_not(const fs::path& folder, const std::error_code& error) {
  const std::string name = system::text_of(folder);
  if (error == std::errc::no_such_file_or_directory) return "There is no folder " + name + ".";
  if (error == std::errc::not_a_directory) return name + " is a file, not a folder.";
  return "The folder " + name + " cannot be read: " + error.message() + ".";
}

/// What a path is; pictures and lists by their names alone, so that they may still lack a recipe. Nothing:
/// nothing that can be opened.
std::optional<FolderEntry::Kind> kind_of(const fs::path& path) {
  using Kind = FolderEntry::Kind;
  const std::string name = system::text_of(path.filename());
  if (name.starts_with('.')) return std::nullopt;
  const auto kind = system::kind_at(path);
  if (kind == system::FileKind::folder) return is_gpt2(path) ? Kind::model : Kind::folder;
  if (kind != system::FileKind::regular) return std::nullopt;
  const auto named = kind_by_name(path);
  if (name == "merges.txt" || (named == Kind::patterns && !PatternFile::is_one(path))) return std::nullopt;
  return named;
}

/// The command that makes a figure; nothing if the file is no picture with a recipe.
std::optional<std::string> command_in(const fs::path& picture) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;
  std::error_code unreadable;
  if (fs::file_size(picture, unreadable) > kMaxBytes || unreadable) return std::nullopt;
  try {
    const Recipe recipe = read_recipe(picture);
    return recipe.figure ? std::optional(command_of(recipe)) : std::nullopt;
  } catch (const std::exception&) {  // another program's picture, or one cut short
    return std::nullopt;
  }
}

/// What the browser shows for a path; nothing: it is left out.
std::optional<FolderEntry> entry_of(const fs::path& path) {
  FolderEntry entry{system::text_of(path.filename())};
  const auto kind = kind_of(path);
  if (kind) entry.kind = *kind;
  if (kind != FolderEntry::Kind::figure) return kind ? std::optional(entry) : std::nullopt;
  auto command = command_in(path);
  if (!command) return std::nullopt;
  entry.about = *std::move(command);
  return entry;
}

/// Why a path cannot be listed, judged without reading the folder; empty: it may be listed.
std::string problem_of(const fs::path& folder) {
  if (folder.empty()) return "Type the path of a folder.";
  if (folder.is_relative())
    return system::text_of(folder) + " is not an absolute path: it must begin with " +
           (system::is_windows() ? "a drive, as C:\\, or ~/." : "/ or ~/.");
  return "";
}

void fill(FolderListing& listing) {
  const fs::path& folder = listing.folder;
  listing.problem = problem_of(folder);
  if (!listing.problem.empty()) return;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error) {
    listing.problem = why_not(folder, error);
    return;
  }
  for (; at != fs::directory_iterator(); at.increment(error))
    if (auto entry = entry_of(at->path())) listing.entries.push_back(*std::move(entry));
  if (error) listing.problem = why_not(folder, error);  // for example unplugged: keep the entries read so far
  std::ranges::sort(listing.entries, natural_less, &FolderEntry::name);
  listing.is_model = is_gpt2(folder);
  fs::path real = fs::canonical(folder, error);
  if (!error) listing.folder = std::move(real);
}

}  // namespace

FolderListing list_folder(const fs::path& folder) noexcept {
  FolderListing listing;
  try {
    listing.folder = folder;
    fill(listing);
  } catch (const std::exception&) {  // not enough memory for all names
    listing.entries.clear();
    listing.problem = "The folder has too many entries to list.";
  }
  return listing;
}

std::optional<FolderEntry::Kind> kind_by_name(const fs::path& file) {
  using Kind = FolderEntry::Kind;
  const std::string extension = lowered(system::text_of(file.extension()));
  if (extension == kSessionExtension) return Kind::session;
  if (extension == ".safetensors") return Kind::patterns;
  if (const auto format = format_of(file); format && format != FileFormat::csv) return Kind::figure;
  return may_hold_prompts(file) ? std::optional(Kind::prompts) : std::nullopt;
}

bool may_hold_patterns(const fs::path& file) {
  return kind_by_name(file) == FolderEntry::Kind::patterns;
}

bool may_hold_tensors(const fs::path& file) {
  return may_hold_patterns(file) || lowered(system::text_of(file.extension())) == ".bin";
}

std::vector<KeptSession> kept_sessions(const fs::path& folder) {
  constexpr std::size_t kMax = 15;
  const auto old = fs::file_time_type::clock::now() - std::chrono::days(7);
  std::vector<KeptSession> kept;
  std::error_code ignored;
  for (const fs::path& file : model::entries_of(folder))
    if (file.extension() == kSessionExtension) kept.push_back({fs::last_write_time(file, ignored), file});
  std::ranges::sort(kept, std::greater());
  for (; kept.size() > kMax; kept.pop_back())
    if (kept.back().written < old) system::remove_file(kept.back().file);
  return kept;
}

void remember(std::vector<fs::path>& recent, const fs::path& used) {
  if (used.empty()) return;
  const fs::path newest = (used / "").parent_path();  // without a slash at the end
  std::erase(recent, newest);
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

Settings with_recents_of_others(Settings own, const fs::path& file) {
  const Settings there = load_settings(file);
  for (const auto recent :
       {&Settings::recent_models, &Settings::recent_folders, &Settings::recent_sessions}) {
    std::vector<fs::path> all = there.*recent;
    for (const fs::path& path : own.*recent | std::views::reverse) remember(all, path);
    own.*recent = std::move(all);
  }
  return own;
}

bool natural_less(std::string_view a, std::string_view b) {
  const int order = natural_order(a, b);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace headscope::app
