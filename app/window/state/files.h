#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/hub/fetch.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// The fetch of a model from the hub.
struct FetchState {
  std::optional<HubModel> model = {};  ///< nothing: none
  FetchProgress progress = {};
  std::stop_source stop = {};  ///< a request cancels the fetch, which ends soon
};

/// A session that a window kept, in a file of its own.
struct KeptSession {
  std::filesystem::file_time_type written;
  std::filesystem::path file;
  auto operator<=>(const KeptSession&) const = default;
};

/// The open model and session, and what else can be opened.
struct FileSlice : Remembered {
  std::filesystem::path model;
  std::uint64_t load_request = 0;
  std::uint64_t load_cancel = 0;
  std::vector<DiscoveredModel> models;
  bool can_fetch = false;  ///< models can be fetched from the hub
  FetchState fetching;
  std::filesystem::path session;           ///< its file; empty: none
  std::vector<KeptSession> kept_sessions;  ///< of earlier windows, the last first
  std::string keep_problem;                ///< why session and settings could not be kept; empty: they were
  std::optional<Session> pending_session;  ///< the part of an opened session that waits for its model
};

struct OpenModel {
  std::filesystem::path folder;
};
struct ModelOpened {};  ///< it was loaded
struct ModelKept {};    ///< the requested model could not be loaded, or loading was cancelled
struct FindModels {};
struct FetchModel {  ///< fetches a model from the hub and opens it
  HubModel model;
};
struct FetchEnded {
  std::filesystem::path folder = {};  ///< empty: it was not fetched
  std::string problem = {};           ///< why; empty: it was cancelled
};
struct OpenFile {  ///< a session, a figure's recipe, a list of prompts, attention, or a model or a file of it
  std::filesystem::path file;
};
struct OpenSession {  ///< opens a session that was read
  Recipe recipe = {};
  std::filesystem::path file = {};
  /// Where its model or file of attention is; nothing: not found.
  std::optional<std::filesystem::path> model = {};
  /// Where the second model or the second file of attention is; nothing: not found.
  std::optional<std::filesystem::path> second = {};
};

void reduce(UiState& s, const OpenModel& a, ReduceContext& w);
void reduce(UiState& s, const ModelOpened& a, ReduceContext& w);
void reduce(UiState& s, const ModelKept& a, ReduceContext& w);
void reduce(UiState& s, const FetchEnded& a, ReduceContext& w);
void reduce(UiState& s, const OpenSession& a, ReduceContext& w);

/// Puts a path, unless it is empty, in front of at most kMaxRecent, each once; a slash at its end does not
/// count.
void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used);

/// Whether the window offers a larger model.
bool offers_models(const UiState& state, const Snapshot& snapshot);

}  // namespace headscope::app
