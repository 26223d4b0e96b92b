#include "tests/model/activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/support/source_folders.h"

namespace headscope::testing {
namespace {

namespace fs = std::filesystem;
using model::ConstActivation2d;
using model::HookPoint;
using model::Site;

std::size_t size_of(const std::vector<std::int64_t>& shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  return size;
}

/// The offset of a piece's row in the whole tensor.
std::size_t offset_of(const Tensor& whole, const ConstActivation2d& piece, int row) {
  const auto pos = static_cast<std::size_t>(piece.first_pos + row);
  const auto head = static_cast<std::size_t>(piece.head);
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(whole.shape[axis]); };
  switch (piece.point.site) {
    case Site::attn_scores:
    case Site::pattern:
      return (head * extent(1) + pos) * extent(2);
    case Site::result:
      return (pos * extent(1) + head) * extent(2);
    default:
      return pos * (whole.values.size() / extent(0));
  }
}

}  // namespace

fs::path model_folder(const std::string& name) {
  return source_dir() / "tests/model/models" / name;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(model_folder("")))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void assemble(const model::Config& config, HookPoint point, int length, model::Hooks& hooks,
              Activations& activations) {
  Tensor& whole = activations[hook_name(point)];
  whole.shape = hook_shape(config, point, length);
  // Keys after a chunk are not passed to hooks: no query of the chunk sees them.
  whole.values.assign(size_of(whole.shape), point.site == Site::attn_scores ? -INFINITY : 0.0F);
  hooks.watch(point, [&whole](const ConstActivation2d& piece) {
    for (int i = 0; i < piece.rows; ++i) {
      const std::span<const float> row = piece.row(i);
      std::copy(row.begin(), row.end(),
                whole.values.begin() + static_cast<std::ptrdiff_t>(offset_of(whole, piece, i)));
    }
  });
}

Activations record(const model::Transformer& transformer, std::span<const int> tokens,
                   model::Workspace& workspace, const std::vector<HookPoint>& points, int chunk,
                   const std::shared_ptr<const model::Plan>& plan, model::Hooks hooks) {
  Activations activations;
  for (const HookPoint& point : points)
    assemble(transformer.config(), point, static_cast<int>(tokens.size()), hooks, activations);
  model::ForwardOptions options;
  options.hooks = &hooks;
  options.chunk = chunk;
  options.plan = plan;
  transformer.forward(tokens, workspace, options);
  return activations;
}

void expect_close(const std::string& name, const Tensor& expected, const Tensor& found, double tolerance) {
  ASSERT_EQ(expected.shape, found.shape) << name;
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double e = expected.values[i], f = found.values[i];
    if (std::isfinite(e) && std::isfinite(f)) {
      largest = std::max(largest, std::abs(e));
      difference = std::max(difference, std::abs(e - f));
    } else {
      ASSERT_EQ(e, f) << name << " element " << i;
    }
  }
  EXPECT_LE(difference, tolerance * largest) << name << ", largest magnitude " << largest;
}

std::vector<float> all_logits(const model::Transformer& transformer, const model::Run& run,
                              model::Workspace& workspace) {
  const auto vocabulary = static_cast<std::size_t>(transformer.config().vocab_size);
  std::vector<float> logits(static_cast<std::size_t>(run.length()) * vocabulary);
  transformer.logits(run, 0, run.length(), workspace, logits);
  return logits;
}

std::vector<float> kept_values(const model::Run& run) {
  std::vector<float> values;
  const auto append = [&](std::span<const float> row) {
    values.insert(values.end(), row.begin(), row.end());
  };
  for (int pos = 0; pos < run.length(); ++pos)
    for (int layer = 0; layer <= run.config.n_layer; ++layer) {
      append(run.resid(layer, pos));
      for (int head = 0; layer < run.config.n_layer && head < run.config.n_head; ++head) {
        append(run.q(layer, head, pos));
        append(run.k(layer, head, pos));
        append(run.v(layer, head, pos));
      }
    }
  return values;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

}  // namespace headscope::testing
