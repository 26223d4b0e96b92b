// Composition of heads against whole matrices in double precision.
#include "app/run/analyses/head_circuit.h"

#include "model/files/error.h"
#include "tests/app/run/run_of_model.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/textbook.h"

namespace headscope::app::composition_test {
namespace {

/// A matrix [rows, cols] in double.
struct Matrix {
  int rows = 0, cols = 0;
  std::vector<double> values;
  Matrix(int of_rows, int of_cols)
      : rows(of_rows),
        cols(of_cols),
        values(static_cast<std::size_t>(of_rows) * static_cast<std::size_t>(of_cols)) {}
  double& at(int i, int j) {
    return values[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols) + j];
  }
  double at(int i, int j) const {
    return values[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols) + j];
  }
};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k)
      for (int j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix c(a.cols, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) c.at(j, i) = a.at(i, j);
  return c;
}

double frobenius(const Matrix& a) {
  double sum = 0;
  for (const double v : a.values) sum += v * v;
  return std::sqrt(sum);
}

/// ||A B|| / (||A|| ||B||).
double composed(const Matrix& a, const Matrix& b) {
  return frobenius(a * b) / (frobenius(a) * frobenius(b));
}

/// The matrices of a head, [d_model, d_model], by the definition in the header.
class Textbook {
 public:
  explicit Textbook(const ReferenceGpt2& model, const model::Config& config)
      : model_(model), config_(config) {}

  Matrix ov(int layer, int head) const { return reading(layer, head, 2) * writing(layer, head); }
  Matrix qk(int layer, int head) const {
    return reading(layer, head, 0) * transposed(reading(layer, head, 1));
  }
  double value(CompositionKind kind, int sender, int receiver) const {
    const int heads = config_.n_head;
    const Matrix written = ov(sender / heads, sender % heads);
    const int layer = receiver / heads, head = receiver % heads;
    if (kind == CompositionKind::q) return composed(written, qk(layer, head));
    if (kind == CompositionKind::k) return composed(written, transposed(qk(layer, head)));
    return composed(written, ov(layer, head));
  }

 private:
  const ReferenceGpt2& model_;
  model::Config config_;

  /// column 0: W_Q, 1: W_K, 2: W_V.
  Matrix reading(int layer, int head, int column) const {
    const int d = config_.n_embd, width = config_.d_head();
    const std::string block = "h." + std::to_string(layer) + ".";
    const auto &w = model_.parameter(block + "attn.c_attn.weight"),
               &gain = model_.parameter(block + "ln_1.weight");
    Matrix result(d, width);
    for (int j = 0; j < width; ++j) {
      std::vector<double> of_unit;
      for (int i = 0; i < d; ++i) of_unit.push_back(gain[i] * w[i * 3 * d + column * d + head * width + j]);
      of_unit = centered(of_unit);
      for (int i = 0; i < d; ++i) result.at(i, j) = of_unit[i];
    }
    return result;
  }
  Matrix writing(int layer, int head) const {
    const int d = config_.n_embd, width = config_.d_head();
    const std::string projection = "h." + std::to_string(layer) + ".attn.c_proj.weight";
    Matrix result(width, d);
    for (int j = 0; j < width; ++j) {
      const std::vector<double> row = centered(row_of(model_, projection, head * width + j));
      for (int i = 0; i < d; ++i) result.at(j, i) = row[i];
    }
    return result;
  }
};

/// A model of a folder, and its answers without a prompt.
struct WeightsOf {
  explicit WeightsOf(const std::filesystem::path& folder)
      : run(run_of_model(model::Transformer::load(folder))) {}
  Composition ask(CompositionKind kind) { return CompositionOf{kind}.compute(run, {workspace}); }
  const model::Config& config() const { return run.model->transformer->config(); }
  model::Workspace workspace{2};
  PromptRun run;
};

