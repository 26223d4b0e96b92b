// Head circuits: compared with the float64 parameters, and eigenvalues with traces; composition of heads
// against whole matrices in double precision.
#include "app/run/analyses/head_circuit.h"

#include <Eigen/Eigenvalues>

#include "model/files/error.h"
#include "model/maths/decompositions.h"
#include "tests/app/run/run_of_model.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/textbook.h"

namespace headscope::app::head_circuit_test {
namespace {

/// The circuit by its textbook definition, in double precision.
class Textbook {
 public:
  using Vector = std::vector<double>;

  Textbook(const model::Config& config, int layer, int head, TokenReading how = {})
      : config_(config), how_(how), layer_(layer), first_(head * config.d_head()) {}
  /// A token as the head reads it, times columns of c_attn.weight: [d_head].
  Vector value(int id) const { return carried(id, 2); }
  Vector query(int id) const { return carried(id, 0); }
  Vector key(int id) const { return carried(id, 1); }
  double score(int query_id, int key_id) const {
    return dot(query(query_id), key(key_id)) / std::sqrt(config_.d_head());
  }
  /// The effect of each dimension of the value on a token's logit: [d_head].
  Vector reading(int id) const {
    const Vector gain = row("ln_f.weight"), embedding = row("wte.weight", id);
    Vector out;
    for (int j = 0; j < config_.d_head(); ++j) {
      Vector written = centered(row(block(layer_) + "attn.c_proj.weight", first_ + j));
      for (std::size_t i = 0; i < gain.size(); ++i) written[i] *= gain[i];
      out.push_back(dot(written, embedding));
    }
    return out;
  }

 private:
  static std::string block(int layer) { return "h." + std::to_string(layer) + "."; }
  static Vector row(const std::string& name, int index = 0) { return row_of(reference_model(), name, index); }
  static Vector normalized(const Vector& row) {
    Vector out = centered(row);
    for (double& v : out) v /= norm_scale(row, 1e-5);
    return out;
  }
  /// x W + b, with W [in, out] and b [out].
  static Vector affine(const Vector& x, const std::string& name) {
    const Vector& bias = reference_model().parameter(name + ".bias");
    Vector out = times_columns(reference_model().parameter(name + ".weight"), x, 0, std::ssize(bias));
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += bias[j];
    return out;
  }
  Vector read(int id) const {
    Vector stream = row("wte.weight", id);
    if (how_.after_first_mlp && layer_ > 0) {
      Vector x = normalized(stream);
      const Vector gain = row("h.0.ln_2.weight"), bias = row("h.0.ln_2.bias");
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] * gain[i] + bias[i];
      Vector hidden = affine(x, "h.0.mlp.c_fc");
      for (double& v : hidden) v = activated(model::Activation::gelu_new, v);
      const Vector out = affine(hidden, "h.0.mlp.c_proj");
      for (std::size_t i = 0; i < stream.size(); ++i) stream[i] += out[i];
    }
    return how_.normalized ? normalized(stream) : stream;
  }
  Vector carried(int id, int column) const {
    Vector x = read(id);
    const Vector gain = row(block(layer_) + "ln_1.weight");
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= gain[i];
    return times_columns(reference_model().parameter(block(layer_) + "attn.c_attn.weight"), x,
                         column * config_.n_embd + first_, config_.d_head());
  }
  model::Config config_;
  TokenReading how_;
  int layer_, first_;
};

using Matrix = Eigen::MatrixXd;

Eigen::VectorXd as_column(const std::vector<double>& v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), std::ssize(v));
}

const std::array<TokenReading, 3> kReadings{TokenReading{}, TokenReading{true, true},
                                            TokenReading{true, false}};

