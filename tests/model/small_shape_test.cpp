// Started by tests/model/reference/small_shape_check.py, which sets HEADSCOPE_SMALL_SHAPE to the folder of
// the model and its goldens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "model/pass/transformer.h"
#include "tests/model/golden.h"

namespace headscope::model::small_shape_test {
namespace {

using namespace headscope::testing;

class SmallShape : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* folder = std::getenv("HEADSCOPE_SMALL_SHAPE");
    ASSERT_NE(folder, nullptr) << "HEADSCOPE_SMALL_SHAPE is not set";
    golden_ = testing::read_golden(folder);
    transformer_ = Transformer::load(folder);
    workspace_ = std::make_unique<Workspace>();
  }
  static void TearDownTestSuite() {
    transformer_.reset();
    workspace_.reset();
  }

  static const std::vector<float>& expected(const std::string& name) {
    return golden_.activations.at(name).values;
  }

  static Golden golden_;
  static std::shared_ptr<const Transformer> transformer_;
  static std::unique_ptr<Workspace> workspace_;
};

Golden SmallShape::golden_;
std::shared_ptr<const Transformer> SmallShape::transformer_;
std::unique_ptr<Workspace> SmallShape::workspace_;

TEST_F(SmallShape, LogitsAreWithinAThousandth) {
  const auto run = transformer_->forward(golden_.tokens, *workspace_);
  EXPECT_LE(largest_difference(expected("logits"), testing::all_logits(*transformer_, *run, *workspace_)),
            1e-3);
}

TEST_F(SmallShape, PatternsAreWithinAHundredThousandthAndPeaked) {
  const auto run = transformer_->forward(golden_.tokens, *workspace_);
  const auto length = static_cast<std::size_t>(run->length());
  for (const int layer : {0, 5, 11}) {
    std::vector<float> found;
    for (int head = 0; head < 12; ++head) {
      const std::vector<float> pattern = transformer_->attention(*run, layer, head).pattern;
      found.insert(found.end(), pattern.begin(), pattern.end());
    }
    const std::vector<float> wanted = expected("blocks." + std::to_string(layer) + ".attn.hook_pattern");
    EXPECT_LE(largest_difference(wanted, found), 1e-5) << "layer " << layer;

    std::size_t peaked = 0;
    for (std::size_t row = 0; row < wanted.size(); row += length) {
      peaked += *std::max_element(&wanted[row], &wanted[row] + length) > 0.5F ? 1 : 0;
    }
    EXPECT_GE(peaked * length, wanted.size() / 4) << "layer " << layer;
  }
}

}  // namespace
}  // namespace headscope::model::small_shape_test
