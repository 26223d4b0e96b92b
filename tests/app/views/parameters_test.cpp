// Parameters and positional encodings: tables, pictures and colours, compared with the file.
#include "app/run/analyses/parameters.h"

#include "app/run/analyses/geometry.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "viz/scene/scale.h"

namespace headscope::app::parameters_test {
namespace {

constexpr int kRowRole = 0, kMapRole = 1;  // roles of the view's regions
constexpr int kLayer = 2;

const std::vector<model::Parameter>& parameters() {
  return bundled()->transformer->report().parameters;
}
int index_of(const std::string& name) {
  return static_cast<int>(std::ranges::find(parameters(), name, &model::Parameter::name) -
                          parameters().begin());
}
/// A tensor as read by the reference.
const std::vector<double>& values_of(const std::string& name) {
  return reference_model().parameter(name);
}

TEST(Parameters, TheTableAddsUpToAll) {
  const Table table = table_of("parameters", scenario(12));
  const auto rows = text_rows(table);
  std::int64_t sum = 0;
  double share = 0;
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    EXPECT_EQ(rows[i][0], parameters()[i].name);
    EXPECT_EQ(std::stoul(rows[i][2]), values_of(parameters()[i].name).size());
    sum += std::stoll(rows[i][2]);
    share += std::stod(rows[i][3]);
  }
  EXPECT_EQ(fact_of(table, "values"), sum);
  EXPECT_EQ(sum, bundled()->transformer->parameter_count());
  EXPECT_NEAR(share, 1, 1e-9);
  std::int64_t lines = 0;  // blocks, and what is outside of them
  for (const auto& row : rows)
    if (!row[0].starts_with("h.") || row[0].find('.', 2) == std::string::npos) lines += std::stoll(row[2]);
  EXPECT_EQ(lines, sum);
}

TEST(TensorPictures, HaveTheNumbersOfTheTensor) {
  const Scenario& s = scenario(12);
  for (const std::string name : {"wte.weight", "h.1.mlp.c_proj.weight", "h.0.ln_1.bias"}) {
    SCOPED_TRACE(name);
    const auto p = s.ask(PictureOfTensor{index_of(name)});
    const std::vector<double>& values = values_of(name);
    double sum = 0, squares = 0;
    for (const double v : values) sum += v, squares += v * v;
    const auto n = static_cast<double>(values.size());
    EXPECT_NEAR(p->mean, sum / n, 1e-9);
    EXPECT_NEAR(p->deviation, std::sqrt(squares / n - sum / n * sum / n), 1e-7);
    EXPECT_EQ(static_cast<double>(p->low), *std::ranges::min_element(values));
    EXPECT_EQ(static_cast<double>(p->high), *std::ranges::max_element(values));
    std::int64_t count = p->beyond;
    for (const std::int64_t bin : p->bins) count += bin;
    EXPECT_EQ(count, std::ssize(values));
    const double step = (p->bins_high - p->bins_low) / TensorPicture::kBins;
    const auto in_third = std::ranges::count_if(
        values, [&](double v) { return v >= p->bins_low + 2 * step && v < p->bins_low + 3 * step; });
    EXPECT_NEAR(static_cast<double>(p->bins[2]), static_cast<double>(in_third), 1);
    EXPECT_GT(p->bytes(), p->pooled.size());
  }
}

TEST(TensorPictures, ACellIsTheStrongestOfWhatLiesUnderIt) {
  const auto p = scenario(12).ask(PictureOfTensor{index_of("wte.weight")});
  const std::vector<double> values = values_of("wte.weight");
  ASSERT_LT(p->pooled_rows, p->rows) << "some rows share a cell";
  std::int64_t under = 0;
  for (int row = 0; row < p->pooled_rows; row += 37) {
    for (int col = 0; col < p->pooled_cols; ++col) {
      double strongest = 0;
      for (int r = p->first_row(row); r < p->first_row(row + 1); ++r) {
        for (int c = p->first_col(col); c < p->first_col(col + 1); ++c, ++under) {
          const double v = values[static_cast<std::size_t>(r) * static_cast<std::size_t>(p->cols) +
                                  static_cast<std::size_t>(c)];
          if (std::abs(v) > std::abs(strongest)) strongest = v;
        }
      }
      EXPECT_EQ(static_cast<double>(p->pooled[row * p->pooled_cols + col]), strongest);
    }
  }
  EXPECT_GT(under, 0);
}

TEST(Parameters, AConstantTensorStandsInTheMiddleOfItsHistogram) {
  for (const float constant : {0.F, -3.F}) {
    const TemporaryFolder folder;
    const Gpt2Shape shape{.positions = 64, .vocabulary = 4096};
    write_other_model(folder, shape);
    auto tensors = gpt2_tensors(shape);
    for (auto& tensor : tensors) {
      if (tensor.name != "wpe.weight") continue;
      const std::vector<float> values(tensor.bytes.size() / sizeof(float), constant);
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    }
    write_gpt2(folder, gpt2_config(shape), tensors);
    const Scenario s(Prompt{"a", {}, false}, {0, 0, -1}, load_model(folder.path(), {}));
    const auto p = s.ask(PictureOfTensor{1});
    EXPECT_LT(p->bins_low, static_cast<double>(constant));
    EXPECT_GT(p->bins_high, static_cast<double>(constant));
    EXPECT_EQ(p->bins[TensorPicture::kBins / 2], 64 * 8);
    EXPECT_EQ(p->beyond, 0);
  }
}

TEST(Parameters, ALowPaneHasTheChosenTensorInItsListAndTheValues) {
  const Scenario s(scenario(12).run->prompt, {kLayer, 1, -1});
  for (const auto& [width, height] : {std::pair(488.F, 500.F), {690.F, 430.F}}) {
    ViewContext c = s.context(width, height);
    c.in_pane = true;
    const ViewFixture shown("parameters", c);
    EXPECT_GE(shown.find(kMapRole, 0), 0) << width;
    EXPECT_TRUE(shown.page().place_of("  attn.c_attn.weight")) << width;
    EXPECT_TRUE(shown.page().place_of("h.2.attn.c_attn.weight [256 × 768]")) << width;
  }
}

TEST(Parameters, LinesOpenBlocksAndShowTensors) {
  const Scenario s(scenario(12).run->prompt, {kLayer, 1, -1});
  const ViewFixture shown("parameters", s, 1200, 1000);
  DrawnPage page = shown.page();
  std::map<std::string, std::string> done;
  for (const int id : ids_of_role(shown.picture(), kRowRole)) {
    const int region = shown.find(kRowRole, id);
    done[page.take(shown.region(region).rect)[0].text] = in_words(shown.click(region));
  }
  EXPECT_EQ(done.at("h.0"), "head 0 1");
  EXPECT_EQ(done.at("  mlp.c_fc.weight"), "tensor mlp.c_fc.weight");
  EXPECT_EQ(done.at("ln_f.bias"), "tensor ln_f.bias");
  const ViewFixture tied("parameters", s, 1200, 1000, {{"tensor", "lm_head.weight"}});
  EXPECT_EQ(tied.tooltip(tied.find(kMapRole, 0), 0, 0)[0], "wte.weight");
}

double reference_encoding(const Scenario& s, int encoding, int position, int dimension) {
  const auto width = s.config().n_embd;
  if (encoding == 0) return reference_model().parameter("wpe.weight")[position * width + dimension];
  const double angle = position / std::pow(10000.0, (dimension - dimension % 2) / static_cast<double>(width));
  return dimension % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

TEST(Positions, TheTableHasTheWeightsOfTheModelAndThePaper) {
  const Scenario& s = scenario(12);
  const Table table = table_of("positions", s, {{"curves", "3,8,151"}});
  for (const int encoding : {0, 1}) {
    for (const int dimension : {3, 8, 151}) {
      const auto column =
          numbers_of(table, (encoding == 0 ? "learned " : "sinusoidal ") + std::to_string(dimension));
      ASSERT_EQ(std::ssize(column), s.config().n_ctx);
      for (std::size_t position = 0; position < column.size(); ++position)
        EXPECT_NEAR(column[position], reference_encoding(s, encoding, static_cast<int>(position), dimension),
                    1e-6);
    }
  }
}

TEST(Positions, DrawnCosinesAreTheTables) {
  const ViewFixture shown("positions", scenario(12), 1600, 1000,
                          {{"positions-show", "cosines"}, {"curves", "3,255"}});
  const viz::ColorTable color_of(viz::diverging_scale(1), light());
  const Table table = shown.table();
  for (const int encoding : {0, 1})
    for (const int row : {3, 255}) {
      const auto cosines =
          numbers_of(table, (encoding == 0 ? "learned with " : "sinusoidal with ") + std::to_string(row));
      for (const int col : {0, 200, 255})
        EXPECT_EQ(shown.color_of(shown.encoding(encoding), row, col),
                  color_of(static_cast<float>(cosines[col])));
    }
}

TEST(Positions, AClickOnARowOfCosinesDrawsItsCurveAndTakesItAway) {
  const ViewFixture shown("positions", scenario(12), 900, 700,
                          {{"positions-show", "cosines"}, {"curves", "10,20"}});
  EXPECT_EQ(in_words(shown.click(shown.encoding(1), 40, 3)), "curves 10,20,40");
  EXPECT_EQ(in_words(shown.click(shown.encoding(1), 10, 3)), "curves 20");
  EXPECT_EQ(in_words(shown.press(Key::right)), "curves 11,21");
}

TEST(Positions, TheShiftShowsPartsWhileItIsComputed) {
  PositionShift part = *scenario(12).ask(ShiftOfPositions{});
  for (auto* errors : {&part.sinusoidal, &part.learned, &part.unseen, &part.stay}) errors->resize(9);
  OneAnswer answers(ShiftOfPositions{}, part, false);
  ViewContext c = scenario(12).context(900, 700, answers);
  set(c, "positions-show", "shift");
  const Picture picture = find_view("positions")->build(c);
  EXPECT_THAT(texts(picture.scene), Contains("computing… k up to 8"));
}

double periods(int dimension, int n_ctx, int d_model) {
  return n_ctx * std::pow(10000.0, -static_cast<double>(dimension - dimension % 2) / d_model) /
         (2 * std::numbers::pi);
}

/// Noise, so that no dimension is smoother than another.
std::vector<float> noise(int n_ctx, int d_model) {
  std::vector<float> values;
  unsigned seed = 7;
  for (int i = 0; i < n_ctx * d_model; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(static_cast<float>(seed >> 8));
  }
  return values;
}

TEST(ReadableDimensions, MakeOnePeriodAndAnEighthOfAnyContext) {
  for (const int d_model : {1, 2, 3, 5, 8, 48, 64, 768, 1600}) {
    for (const int n_ctx : {1, 2, 8, 64, 256, 1024}) {
      const std::vector<int> dimensions = readable_dimensions(noise(n_ctx, d_model), n_ctx, d_model);
      SCOPED_TRACE(std::to_string(d_model) + " dimensions, " + std::to_string(n_ctx) + " positions");
      ASSERT_EQ(dimensions.size(), static_cast<std::size_t>(std::min(2, d_model)));
      for (std::size_t i = 0; i < dimensions.size(); ++i) {
        EXPECT_GE(dimensions[i], i == 0 ? 0 : dimensions[i - 1] + 1);
        EXPECT_LT(dimensions[i], d_model);
      }
      if (d_model < 48 || n_ctx < 64) continue;
      for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(std::log2(periods(dimensions[i], n_ctx, d_model)), -3 * i, 0.5001);
    }
  }
}

TEST(ReadableDimensions, AreThoseThatTheModelLearnedSmoothly) {
  constexpr int kPositions = 1024, kDimensions = 768;
  std::vector<float> learned = noise(kPositions, kDimensions);
  const std::vector<int> defaults = readable_dimensions(learned, kPositions, kDimensions);
  std::vector<int> smooth;
  for (const double wanted : {1.0, 0.125}) {  // the first odd dimension of each half octave
    int d = 1;
    while (periods(d, kPositions, kDimensions) > wanted * 1.4) d += 2;
    smooth.push_back(d);
    for (int p = 0; p < kPositions; ++p) learned[p * kDimensions + d] = static_cast<float>(p % 300);
  }
  learned[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(readable_dimensions(learned, kPositions, kDimensions), smooth);
  EXPECT_NE(defaults, smooth);
}

ViewFixture shown_with(const NamedOptions& options = {}) {
  return ViewFixture("staircase", scenario(12), 1600, 1000, options);
}

ViewActions drag(const ViewFixture& shown, viz::Point by) {
  const viz::Hit hit{0, 100, 100};
  return find_view("staircase")
      ->on(shown.context(), shown.picture(), &hit, {Gesture::Kind::drag, {}, by, {}});
}

TEST(Staircase, ADragTurnsAndTiltsAllTheWayRound) {
  EXPECT_EQ(in_words(drag(shown_with(), {25, 0})), "turn 40");
  EXPECT_EQ(in_words(drag(shown_with(), {0, -25})), "tilt 15");
  EXPECT_EQ(in_words(drag(shown_with({{"turn", "175"}}), {25, 0})), "turn -175");
  EXPECT_EQ(in_words(drag(shown_with({{"tilt", "85"}}), {0, 100})), "tilt 90");
  EXPECT_EQ(in_words(shown_with().press(Key::left)), "turn 25");
}

TEST(Staircase, TheTableHasBothPaths) {
  const Table table = shown_with().table();
  const auto rows = text_rows(table);
  const auto path = scenario(12).ask(PathOfPositions{});
  const int d = bundled()->transformer->config().n_embd;
  EXPECT_EQ(rows[50][2], plain(path->coordinates[50 * 3 + 1]));
  const int dimension = std::stoi(table.columns[5].name.substr(std::string("sinusoidal ").size()));
  EXPECT_EQ(rows[50][5], plain(sinusoidal_value(50, dimension, d)));
}

}  // namespace
}  // namespace headscope::app::parameters_test