void expect_textbook(WeightsOf& model, const Textbook& textbook,
                     const std::vector<std::pair<int, int>>& pairs) {
  for (const CompositionKindSpec& kind : kCompositionKinds) {
    const Composition c = model.ask(kind.kind);
    ASSERT_EQ(c.heads(), model.config().n_layer * model.config().n_head);
    for (const auto& [sender, receiver] : pairs) {
      const double expected = textbook.value(kind.kind, sender, receiver);
      EXPECT_NEAR(static_cast<double>(c.value(sender, receiver)), expected, 1e-5 * expected)
          << kind.title << " " << sender << " " << receiver;
      EXPECT_NEAR(c.excess(sender, receiver), expected - 1 / std::sqrt(model.config().n_embd - 1.0), 1e-5);
    }
    for (int s = 0; s < c.heads(); ++s)
      for (int r = 0; r < c.heads(); ++r)
        EXPECT_EQ(std::isnan(c.value(s, r)), !c.is_pair(s, r)) << kind.title << " " << s << " " << r;
  }
}

TEST(CompositionOf, IsTheTextbooksForEveryPairOfASmallModel) {
  const TemporaryFolder folder;
  const Gpt2Shape shape{.layers = 3, .heads = 3, .width = 12};
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
  WeightsOf model(folder.path());
  std::vector<std::pair<int, int>> pairs;
  for (int s = 0; s < 9; ++s)
    for (int r = 3 * (s / 3 + 1); r < 9; ++r) pairs.emplace_back(s, r);
  expect_textbook(model, Textbook(ReferenceGpt2(folder.path()), model.config()), pairs);
}

TEST(CompositionOf, HasNoNumberForAHeadWithoutWeights) {
  const TemporaryFolder folder;
  const Gpt2Shape shape{.layers = 2, .heads = 2, .width = 8};
  auto tensors = gpt2_tensors(shape);
  for (RawTensor& tensor : tensors)
    if (tensor.name == "h.0.attn.c_proj.weight") std::fill_n(tensor.bytes.begin(), 4 * 8 * 4, '\0');
  write_gpt2(folder, gpt2_config(shape), tensors);
  WeightsOf model(folder.path());
  const Composition c = model.ask(CompositionKind::v);
  EXPECT_TRUE(std::isnan(c.value(0, 2)) && std::isnan(c.value(0, 3)));
  EXPECT_TRUE(std::isfinite(c.value(1, 2)) && std::isfinite(c.value(1, 3)));
  EXPECT_EQ(strongest_pairs(c, 0).size(), 2U);
}

TEST(StrongestPairs, AreSortedAndOfAHead) {
  Composition c{2, 2, 2, 0.25, std::vector<float>(16, std::nanf(""))};
  c.values[2] = 0.5F, c.values[3] = 0.125F, c.values[6] = 0.75F, c.values[7] = 0.5F;
  const auto in_words = [](const std::vector<ComposedPair>& pairs) {
    std::string words;
    for (const ComposedPair& pair : pairs)
      words += std::to_string(pair.sender) + ">" + std::to_string(pair.receiver) + " " +
               viz::fixed_number(pair.excess, 3) + " ";
    return words;
  };
  EXPECT_EQ(in_words(strongest_pairs(c, 0)), "1>2 0.500 0>2 0.250 1>3 0.250 0>3 −0.125 ");
  EXPECT_EQ(in_words(strongest_pairs(c, 2)), "1>2 0.500 0>2 0.250 ");
  EXPECT_EQ(in_words(strongest_pairs(c, 0, false, 0)), "0>2 0.250 0>3 −0.125 ");
  EXPECT_EQ(in_words(strongest_pairs(c, 0, false, 3)), "1>3 0.250 0>3 −0.125 ");
  const Composition difference =
      Composition{2, 2, 2, 0.25, std::vector<float>(16, 0.5F)}.minus(c, PromptRun());
  EXPECT_EQ(difference.baseline, 0);
  EXPECT_EQ(in_words(strongest_pairs(difference, 2, true)), "0>3 0.375 1>2 −0.250 ");
}

}  // namespace
}  // namespace headscope::app::composition_test
