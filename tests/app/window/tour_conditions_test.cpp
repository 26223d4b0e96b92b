// Conditions of a tour's paragraphs, one by one, as the run and the selection change.

#include "model/pass/edits.h"
#include "tests/app/window/tours_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::tour_conditions_test {
namespace {

class TourConditionsTest : public ToursTest {
 protected:
  /// A tour whose only stop says "Yes." if the conditions hold, else "No.".
  CoreOptions asking(const std::string& conditions, const std::string& lines = "") {
    return with_tour("# T\n\nAbout.\n\n## S\n- prompt: the fox saw the dog, the fox\n" + lines +
                     "- if: " + conditions + "\nYes.\n- otherwise\nNo.\n");
  }

  static bool holds(const Core& core) {
    const auto words = paragraphs_of(core);
    EXPECT_EQ(words.size(), 1U);
    return words == std::vector<std::string>{"Yes."};
  }
  template <class... Actions>
  static bool holds_after(Core& core, const Actions&... actions) {
    apply_and_show(core, actions...);
    return holds(core);
  }
};

TEST_F(TourConditionsTest, ThisPrompt) {
  CoreFixture core(asking("this prompt"));
  EXPECT_TRUE(holds(core));
  EXPECT_FALSE(holds_after(core, TypeInField{Field::prompt, Replace{"the fox saw the dog"}}));
  EXPECT_TRUE(holds_after(core, GoToStop{0}));
  EXPECT_FALSE(holds_after(core, SetStartToken{true})) << "all positions are others";
}

TEST_F(TourConditionsTest, TheseEdits) {
  const model::Edit off = model::ScaleValues{{{model::Site::z, 1}, 6, {}, {}}, 0};
  CoreFixture core(asking("these edits", "- edit: L1H6.z=0\n"));
  EXPECT_TRUE(holds(core));
  EXPECT_FALSE(holds_after(core, ListEdits{}));
  EXPECT_TRUE(holds_after(core, UndoEdits{}));
  EXPECT_FALSE(holds_after(core, AddEdits{{off}}));
}

TEST_F(TourConditionsTest, TheSideThatIsShown) {
  const std::string edit = "- edit: L1H6.z=0\n";
  CoreFixture these(asking("these edits", edit)), unedited(asking("unedited run", edit)),
      difference(asking("difference", edit));
  EXPECT_FALSE(holds(unedited));
  EXPECT_FALSE(holds(difference));
  EXPECT_FALSE(holds_after(these, SetSide{Side::baseline}));
  EXPECT_FALSE(holds_after(these, SetSide{Side::difference}));
  EXPECT_TRUE(holds_after(unedited, SetSide{Side::baseline}));
  EXPECT_FALSE(holds_after(unedited, SetSide{Side::difference}));
  EXPECT_TRUE(holds_after(difference, SetSide{Side::difference}));
  EXPECT_FALSE(holds_after(difference, SetSide{Side::baseline}));
}

TEST_F(TourConditionsTest, ThisComparison) {
  const Action second = CompareWith{true, Alignment::position};
  CoreFixture none(asking("this comparison")),
      own(asking("this comparison", "- second: a cat saw the dog\n"));
  EXPECT_TRUE(holds(none));
  EXPECT_TRUE(holds_after(none, AddEdits{{model::ScaleValues{{{model::Site::z, 1}, 6, {}, {}}, 0}}}));
  EXPECT_FALSE(holds_after(none, SetSide{Side::baseline})) << "the unedited run";
  EXPECT_FALSE(holds_after(none, TypeInField{Field::second, Replace{"a cat"}}, second, SetSide{Side::run}));
  EXPECT_TRUE(holds_after(none, GoToStop{0})) << "which puts it aside";
  EXPECT_TRUE(holds(own));
  EXPECT_FALSE(holds_after(own, SetSide{Side::baseline}));
  EXPECT_FALSE(holds_after(own, SetSide{Side::difference}));
  EXPECT_FALSE(holds_after(own, SetSide{Side::run}, TypeInField{Field::second, Replace{"a cat saw"}}));
  EXPECT_TRUE(holds_after(own, GoToStop{0}));
  EXPECT_FALSE(holds_after(own, CompareWith{true, Alignment::subsequence})) << "other tokens are compared";
  EXPECT_FALSE(holds_after(own, CompareWith{false, Alignment::position}));
}

TEST_F(TourConditionsTest, TheseEditsAreComparedAsTheStopSays) {
  const model::Edit off = model::ScaleValues{{{model::Site::z, 1}, 6, {}, {}}, 0};
  const std::string second = "- second: a cat saw the dog\n";
  CoreFixture unedited(asking("these edits", second)),
      edited(asking("these edits", second + "- edit: L1H6.z=0\n"));
  EXPECT_TRUE(holds(unedited));
  EXPECT_TRUE(holds(edited));
  EXPECT_FALSE(holds_after(edited, ListEdits{}));
  EXPECT_FALSE(holds_after(unedited, AddEdits{{off}}));
  EXPECT_TRUE(holds_after(unedited, GoToStop{0}));
  EXPECT_FALSE(holds_after(unedited, CompareWith{false, Alignment::position}));
}

TEST_F(TourConditionsTest, ThisLayerAndThisHead) {
  const std::string lines = "- layer: 1\n- head: -1\n";
  CoreFixture layer(asking("this layer", lines)), head(asking("this head", lines));
  EXPECT_TRUE(holds(layer));
  EXPECT_TRUE(holds(head));
  EXPECT_TRUE(holds_after(layer, SelectHead{1, 2}));
  EXPECT_FALSE(holds_after(head, SelectHead{1, 2}));
  EXPECT_FALSE(holds_after(layer, SelectHead{2, 7}));
  EXPECT_FALSE(holds_after(head, SelectHead{2, 7})) << "the last head of another layer";
}

TEST_F(TourConditionsTest, ThisTokenAndThisKey) {
  const std::string lines = "- token: dog\n- key: fox\n";
  CoreFixture token(asking("this token", lines)), key(asking("this key", lines));
  EXPECT_TRUE(holds(token));
  EXPECT_TRUE(holds(key));
  EXPECT_FALSE(holds_after(token, SelectQuery{5}));
  EXPECT_FALSE(holds_after(key, SelectKey{0}));
  EXPECT_FALSE(holds_after(key, SelectKey{-1}));
}

TEST_F(TourConditionsTest, RepeatedToken) {
  CoreFixture core(asking("repeated token"));
  EXPECT_EQ(core.snapshot().run->tokens.labels[7], "·fox");
  EXPECT_TRUE(holds_after(core, SelectQuery{7}));
  EXPECT_FALSE(holds_after(core, SelectQuery{2})) << "saw";
  EXPECT_FALSE(holds_after(core, SelectQuery{1})) << "the first one";
}

TEST_F(TourConditionsTest, WhereTheStrongestKeyStands) {
  CoreFixture previous(asking("strongest on previous token", "- layer: 0\n- head: 0\n"));
  EXPECT_TRUE(holds_after(previous, SelectQuery{4}));
  EXPECT_FALSE(holds_after(previous, SelectQuery{0})) << "it has only itself";
  CoreFixture copies(asking("strongest after same token", "- layer: 2\n- head: 5\n"));
  const std::string text =
      "The green fish walk under golden bread and sing. Then the green fish walk under golden";
  apply_and_show(copies, TypeInField{Field::prompt, Replace{text}});
  EXPECT_TRUE(holds_after(copies, SelectQuery{16}));
  EXPECT_FALSE(holds_after(copies, SelectQuery{5})) << "the first “golden”";
}

TEST_F(TourConditionsTest, LimitsOfNumbers) {
  CoreFixture layers(asking("layers above 5")), more(asking("layers above 6")),
      less(asking("layers below 7"));
  EXPECT_TRUE(holds(layers));
  EXPECT_FALSE(holds(more));
  EXPECT_TRUE(holds(less));
  CoreFixture weight(asking("strongest_weight above 90 %", "- layer: 0\n- head: 0\n- token: saw\n"));
  EXPECT_TRUE(holds(weight)) << "the head attends to the previous token";
}

TEST_F(TourConditionsTest, TheFirstAlternativeThatHoldsIsShown) {
  CoreFixture core(with_tour(R"(# T

About.

## S
- prompt: the fox
- if: layers above 10
Ten.
- otherwise: layers above 5
Five.
- otherwise
Few.

- if: this prompt
Here.

- if: heads above 1
Heads.
)"));
  EXPECT_THAT(paragraphs_of(core), ElementsAre("Five.", "Here.", "Heads."));
  apply_and_show(core, TypeInField{Field::prompt, Replace{"a fox"}});
  EXPECT_THAT(paragraphs_of(core), ElementsAre("Five.", "Heads."));
}

}  // namespace
}  // namespace headscope::app::tour_conditions_test
