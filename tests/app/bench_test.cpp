// headscope bench without a clock: what its ratios say of made-up times, what it writes, and that the peers
// compute what they are timed for.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "app/commands/bench_ratios.h"
#include "app/commands/bench_report.h"
#include "app/peer_products.h"

namespace headscope::app {
namespace {

using model::Precision;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

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

TEST(BenchRatios, WorkOfAModel) {
  const model::Config config = small_config();
  EXPECT_EQ(block_shapes(config, 3)[0], (ProductShape{3, 10, 30}));
  EXPECT_EQ(block_shapes(config, 3)[3], (ProductShape{3, 40, 10}));
  EXPECT_EQ(unembedding_shape(config, 3), (ProductShape{3, 10, 100, true}));
  // Of each layer 300 + 100 + 400 + 400 values.
  EXPECT_DOUBLE_EQ(products_flops(config, 3), 2 * 3 * 2 * 1200.0);
  EXPECT_DOUBLE_EQ(block_bytes(config, Precision::f32), 2 * 1200 * 4.0);
  EXPECT_DOUBLE_EQ(block_bytes(config, Precision::bf16), 2 * 1200 * 2.0);
  EXPECT_DOUBLE_EQ(unembedding_bytes(config, Precision::f16), 1000 * 2.0);
  // 1 + 2 + 3 pairs of query and key, a multiply-add for each of 10 dimensions, for scores and for mixing.
  EXPECT_DOUBLE_EQ(attention_flops(config, 3), 2 * 2.0 * (1 + 2 + 3) * 10 * 2);
}

TEST(BenchRatios, TheLimitIsWhateverTakesLonger) {
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

TEST(BenchRatios, APassAtTheSpeedOfItsProducts) {
  const model::Config config = small_config();
  const std::array<double, 4> of_block = {3, 1, 4, 4};
  const double rate = products_flops(config, 64) / (2 * 12);
  EXPECT_DOUBLE_EQ(pass_of_products(config, 64, of_block), 2 * 12 + attention_flops(config, 64) / rate);
}

TEST(BenchRatios, AllLogitsAndOneMoreToken) {
  const model::Config config = small_config();
  EXPECT_DOUBLE_EQ(all_logits_arithmetic(config, 4, kLimits),
                   (4 * 4800 + attention_flops(config, 4) + 4 * 2000) / 1000);
  const double cache = 2 * 2 * 10 * 7 * 4;
  EXPECT_DOUBLE_EQ(one_more_reading(config, Precision::bf16, 7, kLimits), (4800 + 2000 + cache) / 100);
}

TEST(BenchRatios, TheFasterPeerCounts) {
  EXPECT_EQ((PeerTimes{2.0, 1.5}.fastest()), 1.5);
  EXPECT_EQ((PeerTimes{1.0, 1.5}.fastest()), 1.0);
  EXPECT_EQ((PeerTimes{2.0, std::nullopt}.fastest()), 2.0);
}

// --- the report

BenchReport some_report(bool openblas) {
  BenchReport report;
  report.model = "some\xffmodel";
  report.config = small_config();
  report.threads = 2;
  report.kernels = "plain";
  report.peers = {"Eigen 3.4.0"};
  if (openblas) report.peers.emplace_back("OpenBLAS 0.3.21 (SkylakeX)");
  report.limits = {1e12, 1e11};
  report.peak_memory = 1e6;
  const PeerTimes peers{2e-3, openblas ? std::optional(1e-3) : std::nullopt};
  report.rows.push_back(
      {{16, 5, 1e-3, 3e-3, 2e-3, 5e-4, std::nullopt, std::nullopt}, report.limits, std::nullopt});
  report.rows.push_back({{64, 5, 4e-3, 6e-3, 5e-3, 5e-4, std::nullopt, std::nullopt},
                         report.limits,
                         std::array{peers, peers, peers, peers}});
  return report;
}

void add_the_rest(BenchReport& report) {
  for (BenchRow& row : report.rows) {
    row.timing.all_maps = 7e-3;
    row.timing.maps_and_logits = 9e-3;
  }
  report.products.push_back({"mlp.c_fc", {64, 10, 40}, 1e-3, report.rows.back().peers->front()});
  report.keystrokes.push_back({16, 1e-3, 2e-3, 3e-3});
}

TEST(BenchReportJson, RatiosStandWhereTheyMeanSomething) {
  const auto json = bench_json(some_report(true));
  EXPECT_EQ(json["precision"], "f32");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_THAT(json["peers"], SizeIs(2));
  const auto& few = json["runs"][0];
  EXPECT_TRUE(few.contains("pass_of_limit"));
  EXPECT_FALSE(few.contains("pass_of_products"));
  const auto& many = json["runs"][1];
  EXPECT_FALSE(many.contains("pass_of_limit"));
  EXPECT_DOUBLE_EQ(many["openblas_block_products_ms"], 8);
  EXPECT_DOUBLE_EQ(many["eigen_block_products_ms"], 16);
  EXPECT_DOUBLE_EQ(many["pass_of_products"],
                   pass_of_products(small_config(), 64, std::array{1e-3, 1e-3, 1e-3, 1e-3}) / 4e-3);
  for (const char* key : {"products", "keystroke_to_picture"}) EXPECT_FALSE(json.contains(key)) << key;
  EXPECT_FALSE(many.contains("pass_all_maps_ms"));
}

TEST(BenchReportJson, WithoutOpenBlasEigenIsTheYardstick) {
  BenchReport report = some_report(false);
  add_the_rest(report);
  const auto json = bench_json(report);
  EXPECT_DOUBLE_EQ(json["runs"][1]["pass_of_products"],
                   pass_of_products(small_config(), 64, std::array{2e-3, 2e-3, 2e-3, 2e-3}) / 4e-3);
  EXPECT_FALSE(json["runs"][1].contains("openblas_block_products_ms"));
  EXPECT_FALSE(json["products"][0].contains("openblas_gflop_per_s"));
  EXPECT_DOUBLE_EQ(json["products"][0]["of_faster_peer"], 2);
  EXPECT_THAT(bench_text(report), HasSubstr("OpenBLAS (libopenblas.so.0) is not installed"));
  EXPECT_THAT(bench_text(some_report(true)), Not(HasSubstr("not installed")));
}

TEST(BenchReportText, FitsInto120ColumnsWithEverythingInIt) {
  BenchReport report = some_report(true);
  add_the_rest(report);
  report.products.front().shape = {1024, 6400, 50257};
  const std::string text = bench_text(report);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_THAT(lines, Each(SizeIs(Le(120))));
  EXPECT_THAT(text, AllOf(HasSubstr("all maps"), HasSubstr("of products"), HasSubstr("from a keystroke")));
  // The columns of a table end below their headings.
  const auto heading =
      std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("tokens"); });
  ASSERT_LT(heading, lines.end() - 2);
  EXPECT_EQ(heading->size(), (heading + 1)->size());
  EXPECT_EQ(heading->size(), (heading + 2)->size());
}

// --- the peers

TEST(Peers, ALibraryThatIsNotThereOrAnotherOneIsNoPeer) {
  EXPECT_EQ(OpenBlas::find(1, "libno-such-library.so.0"), std::nullopt);
  EXPECT_EQ(OpenBlas::find(1, "libm.so.6"), std::nullopt);
}

/// Numbers such as weights are, and what a product with them should be.
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
          sum += static_cast<double>(x_rows.row_data(i)[k]) * w[static_cast<std::size_t>(at)];
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
}  // namespace headscope::app
