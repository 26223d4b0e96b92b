// Head circuits: compared with the float64 parameters, and eigenvalues with traces.
#include "app/run/analyses/head_circuit.h"

#include "model/files/error.h"
#include "model/maths/low_rank.h"
#include "tests/app/view_fixture.h"
#include "tests/support/textbook.h"

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
    Vector out = reference_model().parameter(name + ".bias");
    const Vector& w = reference_model().parameter(name + ".weight");
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += x[i] * w[i * out.size() + j];
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
    const int d = config_.n_embd;
    const Vector stream = read(id), gain = row(block(layer_) + "ln_1.weight");
    const Vector& attention = reference_model().parameter(block(layer_) + "attn.c_attn.weight");
    Vector out(config_.d_head());
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < config_.d_head(); ++j)
        out[j] += stream[i] * gain[i] * attention[i * 3 * d + column * d + first_ + j];
    return out;
  }
  model::Config config_;
  TokenReading how_;
  int layer_, first_;
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
    for (int t = 0; t < s.config().vocab_size; ++t) logits.push_back(dot(value, textbook.reading(t)));
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
      trace += dot(value, back);
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
      scores.push_back(dot(query, textbook.key(t)) / std::sqrt(s.config().d_head()));
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
