// What heads write: against the float64 parameters, and eigenvalues against traces.
#include "app/run/head_circuit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/error.h"
#include "model/low_rank.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

using namespace testing;

TEST(LowRankProduct, HasTheEigenvaluesOfTheWholeMatrix) {
  // X, Y [3, 2] and maps [2, 2]; by hand B^T A = [[0, -2], [2, 0]], of eigenvalues 2i and -2i.
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

/// The circuit by the textbook, in double precision.
class Textbook {
 public:
  Textbook(const model::Config& config, int layer, int head) : config_(config) {
    const std::string block = "h." + std::to_string(layer) + ".";
    gain_ = &reference_model().parameter(block + "ln_1.weight");
    attention_ = &reference_model().parameter(block + "attn.c_attn.weight");
    projection_ = &reference_model().parameter(block + "attn.c_proj.weight");
    final_gain_ = &reference_model().parameter("ln_f.weight");
    embedding_ = &reference_model().parameter("wte.weight");
    first_ = head * config.d_head();
  }
  /// ln_1 of the token's embedding, times the value's weights: [d_head].
  std::vector<double> value(int id) const {
    const int d = config_.n_embd;
    std::vector<double> row = embedding(id);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / d;
    double variance = 0;
    for (const double v : row) variance += (v - mean) * (v - mean) / d;
    std::vector<double> out(static_cast<std::size_t>(config_.d_head()));
    for (int i = 0; i < d; ++i) {
      const double x = (row[static_cast<std::size_t>(i)] - mean) / std::sqrt(variance + 1e-5) * at(*gain_, i);
      for (std::size_t j = 0; j < out.size(); ++j)
        out[j] += x * at(*attention_, i * 3 * d + 2 * d + first_ + static_cast<int>(j));
    }
    return out;
  }
  /// What each dimension of the value does to a token's logit: [d_head].
  std::vector<double> reading(int id) const {
    const int d = config_.n_embd;
    const std::vector<double> row = embedding(id);
    std::vector<double> out(static_cast<std::size_t>(config_.d_head()));
    for (std::size_t j = 0; j < out.size(); ++j) {
      const int at_row = (first_ + static_cast<int>(j)) * d;
      double mean = 0;
      for (int i = 0; i < d; ++i) mean += at(*projection_, at_row + i) / d;
      for (int i = 0; i < d; ++i)
        out[j] +=
            (at(*projection_, at_row + i) - mean) * at(*final_gain_, i) * row[static_cast<std::size_t>(i)];
    }
    return out;
  }
  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

 private:
  static double at(const std::vector<double>& values, int index) {
    return values[static_cast<std::size_t>(index)];
  }
  std::vector<double> embedding(int id) const {
    const auto begin = embedding_->begin() + std::ptrdiff_t{id} * config_.n_embd;
    return {begin, begin + config_.n_embd};
  }
  model::Config config_;
  const std::vector<double>*gain_, *attention_, *projection_, *final_gain_, *embedding_;
  int first_;
};

TEST(TokensOfHead, AreTheReferences) {
  const Scenario s("A robot must");
  for (const auto& [layer, head, id] :
       {std::array{0, 0, 17}, std::array{3, 5, 700}, std::array{5, 7, 4000}}) {
    const Textbook textbook(s.config(), layer, head);
    const std::vector<double> value = textbook.value(id);
    std::vector<double> logits;
    for (int t = 0; t < s.config().vocab_size; ++t)
      logits.push_back(Textbook::dot(value, textbook.reading(t)));
    const auto tokens = s.ask(TokensOfHead{layer, head, id});
    std::vector<double> sorted = logits;
    std::ranges::sort(sorted);
    ASSERT_EQ(tokens->up.size(), 10U);
    ASSERT_EQ(tokens->down.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(static_cast<double>(tokens->up[i].logit), sorted[sorted.size() - 1 - i], 1e-4);
      EXPECT_NEAR(static_cast<double>(tokens->up[i].logit),
                  logits[static_cast<std::size_t>(tokens->up[i].id)], 1e-4);
      EXPECT_NEAR(static_cast<double>(tokens->down[i].logit), sorted[i], 1e-4);
      EXPECT_NEAR(static_cast<double>(tokens->down[i].logit),
                  logits[static_cast<std::size_t>(tokens->down[i].id)], 1e-4);
    }
    EXPECT_NEAR(static_cast<double>(tokens->own.logit), logits[static_cast<std::size_t>(id)], 1e-4);
    const auto larger = std::ranges::count_if(
        logits, [&](double logit) { return logit > logits[static_cast<std::size_t>(id)]; });
    EXPECT_NEAR(tokens->own_rank, static_cast<double>(larger), 2);
  }
}

TEST(CopyingOfHead, TheEigenvaluesAddUpToTheCircuitsTrace) {
  const Scenario s("A robot must");
  const int d_head = s.config().d_head();
  for (const auto& [layer, head] : {std::array{1, 2}, std::array{4, 6}}) {
    const Textbook textbook(s.config(), layer, head);
    // The trace of the matrix is that of all tokens' logits on themselves; that of its square comes from the
    // small product.
    double trace = 0, of_square = 0;
    std::vector<double> small(static_cast<std::size_t>(d_head * d_head));
    for (int t = 0; t < s.config().vocab_size; ++t) {
      const std::vector<double> value = textbook.value(t), reading = textbook.reading(t);
      trace += Textbook::dot(value, reading);
      for (int i = 0; i < d_head; ++i)
        for (int j = 0; j < d_head; ++j)
          small[static_cast<std::size_t>(i * d_head + j)] +=
              reading[static_cast<std::size_t>(i)] * value[static_cast<std::size_t>(j)];
    }
    for (int i = 0; i < d_head; ++i)
      for (int j = 0; j < d_head; ++j)
        of_square +=
            small[static_cast<std::size_t>(i * d_head + j)] * small[static_cast<std::size_t>(j * d_head + i)];
    const auto copying = s.ask(CopyingOfHead{layer, head});
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

TEST(CopyingOfHead, SaysThatThereIsNoSuchHead) {
  const Scenario s("A robot must");
  EXPECT_THAT([&] { s.ask(CopyingOfHead{6, 0}); },
              ::testing::ThrowsMessage<model::RunError>(::testing::HasSubstr("no head 6.0")));
}

TEST(CopyingOfHead, Stops) {
  const Scenario s("A robot must");
  model::Workspace workspace(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((CopyingOfHead{0, 0}.compute(*s.run, {workspace, stop.get_token(), nullptr, nullptr, {}})),
               model::Stopped);
}

}  // namespace
}  // namespace headscope::app
