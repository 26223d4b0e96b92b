#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "app/hub/hub_name.h"
#include "app/hub/hub_settings.h"
#include "app/hub/transfer_rate.h"

namespace headscope::app {

/// Callbacks and limits of a fetch; tests supply their own.
struct FetchOptions {
  std::function<void(const FetchProgress&)> progress =
      {};                                ///< called a few times a second, on the caller's thread
  std::function<bool()> cancelled = {};  ///< polled at least once a second
  std::function<void(std::chrono::milliseconds)> wait = {};  ///< called before another attempt; null: sleeps
  std::function<std::uintmax_t(const std::filesystem::path&)> free_space =
      {};                                  ///< null: asks the system for it
  int tries = 5;                           ///< attempts for one file without receiving anything new
  std::chrono::seconds longest_wait{120};  ///< gives up if a server asks for a longer wait
};

/// Fetches a GPT-2 from the hub into the cache and returns the folder of its snapshot: config.json, the
/// tokenizer's files, and safetensors, in one file or in shards. Complete files are not fetched again, and
/// interrupted ones are resumed. Every file is checked by size and hash before it gets its name, config.json
/// comes last, and refs after it, so that a reader never sees half a model. Waits for other processes that
/// fetch the same file.
///
/// The token is sent only to the endpoint's scheme, host and port. If the endpoint is https, only https is
/// used, also for redirects.
///
/// Throws HubError (one sentence) if the model cannot be fetched, and model::Stopped if it was cancelled; in
/// both cases the next fetch continues with the received parts.
std::filesystem::path fetch_model(const HubModel& model, const HubSettings& settings,
                                  const FetchOptions& options);

}  // namespace headscope::app