TEST(TokensOfHead, AreTheReferences) {
  const Scenario s("A robot must");
  int which = 0;
  for (const auto& [layer, head, id] :
       {std::array{0, 0, 17}, std::array{3, 5, 700}, std::array{5, 7, 4000}}) {
    const TokenReading reading = kReadings.at(static_cast<std::size_t>(which++));
    const Textbook textbook(s.config(), layer, head, reading);
    const std::vector<double> value = textbook.value(id);
    std::vector<double> logits;
    for (int t = 0; t < s.config().vocab_size; ++t) logits.push_back(dot(value, textbook.reading(t)));
    const auto tokens = s.ask(TokensOfHead{layer, head, reading, id});
    std::vector<double> sorted = logits;
    std::ranges::sort(sorted);
    ASSERT_EQ(tokens->up.size(), 10U);
    ASSERT_EQ(tokens->down.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(static_cast<double>(tokens->up[i].logit), sorted[sorted.size() - 1 - i], 1e-4);
      EXPECT_NEAR(static_cast<double>(tokens->up[i].logit), logits[tokens->up[i].id], 1e-4);
      EXPECT_NEAR(static_cast<double>(tokens->down[i].logit), sorted[i], 1e-4);
      EXPECT_NEAR(static_cast<double>(tokens->down[i].logit), logits[tokens->down[i].id], 1e-4);
    }
    EXPECT_NEAR(static_cast<double>(tokens->own.logit), logits[id], 1e-4);
    const auto larger = std::ranges::count_if(logits, [&](double logit) { return logit > logits[id]; });
    EXPECT_NEAR(tokens->own_rank, static_cast<double>(larger), 2);
  }
}

TEST(CopyingOfHead, IsTheCircuitsTraceOverTheMagnitudesOfItsEigenvalues) {
  const Scenario s("A robot must");
  const int d_head = s.config().d_head();
  for (const auto& [layer, head] : {std::array{1, 2}, std::array{4, 6}}) {
    const TokenReading reading{false, true};
    const Textbook textbook(s.config(), layer, head, reading);
    // The eigenvalues of the matrix, but for zeros, are those of the small product.
    Matrix small = Matrix::Zero(d_head, d_head);
    for (int t = 0; t < s.config().vocab_size; ++t)
      small += as_column(textbook.reading(t)) * as_column(textbook.value(t)).transpose();
    const double magnitudes = small.eigenvalues().cwiseAbs().sum();
    EXPECT_NEAR(*s.ask(CopyingOfHead{layer, head, reading}), small.trace() / magnitudes, 1e-4);
  }
}

TEST(KeysOfToken, AreTheReferences) {
  const Scenario s("A robot must");
  for (const TokenReading reading : {kReadings[0], kReadings[1]}) {
    const Textbook textbook(s.config(), 2, 3, reading);
    const std::vector<double> query = textbook.query(700);
    std::vector<double> scores;
    for (int t = 0; t < s.config().vocab_size; ++t)
      scores.push_back(dot(query, textbook.key(t)) / std::sqrt(s.config().d_head()));
    const double slack = 1e-5 * std::abs(*std::ranges::max_element(scores)) + 1e-5;
    const auto keys = s.ask(KeysOfToken{2, 3, reading, 700});
    std::vector<double> sorted = scores;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(static_cast<double>(keys->up[i].logit), sorted[sorted.size() - 1 - i], slack);
      EXPECT_NEAR(static_cast<double>(keys->up[i].logit), scores[keys->up[i].id], slack);
      EXPECT_NEAR(static_cast<double>(keys->down[i].logit), sorted[i], slack);
    }
    EXPECT_EQ(keys->own.id, 700);
    EXPECT_NEAR(static_cast<double>(keys->own.logit), scores[700], slack);
  }
}

/// The strongest key of each token is known, and largest_entries finds the largest of all products.
TEST(PairsOfHead, AreScoredAsTheReferenceDoes) {
  const Scenario s("A robot must");
  const Textbook textbook(s.config(), 1, 3, kReadings[1]);
  const auto pairs = s.ask(PairsOfHead{1, 3, kReadings[1]});
  ASSERT_EQ(pairs->size(), std::size_t{PairsOfHead::kMax});
  const model::ProductEntry& first = pairs->front();
  EXPECT_NEAR(first.value, s.ask(KeysOfToken{1, 3, kReadings[1], first.row})->up.front().logit,
              1e-5F * first.value);
  for (const model::ProductEntry& pair : *pairs)
    EXPECT_NEAR(static_cast<double>(pair.value), textbook.score(pair.row, pair.col),
                1e-5 * static_cast<double>(first.value));
}

