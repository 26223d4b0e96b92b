// The yardsticks' ratios for made-up times, and the correctness of the peers' products.

#include <array>

#include "tests/bench/peer_products.h"
#include "tests/bench/ratios.h"
#include "tests/bench/yardsticks.h"
#include "tests/support/matchers.h"

namespace headscope::bench {
namespace {

using model::Precision;

model::Config small_config() {
  model::Config config;
  config.n_layer = 2;
  config.n_head = 5;
  config.n_embd = 10;
  config.n_inner = 40;
  config.n_ctx = 128;
  config.vocab_size = 100;
  return config;
}

constexpr MachineLimits kLimits{.flops_per_second = 1000, .bytes_per_second = 100};

// --- ratios

TEST(Ratios, WorkOfAModel) {
  const model::Config config = small_config();
  EXPECT_EQ(block_shapes(config, 3)[0], (ProductShape{3, 10, 30}));
  EXPECT_EQ(block_shapes(config, 3)[3], (ProductShape{3, 40, 10}));
  EXPECT_EQ(unembedding_shape(config, 3), (ProductShape{3, 10, 100, true}));
  // Each layer has 300 + 100 + 400 + 400 values.
  EXPECT_DOUBLE_EQ(products_flops(config, 3), 2 * 3 * 2 * 1200.0);
  EXPECT_DOUBLE_EQ(block_bytes(config, Precision::f32), 2 * 1200 * 4.0);
  EXPECT_DOUBLE_EQ(block_bytes(config, Precision::bf16), 2 * 1200 * 2.0);
  EXPECT_DOUBLE_EQ(unembedding_bytes(config, Precision::f16), 1000 * 2.0);
  // 1 + 2 + 3 pairs of query and key, a multiply-add for each of 10 dimensions, for scores and for mixing.
  EXPECT_DOUBLE_EQ(attention_flops(config, 3), 2 * 2.0 * (1 + 2 + 3) * 10 * 2);
}

TEST(Ratios, WorkOfSwitchingOffEachHeadInTurn) {
  const model::Config config = small_config();  // 5 heads in each of 2 layers
  // A token's products: qkv 600, c_proj 200, MLP 1,600 operations. A head of layer 0: the MLP and layer 1's
  // keys and values of 3 tokens, its query, c_proj and MLP of the last; of layer 1 the last token's MLP.
  // Logits: 2,000.
  EXPECT_DOUBLE_EQ(head_sweep_flops(config, 3),
                   5 * (3 * 1600 + 3 * 400 + 200 + 200 + 1600 + 1600 + 2 * 2000.0));
}

TEST(Ratios, TheLimitIsWhateverTakesLonger) {
  EXPECT_DOUBLE_EQ(limit(5000, 100, kLimits), 5);
  EXPECT_DOUBLE_EQ(limit(500, 300, kLimits), 3);
  const ProductShape shape{1, 10, 20};
  EXPECT_DOUBLE_EQ(product_limit(shape, Precision::f32, kLimits), 8);
  EXPECT_DOUBLE_EQ(product_limit(shape, Precision::f16, kLimits), 4);
  EXPECT_DOUBLE_EQ(product_limit({1000, 10, 20}, Precision::f32, kLimits), 400);
  const model::Config config = small_config();
  EXPECT_DOUBLE_EQ(pass_limit(config, Precision::f32, 1, kLimits), 96);
  EXPECT_DOUBLE_EQ(pass_limit(config, Precision::f32, 100, kLimits),
                   (100 * 4800 + attention_flops(config, 100)) / 1000);
}

TEST(Ratios, APassAtTheSpeedOfItsProducts) {
  const model::Config config = small_config();
  const std::array<double, 4> of_block = {3, 1, 4, 4};
  const double rate = products_flops(config, 64) / (2 * 12);
  EXPECT_DOUBLE_EQ(pass_of_products(config, 64, of_block), 2 * 12 + attention_flops(config, 64) / rate);
}

TEST(Ratios, AllLogitsAndOneMoreToken) {
  const model::Config config = small_config();
  EXPECT_DOUBLE_EQ(all_logits_arithmetic(config, 4, kLimits),
                   (4 * 4800 + attention_flops(config, 4) + 4 * 2000) / 1000);
  const double cache = 2 * 2 * 10 * 7 * 4;
  EXPECT_DOUBLE_EQ(one_more_reading(config, Precision::bf16, 7, kLimits), (4800 + 2000 + cache) / 100);
}

TEST(Ratios, TheFasterPeerCounts) {
  EXPECT_EQ((PeerTimes{2.0, 1.5}.fastest()), 1.5);
  EXPECT_EQ((PeerTimes{1.0, 1.5}.fastest()), 1.0);
  EXPECT_EQ((PeerTimes{2.0, std::nullopt}.fastest()), 2.0);
}

// --- the report

struct Measurement {
  app::BenchReport report;
  Yardsticks yardsticks;
};

/// Rows for 16 tokens, and for 64 with the peers' products.
Measurement some_measurement(bool openblas) {
  Measurement m;
  m.report.model = "some model";
  m.report.rows.push_back({16, 5, 1e-3, 3e-3, 2e-3, 5e-4, 6e-3, std::nullopt, std::nullopt});
  m.report.rows.push_back({64, 5, 4e-3, 6e-3, 5e-3, 5e-4, 8e-3, std::nullopt, std::nullopt});
  const PeerTimes peers{2e-3, openblas ? std::optional(1e-3) : std::nullopt};
  m.yardsticks.config = small_config();
  m.yardsticks.peers = {"Eigen 3.4.0"};
  m.yardsticks.rows.push_back({{1e12, 3e11}, std::nullopt});
  m.yardsticks.rows.push_back({{2e12, 1e11}, std::array{peers, peers, peers, peers}});
  m.yardsticks.products.push_back({"mlp.c_fc", {64, 10, 40}, 1e-3, peers});
  return m;
}

TEST(Yardsticks, RatiosStandWhereTheyMeanSomething) {
  const auto [report, yardsticks] = some_measurement(true);
  const auto json = yardsticks_json(report, yardsticks);
  EXPECT_EQ(json["model"], "some model");
  EXPECT_THAT(json["peers"], SizeIs(1));
  const auto& few = json["runs"][0];
  EXPECT_DOUBLE_EQ(few["pass_ms"], 1);
  EXPECT_DOUBLE_EQ(few["pass_of_limit"], pass_limit(small_config(), Precision::f32, 16, {1e12, 3e11}) / 1e-3);
  EXPECT_FALSE(few.contains("pass_of_products"));
  const auto& many = json["runs"][1];
  EXPECT_FALSE(many.contains("pass_of_limit"));
  EXPECT_DOUBLE_EQ(many["openblas_block_products_ms"], 8);
  EXPECT_DOUBLE_EQ(many["eigen_block_products_ms"], 16);
  EXPECT_DOUBLE_EQ(many["pass_of_products"],
                   pass_of_products(small_config(), 64, std::array{1e-3, 1e-3, 1e-3, 1e-3}) / 4e-3);
  // Each row is compared with the limits measured right after it, the products with the best of all rows.
  EXPECT_DOUBLE_EQ(many["one_more_token_of_read_bandwidth"],
                   one_more_reading(small_config(), Precision::f32, 64, {2e12, 1e11}) / 5e-4);
  EXPECT_DOUBLE_EQ(many["pass_all_logits_of_peak_arithmetic"],
                   all_logits_arithmetic(small_config(), 64, {2e12, 1e11}) / 6e-3);
  EXPECT_DOUBLE_EQ(json["machine"]["gflop_per_s"], 2000);
  EXPECT_DOUBLE_EQ(json["machine"]["read_gbyte_per_s"], 300);
  EXPECT_DOUBLE_EQ(json["products"][0]["of_limit"],
                   product_limit({64, 10, 40}, Precision::f32, {2e12, 3e11}) / 1e-3);
  EXPECT_DOUBLE_EQ(json["products"][0]["of_faster_peer"], 1);
}

TEST(Yardsticks, WithoutOpenBlasEigenIsTheYardstick) {
  const auto [report, yardsticks] = some_measurement(false);
  const auto json = yardsticks_json(report, yardsticks);
  EXPECT_DOUBLE_EQ(json["runs"][1]["pass_of_products"],
                   pass_of_products(small_config(), 64, std::array{2e-3, 2e-3, 2e-3, 2e-3}) / 4e-3);
  EXPECT_FALSE(json["runs"][1].contains("openblas_block_products_ms"));
  EXPECT_FALSE(json["products"][0].contains("openblas_gflop_per_s"));
  EXPECT_DOUBLE_EQ(json["products"][0]["of_faster_peer"], 2);
}

// --- the peers

TEST(Peers, ALibraryThatIsNotThereOrAnotherOneIsNoPeer) {
  EXPECT_EQ(OpenBlas::find(1, "libno-such-library.so.0"), std::nullopt);
  EXPECT_EQ(OpenBlas::find(1, "libm.so.6"), std::nullopt);
}

/// Numbers like weights, and the expected product.
struct Example {
  explicit Example(const ProductShape& s)
      : shape(s),
        x(some_activations(static_cast<std::size_t>(s.rows) * static_cast<std::size_t>(s.in))),
        w(some_activations(s.values())),
        y(static_cast<std::size_t>(s.rows) * static_cast<std::size_t>(s.out)),
        x_rows{x.data(), s.rows, s.in, s.in},
        y_rows{y.data(), s.rows, s.out, s.out} {}

