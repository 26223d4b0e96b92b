#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "app/hub/hub_name.h"
#include "app/hub/hub_settings.h"
#include "app/hub/transfer_rate.h"

namespace headscope::app {

/// What a fetch tells meanwhile, and what it takes of the world; tests bring their own.
struct FetchOptions {
  std::function<void(const FetchProgress&)> progress = {};   ///< a few times a second; on the caller's thread
  std::function<bool()> cancelled = {};                      ///< polled, at least once a second
  std::function<void(std::chrono::milliseconds)> wait = {};  ///< before another try; null: sleeps
  std::function<std::uintmax_t(const std::filesystem::path&)> free_space = {};  ///< null: asks the system
  int tries = 5;                           ///< of one thing, without anything new having come meanwhile
  std::chrono::seconds longest_wait{120};  ///< a server that asks for more is not waited for
};

/// Brings a GPT-2 from the hub into the cache and gives its snapshot's folder: config.json, the tokenizer's
/// files, and safetensors, whole or in shards. What is there whole is not fetched again, and of what broke
/// off only the rest. Every file is checked by size and hash before it gets its name, config.json is last,
/// and refs after it: so a reader never sees half a model. Other fetchers of the same are waited for.
///
/// The token goes to the endpoint's scheme, host and port alone. Where the endpoint is https, nothing else is
/// spoken, along redirects too.
///
/// Throws HubError (one sentence) when it cannot be had, and model::Stopped when it was cancelled; either way
/// what has come stays for the next time.
std::filesystem::path fetch_model(const HubModel& model, const HubSettings& settings,
                                  const FetchOptions& options);

}  // namespace headscope::app
