#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::app {

/// Why a model could not be fetched. `what()` is one sentence.
struct HubError : std::runtime_error {
  explicit HubError(const std::string& why, std::optional<std::chrono::seconds> wait = {})
      : std::runtime_error(why), retry_after(wait) {}
  /// How long the server asks to wait (0: it does not) before an attempt that may succeed; nothing: none may.
  std::optional<std::chrono::seconds> retry_after;
};

/// A model on the Hugging Face hub.
struct HubModel {
  std::string repository;  ///< "openai-community/gpt2": one or two names, valid in a folder name and a URL
  std::string revision = "main";  ///< a branch, tag or commit; valid as a relative path
  bool operator==(const HubModel&) const = default;
};

/// Parses "NAME" or "ORGANISATION/NAME", optionally with "@REVISION"; the short names of kKnownModels are
/// expanded. Throws HubError for anything that might lead out of the cache.
HubModel parse_hub_model(std::string_view text);

/// parse_hub_model for a text that may also be a folder: accepts "ORGANISATION/NAME" and a known model's
/// short name; nothing for anything else.
std::optional<HubModel> guess_hub_model(std::string_view text);

/// "openai-community/gpt2", with "@revision" unless that is main; the inverse of parse_hub_model.
std::string to_text(const HubModel& model);

/// Whether it is a full commit hash: 40 hexadecimal digits.
bool is_commit(std::string_view revision);

/// A well-known GPT-2.
struct KnownModel {
  std::string_view short_name;
  std::string_view repository;
  std::uint64_t bytes = 0;  ///< approximate size of the fetch
};

/// The four sizes of GPT-2 and DistilGPT-2, from small to large.
inline constexpr KnownModel kKnownModels[] = {
    {"distilgpt2", "distilbert/distilgpt2", 355'000'000},
    {"gpt2", "openai-community/gpt2", 551'000'000},
    {"gpt2-medium", "openai-community/gpt2-medium", 1'523'000'000},
    {"gpt2-large", "openai-community/gpt2-large", 3'250'000'000},
    {"gpt2-xl", "openai-community/gpt2-xl", 6'435'000'000},
};

/// Identifies a file's content.
struct FileFacts {
  std::string digest;  ///< see is_content_hash; empty: the hub does not say what identifies the file
  std::uint64_t bytes = 0;
};

/// A repository at one commit.
struct Listing {
  std::string commit;                      ///< 40 hexadecimal digits
  std::map<std::string, FileFacts> files;  ///< by name
};

/// Parses the hub's JSON about a model. Throws model::LoadError, and HubError also if the model is pinned to
/// another commit.
Listing parse_listing(std::string_view json, const HubModel& model);

}  // namespace headscope::app
