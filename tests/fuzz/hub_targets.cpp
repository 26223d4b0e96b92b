// The hub's responses and model names. A server may send anything.
#include <algorithm>
#include <filesystem>

#include "app/hub/fetch.h"
#include "app/hub/hub_responses.h"
#include "app/hub/model_cache.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {
namespace {

using namespace headscope::app;

const HubModel kModel{"openai-community/gpt2", "main"};

const Url& endpoint() {
  static const Url url = *parse_url("https://hub.example");
  return url;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == name.npos && is_printable(name);
}

/// Whether a path is below a folder, judging by its text.
bool is_below(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const auto inside = path.lexically_normal().lexically_relative(folder);
  return !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
}

}  // namespace

Outcome check_hub_listing(std::string_view json) {
  return read_or_refused<HubError>([&] {
    const Listing listing = parse_listing(json, kModel);
    promise(is_commit(listing.commit), "a listing is of a commit");
    const ChosenFiles choice = choose_files(listing, kModel);
    for (const std::string& file : choice.tokenizer)
      promise(is_plain_name(file) && listing.files.contains(file), "files are of the usual names");
    promise(is_plain_name(choice.weights) && listing.files.contains(choice.weights),
            "files are of the usual names");
  });
}

Outcome check_hub_index(std::string_view json) {
  static const Listing listing{
      std::string(40, 'a'),
      {"a.safetensors", "model-00001-of-00002.safetensors", "../a.safetensors", "/a.safetensors",
       "x/a.safetensors", "\x1b[m.safetensors", ".a.safetensors", "a.bin", "config.json"}};
  return read_or_refused<HubError>([&] {
    for (const std::string& shard : shards_of(json, "model.safetensors.index.json", listing, kModel))
      promise(is_plain_name(shard) && shard.ends_with(".safetensors"),
              "shards are files of the repository's own folder");
  });
}

Outcome check_hub_headers(std::string_view lines) {
  HttpResponse answer;
  answer.url = "https://hub.example/openai-community/gpt2/resolve/main/config.json";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    read_header(lines.substr(0, end), answer);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  if (const std::string* other = answer.header("x-asked")) answer.url = *other;
  if (const std::string* status = answer.header("x-status")) answer.status = std::atoi(status->c_str());
  if (const auto facts = file_facts(answer)) {
    promise(facts->digest.size() == 40 || facts->digest.size() == 64, "a file is named by its hash");
    promise(is_below("/cache", ModelCache("/cache", kModel).blob(facts->digest)), "blobs lie in the cache");
    static_cast<void>(may_be_complete(answer, facts->bytes));
    if (const auto start = range_start(answer, facts->bytes))
      promise(*start <= facts->bytes, "a part begins in the file");
  }
  for (const std::uint64_t bytes : {0U, 1U, 1000U})
    if (const auto start = range_start(answer, bytes)) promise(*start <= bytes, "a part begins in the file");
  for (const bool token : {false, true})
    promise_sentence(status_error(answer, kModel, endpoint(), "model.safetensors", token));
  return Outcome::read;
}

Outcome check_hub_name(std::string_view name) {
  return read_or_refused<HubError>([&] {
    const HubModel model = parse_hub_model(name);
    promise(parse_hub_model(to_text(model)) == model, "a name is read back");
    promise(is_printable(to_text(model)), "a name can be shown");
    const ModelCache cache("/cache", model);
    promise(is_below("/cache", cache.folder()), "a model lies in the cache");
    promise(is_below(cache.folder() / "refs", cache.folder() / "refs" / model.revision),
            "a revision lies in its folder");
    const std::string path = "/" + model.repository + "/resolve/" + percent_encoded(model.revision);
    const auto url = parse_url(endpoint_url(endpoint(), path));
    promise(url && same_origin(*url, endpoint()) && url->text.ends_with(path),
            "a name leads to no other server");
  });
}

Outcome check_url(std::string_view text) {
  const auto url = parse_url(std::string(text));
  if (!url) return Outcome::refused;
  promise(url->scheme == "http" || url->scheme == "https", "an address is of the web");
  promise(!url->host.empty() && !url->port.empty(), "an address has a host and a port");
  const auto again = parse_url(url->text);
  promise(again && same_origin(*again, *url), "an address means the same read twice");
  const std::size_t host = url->text.find("://") + 3;
  const std::string_view authority =
      std::string_view(url->text).substr(host, url->text.find_first_of("/?#", host) - host);
  promise(authority.find('@') == authority.npos, "no name or password stands in an address");
  return Outcome::read;
}

}  // namespace headscope::fuzz
