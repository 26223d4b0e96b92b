#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "app/hub/http.h"
#include "app/hub/hub_name.h"
#include "app/run/sources/paths.h"

namespace headscope::app {

/// Source and destination of fetches, from the same environment variables as Hugging Face's own tools.
struct HubSettings {
  Url endpoint;       ///< $HF_ENDPOINT, else https://huggingface.co
  std::string token;  ///< $HF_TOKEN, else the content of $HF_TOKEN_PATH or $HF_HOME/token; empty: none
  std::filesystem::path
      certificates;      ///< $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE; empty: the system's
  bool offline = false;  ///< $HF_HUB_OFFLINE or $TRANSFORMERS_OFFLINE
  std::filesystem::path cache;  ///< see hugging_face_cache
};

/// Throws HubError for an endpoint that is not an http or https URL, for a token that is not valid in a
/// header, and if there is no home folder for the cache.
HubSettings hub_settings(const Environment& environment);

/// The URL of a path at the endpoint; `path` begins with a slash.
std::string endpoint_url(const Url& endpoint, const std::string& path);

/// The progress of a fetch.
struct FetchProgress {
  std::string file;            ///< the file being fetched; empty: none yet
  std::uint64_t done = 0;      ///< bytes of all files
  std::uint64_t total = 0;     ///< 0: unknown
  std::uint64_t received = 0;  ///< bytes received in this fetch, without what was there before
  std::string waiting = {};    ///< what the fetch is waiting for, in words; empty: nothing
};

/// "548 MB", "1.52 GB", "665 bytes"; decimal units, like the hub.
std::string bytes_text(std::uint64_t bytes);
/// "model.safetensors  123 MB of 548 MB  22 %", and the reason for waiting.
std::string progress_text(const FetchProgress& progress);

/// Callbacks and limits of a fetch; tests supply their own.
struct FetchOptions {
  std::function<void(const FetchProgress&)> progress =
      {};                                ///< called a few times a second, on the caller's thread
  std::function<bool()> cancelled = {};  ///< polled at least once a second
  std::function<void(std::chrono::milliseconds)> wait = {};  ///< called before another attempt; null: sleeps
};

/// Fetches a GPT-2 from the hub into the cache and returns the folder of its snapshot: config.json, the
/// tokenizer's files, and safetensors or else PyTorch's files, in one file or in shards. Complete files are
/// not fetched again, and interrupted ones are resumed. Every file is checked by size and hash before it gets
/// its name, config.json comes last, and refs after it, so that a reader never sees half a model. Waits for
/// other processes that fetch the same file.
///
/// The token is sent only to the endpoint's scheme, host and port. If the endpoint is https, only https is
/// used, also for redirects.
///
/// Throws HubError (one sentence) if the model cannot be fetched, and model::Stopped if it was cancelled; in
/// both cases the next fetch continues with the received parts.
std::filesystem::path fetch_model(const HubModel& model, const HubSettings& settings,
                                  const FetchOptions& options);

}  // namespace headscope::app