  void expect_product() const {
    for (int i = 0; i < shape.rows; ++i) {
      for (int j = 0; j < shape.out; ++j) {
        double sum = 0;
        for (int k = 0; k < shape.in; ++k) {
          const int at = shape.transposed ? j * shape.in + k : k * shape.out + j;
          sum += static_cast<double>(x_rows.row_data(i)[k]) * w[at];
        }
        ASSERT_NEAR(y_rows.row_data(i)[j], sum, 1e-4) << i << ", " << j;
      }
    }
  }

  ProductShape shape;
  std::vector<float> x, w, y;
  model::ConstFloatRows x_rows;
  model::FloatRows y_rows;
};

const ProductShape kShapes[] = {{1, 20, 500}, {7, 30, 500}, {1, 20, 500, true}, {7, 30, 500, true}};

TEST(Peers, EigenComputesTheProduct) {
  model::Workers workers(2);
  for (const ProductShape& shape : kShapes) {
    Example example(shape);
    eigen_product(example.x_rows, example.w.data(), shape, workers, example.y_rows);
    example.expect_product();
  }
}

TEST(Peers, OpenBlasComputesTheProduct) {
  const auto openblas = OpenBlas::find(2);
  if (!openblas) GTEST_SKIP() << OpenBlas::kLibrary << " is not installed";
  EXPECT_THAT(openblas->name(), HasSubstr("OpenBLAS"));
  for (const ProductShape& shape : kShapes) {
    Example example(shape);
    openblas->product(example.x_rows, example.w.data(), shape, example.y_rows);
    example.expect_product();
  }
}

}  // namespace
}  // namespace headscope::bench
