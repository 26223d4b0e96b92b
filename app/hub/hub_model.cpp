#include "app/hub/hub_model.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "app/ascii.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/error.h"
#include "model/files/json.h"

namespace headscope::app {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 44;  // of a file; a million of them do not overflow

/// Whether each part between slashes is a plain name for a folder.
bool is_plain_path(std::string_view text, std::size_t longest) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
  };
  return text.size() <= longest && std::ranges::all_of(split(text, "/"), [&](std::string_view part) {
           return !part.empty() && part.front() != '.' && part.front() != '-' && !part.ends_with(".lock") &&
                  part.find("..") == part.npos && std::ranges::all_of(part, is_plain);
         });
}

/// By the hub's rules. "--" means "/" in folder names.
bool is_repository(const std::string& text) {
  const auto has = [closed = text + '/'](const char* part) { return closed.find(part) != closed.npos; };
  return is_plain_path(text, 96) && std::ranges::count(text, '/') <= 1 &&
         std::ranges::none_of(std::array{"+", "--", "-/", "./", ".git/"}, has);
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
  if (!is_plain_path(model.revision, 200))
    throw HubError("expected a branch, a tag or a commit after @, as in gpt2@main, found " +
                   model::quote(model.revision));
  for (const KnownModel& known : kKnownModels)
    if (known.short_name == model.repository) model.repository = known.repository;
  return model;
}

std::optional<HubModel> guess_hub_model(std::string_view text) {
  try {
    if (HubModel model = parse_hub_model(text); model.repository.find('/') != std::string::npos) return model;
  } catch (const HubError&) {  // it may be a folder
  }
  return std::nullopt;
}

std::string to_text(const HubModel& model) {
  return model.repository + (model.revision == "main" ? "" : "@" + model.revision);
}

bool is_commit(std::string_view revision) {
  return revision.size() == 40 && is_content_hash(revision);
}

Listing parse_listing(std::string_view text, const HubModel& model) {
  const std::string where = "the hub's list of " + to_text(model);
  const json root = model::parse_json(text, where);
  const json &commit = model::member(root, "sha"), &files = model::member(root, "siblings");
  if (!commit.is_string() || !is_commit(commit.get<std::string>()) || !files.is_array())
    throw HubError(where + ": expected a commit and its files, found other JSON");
  Listing listing{commit.get<std::string>(), {}};
  for (const json& file : files) {
    // Large files are known by their own hash, small ones by git's.
    const json &lfs = model::member(file, "lfs"), &size = model::member(file, "size"),
               &digest = lfs.is_null() ? model::member(file, "blobId") : model::member(lfs, "sha256");
    FileFacts facts;
    if (digest.is_string() && size.is_number_unsigned()) facts = {digest, size};
    if (!is_content_hash(facts.digest) || facts.bytes > kMaxBytes) facts = {};
    if (const json& name = model::member(file, "rfilename"); name.is_string()) listing.files[name] = facts;
  }
  if (is_commit(model.revision) && listing.commit != model.revision)
    throw HubError(where + ": expected that commit, found " + listing.commit);
  return listing;
}

}  // namespace headscope::app
