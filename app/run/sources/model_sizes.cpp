#include "app/run/sources/model_sizes.h"

#include <algorithm>
#include <tuple>

#include "model/pass/transformer.h"

namespace headscope::app {
namespace {

std::int64_t count_of(const model::Config& config) {
  std::int64_t count = 0;
  for (const model::Parameter& parameter : model::parameters_of(config))
    count += model::value_count(parameter);
  return count;
}

}  // namespace

std::vector<ModelSize> model_sizes(const std::string& name, const model::Config& config) {
  std::vector<ModelSize> sizes;
  for (const auto& [published, layers, width] : {std::tuple{"GPT-2 small", 12, 768},
                                                 {"GPT-2 medium", 24, 1024},
                                                 {"GPT-2 large", 36, 1280},
                                                 {"GPT-2 XL", 48, 1600}}) {
    model::Config of;
    of.n_layer = layers;
    of.n_embd = width;
    of.n_inner = 4 * width;
    of.n_ctx = 1024;
    of.vocab_size = 50257;
    sizes.push_back({published, count_of(of), layers, width, false});
  }
  const ModelSize own{name, count_of(config), config.n_layer, config.n_embd, true};
  const auto same = std::ranges::find_if(sizes, [&](const ModelSize& size) {
    return size.count == own.count && size.layers == own.layers && size.width == own.width;
  });
  if (same != sizes.end()) {
    same->loaded = true;
  } else {
    sizes.push_back(own);
    std::ranges::stable_sort(sizes, {}, &ModelSize::count);
  }
  return sizes;
}

}  // namespace headscope::app
