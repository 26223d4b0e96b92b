#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/hub/http.h"
#include "app/hub/model_cache.h"

namespace headscope::app {

// Interprets the hub's responses, which are untrusted. Pure functions.

/// A repository at one commit.
struct Listing {
  std::string commit;  ///< 40 hexadecimal digits
  std::set<std::string> files;
};

/// Parses the hub's JSON about a model. Throws HubError, also if the model is pinned to another commit.
Listing parse_listing(std::string_view json, const HubModel& model);

/// The files to fetch.
struct ChosenFiles {
  std::vector<std::string> tokenizer;  ///< may be none: a model runs ids without
  std::string weights;                 ///< one of model::kWeightFiles
  bool sharded = false;
  std::vector<std::string> absent;  ///< files that would be fetched if the repository had them
};
inline constexpr const char* kConfig = "config.json";

/// Chooses the files to fetch. Throws HubError if there are no weights that can be read, or no config.json.
ChosenFiles choose_files(const Listing& listing, const HubModel& model);

/// The files that the index `file` names, each once. Throws HubError if it is not an index, for names that
/// the repository lacks, and like model::shards_of.
std::vector<std::string> shards_of(std::string_view index, const std::string& file, const Listing& listing,
                                   const HubModel& model);

/// Hash and size of a file, from X-Linked-Etag and X-Linked-Size if the response has both, else from ETag and
/// Content-Length; nothing if they are not a hash and a size.
std::optional<FileFacts> file_facts(const HttpResponse& response);

/// Whether a response with status 200 may be the complete file of that size: Content-Length agrees, if there
/// is one, and it is not an HTML page, which a proxy may send instead.
bool may_be_complete(const HttpResponse& response, std::uint64_t bytes);

/// Where the content of a response with status 206 begins; nothing if the file does not have that size.
std::optional<std::uint64_t> range_start(const HttpResponse& response, std::uint64_t bytes);

/// Whether another attempt may succeed: 408, 429, 5xx.
bool is_retryable(int status);

/// One sentence about an unexpected status. `what`: "the list of its files", "model.safetensors". Only the
/// endpoint's own responses are interpreted as the hub's.
std::string status_error(const HttpResponse& response, const HubModel& model, const Url& endpoint,
                         const std::string& what, bool with_token);

}  // namespace headscope::app
