#include "model/kernels/precision.h"
#include "tests/support/matchers.h"

namespace headscope::model::precision_test {
namespace {

std::uint16_t as(Precision precision, float value) {
  std::uint16_t bits = 0;
  convert({&value, 1}, precision, &bits);
  return bits;
}

TEST(Convert, RoundsToTheNearestAndTiesToEven) {
  constexpr float kHalfStep = 0x1p-11F, kBrainStep = 0x1p-8F;  // half a step above 1
  EXPECT_EQ(as(Precision::f16, 1), 0x3c00);
  EXPECT_EQ(as(Precision::f16, 1 + kHalfStep), 0x3c00);
  EXPECT_EQ(as(Precision::f16, 1 + kHalfStep * 1.01F), 0x3c01);
  EXPECT_EQ(as(Precision::f16, 1 + kHalfStep * 3), 0x3c02);
  EXPECT_EQ(as(Precision::f16, -65519), 0xfbff);
  EXPECT_EQ(as(Precision::f16, 65520), 0x7c00);
  EXPECT_EQ(as(Precision::f16, 0x1p-24F), 0x0001);
  EXPECT_EQ(as(Precision::bf16, 1), 0x3f80);
  EXPECT_EQ(as(Precision::bf16, 1 + kBrainStep), 0x3f80);
  EXPECT_EQ(as(Precision::bf16, 1 + kBrainStep * 1.01F), 0x3f81);
  EXPECT_EQ(as(Precision::bf16, 1 + kBrainStep * 3), 0x3f82);
  EXPECT_EQ(as(Precision::bf16, -std::numeric_limits<float>::infinity()), 0xff80);
}

TEST(ExceedsHalf, MeansFiniteNumbersThatBecomeInfinite) {
  const auto exceeds = [](float value) { return exceeds_half(std::vector<float>{1, value, 2}); };
  EXPECT_FALSE(exceeds(65519));
  EXPECT_TRUE(exceeds(65520));
  EXPECT_TRUE(exceeds(-1e30F));
  EXPECT_FALSE(exceeds(INFINITY));
  EXPECT_FALSE(exceeds(NAN));
}

}  // namespace
}  // namespace headscope::model::precision_test
