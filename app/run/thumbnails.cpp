#include "app/run/thumbnails.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

namespace headscope::app {
namespace {

constexpr int kHeadsPerThread = 2;  // that are made between two looks at what else is wanted

/// Of two weights the one of larger magnitude; NaN wins, so that it shows.
float stronger(float a, float b) {
  return std::abs(b) <= std::abs(a) || std::isnan(a) ? a : b;
}

/// log2 of a positive normal number, to 2e-7; of 0 some finite number, so that 0 log 0 is 0. Without a
/// branch: there are millions of weights.
inline float fast_log2(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const auto exponent = static_cast<float>((bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x007FFFFF) | 0x3F800000);  // [1, 2)
  const float t = (m - 1) / (m + 1), s = t * t;
  // 2 / ln 2 times the series of artanh t
  const float series = 1 + s * (1.F / 3 + s * (1.F / 5 + s * (1.F / 7 + s * (1.F / 9 + s * (1.F / 11)))));
  return exponent + 2.8853900817779268F * t * series;
}

struct Spread {
  double entropy = 0;   ///< bits
  double distance = 0;  ///< mean of query - key by weight
};

/// Of the weights of keys 0 .. query.
Spread spread_of(const float* row, int query) {
  constexpr int kLanes = 16;
  std::array<float, kLanes> entropy{}, distance{};
  const int n = query + 1;
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float w = row[i + lane];
      entropy[static_cast<std::size_t>(lane)] -= w * fast_log2(w);
      distance[static_cast<std::size_t>(lane)] += w * static_cast<float>(query - i - lane);
    }
  }
  Spread spread;
  for (; i < n; ++i) {
    spread.entropy -= static_cast<double>(row[i] * fast_log2(row[i]));
    spread.distance += static_cast<double>(row[i] * static_cast<float>(query - i));
  }
  for (const float part : entropy) spread.entropy += static_cast<double>(part);
  for (const float part : distance) spread.distance += static_cast<double>(part);
  return spread;
}

