// From the heads back to the residual stream: the numbers of the pass, and parts that add up.

#include "app/run/analyses/merged_heads.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "app/views/parts/strips.h"
#include "model/pass/hooks.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::merge_test {
namespace {

constexpr int kPosition = 5;
constexpr double kTolerance = 2e-4;
constexpr int kPart = 0, kComponent = 1, kStrip = 2;
constexpr int kOwnPart = 1, kSum = 2;

// Bit-identical, also at the end of a page and after a pass over many positions at once.
TEST(Merge, IsWhatThePassComputed) {
  const Scenario& s = scenario(100);
  model::Workspace workspace(2);
  for (const int layer : {0, s.config().n_layer - 1}) {
    for (const int position : {0, 5, 63, 64, 99}) {
      SCOPED_TRACE("layer " + std::to_string(layer) + ", position " + std::to_string(position));
      std::vector<float> z, out, after;
      std::vector<std::vector<float>> results;
      model::Hooks hooks;
      const auto keep = [&](model::Site site, std::vector<float>& row) {
        hooks.watch({site, layer}, [&row, position](const model::ConstActivation2d& a) {
          if (position < a.first_pos || position >= a.first_pos + a.rows) return;
          const auto own = a.row(position - a.first_pos);
          row.insert(row.end(), own.begin(), own.end());
        });
      };
      std::vector<float> heads;
      keep(model::Site::z, z);
      keep(model::Site::result, heads);
      keep(model::Site::attn_out, out);
      keep(model::Site::resid_mid, after);
      model::ForwardOptions options;
      options.hooks = &hooks;
      static_cast<void>(s.run->model->transformer->forward(s.run->run->tokens, workspace, options));
      const auto merged = s.ask(MergedHeadsOf{layer, position});
      EXPECT_THAT(merged->of.z, ElementsAreArray(z));
      EXPECT_THAT(merged->of.results, ElementsAreArray(heads));
      EXPECT_THAT(merged->of.out, ElementsAreArray(out));
      EXPECT_THAT(merged->after, ElementsAreArray(after));
    }
  }
}

/// "before" shares the scale of "after", not what lies beyond it.
TEST(Merge, EachStripSaysWhetherItsOwnValuesGoBeyondItsScale) {
  const Scenario s(
      "Once there was a little girl who lived by the sea with a big black dog. Every morning she",
      {5, 5, -1});
  const auto merged = s.ask(MergedHeadsOf{5, s.length() - 1});
  const ViewFixture shown("merge", s, 1400, 900);
  const viz::ColorScale shared = strip_scale(merged->after);
  const auto low = static_cast<double>(std::ranges::min(merged->before));
  ASSERT_LT(low, shared.low) << "the prompt on which it was wrong";
  const auto written = viz::testing::text_boxes(shown.scene(), *viz::testing::fonts());
  const auto name = std::ranges::find(written, "residual stream before", &viz::testing::TextBox::text);
  ASSERT_NE(name, written.end());
  EXPECT_TRUE(std::ranges::any_of(written, [&](const viz::testing::TextBox& box) {
    return box.text.starts_with("≤ ") && std::abs(box.bounds.center().y - name->bounds.center().y) < 4;
  }));
}

TEST(Merge, BothColumnsOfBarsHaveOneScale) {
  const ViewFixture shown("merge", scenario(23), 1400, 900);
  const Table table = shown.table();
  std::vector<float> lengths;  // of the first row's bars
  const viz::Rect& row = shown.region(shown.all_of(kPart).front()).rect;
  for (const auto& bar : viz::testing::items_of<viz::FillRect>(shown.scene()))
    if (bar.rect.center().y > row.y && bar.rect.center().y < row.bottom() && bar.rect.h < row.h &&
        bar.rect.h > 3 && (bar.color == viz::sign_color(light(), 1) || bar.color == light().bar))
      lengths.push_back(bar.rect.w);
  ASSERT_EQ(lengths.size(), 2U);
  const auto number = [&](const char* name) {
    const auto at = std::ranges::find(table.header, name) - table.header.begin();
    return std::stod(table.rows[0][static_cast<std::size_t>(at)]);
  };
  EXPECT_NEAR(static_cast<double>(lengths[1] / lengths[0]), number("along the sum") / number("norm"), 0.02);
}

TEST(Merge, PartsHaveAScaleOfTheirOwnOnWhichTheyCanBeRead) {
  const Scenario s("The old king had a daughter, and the old king was very sad", {0, 0, -1});
  const ViewFixture shown("merge", s, 1000, 900);
  const auto written = texts(shown.scene());
  for (const char* name : {"z", "parts", "sum"}) EXPECT_GE(std::ranges::count(written, name), 1) << name;
  // In most strips some component has half of the full colour.
  int readable = 0;
  for (const int index : shown.all_of(kComponent)) {
    const viz::Region& strip = shown.region(index);
    if (strip.row_count != kOwnPart + 1 || strip.id > s.config().n_head) continue;
    bool any = false;
    for (int col = 0; col < strip.col_count; ++col) {
      const auto color = shown.color_of(index, kOwnPart, col);
      any |= color && channel_difference(*color, viz::diverging(light(), 0)) > 80;
    }
    readable += any;
  }
  EXPECT_GE(readable, s.config().n_head / 2);
}

TEST(Merge, PartsOfTheHeadsAndTheBiasAddUp) {
  const Scenario s(kRobot);
  const auto d = static_cast<std::size_t>(s.config().n_embd),
             d_head = static_cast<std::size_t>(s.config().d_head());
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    SCOPED_TRACE(layer);
    const auto merged = s.ask(MergedHeadsOf{layer, kPosition});
    const std::string name = "h." + std::to_string(layer) + ".attn.c_proj.";
    const auto& weight = reference_model().parameter(name + "weight");
    const auto& bias = reference_model().parameter(name + "bias");
    std::vector<double> sum(d, 0.0);
    for (std::size_t head = 0; head < static_cast<std::size_t>(s.config().n_head); ++head) {
      const auto& z = reference_head(s, layer, static_cast<int>(head)).z[kPosition];
      for (std::size_t j = 0; j < d; ++j) {
        double part = 0;
        for (std::size_t i = 0; i < d_head; ++i) part += z[i] * weight[(head * d_head + i) * d + j];
        ASSERT_NEAR(merged->of.results[head * d + j], part, kTolerance) << "head " << head << ", " << j;
        sum[j] += static_cast<double>(merged->of.results[head * d + j]);
      }
    }
    for (std::size_t j = 0; j < d; ++j) {
      ASSERT_NEAR(merged->bias[j], bias[j], 1e-6);
      ASSERT_NEAR(merged->of.out[j], sum[j] + bias[j], 1e-5);
    }
  }
}

