// The forward pass compared with a float64 GPT-2 in numpy, see tests/model/reference/.
#include <gtest/gtest.h>

#include <filesystem>

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

TEST_P(ForwardGolden, WhatARunKeepsAndRecomputesIsThatOfTheReference) {
  const auto transformer = load();
  const Config& config = transformer->config();
  Workspace workspace(2);
  const Golden expected = golden();
  const auto run = transformer->forward(expected.tokens, workspace);
  const int length = run->length();
  const auto gather = [&](auto&& row_of) {
    std::vector<float> values;
    for (int pos = 0; pos < length; ++pos) {
      const auto row = row_of(pos);
      values.insert(values.end(), row.begin(), row.end());
    }
    return values;
  };
  const auto check = [&](HookPoint point, std::vector<float> values) {
    const std::string name = hook_name(point);
    testing::expect_close(name, expected.activations.at(name),
                          {hook_shape(config, point, length), std::move(values)}, kTolerance);
  };
  for (int layer = 0; layer < config.n_layer; ++layer) {
    const auto of_heads = [&](auto&& row_of) {
      return gather([&](int pos) {
        std::vector<float> values;
        for (int head = 0; head < config.n_head; ++head) {
          const auto row = row_of(head, pos);
          values.insert(values.end(), row.begin(), row.end());
        }
        return values;
      });
    };
    check({Site::q, layer}, of_heads([&](int head, int pos) { return run->q(layer, head, pos); }));
    check({Site::k, layer}, of_heads([&](int head, int pos) { return run->k(layer, head, pos); }));
    check({Site::v, layer}, of_heads([&](int head, int pos) { return run->v(layer, head, pos); }));
    check({Site::resid_pre, layer}, gather([&](int pos) { return run->resid(layer, pos); }));

    std::vector<float> masked, pattern;
    for (int head = 0; head < config.n_head; ++head) {
      const AttentionStages stages = transformer->attention(*run, layer, head);
      masked.insert(masked.end(), stages.masked.begin(), stages.masked.end());
      pattern.insert(pattern.end(), stages.pattern.begin(), stages.pattern.end());
    }
    check({Site::attn_scores, layer}, masked);
    check({Site::pattern, layer}, pattern);
  }
  check({Site::resid_post, config.n_layer - 1},
        gather([&](int pos) { return run->resid(config.n_layer, pos); }));
  check({Site::logits}, testing::all_logits(*transformer, *run, workspace));
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
