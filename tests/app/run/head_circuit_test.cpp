// Head circuits: compared with the float64 parameters, and eigenvalues with traces.
#include "app/run/analyses/head_circuit.h"

#include <numbers>

#include "model/files/error.h"
#include "model/maths/low_rank.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::head_circuit_test {
namespace {

TEST(LowRankProduct, HasTheEigenvaluesOfTheWholeMatrix) {
  // X, Y [3, 2] and maps [2, 2]. By hand: B^T A = [[0, -2], [2, 0]] with eigenvalues 2i and -2i.
  const std::vector<float> x{1, 0, 0, 1, 0, 0}, y{0, 1, -1, 0, 5, 5}, once{1, 0, 0, 1}, twice{2, 0, 0, 2};
  model::LowRankProduct product({once.data(), 2, 2, 2}, {twice.data(), 2, 2, 2});
  product.add({x.data(), 1, 2, 2}, {y.data(), 1, 2, 2});
  product.add({x.data() + 2, 2, 2, 2}, {y.data() + 2, 2, 2, 2});
  const auto values = product.eigenvalues();
  ASSERT_EQ(values.size(), 2U);
  EXPECT_NEAR(values[0].real(), 0, 1e-12);
  EXPECT_NEAR(std::abs(values[0].imag()), 2, 1e-12);
  EXPECT_NEAR(values[1].imag(), -values[0].imag(), 1e-12);
  const std::vector<float> nan{std::nanf(""), 0};
  product.add({nan.data(), 1, 2, 2}, {nan.data(), 1, 2, 2});
  EXPECT_TRUE(std::isnan(product.eigenvalues()[0].real()));
}

/// The circuit by its textbook definition, in double precision.
class Textbook {
 public:
  Textbook(const model::Config& config, int layer, int head, TokenReading how = {})
      : config_(config), how_(how), layer_(layer) {
    const std::string block = "h." + std::to_string(layer) + ".";
    gain_ = &reference_model().parameter(block + "ln_1.weight");
    attention_ = &reference_model().parameter(block + "attn.c_attn.weight");
    projection_ = &reference_model().parameter(block + "attn.c_proj.weight");
    final_gain_ = &reference_model().parameter("ln_f.weight");
    embedding_ = &reference_model().parameter("wte.weight");
    first_ = head * config.d_head();
  }
  /// A token as the head reads it, times columns of c_attn.weight: [d_head].
  std::vector<double> value(int id) const { return carried(id, 2); }
  std::vector<double> query(int id) const { return carried(id, 0); }
  std::vector<double> key(int id) const { return carried(id, 1); }
  double score(int query_id, int key_id) const {
    return dot(query(query_id), key(key_id)) / std::sqrt(config_.d_head());
  }
  /// The effect of each dimension of the value on a token's logit: [d_head].
  std::vector<double> reading(int id) const {
    const int d = config_.n_embd;
    const std::vector<double> row = embedding(id);
    std::vector<double> out(config_.d_head());
    for (std::size_t j = 0; j < out.size(); ++j) {
      const int at_row = (first_ + static_cast<int>(j)) * d;
      double mean = 0;
      for (int i = 0; i < d; ++i) mean += at(*projection_, at_row + i) / d;
      for (int i = 0; i < d; ++i)
        out[j] += (at(*projection_, at_row + i) - mean) * at(*final_gain_, i) * row[i];
    }
    return out;
  }
  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

 private:
  static double at(const std::vector<double>& values, int index) { return values[index]; }
  std::vector<double> embedding(int id) const {
    const auto begin = embedding_->begin() + std::ptrdiff_t{id} * config_.n_embd;
    return {begin, begin + config_.n_embd};
  }
  static std::vector<double> normalized(std::vector<double> row) {
    const auto d = static_cast<double>(row.size());
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / d;
    double variance = 0;
    for (const double v : row) variance += (v - mean) * (v - mean) / d;
    for (double& v : row) v = (v - mean) / std::sqrt(variance + 1e-5);
    return row;
  }
  /// x W + b, with W [in, out] and b [out].
  static std::vector<double> affine(const std::vector<double>& x, const std::string& name) {
    std::vector<double> out = reference_model().parameter(name + ".bias");
    const std::vector<double>& w = reference_model().parameter(name + ".weight");
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += x[i] * w[i * out.size() + j];
    return out;
  }
  std::vector<double> read(int id) const {
    std::vector<double> row = embedding(id);
    if (how_.after_first_mlp && layer_ > 0) {
      std::vector<double> x = normalized(row);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = x[i] * reference_model().parameter("h.0.ln_2.weight")[i] +
               reference_model().parameter("h.0.ln_2.bias")[i];
      }
      std::vector<double> hidden = affine(x, "h.0.mlp.c_fc");
      for (double& v : hidden)
        v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
      const std::vector<double> out = affine(hidden, "h.0.mlp.c_proj");
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += out[i];
    }
    return how_.normalized ? normalized(row) : row;
  }
  std::vector<double> carried(int id, int column) const {
    const int d = config_.n_embd;
    const std::vector<double> row = read(id);
    std::vector<double> out(config_.d_head());
    for (int i = 0; i < d; ++i) {
      const double x = row[i] * at(*gain_, i);
      for (std::size_t j = 0; j < out.size(); ++j)
        out[j] += x * at(*attention_, i * 3 * d + column * d + first_ + static_cast<int>(j));
    }
    return out;
  }
  model::Config config_;
  TokenReading how_;
  int layer_;
  const std::vector<double>*gain_, *attention_, *projection_, *final_gain_, *embedding_;
  int first_;
};

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
    for (int t = 0; t < s.config().vocab_size; ++t)
      logits.push_back(Textbook::dot(value, textbook.reading(t)));
    const auto tokens = s.ask(TokensOfHead{layer, head, id, reading});
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

