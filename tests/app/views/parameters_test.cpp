// Every tensor with its count, and the values of one, compared with the file.

#include <cstring>

#include "app/run/analyses/parameters.h"
#include "app/views/parts/matrix_zoom.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::parameters_test {
namespace {

constexpr int kRowRole = 0, kMapRole = 1;  // roles of the view's regions
constexpr int kLayer = 2;

const std::vector<model::Parameter>& parameters() {
  return bundled()->transformer->parameters();
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
  const Table table = ViewFixture("parameters", scenario(12), 900, 700).table();
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

}  // namespace
}  // namespace headscope::app::parameters_test
