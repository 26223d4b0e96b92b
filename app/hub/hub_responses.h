#pragma once
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/hub/http.h"
#include "app/hub/hub_name.h"
#include "app/hub/url.h"

namespace headscope::app {

// What the hub's answers mean. Pure; nothing that they say is trusted.

/// A repository at one commit.
struct Listing {
  std::string commit;  ///< 40 hexadecimal digits
  std::set<std::string> files;
};

/// The hub's JSON about a model. Throws HubError; also where the model is pinned to another commit.
Listing parse_listing(std::string_view json, const HubModel& model);

/// The files that are worth fetching.
struct Choice {
  std::vector<std::string> tokenizer;
  std::string weights;  ///< model.safetensors, or the index of its shards
  bool sharded = false;
  std::vector<std::string> absent;  ///< expected files that the repository lacks
};
inline constexpr const char* kConfig = "config.json";

/// Throws HubError where there is no config.json, no tokenizer that can be read, or no safetensors.
Choice choose_files(const Listing& listing, const HubModel& model);

/// The files that an index names, each once. Throws HubError for what is no index, for names that the
/// repository lacks, and for all but letters, digits and "._-": so none leads anywhere else or disturbs a
/// terminal.
std::vector<std::string> shards_of(std::string_view index, const Listing& listing, const HubModel& model);

/// What names a file's content.
struct FileFacts {
  std::string digest;  ///< see Digest
  std::uint64_t bytes = 0;
  bool operator==(const FileFacts&) const = default;
};

/// Whether an answer has both X-Linked-Etag and X-Linked-Size, which are of the file wherever its content
/// lies.
bool has_linked_headers(const HttpResponse& response);

/// What an answer about a file says of it, by X-Linked-Etag and X-Linked-Size where it has both, else by ETag
/// and Content-Length; nothing where that is no hash or no size.
std::optional<FileFacts> file_facts(const HttpResponse& response);

/// Whether an answer of status 200 may be a whole file of that size: by its Content-Length, where it has one,
/// and not a page for a reader, as what stands between may send in a file's place.
bool may_be_complete(const HttpResponse& response, std::uint64_t bytes);

/// Where the content of an answer of status 206 begins; nothing when it is not of a file of that size.
std::optional<std::uint64_t> range_start(const HttpResponse& response, std::uint64_t bytes);

/// Another try may bring something else: 408, 429, 5xx.
bool is_retryable(int status);

/// How long the server asks to wait; nothing where it does not.
std::optional<std::chrono::seconds> retry_after(const HttpResponse& response, std::time_t now);

/// One sentence about a status other than the expected one. `what`: "the list of its files",
/// "model.safetensors". What the hub means by a status is read only out of the endpoint's own answers.
std::string status_error(const HttpResponse& response, const HubModel& model, const Url& endpoint,
                         const std::string& what, bool with_token);

}  // namespace headscope::app