float mean_of(double sum, int count) {
  return count > 0 ? static_cast<float>(sum / count) : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

std::vector<int> earlier_occurrences(std::span<const int> tokens) {
  std::vector<int> earlier;
  std::unordered_map<int, int> last;
  for (const int token : tokens) {
    const auto [found, is_new] = last.try_emplace(token, -1);
    earlier.push_back(found->second);
    found->second = static_cast<int>(earlier.size()) - 1;
  }
  return earlier;
}

ThumbnailMaker::ThumbnailMaker(int length, std::span<const int> earlier)
    : length_(length), earlier_(earlier) {
  thumbnail_.size = std::min(length, Thumbnail::kMost);
  const auto size = static_cast<std::size_t>(thumbnail_.size);
  thumbnail_.values.assign(size * size, 0.F);
  if (length > Thumbnail::kMost) thumbnail_.first_column_without_key0.assign(size, 0.F);
}

void ThumbnailMaker::add(int first_query, model::ConstFloatRows rows) {
  const bool pooled = length_ > Thumbnail::kMost;
  for (int i = 0; i < rows.rows; ++i) {
    const int query = first_query + i;
    const float* row = rows.row_data(i);
    if (query > 0) add_figures(query, row);
    const auto bin = [&](int position) {
      return pooled ? static_cast<int>(std::int64_t{position} * Thumbnail::kMost / length_) : position;
    };
    float* out = thumbnail_.values.data() + std::ptrdiff_t{bin(query)} * thumbnail_.size;
    if (!pooled) {
      std::copy_n(row, length_, out);
      continue;
    }
    float& other = thumbnail_.first_column_without_key0[static_cast<std::size_t>(bin(query))];
    for (int col = 0, key = 1; key <= query; ++col) {
      // The keys that fall into this column end where the next one's begin.
      const auto next =
          static_cast<int>((std::int64_t{col + 1} * length_ + Thumbnail::kMost - 1) / Thumbnail::kMost);
      float& cell = col == 0 ? other : out[col];
      float most = cell;
      for (const int end = std::min(next, query + 1); key < end; ++key) most = stronger(most, row[key]);
      cell = most;
    }
    out[0] = stronger(out[0], stronger(other, row[0]));
  }
}

void ThumbnailMaker::add_figures(int query, const float* row) {
  first_ += static_cast<double>(row[0]);
  previous_ += static_cast<double>(row[query - 1]);
  self_ += static_cast<double>(row[query]);
  const Spread spread = spread_of(row, query);
  entropy_ += spread.entropy;
  distance_ += spread.distance;
  if (earlier_.empty()) return;
  bool induces = false, repeats = false;
  for (int at = earlier_[static_cast<std::size_t>(query)]; at >= 0;
       at = earlier_[static_cast<std::size_t>(at)]) {
    repeats = true;
    duplicate_ += static_cast<double>(row[at]);
    if (at + 1 == query) continue;
    induces = true;
    induction_ += static_cast<double>(row[at + 1]);
  }
  can_duplicate_ += repeats;
  can_induce_ += induces;
}

Thumbnail ThumbnailMaker::finish() && {
  const int size = thumbnail_.size;
  const auto range = [&](int without_column) {
    return viz::value_range(viz::Matrix::row_major(thumbnail_.values, size, size), {true, without_column});
  };
  thumbnail_.range = range(-1);
  if (thumbnail_.first_column_without_key0.empty()) {
    thumbnail_.range_without_key0 = range(size > 1 ? 0 : -1);
  } else {
    const viz::ValueRange column =
        viz::value_range(viz::Matrix::row_major(thumbnail_.first_column_without_key0, size, 1));
    thumbnail_.range_without_key0 = viz::united(range(0), column);
  }
  thumbnail_.mean_first = mean_of(first_, length_ - 1);
  thumbnail_.mean_previous = mean_of(previous_, length_ - 1);
  thumbnail_.mean_self = mean_of(self_, length_ - 1);
  thumbnail_.mean_entropy = mean_of(entropy_, length_ - 1);
  thumbnail_.mean_distance = mean_of(distance_, length_ - 1);
  thumbnail_.mean_induction = mean_of(induction_, can_induce_);
  thumbnail_.mean_duplicate = mean_of(duplicate_, can_duplicate_);
  return std::move(thumbnail_);
}

std::size_t Thumbnails::bytes() const {
  std::size_t sum = of_head.size() * sizeof(of_head.front());
  for (const auto& thumbnail : of_head) {
    if (thumbnail)
      sum += (thumbnail->values.size() + thumbnail->first_column_without_key0.size()) * sizeof(float);
  }
  return sum;
}

Thumbnails ThumbnailsOfHeads::compute(const PromptRun& run, const Work<Thumbnails>& work) const {
  const model::Config& config = run.run->config;
  const int count = config.n_layer * config.n_head;
  Thumbnails result;
  if (work.begun != nullptr) {
    result = *work.begun;
  } else if (work.former != nullptr) {
    result.of_head = work.former->of_head;
  }
  result.of_head.resize(static_cast<std::size_t>(count));
  const std::vector<int> earlier = earlier_occurrences(run.run->tokens);
  while (result.done < count) {
    std::vector<model::HeadIndex> heads;
    std::vector<ThumbnailMaker> makers;
    const int end = std::min(result.done + kHeadsPerThread * work.workspace.threads(), count);
    for (int i = result.done; i < end; ++i) {
      heads.push_back({i / config.n_head, i % config.n_head});
      makers.emplace_back(run.run->length(), earlier);
    }
    run.model->transformer->patterns(
        *run.run, heads, work.workspace,
        [&](std::size_t index, int first_query, model::ConstFloatRows rows) {
          makers[index].add(first_query, rows);
        },
        work.stop);
    for (ThumbnailMaker& maker : makers) {
      result.of_head[static_cast<std::size_t>(result.done++)] =
          std::make_shared<const Thumbnail>(std::move(maker).finish());
    }
    if (result.done < count) work.show(result, static_cast<double>(result.done) / count);
  }
  return result;
}

}  // namespace headscope::app
