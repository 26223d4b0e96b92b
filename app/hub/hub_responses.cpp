#include "app/hub/hub_responses.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/ascii.h"
#include "app/run/sources/digest.h"
#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "model/files/tensor_source.h"

namespace headscope::app {
namespace {

using nlohmann::json;

/// Parses a text with `read`, whose errors become HubErrors.
template <class Read>
auto read_as(const Read& read, std::string_view text, const std::string& where) {
  try {
    return read(text, where);
  } catch (const model::LoadError& error) {
    throw HubError(error.what());
  }
}

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Parses decimal digits, up to the largest file size.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::uint64_t kMax =
      std::numeric_limits<std::int64_t>::max() / 1024;  // so that sums do not overflow
  if (error != std::errc() || end != text.data() + text.size() || value > kMax) return std::nullopt;
  return value;
}

/// `"abc"` and `W/"abc"` -> abc.
std::string_view bare(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return etag;
}

}  // namespace

Listing parse_listing(std::string_view text, const HubModel& model) {
  const std::string where = "the hub's list of " + to_text(model);
  const json root = read_as([](auto json, auto& name) { return model::parse_json(json, name); }, text, where);
  Listing listing;
  if (const json* sha = member(root, "sha"); sha && sha->is_string())
    listing.commit = sha->get<std::string>();
  if (!is_commit(listing.commit)) throw HubError(where + ": expected a commit as \"sha\", found none");
  if (is_commit(model.revision) && listing.commit != model.revision)
    throw HubError(where + ": expected that commit, found " + listing.commit);
  const json* files = member(root, "siblings");
  if (!files || !files->is_array())
    throw HubError(where + ": expected the files as \"siblings\", found none");
  for (const json& file : *files)
    if (const json* name = member(file, "rfilename"); name && name->is_string())
      listing.files.insert(name->get<std::string>());
  return listing;
}

ChosenFiles choose_files(const Listing& listing, const HubModel& model) {
  const std::string where = to_text(model) + " on the hub";
  ChosenFiles choice;
  const auto choose = [&](const char* file) {
    const bool is_there = listing.files.contains(file);
    if (!is_there) choice.absent.emplace_back(file);
    return is_there;
  };
  const auto* const weights = std::ranges::find_if(model::kWeightFiles, choose);
  if (weights == std::end(model::kWeightFiles)) throw HubError(model::no_weights(where, listing.files));
  choice.weights = *weights;
  choice.sharded = choice.weights.ends_with(model::kIndexEnding);
  if (!listing.files.contains(kConfig)) throw HubError(where + ": expected config.json, found none");
  for (const char* file : {"vocab.json", "merges.txt", "tokenizer.json", "added_tokens.json",
                           "special_tokens_map.json", "tokenizer_config.json"})
    if (choose(file)) choice.tokenizer.emplace_back(file);
  return choice;
}

std::vector<std::string> shards_of(std::string_view index, const std::string& file, const Listing& listing,
                                   const HubModel& model) {
  const std::string where = to_text(model) + " on the hub: " + file;
  const std::set<std::string> shards = read_as(model::shards_of, index, where);
  if (shards.empty()) throw HubError(where + ": expected an object weight_map, found an empty one");
  const std::string ending = file.starts_with("pytorch_model") ? ".bin" : ".safetensors";
  for (const std::string& name : shards)
    if (!name.ends_with(ending) || name.starts_with('.') || !listing.files.contains(name))
      throw HubError(where + ": expected the names of " + ending + " files next to it, found " +
                     model::quote(name));
  return {shards.begin(), shards.end()};
}

std::optional<FileFacts> file_facts(const HttpResponse& response) {
  const bool linked = response.has_linked_headers();
  const std::string* etag = response.header(linked ? "x-linked-etag" : "etag");
  const std::string* size = response.header(linked ? "x-linked-size" : "content-length");
  if (!etag || !size || !is_digest(bare(*etag))) return std::nullopt;
  const auto bytes = number(*size);
  if (!bytes) return std::nullopt;
  return FileFacts{std::string(bare(*etag)), *bytes};
}

bool may_be_complete(const HttpResponse& response, std::uint64_t bytes) {
  const std::string *length = response.header("content-length"), *type = response.header("content-type");
  constexpr std::string_view kPage = "text/html";
  const bool page = type && lowered(*type).starts_with(kPage);
  return !page && (!length || number(*length) == bytes);
}

std::optional<std::uint64_t> range_start(const HttpResponse& response, std::uint64_t bytes) {
  const std::string* header = response.header("content-range");
  constexpr std::string_view kUnit = "bytes ";
  if (!header || !header->starts_with(kUnit)) return std::nullopt;
  const std::string_view range = std::string_view(*header).substr(kUnit.size());
  const std::size_t dash = range.find('-'), slash = range.find('/');
  if (dash == range.npos || slash == range.npos || slash < dash) return std::nullopt;
  const auto from = number(range.substr(0, dash));
  const auto total = number(range.substr(slash + 1));
  if (!from || !total || *total != bytes || *from > bytes) return std::nullopt;
  return from;
}

bool is_retryable(int status) {
  return status == 408 || status == 429 || (status >= 500 && status <= 599 && status != 501);
}

std::string status_error(const HttpResponse& response, const HubModel& model, const Url& endpoint,
                         const std::string& what, bool with_token) {
  const std::string status = std::to_string(response.status);
  const std::string& name = model.repository;
  const auto from = parse_url(response.url);
  const bool own = from && same_origin(*from, endpoint);
  const std::string host = own ? endpoint.host : model::quote(from ? from->host : response.url);
  if (response.status == 429) return host + " received too many requests from this address (429)";
  if (response.status >= 500) return host + " cannot answer now (" + status + ")";
  if (!own)
    return host + ", to which " + endpoint.host + " redirects for " + what + " of " + name +
           ", refused it (" + status + ")";

  const std::string* given = response.header("x-error-code");
  const std::string code = given ? *given : "";
  if (code == "GatedRepo" || (response.status == 403 && code.empty()))
    return name + " is gated (" + status + "): accept its terms on its page at " + endpoint.host +
           (with_token ? " with the token's account" : ", and set HF_TOKEN to that account's token");
  if (response.status == 401 || response.status == 403)
    return endpoint.host + " does not show " + name + " (" + status + "): " +
           (with_token ? "there is no such model, or the token has no access to it"
                       : "there is no such model, or it is private and needs a token in HF_TOKEN");
  if (code == "RevisionNotFound") return name + " has no revision " + model::quote(model.revision) + " (404)";
  if (response.status == 404)
    return code == "EntryNotFound" ? name + " has no " + what + " (404)"
                                   : endpoint.host + " has no model " + name + ", or no revision " +
                                         model.revision + " of it (404)";
  return "asked for " + what + " of " + name + ": expected 200, found " + status;
}

}  // namespace headscope::app
