#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::app {

/// Why a model could not be fetched. `what()` is one sentence.
class HubError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A model on the Hugging Face hub.
struct HubModel {
  std::string repository;  ///< "openai-community/gpt2": one or two names, valid in a folder name and a URL
  std::string revision = "main";  ///< a branch, tag or commit; valid as a relative path
  bool operator==(const HubModel&) const = default;
};

/// Parses "NAME" or "ORGANISATION/NAME", optionally with "@REVISION"; the short names of known_models are
/// expanded. Throws HubError for anything the hub would not accept as a name, so that no name leads out of
/// the cache.
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
std::span<const KnownModel> known_models();

}  // namespace headscope::app
