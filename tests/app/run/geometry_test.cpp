// Query-key space compared with that of the reference's vectors. Cosines and shifts of positions: the bundled
// model compared with its file, and a model whose positions are sinusoids compared with their known
// properties.
#include <cstring>

#include "app/run/analyses/geometry.h"
#include "model/maths/decompositions.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/textbook.h"

namespace headscope::app::geometry_test {
namespace {

using Vector = std::vector<double>;

TEST(QueryKeySpaceOf, HasTheCoordinatesOfQueriesAndKeysAlongTheirMainDirections) {
  const Scenario& s = scenario(40);
  const int width = s.config().d_head();
  for (const auto& [layer, head] : {std::pair{1, 2}, {4, 6}}) {
    const auto& of = reference_head(s, layer, head);
    std::vector<float> rows;
    for (const auto* vectors : {&of.q, &of.k})
      for (const Vector& row : *vectors) rows.insert(rows.end(), row.begin(), row.end());
    const auto expected = model::principal_directions({rows.data(), 80, width, width}, 2, {});
    const auto space = s.ask(QueryKeySpaceOf{layer, head});
    ASSERT_EQ(space->length(), 40);
    for (std::size_t axis = 0; axis < 2; ++axis)
      EXPECT_NEAR(space->shares[axis], expected.shares[axis], 1e-5);
    for (std::size_t i = 0; i < expected.coordinates.size(); ++i)
      EXPECT_NEAR(std::abs(space->coordinates[i]), std::abs(expected.coordinates[i]), 2e-3) << i;
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
