#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "app/cli/arguments/arguments.h"
#include "app/run/exact_sum.h"

// What commands write about a list of prompts, perhaps of a shard of it, and read again to add it up.
namespace headscope::app {

/// A list of prompts, whole: shards of different lists do not belong together.
struct ListFile {
  std::string name;          ///< "pairs.jsonl", without its folder
  std::string sha256;        ///< of its bytes, in hexadecimal digits
  std::int64_t prompts = 0;  ///< in all of it, whatever the shard
  bool operator==(const ListFile&) const = default;
};
/// As members of `how` name it.
nlohmann::ordered_json list_json(const ListFile& list);

/// What all of them have in common.
struct ListPart {
  int prompts = 0;
  int skipped = 0;  ///< number of prompts that failed
  /// What parts must agree in: the models, how they were run, what was measured; values as JSON.
  std::map<std::string, std::string> conditions = {};
  std::optional<ListFile> list = {};  ///< none: one prompt, or several lists
  Shard shard = {};
};

inline constexpr int kMostCounted = std::numeric_limits<int>::max() - 1;  // leaves room to add one

/// The whole number in [low, high] at a key. Throws std::invalid_argument, and json::exception for no such
/// key.
std::int64_t whole_at(const nlohmann::ordered_json& of, const char* key, std::int64_t low,
                      std::int64_t high = kMostCounted);

/// The conditions in the member `how` of an answer: all but the program's version.
std::map<std::string, std::string> conditions_of(const nlohmann::ordered_json& how);
/// The member `how` of an answer: the program, a part's conditions and its list. The list of --mean-over only
/// if there was one.
nlohmann::ordered_json how_of(const ListPart& part, const std::string& program);

/// Writes a part's own members: "shard" if it is one, "prompts" and "skipped".
void add_part_members(const ListPart& part, nlohmann::ordered_json& answer);
/// Reads "how", "shard", "prompts" and "skipped". Throws like whole_at.
ListPart list_part_of(const nlohmann::ordered_json& part);

/// Writes a mean's members: "mean", "standard_error" and "count", and its exact sums, so that merging loses
/// nothing.
void add_mean_members(const SampleMean& mean, nlohmann::ordered_json& object);
/// Reads the exact sums of numbers of at most `prompts` prompts. Throws like whole_at.
SampleMean mean_of_members(const nlohmann::ordered_json& object, int prompts);

/// Reads a part with `read`, which may throw std::invalid_argument and json::exception. Throws
/// model::LoadError that begins with `file` and says what was expected: "the output of ...".
void read_part(std::string_view json, const std::string& file, const std::string& expected,
               const std::function<void(const nlohmann::ordered_json&)>& read);

/// Adds up parts: checks that they belong together, and counts their prompts.
class ListParts {
 public:
  /// Throws model::LoadError for a part whose conditions differ from those of others that have them, a shard
  /// of another list, or a part that is already there.
  void add(const ListPart& part, const std::string& file);
  /// The whole. Throws model::LoadError if shards are missing.
  ListPart whole() const;

 private:
  ListPart all_;
  std::string first_file_;
  std::optional<ListFile> list_;  // of the first part that names one
  std::set<int> shards_;
};

/// Calls `add` with the text and the name of each file. Throws model::LoadError if one cannot be read or was
/// given twice.
void for_each_part(std::span<const std::filesystem::path> files,
                   const std::function<void(const std::string& text, const std::string& file)>& add);

}  // namespace headscope::app
