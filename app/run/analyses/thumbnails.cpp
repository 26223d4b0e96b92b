#include "app/run/analyses/thumbnails.h"

#include <algorithm>
#include <cmath>

#include "app/run/analyses/patterns.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

constexpr int kHeadsPerThread = 2;  // made between two checks for newer work

/// The weight of larger magnitude; NaN wins, so that it is visible.
float stronger(float a, float b) {
  return std::abs(b) <= std::abs(a) || std::isnan(a) ? a : b;
}

/// The metrics of a head in a run. `earlier`: earlier_occurrences of its tokens.
HeadMetrics metrics_of(const PromptRun& run, model::HeadIndex head, const Pattern& pattern,
                       std::span<const int> earlier) {
  const int keys = pattern.keys();
  const bool later = sees_later(run, head), own_keys = has_own_keys(run);
  HeadMetrics metrics;
  for (int query = 1; query < pattern.length; ++query) {
    const float* row = pattern.values.data() + std::ptrdiff_t{query} * keys;
    metrics.add(query, {row, static_cast<std::size_t>(later ? keys : query + 1)}, earlier, own_keys);
  }
  return metrics;
}

}  // namespace

ThumbnailMaker::ThumbnailMaker(int length, int keys, bool own_keys, std::span<const int> earlier)
    : length_(length), keys_(keys), own_keys_(own_keys), earlier_(earlier) {
  thumbnail_.rows = std::min(length, Thumbnail::kMax);
  thumbnail_.cols = std::min(keys, Thumbnail::kMax);
  const auto rows = static_cast<std::size_t>(thumbnail_.rows),
             cols = static_cast<std::size_t>(thumbnail_.cols);
  thumbnail_.values.assign(rows * cols, 0.F);
  if (keys > Thumbnail::kMax) thumbnail_.first_column_without_key0.assign(rows, 0.F);
}

void ThumbnailMaker::add(int first_query, model::ConstFloatRows rows, std::span<const std::uint8_t> masked,
                         bool later) {
  const bool pooled_keys = keys_ > Thumbnail::kMax, pooled_queries = length_ > Thumbnail::kMax;
  if (!masked.empty() && thumbnail_.masked.empty()) thumbnail_.masked.assign(thumbnail_.values.size(), 1);
  for (int i = 0; i < rows.rows; ++i) {
    const int query = first_query + i;
    const float* row = rows.row_data(i);
    const int keys = later ? keys_ : query + 1;
    if (query > 0) metrics_.add(query, {row, static_cast<std::size_t>(keys)}, earlier_, own_keys_);
    const auto bin = [](int position, int of) {
      return of > Thumbnail::kMax ? static_cast<int>(std::int64_t{position} * Thumbnail::kMax / of)
                                  : position;
    };
    const int out_row = bin(query, length_);
    float* out = thumbnail_.values.data() + std::ptrdiff_t{out_row} * thumbnail_.cols;
    for (int key = 0; !masked.empty() && key < keys_; ++key) {
      const bool hidden = masked[i * keys_ + key] != 0;
      if (!hidden) thumbnail_.masked[out_row * thumbnail_.cols + bin(key, keys_)] = 0;
    }
    if (!pooled_keys) {
      for (int key = 0; key < keys_; ++key)
        out[key] = pooled_queries ? stronger(out[key], row[key]) : row[key];
      continue;
    }
    float& other = thumbnail_.first_column_without_key0[out_row];
    for (int col = 0, key = 1; key < keys; ++col) {
      // This column's keys end where the next column's begin.
      const auto next =
          static_cast<int>((std::int64_t{col + 1} * keys_ + Thumbnail::kMax - 1) / Thumbnail::kMax);
      float& cell = col == 0 ? other : out[col];
      float most = cell;
      for (const int end = std::min(next, keys); key < end; ++key) most = stronger(most, row[key]);
      cell = most;
    }
    out[0] = stronger(out[0], stronger(other, row[0]));
  }
}

