#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/run/sources/model_discovery.h"

namespace headscope::app {

/// Like model_named, or else the model of that name in one of `places`, which are folders: of all these the
/// first with these weights (see weights_hash; empty: any), else the first. The name is never taken for a
/// path. Nothing if there is none. Reads whole files.
std::optional<std::filesystem::path> model_near(const std::string& name, const std::string& weights,
                                                const std::vector<DiscoveredModel>& models,
                                                const std::vector<std::filesystem::path>& places);

}  // namespace headscope::app