TEST(Merge, TheTableSaysWhatEachHeadAdds) {
  Scenario s(kRobot, {1, 2, kPosition});
  const ViewFixture shown("merge", s, 1400, 900);
  const Table table = shown.table();
  const auto heads = static_cast<std::size_t>(s.config().n_head),
             d = static_cast<std::size_t>(s.config().n_embd);
  const std::size_t first = 3 + static_cast<std::size_t>(s.config().d_head());
  ASSERT_EQ(table.rows.size(), heads + 4);
  ASSERT_EQ(table.header.size(), first + d);
  EXPECT_EQ(table.rows[2][0], "L1 H2");
  EXPECT_EQ(table.rows[heads][0], "bias");
  const auto value = [&](std::size_t row, std::size_t i) { return std::stod(table.rows[row][first + i]); };
  std::vector<double> sum(d, 0.0);
  double along = 0;
  for (std::size_t row = 0; row <= heads; ++row) {
    double square = 0, dot = 0;
    for (std::size_t i = 0; i < d; ++i) {
      sum[i] += value(row, i);
      square += value(row, i) * value(row, i);
      dot += value(row, i) * value(heads + 1, i);
    }
    EXPECT_NEAR(std::stod(table.rows[row][1]), std::sqrt(square), 1e-5) << row;
    EXPECT_NEAR(std::stod(table.rows[row][2]), dot / std::stod(table.rows[heads + 1][1]), 1e-5) << row;
    along += std::stod(table.rows[row][2]);
    const int region = shown.find(kPart, static_cast<int>(row));
    ASSERT_GE(region, 0);
    EXPECT_THAT(shown.tooltip(region),
                Contains(table.rows[row][0] + ": norm " + exact(std::stof(table.rows[row][1]))));
  }
  EXPECT_NEAR(along, std::stod(table.rows[heads + 1][1]), 1e-5) << "the sum's norm";
  for (std::size_t i = 0; i < d; ++i) {
    EXPECT_NEAR(sum[i], value(heads + 1, i), 1e-5);
    EXPECT_NEAR(value(heads + 2, i) + value(heads + 1, i), value(heads + 3, i), 1e-5) << "residual stream";
  }
}

