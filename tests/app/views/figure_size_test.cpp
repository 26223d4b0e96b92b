// Sizes of figures as a person writes them.
#include "app/views/figure_size.h"

#include <gtest/gtest.h>

namespace headscope::app::figure_size_test {
namespace {

TEST(FigureSize, IsAWidthOrBothSidesInAnyUnit) {
  EXPECT_EQ(parse_figure_size("900"), (FigureSize{900, 0}));
  EXPECT_EQ(parse_figure_size("900x700"), (FigureSize{900, 700}));
  EXPECT_EQ(parse_figure_size(" 900px × 700 px "), (FigureSize{900, 700}));
  EXPECT_EQ(parse_figure_size("3.3in"), (FigureSize{317, 0}));
  EXPECT_EQ(parse_figure_size("6.5x4in"), (FigureSize{624, 384}));
  EXPECT_EQ(parse_figure_size("6.5in x 4"), (FigureSize{624, 384}));
  EXPECT_EQ(parse_figure_size("84mm x 6cm"), (FigureSize{317, 227}));
  EXPECT_EQ(parse_figure_size("72pt"), (FigureSize{96, 0}));
  EXPECT_EQ(parse_figure_size("16x32767"), (FigureSize{16, 32767}));
}

TEST(FigureSize, IsNothingElse) {
  for (const char* text : {"",          " ",           "x",          "900x",  "x900",
                           "900x700x2", "900 700",     "-900",       "+900",  "15",
                           "32769",     "1in x 0.1in", "900.5",      "9e2",   "inf",
                           "nan",       "0x384",       "3.3 inches", "400in", "99999999999999999999",
                           "900x700pc", "fit"})
    EXPECT_FALSE(parse_figure_size(text)) << text;
}

}  // namespace
}  // namespace headscope::app::figure_size_test