TEST(CopyingOfHead, TheEigenvaluesAddUpToTheCircuitsTrace) {
  const Scenario s("A robot must");
  const int d_head = s.config().d_head();
  for (const auto& [layer, head] : {std::array{1, 2}, std::array{4, 6}}) {
    const TokenReading reading{false, true};
    const Textbook textbook(s.config(), layer, head, reading);
    // The trace of the matrix is the sum of all tokens' logits for themselves; the trace of its square is
    // computed from the small product.
    double trace = 0, of_square = 0;
    std::vector<double> small(static_cast<std::size_t>(d_head * d_head));
    for (int t = 0; t < s.config().vocab_size; ++t) {
      const std::vector<double> value = textbook.value(t), back = textbook.reading(t);
      trace += Textbook::dot(value, back);
      for (int i = 0; i < d_head; ++i)
        for (int j = 0; j < d_head; ++j) small[i * d_head + j] += back[i] * value[j];
    }
    for (int i = 0; i < d_head; ++i)
      for (int j = 0; j < d_head; ++j) of_square += small[i * d_head + j] * small[j * d_head + i];
    const auto copying = s.ask(CopyingOfHead{layer, head, reading});
    ASSERT_EQ(copying->eigenvalues.size(), static_cast<std::size_t>(d_head));
    std::complex<double> sum = 0, squares = 0;
    double magnitudes = 0;
    for (const std::complex<double>& value : copying->eigenvalues)
      sum += value, squares += value * value, magnitudes += std::abs(value);
    EXPECT_NEAR(sum.real(), trace, 1e-4 * magnitudes);
    EXPECT_NEAR(sum.imag(), 0, 1e-6 * magnitudes);
    EXPECT_NEAR(squares.real(), of_square, 1e-4 * magnitudes * magnitudes);
    EXPECT_NEAR(copying->score, trace / magnitudes, 1e-4);
    EXPECT_GT(std::abs(copying->eigenvalues.front()), std::abs(copying->eigenvalues.back()));
  }
}

TEST(KeysOfToken, AreTheReferences) {
  const Scenario s("A robot must");
  for (const TokenReading reading : {kReadings[0], kReadings[1]}) {
    const Textbook textbook(s.config(), 2, 3, reading);
    const std::vector<double> query = textbook.query(700);
    std::vector<double> scores;
    for (int t = 0; t < s.config().vocab_size; ++t)
      scores.push_back(Textbook::dot(query, textbook.key(t)) / std::sqrt(s.config().d_head()));
    const double slack = 1e-5 * std::abs(*std::ranges::max_element(scores)) + 1e-5;
    const auto keys = s.ask(KeysOfToken{2, 3, 700, reading});
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
  ASSERT_EQ(pairs->strongest.size(), std::size_t{TokenPairs::kMax});
  const model::ProductEntry& first = pairs->strongest.front();
  EXPECT_NEAR(first.value, s.ask(KeysOfToken{1, 3, first.row, kReadings[1]})->up.front().logit,
              1e-5F * first.value);
  for (const model::ProductEntry& pair : pairs->strongest)
    EXPECT_NEAR(static_cast<double>(pair.value), textbook.score(pair.row, pair.col),
                1e-5 * static_cast<double>(first.value));
}

TEST(LargestEntries, AreThoseOfTheWholeProductWhateverTheTiles) {
  // Rows of very different norms, so that most tiles are skipped; some are not finite.
  model::Workspace workspace(2);
  constexpr int kRows = 700, kCols = 2300, kWidth = 5;
  std::vector<float> a(kRows * kWidth), b(kCols * kWidth);
  const auto fill = [](std::vector<float>& values, unsigned seed) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      seed = seed * 1664525U + 1013904223U;
      const auto row = static_cast<float>(i / kWidth);
      values[i] = (static_cast<float>(seed >> 16) / 65536.F - 0.5F) / (1 + 0.1F * row);
    }
  };
  fill(a, 1), fill(b, 2);
  a[30 * kWidth] = std::nanf("");
  const auto best = model::largest_entries({a.data(), kRows, kWidth, kWidth},
                                           {b.data(), kCols, kWidth, kWidth}, 50, workspace);
  std::vector<double> all;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kCols; ++j) {
      double sum = 0;
      for (int k = 0; k < kWidth; ++k)
        sum += static_cast<double>(a[i * kWidth + k]) * static_cast<double>(b[j * kWidth + k]);
      if (!std::isnan(sum)) all.push_back(sum);
    }
  }
  std::ranges::partial_sort(all, all.begin() + 50, std::greater<>());
  ASSERT_EQ(best.size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(static_cast<double>(best[i].value), all[i], 1e-6) << i;
  const auto few =
      model::largest_entries({a.data(), 1, kWidth, kWidth}, {b.data(), 3, kWidth, kWidth}, 50, workspace);
  EXPECT_EQ(few.size(), 3U);
  EXPECT_TRUE(
      model::largest_entries({a.data(), 1, kWidth, kWidth}, {b.data(), 3, kWidth, kWidth}, 0, workspace)
          .empty());
}

}  // namespace
}  // namespace headscope::app::head_circuit_test