TEST(LargestEntries, AreThoseOfTheWholeProductWhateverTheTiles) {
  // Rows of very different norms, so that most tiles are skipped; some are not finite.
  model::Workspace workspace(2);
  constexpr int kRows = 700, kCols = 2300, kWidth = 5;
  std::vector<float> a = normal_numbers(kRows * kWidth), b = normal_numbers(kCols * kWidth, 1, 2);
  for (std::vector<float>* values : {&a, &b})
    for (std::size_t i = 0; i < values->size(); ++i)
      (*values)[i] /= 1 + 0.1F * static_cast<float>(i / kWidth);
  a[30 * kWidth] = std::nanf("");
  const auto best = model::largest_entries({a.data(), kRows, kWidth, kWidth},
                                           {b.data(), kCols, kWidth, kWidth}, 50, workspace);
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, kWidth, Eigen::RowMajor>;
  const Matrix product = Eigen::Map<const Rows>(a.data(), kRows, kWidth).cast<double>() *
                         Eigen::Map<const Rows>(b.data(), kCols, kWidth).cast<double>().transpose();
  std::vector<double> all(product.data(), product.data() + product.size());
  std::erase_if(all, [](double value) { return std::isnan(value); });
  std::ranges::partial_sort(all, all.begin() + 50, std::greater<>());
  ASSERT_EQ(best.size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(static_cast<double>(best[i].value), all[i], 1e-5) << i;
  const auto few =
      model::largest_entries({a.data(), 1, kWidth, kWidth}, {b.data(), 3, kWidth, kWidth}, 50, workspace);
  EXPECT_EQ(few.size(), 3U);
  EXPECT_TRUE(
      model::largest_entries({a.data(), 1, kWidth, kWidth}, {b.data(), 3, kWidth, kWidth}, 0, workspace)
          .empty());
}

/// ||A B|| / (||A|| ||B||).
double composed(const Matrix& a, const Matrix& b) {
  return (a * b).norm() / (a.norm() * b.norm());
}

/// The matrices of a head, [d_model, d_model], by the definition in the header.
class Matrices {
 public:
  explicit Matrices(const ReferenceGpt2& model, const model::Config& config)
      : model_(model), config_(config) {}

  Matrix ov(int layer, int head) const { return reading(layer, head, 2) * writing(layer, head); }
  Matrix qk(int layer, int head) const {
    return reading(layer, head, 0) * reading(layer, head, 1).transpose();
  }
  double value(CompositionKind kind, int sender, int receiver) const {
    const int heads = config_.n_head;
    const Matrix written = ov(sender / heads, sender % heads);
    const int layer = receiver / heads, head = receiver % heads;
    if (kind == CompositionKind::q) return composed(written, qk(layer, head));
    if (kind == CompositionKind::k) return composed(written, qk(layer, head).transpose());
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
      result.col(j) = as_column(centered(of_unit));
    }
    return result;
  }
  Matrix writing(int layer, int head) const {
    const int d = config_.n_embd, width = config_.d_head();
    const std::string projection = "h." + std::to_string(layer) + ".attn.c_proj.weight";
    Matrix result(width, d);
    for (int j = 0; j < width; ++j)
      result.row(j) = as_column(centered(row_of(model_, projection, head * width + j)));
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

void expect_matrices(WeightsOf& model, const Matrices& matrices,
                     const std::vector<std::pair<int, int>>& pairs) {
  for (const CompositionKindSpec& kind : kCompositionKinds) {
    const Composition c = model.ask(kind.kind);
    ASSERT_EQ(c.heads(), model.config().n_layer * model.config().n_head);
    for (const auto& [sender, receiver] : pairs) {
      const double expected = matrices.value(kind.kind, sender, receiver);
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
  expect_matrices(model, Matrices(ReferenceGpt2(folder.path()), model.config()), pairs);
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
}  // namespace headscope::app::head_circuit_test
