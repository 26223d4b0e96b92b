#include "app/run/analyses/nearest_tokens.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headscope::app {

NearestTokens NearestTo::compute(const PromptRun& run, const Computation<NearestTokens>& computation) const {
  const int last = run.run->length() - 1;
  const auto at = static_cast<std::size_t>(position < 0 ? last : std::min(position, last));
  const model::Config& config = run.run->config;
  const auto vocabulary = static_cast<std::size_t>(config.vocab_size);
  NearestTokens result;
  result.id = run.run->tokens[at];
  const auto self = static_cast<std::size_t>(result.id);
  std::vector<float> row(static_cast<std::size_t>(config.n_embd)), dots(vocabulary), norms(vocabulary);
  run.model->transformer->parameter_rows(0, result.id, 1, row);
  run.model->transformer->compare_embeddings(row, computation.workspace, dots, norms);
  result.norm = norms[self];
  std::vector<Neighbour> all;
  all.reserve(vocabulary);
  for (std::size_t id = 0; id < vocabulary; ++id) {
    const float cosine = dots[id] / (norms[id] * norms[self]);
    if (id != self && std::isfinite(cosine))
      all.push_back({static_cast<int>(id), dots[id], norms[id], cosine});
  }
  const auto count = std::min<std::ptrdiff_t>(NearestTokens::kMax, std::ssize(all));
  const auto nearer = [](const Neighbour& a, const Neighbour& b) {
    return std::tuple(-a.cosine, a.id) < std::tuple(-b.cosine, b.id);
  };
  std::partial_sort(all.begin(), all.begin() + count, all.end(), nearer);
  result.tokens.assign(all.begin(), all.begin() + count);
  return result;
}

}  // namespace headscope::app
