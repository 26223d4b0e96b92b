// The query-key space: positions of the marks, and the facts under the mouse.

#include "app/run/analyses/geometry.h"
#include "app/run/analyses/patterns.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::query_key_space_test {
namespace {

/// The expected place of a mark according to the axes' numbers; both axes have the same unit.
class Places {
 public:
  explicit Places(const ViewFixture& shown, const QueryKeySpace& space) : frame_(shown.region(0).rect) {
    double low[2]{}, high[2]{};
    for (std::size_t i = 0; i < space.coordinates.size(); ++i) {
      const auto v = static_cast<double>(space.coordinates[i]);
      low[i % 2] = std::min(low[i % 2], v), high[i % 2] = std::max(high[i % 2], v);
    }
    unit_ = std::min(static_cast<double>(frame_.w) / (high[0] - low[0]),
                     static_cast<double>(frame_.h) / (high[1] - low[1])) /
            1.12;
    middle_ = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2};
  }
  viz::Point of(const std::array<float, 2>& at) const {
    return {frame_.center().x + static_cast<float>(unit_ * (static_cast<double>(at[0]) - middle_[0])),
            frame_.center().y - static_cast<float>(unit_ * (static_cast<double>(at[1]) - middle_[1]))};
  }
  viz::Hit hit(const std::array<float, 2>& at) const {
    const viz::Point p = of(at);
    return {0, static_cast<int>(p.y - frame_.y), static_cast<int>(p.x - frame_.x)};
  }

 private:
  viz::Rect frame_;
  double unit_ = 1;
  std::array<double, 2> middle_{};
};

TEST(QueryKeySpaceView, TellsScoreAndWeightOfTheMarkUnderTheMouse) {
  Scenario s("The king and his sons", {2, 1, 4, 1});
  const auto space = s.ask(QueryKeySpaceOf{2, 1});
  const auto stages = s.ask(StagesOf{2, 1});
  const ViewFixture shown("query_key_space", s, 900, 700);
  const Places places(shown, *space);
  const auto name = [&](int position) { return token_name(s.run->tokens, position); };
  for (const bool key : {false, true}) {
    for (int position = 0; position < s.length(); ++position) {
      SCOPED_TRACE((key ? "key " : "query ") + std::to_string(position));
      const viz::Hit hit = places.hit(space->at(key, position));
      const auto lines = shown.tooltip(0, hit.row, hit.col);
      const int q = key ? 4 : position, k = key ? position : 1;
      const bool masked = k > q;
      EXPECT_THAT(
          lines, ElementsAre((key ? "key " : "query ") + name(position),
                             "with " + (key ? "query " + name(4) : "key " + name(1)),
                             "score " + exact(stages->matrix(Stage::scaled).at(q, k)),
                             masked ? "masked" : "weight " + exact(stages->matrix(Stage::pattern).at(q, k))));
      const std::string clicked = in_words(shown.click(0, hit.row, hit.col));
      if (!key) {
        EXPECT_EQ(clicked, "query " + std::to_string(position));
      } else if (masked) {
        EXPECT_EQ(clicked, "query " + std::to_string(s.length() - 1) + ", key " + std::to_string(position));
      } else {
        EXPECT_EQ(clicked, position == 1 ? "key -1" : "key " + std::to_string(position));
      }
    }
  }
}

TEST(QueryKeySpaceView, TheTableHasTheQueriesThenTheKeys) {
  const Scenario& s = scenario(40);
  const auto space = s.ask(QueryKeySpaceOf{s.selection.layer, s.selection.head});
  const ViewFixture shown("query_key_space", s, 900, 700);
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), 80U);
  EXPECT_EQ(rows[45][0], "key");
  EXPECT_EQ(rows[45][1], "5");
  EXPECT_EQ(rows[45][3], plain(space->at(true, 5)[0]));
}

TEST(QueryKeySpaceView, SaysWhenItIsNotFinite) {
  const Scenario s(
      Prompt{"The king and his", {}, false, parse_edits("L2H1.q*=1e38; L2H1.q*=1e38", *bundled())});
  EXPECT_THAT(texts(ViewFixture("query_key_space", s, 900, 700).scene()),
              Contains("this head has non-finite queries or keys"));
}

}  // namespace
}  // namespace headscope::app::query_key_space_test
