#include "model/kernels/precision.h"
#include "tests/support/matchers.h"

namespace headscope::model::precision_test {
namespace {

std::uint16_t as(Precision precision, float value) {
  std::uint16_t bits = 0;
  convert(Precision::f32, &value, 1, precision, &bits);
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

TEST(Convert, WidensExactlyAndGoesFromOneHalfToTheOther) {
  const std::vector<std::uint16_t> halves = {0x3c01, 0x0001, 0xfbff, 0x7c00};
  std::vector<float> floats(halves.size());
  convert(Precision::f16, halves.data(), halves.size(), Precision::f32, floats.data());
  EXPECT_EQ(floats, (std::vector<float>{1 + 0x1p-10F, 0x1p-24F, -65504, INFINITY}));

  std::vector<std::uint16_t> brains(halves.size());
  convert(Precision::f16, halves.data(), halves.size(), Precision::bf16, brains.data());
  EXPECT_EQ(brains, (std::vector<std::uint16_t>{0x3f80, 0x3380, 0xc780, 0x7f80}));
  convert(Precision::bf16, brains.data(), brains.size(), Precision::f32, floats.data());
  EXPECT_EQ(floats, (std::vector<float>{1, 0x1p-24F, -65536, INFINITY}));
}

// Also for the bits of NaN and -0.
TEST(Convert, OfOnePrecisionIsACopy) {
  const std::vector<std::uint32_t> from = {0x7fc12345, 0x80000000, 0xff800000, 1};
  std::vector<std::uint32_t> to(from.size());
  convert(Precision::f32, from.data(), from.size(), Precision::f32, to.data());
  EXPECT_EQ(to, from);
}

TEST(ExceedsHalf, MeansFiniteNumbersThatBecomeInfinite) {
  const auto exceeds = [](float value) {
    const std::vector<float> values = {1, value, 2};
    return exceeds_half(Precision::f32, values.data(), values.size());
  };
  EXPECT_FALSE(exceeds(65519));
  EXPECT_TRUE(exceeds(65520));
  EXPECT_TRUE(exceeds(-1e30F));
  EXPECT_FALSE(exceeds(INFINITY));
  EXPECT_FALSE(exceeds(NAN));

  const std::uint16_t fits = 0x477f, too_large = 0x4780;  // 65280 and 65536 as bfloat16
  EXPECT_FALSE(exceeds_half(Precision::bf16, &fits, 1));
  EXPECT_TRUE(exceeds_half(Precision::bf16, &too_large, 1));
  EXPECT_FALSE(exceeds_half(Precision::f16, &too_large, 1));
}

}  // namespace
}  // namespace headscope::model::precision_test