TEST(Merge, ShapesStandBesideAndPiecesChooseTheirHead) {
  Scenario s(kRobot, {1, 2, kPosition});
  const ViewFixture shown("merge", s, 1400, 900);
  const int d = s.config().n_embd, d_head = s.config().d_head(), heads = s.config().n_head;
  const auto written = texts(shown.scene());
  EXPECT_THAT(written, Contains("[" + std::to_string(heads) + " heads × " + std::to_string(d_head) + "]"));
  EXPECT_THAT(written, Contains("[" + std::to_string(d) + "]"));
  EXPECT_THAT(written, Contains(HasSubstr("[" + std::to_string(d) + " × " + std::to_string(d) + "]")));
  EXPECT_EQ(in_words(shown.click(shown.find(kStrip, 0), 0, 3 * d_head + 1)), "head 1 3");
  EXPECT_EQ(in_words(shown.click(shown.find(kStrip, 1), 0, 3 * d_head + 1)), "");
  EXPECT_EQ(in_words(shown.click(shown.find(kPart, 1))), "head 1 1");
  EXPECT_EQ(in_words(shown.click(shown.find(kPart, heads))), "") << "the bias is no head";
  const auto merged = s.ask(MergedHeadsOf{1, kPosition});
  EXPECT_THAT(shown.tooltip(shown.find(kComponent, 1, kOwnPart), kOwnPart, 7),
              Contains("L1 H1: part[7] = " + exact(merged->of.results[d + 7])));
  EXPECT_THAT(shown.tooltip(shown.find(kComponent, heads + 1, kSum), kSum, 7),
              Contains("sum[7] = " + exact(merged->of.out[7])));
}

TEST(Merge, HeadsCanStandByWhatTheyAdd) {
  Scenario s(kRobot, {1, 2, kPosition});
  const ViewFixture shown("merge", s, 1400, 900, {{"largest-first", "yes"}});
  std::vector<double> norms;
  for (const int part : ids_of_role(shown.picture(), kPart))
    norms.push_back(std::stod(shown.table().rows.at(static_cast<std::size_t>(part))[1]));
  EXPECT_EQ(norms.size(), static_cast<std::size_t>(s.config().n_head) + 1);
  EXPECT_TRUE(std::ranges::is_sorted(norms, std::greater{}));
}

TEST(Merge, KeepsTheChosenHeadInViewInEitherOrder) {
  for (const char* largest : {"no", "yes"})
    for (int head = 0; head < 8; ++head) {
      Scenario s(kRobot, {1, head, kPosition});
      const ViewFixture shown("merge", s, 700, 420, {{"largest-first", largest}});
      const std::vector<int> parts = ids_of_role(shown.picture(), kPart);
      EXPECT_LT(parts.size(), 9U) << "there is no room for all";
      EXPECT_THAT(parts, Contains(head)) << largest;
    }
}

TEST(Merge, EditsOfTheSumAreAPart) {
  for (const char* edits : {"L1.attn_out[5]*=0.5", "L1.attn_out=0", "L1.attn_out[*][3]+=2"}) {
    SCOPED_TRACE(edits);
    const Scenario s(Prompt{kRobot, {}, false, parse_edits(edits, *bundled())}, {1, 2, kPosition});
    const auto merged = s.ask(MergedHeadsOf{1, kPosition});
    const std::size_t d = merged->bias.size();
    ASSERT_EQ(merged->edits.size(), d);
    for (std::size_t i = 0; i < d; ++i) {
      float sum = merged->bias[i] + merged->edits[i];
      for (std::size_t at = i; at < merged->of.results.size(); at += d) sum += merged->of.results[at];
      EXPECT_NEAR(sum, merged->of.out[i], 1e-4);
    }
    const ViewFixture shown("merge", s, 1400, 900);
    EXPECT_THAT(texts(shown.scene()), Contains("edits"));
    EXPECT_THAT(texts(shown.scene()), Contains("sum of all 10"));
  }
}

}  // namespace
}  // namespace headscope::app::merge_test
