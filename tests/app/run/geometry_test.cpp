// Query-key space compared with principal components in double precision. Cosines, paths and shifts of
// positions: the bundled model compared with its file, and a model whose positions are sinusoids compared
// with their known properties.
#include <cstring>

#include "app/run/analyses/geometry.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/textbook.h"

namespace headscope::app::geometry_test {
namespace {

using Vector = std::vector<double>;

/// The direction of largest variance of rows, by power iteration.
Vector widest(const std::vector<Vector>& rows) {
  Vector direction(rows.front().size());
  for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = 1 + 0.1 * static_cast<double>(i);
  for (int step = 0; step < 3000; ++step) {
    Vector next(direction.size());
    for (const Vector& row : rows) {
      const double along = dot(row, direction);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] += along * row[i];
    }
    const double length = norm(next);
    for (std::size_t i = 0; i < next.size(); ++i) direction[i] = next[i] / length;
  }
  return direction;
}

TEST(QueryKeySpaceOf, IsSpannedByTheMainDirections) {
  const Scenario& s = scenario(40);
  for (const auto& [layer, head] : {std::pair{1, 2}, {4, 6}}) {
    const auto& of = reference_head(s, layer, head);
    std::vector<Vector> rows = of.q;
    rows.insert(rows.end(), of.k.begin(), of.k.end());
    Vector mean(rows.front().size());
    for (const Vector& row : rows)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += row[i] / static_cast<double>(rows.size());
    double variance = 0;
    for (Vector& row : rows) {
      for (std::size_t i = 0; i < mean.size(); ++i) row[i] -= mean[i];
      variance += dot(row, row);
    }
    const auto space = s.ask(QueryKeySpaceOf{layer, head});
    ASSERT_EQ(space->length, 40);
    std::vector<Vector> left = rows;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const Vector direction = widest(left);
      double along = 0, sign = 0;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const double at = dot(rows[r], direction);
        along += at * at;
        sign += at * static_cast<double>(space->coordinates[2 * r + axis]);
      }
      EXPECT_NEAR(space->shares[axis], along / variance, 1e-5);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const double at = dot(rows[r], direction);
        EXPECT_NEAR(static_cast<double>(space->coordinates[2 * r + axis]), sign < 0 ? -at : at, 2e-3) << r;
        const double rest = dot(left[r], direction);
        for (std::size_t i = 0; i < direction.size(); ++i) left[r][i] -= rest * direction[i];
      }
    }
    EXPECT_EQ(space->at(true, 3)[1], space->coordinates[2 * 43 + 1]);
  }
}

TEST(QueryKeySpaceOf, OfOneTokenIsALine) {
  const auto space = scenario(1).ask(QueryKeySpaceOf{2, 1});
  EXPECT_EQ(space->shares[0], 1);
  EXPECT_EQ(space->shares[1], 0);
  EXPECT_EQ(space->at(false, 0)[1], 0);
  EXPECT_NEAR(static_cast<double>(space->at(false, 0)[0]), -static_cast<double>(space->at(true, 0)[0]), 1e-5);
}

using ::testing::Lt;

/// A run of a model whose wpe.weight holds these values.
Scenario with_positions(const std::vector<float>& values, int positions, int width) {
  const TemporaryFolder folder;
  const Gpt2Shape shape{
      .width = width, .positions = positions, .vocabulary = bundled()->transformer->config().vocab_size};
  write_other_model(folder, shape);
  auto tensors = gpt2_tensors(shape);
  for (auto& tensor : tensors)
    if (tensor.name == "wpe.weight") std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  write_gpt2(folder, gpt2_config(shape), tensors);
  return Scenario(Prompt{"a", {}, false}, {0, 0, -1}, load_model(folder.path(), {}));
}

TEST(PositionCosines, AreThoseOfTheFilesRows) {
  const auto cosines = scenario(12).ask(CosinesOfPositions{});
  const auto row = [](int position) { return row_of(reference_model(), "wpe.weight", position); };
  ASSERT_EQ(cosines->positions, bundled()->transformer->config().n_ctx);
  for (const auto& [a, b] : {std::pair{0, 0}, {0, 1}, {17, 3}, {100, 255}, {255, 254}})
    EXPECT_NEAR(static_cast<double>(cosines->matrix(true).at(a, b)), cosine(row(a), row(b)), 1e-5);
}

TEST(PositionCosines, OfSinusoidsDependOnTheDistanceAlone) {
  const auto cosines = scenario(12).ask(CosinesOfPositions{});
  const int d = bundled()->transformer->config().n_embd;
  for (const int distance : {0, 1, 7, 100}) {
    double sum = 0;
    for (int i = 0; i < d; i += 2) sum += std::cos(distance / std::pow(10000.0, static_cast<double>(i) / d));
    for (const int at : {0, 5, 150})
      EXPECT_NEAR(static_cast<double>(cosines->matrix(false).at(at, at + distance)), 2 * sum / d, 1e-5);
  }
}

TEST(PositionShift, SinusoidsAreCarriedOnExactlyAndSoIsAModelThatLearnedThem) {
  constexpr int kPositions = 64, kWidth = 8;
  const auto shift =
      with_positions(sinusoidal_encoding(kPositions, kWidth), kPositions, kWidth).ask(ShiftOfPositions{});
  ASSERT_EQ(shift->steps, 32);
  ASSERT_EQ(shift->sinusoidal.size(), 33U);
  EXPECT_THAT(shift->sinusoidal, Each(Lt(1e-6F)));
  EXPECT_THAT(shift->learned, Each(Lt(1e-3F)));
  EXPECT_THAT(shift->unseen, Each(Lt(1e-3F))) << "nothing was learned by heart";
  EXPECT_EQ(shift->stay[0], 0);
  // |e(t + k) - e(t)|² = 2 Σ (1 - cos kθ), and |e|² = d/2.
  for (const int k : {1, 5, 20}) {
    double sum = 0;
    for (int i = 0; i < kWidth; i += 2)
      sum += 1 - std::cos(k / std::pow(10000.0, static_cast<double>(i) / kWidth));
    EXPECT_NEAR(static_cast<double>(shift->stay[k]), std::sqrt(2 * sum / (kWidth / 2)), 1e-5);
  }
}

}  // namespace
}  // namespace headscope::app::geometry_test
