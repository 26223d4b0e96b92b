#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::app {

/// What stands between the user and a model that was to be fetched. `what()` is one sentence.
class HubError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A model on the Hugging Face hub.
struct HubModel {
  std::string repository;  ///< "openai-community/gpt2": one or two names, fit for a folder's name and a URL
  std::string revision = "main";  ///< a branch, a tag, or a commit; fit for a path below a folder
  bool operator==(const HubModel&) const = default;
};

/// "NAME", "ORGANISATION/NAME", either with "@REVISION"; the short names of known_models stand for theirs.
/// Throws HubError for what the hub would not take for a name, so that none can lead out of the cache.
HubModel parse_hub_model(std::string_view text);

/// What parse_hub_model makes of a text that may as well mean a folder: of "ORGANISATION/NAME" and of a known
/// model's short name; nothing of all others.
std::optional<HubModel> guess_hub_model(std::string_view text);

/// "openai-community/gpt2", with "@revision" where that is not main: parse_hub_model takes it back.
std::string to_text(const HubModel& model);

/// Whether it is a whole commit's name: 40 hexadecimal digits.
bool is_commit(std::string_view revision);

/// A GPT-2 that everybody knows.
struct KnownModel {
  std::string_view short_name;
  std::string_view repository;
  std::uint64_t bytes = 0;  ///< to fetch, about
};

/// The four sizes of GPT-2 and the distilled one, from small to large.
std::span<const KnownModel> known_models();

}  // namespace headscope::app
