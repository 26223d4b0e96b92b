#include "app/hub/hub_name.h"

#include <algorithm>
#include <array>

#include "app/run/sources/digest.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

constexpr std::array<KnownModel, 5> kKnown{{
    {"distilgpt2", "distilbert/distilgpt2", 355'000'000},
    {"gpt2", "openai-community/gpt2", 551'000'000},
    {"gpt2-medium", "openai-community/gpt2-medium", 1'523'000'000},
    {"gpt2-large", "openai-community/gpt2-large", 3'250'000'000},
    {"gpt2-xl", "openai-community/gpt2-xl", 6'435'000'000},
}};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether it is one half of a repository's name, by the hub's rules. "--" means "/" in folder names.
bool is_name(std::string_view name) {
  return !name.empty() && is_letter_or_digit(name.front()) && name.back() != '-' && name.back() != '.' &&
         !name.ends_with(".git") && name.find("--") == name.npos && name.find("..") == name.npos &&
         std::ranges::all_of(
             name, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_repository(std::string_view text) {
  constexpr std::size_t kLongest = 96;
  const std::size_t slash = text.find('/');
  return text.size() <= kLongest && is_name(text.substr(0, slash)) &&
         (slash == text.npos || is_name(text.substr(slash + 1)));
}

/// Whether each part between slashes is a valid folder name.
bool is_revision(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  if (text.size() > kLongest) return false;
  for (std::size_t begin = 0;;) {
    const std::size_t slash = text.find('/', begin);
    const std::string_view part = text.substr(begin, slash == text.npos ? slash : slash - begin);
    const auto fits = [](char c) {
      return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '+';
    };
    if (part.empty() || part.front() == '.' || part.front() == '-' || part.ends_with(".lock") ||
        part.find("..") != part.npos || !std::ranges::all_of(part, fits))
      return false;
    if (slash == text.npos) return true;
    begin = slash + 1;
  }
}

}  // namespace

HubModel parse_hub_model(std::string_view text) {
  const std::size_t at = text.find('@');
  HubModel model{std::string(text.substr(0, at))};
  if (at != text.npos) model.revision = text.substr(at + 1);
  if (!is_repository(model.repository))
    throw HubError(
        "expected a model's name as on the Hugging Face hub, like gpt2 or openai-community/gpt2, found " +
        model::quote(text));
  if (!is_revision(model.revision))
    throw HubError("expected a branch, a tag or a commit after @, as in gpt2@main, found " +
                   model::quote(model.revision));
  for (const KnownModel& known : kKnown)
    if (known.short_name == model.repository) model.repository = known.repository;
  return model;
}

std::optional<HubModel> guess_hub_model(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('@'));
  if (name.find('/') == name.npos && std::ranges::find(kKnown, name, &KnownModel::short_name) == kKnown.end())
    return std::nullopt;
  try {
    return parse_hub_model(text);
  } catch (const HubError&) {
    return std::nullopt;
  }
}

std::string to_text(const HubModel& model) {
  return model.repository + (model.revision == "main" ? "" : "@" + model.revision);
}

bool is_commit(std::string_view revision) {
  return revision.size() == 40 && is_digest(revision);
}

std::span<const KnownModel> known_models() {
  return kKnown;
}

}  // namespace headscope::app
