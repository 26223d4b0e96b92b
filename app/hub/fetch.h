#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "app/hub/hub_client.h"

namespace headscope::app {

/// The progress of a fetch.
struct FetchProgress {
  std::string file;          ///< the file being fetched; empty: none yet
  std::uint64_t done = 0;    ///< bytes of all files
  std::uint64_t total = 0;   ///< 0: unknown
  std::string waiting = {};  ///< what takes time while nothing is received, in words; empty: nothing
};

/// "548 MB", "1.52 GB", "665 bytes"; decimal units, like the hub.
std::string bytes_text(std::uint64_t bytes);
/// "model.safetensors  123 MB of 548 MB  22 %", and the reason for waiting.
std::string progress_text(const FetchProgress& progress);

/// Callbacks of a fetch.
struct FetchOptions {
  std::function<void(const FetchProgress&)> progress = {};   ///< a few times a second, on the caller's thread
  std::function<bool()> cancelled = {};                      ///< polled at least once a second
  std::function<void(std::chrono::milliseconds)> wait = {};  ///< called before another attempt; null: sleeps
};

/// The folder of a model in a Hugging Face cache, if the commit of its revision is known there and it is
/// complete. Never throws.
std::optional<std::filesystem::path> cached_model(const std::filesystem::path& cache, const HubModel& model);

/// Whether a folder has config.json, a tokenizer's files unless it is known that there are none, and all
/// files of its weights. Never throws.
bool is_complete_model(const std::filesystem::path& folder);

/// Fetches a GPT-2 from the hub into the cache and returns the folder of its snapshot: config.json, the
/// tokenizer's files, and safetensors or else PyTorch's files, in one file or in shards. Every file is
/// checked by size and hash before it gets its name, also one that is there, except that a complete snapshot
/// is returned at once if its commit was asked for; what is right is not fetched again, and what was
/// interrupted is resumed. config.json comes last, and refs after it, so that a reader never sees half a
/// model. Waits for other processes that fetch the same file. The layout is Hugging Face's
/// own:
///
///     models--org--name/blobs/HASH                content, named by its hash
///     models--org--name/blobs/HASH.incomplete     the part received so far
///     models--org--name/snapshots/COMMIT/FILE     a relative link to the blob
///     models--org--name/refs/REVISION             the commit of a branch or tag when last asked for
///     models--org--name/.no_exist/COMMIT/FILE     known to be missing
///     .locks/models--org--name/HASH.lock          held while the blob is fetched
///
/// Throws HubError and model::LoadError (one sentence) if the model cannot be fetched, and model::Stopped if
/// it was cancelled; in all cases the next fetch continues with the received parts.
std::filesystem::path fetch_model(const HubModel& model, const HubSettings& settings,
                                  const FetchOptions& options);

}  // namespace headscope::app
