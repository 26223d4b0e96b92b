#include "app/run/comparison.h"

#include <cmath>
#include <iterator>
#include <limits>

#include "app/run/analyses/thumbnails.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

/// Calls visit(cell, other cell, whether both are masked) for each pair of a query and a key; the other cell
/// is -1 where nothing stands for one of them.
template <class Visit>
void for_each_pair(const MaskedCells& after, const MaskedCells& before, int queries, int keys, int other_keys,
                   const PromptRun& run, const Visit& visit) {
  const auto there = [](const std::vector<int>& aligned, int position) {
    return aligned.empty() ? position : aligned[position];
  };
  for (int query = 0; query < queries; ++query) {
    const int row = there(run.aligned, query);
    for (int key = 0; key < keys; ++key) {
      const int col = there(aligned_keys(run), key);
      const bool known = row >= 0 && col >= 0;
      visit(std::ptrdiff_t{query} * keys + key, known ? std::ptrdiff_t{row} * other_keys + col : -1,
            !known || (after(query, key) && before(row, col)));
    }
  }
}

/// Of cells of which those above the diagonal, and no others, may be left out.
void simplify(MaskedCells& masked) {
  if (std::ssize(masked.cells) != std::ptrdiff_t{masked.length} * masked.length) return;
  for (int query = 0; query < masked.length; ++query)
    for (int key = 0; key < masked.length; ++key)
      if (masked(query, key) != (key > query)) return;
  masked.cells.clear();
}

}  // namespace

Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run) {
  Pattern change = after;
  change.masked = {std::vector<std::uint8_t>(after.values.size()), after.keys()};
  for_each_pair(after.masked, before.masked, after.length, after.keys(), before.keys(), run,
                [&](std::ptrdiff_t cell, std::ptrdiff_t other, bool masked) {
                  const auto at = static_cast<std::size_t>(cell);
                  change.values[at] = other < 0 ? 0 : difference(after.values[at], before.values[other]);
                  change.masked.cells[at] = masked ? 1 : 0;
                });
  simplify(change.masked);
  return change;
}

Stages stages_difference(const Stages& after, const Stages& before, const PromptRun& run) {
  Stages change = after;
  const int length = after.values.length;
  change.masked = {std::vector<std::uint8_t>(after.values.pattern.size()), length};
  using Values = model::AttentionStages;
  for_each_pair(
      after.masked, before.masked, length, length, before.values.length, run,
      [&](std::ptrdiff_t cell, std::ptrdiff_t other, bool masked) {
        const auto at = static_cast<std::size_t>(cell);
        for (const auto stage : {&Values::scores, &Values::scaled, &Values::masked, &Values::pattern}) {
          float& value = (change.values.*stage)[at];
          value = other < 0 ? std::numeric_limits<float>::quiet_NaN()
                            : difference(value, (before.values.*stage)[other]);
        }
        change.masked.cells[at] = masked ? 1 : 0;
      });
  simplify(change.masked);
  return change;
}

Thumbnails ThumbnailsOfHeads::compute_difference(const PromptRun& run, const Work<Thumbnails>& work) const {
  const model::Config& config = run.run->config;
  const int count = config.n_layer * config.n_head, length = run.run->length(), keys = key_count(run);
  Thumbnails result;
  if (work.begun != nullptr) result = *work.begun;
  result.of_head.resize(count);
  const Work<Pattern> of_patterns{work.workspace, work.stop, nullptr, nullptr, {}};
  for (; result.done < count; ++result.done) {
    if (work.stop.stop_requested()) throw model::Stopped();
    const PatternOf pattern{result.done / config.n_head, result.done % config.n_head};
    const Pattern change =
        pattern_difference(pattern.compute(run, of_patterns),
                           pattern.compute(run.baseline ? *run.baseline : run, of_patterns), run);
    ThumbnailMaker maker(length, keys, has_own_keys(run), {});
    maker.add(0, {change.values.data(), length, keys, keys}, change.masked.cells, !change.masked.causal());
    result.of_head[result.done] = std::make_shared<const Thumbnail>(std::move(maker).finish());
    if (result.done + 1 < count) {
      Thumbnails part = result;
      ++part.done;
      work.show(std::move(part), static_cast<double>(result.done + 1) / count);
    }
  }
  return result;
}

}  // namespace headscope::app