Thumbnail ThumbnailMaker::finish() && {
  thumbnail_.metrics = metrics_.values();
  const int rows = thumbnail_.rows, cols = thumbnail_.cols;
  const auto range = [&](int without_column) {
    return viz::value_range(viz::Matrix::row_major(thumbnail_.values, rows, cols),
                            {thumbnail_.masked.empty(), without_column});
  };
  thumbnail_.range = range(-1);
  if (thumbnail_.first_column_without_key0.empty()) {
    thumbnail_.range_without_key0 = range(cols > 1 ? 0 : -1);
  } else {
    const viz::ValueRange column =
        viz::value_range(viz::Matrix::row_major(thumbnail_.first_column_without_key0, rows, 1));
    thumbnail_.range_without_key0 = viz::united(range(0), column);
  }
  return std::move(thumbnail_);
}

std::size_t Thumbnails::bytes() const {
  std::size_t sum = bytes_of(of_head);
  for (const auto& thumbnail : of_head) {
    if (thumbnail)
      sum += sizeof(Thumbnail) +
             bytes_of(thumbnail->masked, thumbnail->values, thumbnail->first_column_without_key0);
  }
  return sum;
}

Thumbnails ThumbnailsOfHeads::compute(const PromptRun& run,
                                      const Computation<Thumbnails>& computation) const {
  const model::Config& config = run.run->config;
  const int count = config.n_layer * config.n_head;
  Thumbnails result;
  if (computation.partial != nullptr) {
    result = *computation.partial;
  } else if (computation.previous != nullptr) {
    result.of_head = computation.previous->of_head;
  }
  result.of_head.resize(count);
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens);
  while (result.done < count) {
    std::vector<model::HeadIndex> heads;
    std::vector<ThumbnailMaker> makers;
    const int end = std::min(result.done + kHeadsPerThread * computation.workspace.threads(), count);
    for (int i = result.done; i < end; ++i) {
      heads.push_back({i / config.n_head, i % config.n_head});
      makers.emplace_back(run.run->length(), key_count(run), has_own_keys(run), earlier);
    }
    patterns_of(
        run, heads, computation.workspace,
        [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
          makers[index].add(first_query, rows, masked_cells(run, heads[index], first_query, rows),
                            sees_later(run, heads[index]));
        },
        computation.stop);
    for (ThumbnailMaker& maker : makers) {
      result.of_head[result.done++] = std::make_shared<const Thumbnail>(std::move(maker).finish());
    }
    if (result.done < count) computation.show(result, static_cast<double>(result.done) / count);
  }
  return result;
}

Thumbnails ThumbnailsOfHeads::compute_difference(const PromptRun& run,
                                                 const Computation<Thumbnails>& computation) const {
  const model::Config& config = run.run->config;
  const int count = config.n_layer * config.n_head, length = run.run->length(), keys = key_count(run);
  Thumbnails result;
  if (computation.partial != nullptr) result = *computation.partial;
  result.of_head.resize(count);
  const PromptRun& baseline = run.baseline ? *run.baseline : run;
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens),
                         earlier_there = earlier_occurrences(baseline.run->tokens);
  const Computation<Pattern> of_patterns{computation.workspace, computation.stop};
  for (; result.done < count; ++result.done) {
    if (computation.stop.stop_requested()) throw model::Stopped();
    const PatternOf pattern{result.done / config.n_head, result.done % config.n_head};
    const Pattern after = pattern.compute(run, of_patterns), before = pattern.compute(baseline, of_patterns),
                  difference = pattern_difference(after, before, run);
    ThumbnailMaker maker(length, keys, has_own_keys(run), {});
    maker.add(0, {difference.values.data(), length, keys, keys}, difference.masked.cells,
              !difference.masked.causal());
    Thumbnail thumbnail = std::move(maker).finish();
    const model::HeadIndex head{pattern.layer, pattern.head};
    thumbnail.metrics = difference_of(metrics_of(run, head, after, earlier).values(),
                                      metrics_of(baseline, head, before, earlier_there).values());
    result.of_head[result.done] = std::make_shared<const Thumbnail>(std::move(thumbnail));
    if (result.done + 1 < count) {
      Thumbnails part = result;
      ++part.done;
      computation.show(std::move(part), static_cast<double>(result.done + 1) / count);
    }
  }
  return result;
}

}  // namespace headscope::app
