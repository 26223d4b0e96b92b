// The forward pass compared with a float64 GPT-2 in numpy, see tests/model/reference/.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "model/pass/transformer.h"
#include "tests/model/golden.h"

namespace headscope::model::forward_golden_test {
namespace {

using testing::Activations;
using testing::Golden;
using testing::golden_folder;
using testing::golden_names;
using testing::read_golden;
using testing::record;

constexpr double kTolerance = 1e-5;

struct Case {
  std::string name;
  Precision precision;
  std::string file;
};

std::string suffix(Precision precision) {
  return precision == Precision::f32 ? "f32" : precision == Precision::f16 ? "f16" : "bf16";
}

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name << " as " << suffix(test.precision);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string& name : golden_names()) {
    out.push_back({name, Precision::f32, "goldens.safetensors"});
    for (const Precision precision : {Precision::f16, Precision::bf16}) {
      const std::string file = "goldens." + suffix(precision) + ".safetensors";
      if (std::filesystem::exists(golden_folder(name) / file)) out.push_back({name, precision, file});
    }
  }
  return out;
}

class ForwardGolden : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<const Transformer> load() const {
    LoadOptions options;
    options.precision = GetParam().precision;
    return Transformer::load(golden_folder(GetParam().name), options);
  }
  Golden golden() const { return read_golden(golden_folder(GetParam().name), GetParam().file); }
};

void expect_all_close(const Golden& golden, const Activations& found) {
  ASSERT_EQ(golden.activations.size(), found.size());
  for (const auto& [name, expected] : golden.activations) {
    ASSERT_TRUE(found.contains(name)) << name;
    testing::expect_close(name, expected, found.at(name), kTolerance);
  }
}

TEST_P(ForwardGolden, EverySiteIsThatOfTheReference) {
  const auto transformer = load();
  Workspace workspace(2);
  const Golden expected = golden();
  expect_all_close(expected,
                   record(*transformer, expected.tokens, workspace, all_hook_points(transformer->config())));
}

TEST_P(ForwardGolden, EverySiteIsTheSameInChunks) {
  const auto transformer = load();
  Workspace workspace(1);
  const Golden expected = golden();
  for (const int chunk : {1, 3, 7, 64}) {
    SCOPED_TRACE(chunk);
    expect_all_close(expected, record(*transformer, expected.tokens, workspace,
                                      all_hook_points(transformer->config()), chunk));
    workspace.free_scratch();
  }
}

/// edits_test.cpp compares all that a run answers with the pass; scores depend on the configuration.
TEST_P(ForwardGolden, ScoresOfARunAreThoseOfTheReference) {
  const auto transformer = load();
  const Config& config = transformer->config();
  Workspace workspace(2);
  const Golden expected = golden();
  const auto run = transformer->forward(expected.tokens, workspace);
  for (int layer = 0; layer < config.n_layer; ++layer) {
    std::vector<float> masked;
    for (int head = 0; head < config.n_head; ++head)
      std::ranges::copy(transformer->attention(*run, layer, head).masked, std::back_inserter(masked));
    const HookPoint point{Site::attn_scores, layer};
    testing::expect_close(hook_name(point), expected.activations.at(hook_name(point)),
                          {hook_shape(config, point, run->length()), std::move(masked)}, kTolerance);
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& test) {
  return test.param.name + "_" + suffix(test.param.precision);
}

INSTANTIATE_TEST_SUITE_P(Models, ForwardGolden, ::testing::ValuesIn(cases()), name_of);

TEST(ForwardGoldens, CoverTheConfigurations) {
  EXPECT_GE(golden_names().size(), 8U);
  EXPECT_GE(cases().size(), golden_names().size() + 4);
}

}  // namespace
}  // namespace headscope::model::forward_golden_test
