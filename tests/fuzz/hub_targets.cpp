// The hub's responses and model names. A server may send anything.
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "app/hub/hub_model.h"
#include "app/run/sources/model_discovery.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {
namespace {

using namespace headscope::app;

const HubModel kModel{"openai-community/gpt2", "main"};

/// Whether a path is below a folder, judging by its text.
bool is_below(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const auto inside = path.lexically_normal().lexically_relative(folder);
  return !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
}

}  // namespace

Outcome check_hub_listing(std::string_view json) {
  return read_or_refused<std::runtime_error>([&] {
    const Listing listing = parse_listing(json, kModel);
    promise(is_commit(listing.commit), "a listing is of a commit");
    for (const auto& [name, file] : listing.files)
      promise(file.digest.empty() || is_content_hash(file.digest),
              "a file is named by its hash, if it is known");
  });
}

Outcome check_hub_name(std::string_view name) {
  return read_or_refused<HubError>([&] {
    const HubModel model = parse_hub_model(name);
    promise(parse_hub_model(to_text(model)) == model, "a name is read back");
    promise(is_printable(to_text(model)), "a name can be shown");
    promise(is_below("/refs", std::filesystem::path("/refs") / model.revision),
            "a revision lies in its folder");
    promise(
        std::ranges::count(model.repository, '/') <= 1 && is_below("/cache", "/cache/" + model.repository),
        "a model lies in the cache");
  });
}

}  // namespace headscope::fuzz
