// Conditions of a tour's paragraphs.

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
};

TEST_F(TourConditionsTest, HoldAsTheRunAndTheSelectionChange) {
  const model::Edit off = model::ScaleValues{{{model::Site::z, 1}, 6, {}, {}}, 0};
  const auto say = [](std::string text) {
    return Action(TypeInField{Field::prompt, Replace{std::move(text)}});
  };
  const auto say_second = [](std::string text) {
    return Action(TypeInField{Field::second, Replace{std::move(text)}});
  };
  const Action back = GoToStop{0}, add = AddEdits{{off}}, none = ListEdits{},
               second = CompareWith{true, Alignment::position},
               alone = CompareWith{false, Alignment::position}, run = SetSide{Side::run},
               baseline = SetSide{Side::baseline}, difference = SetSide{Side::difference};
  const std::string edit = "- edit: L1H6.z=0\n", cat = "- second: a cat saw the dog\n",
                    last_head = "- layer: 1\n- head: -1\n", dog = "- token: dog\n- key: fox\n",
                    first_head = "- layer: 0\n- head: 0\n";
  struct Step {
    bool expected;
    std::vector<Action> after;
  };
  struct Case {
    const char* conditions;
    std::string lines;
    std::vector<Step> steps;
  };
  const std::vector<Case> cases{
      {"this prompt",
       "",
       {{true, {}}, {false, {say("the fox saw the dog")}}, {true, {back}}, {false, {SetStartToken{true}}}}},
      {"these edits", edit, {{true, {}}, {false, {none}}, {true, {Undo{}}}, {false, {add}}}},
      {"these edits", edit, {{false, {baseline}}, {false, {difference}}}},
      {"unedited run", edit, {{false, {}}, {true, {baseline}}, {false, {difference}}}},
      {"difference", edit, {{false, {}}, {true, {difference}}, {false, {baseline}}}},
      // The unedited run is no comparison; the stop puts a second prompt aside.
      {"this comparison",
       "",
       {{true, {}},
        {true, {add}},
        {false, {baseline}},
        {false, {say_second("a cat"), second, run}},
        {true, {back}}}},
      {"this comparison",
       cat,
       {{true, {}},
        {false, {baseline}},
        {false, {difference}},
        {false, {run, say_second("a cat saw")}},
        {true, {back}},
        {false, {CompareWith{true, Alignment::subsequence}}},
        {false, {alone}}}},
      {"these edits", cat, {{true, {}}, {false, {add}}, {true, {back}}, {false, {alone}}}},
      {"these edits", cat + edit, {{true, {}}, {false, {none}}}},
      {"this layer", last_head, {{true, {}}, {true, {SelectHead{1, 2}}}, {false, {SelectHead{2, 7}}}}},
      {"this head", last_head, {{true, {}}, {false, {SelectHead{1, 2}}}, {false, {SelectHead{2, 7}}}}},
      {"this token", dog, {{true, {}}, {false, {SelectQuery{5}}}}},
      {"this key", dog, {{true, {}}, {false, {SelectKey{0}}}, {false, {SelectKey{-1}}}}},
      // The second " fox"; "saw"; the first " fox".
      {"repeated token",
       "",
       {{true, {SelectQuery{7}}}, {false, {SelectQuery{2}}}, {false, {SelectQuery{1}}}}},
      {"strongest on previous token", first_head, {{true, {SelectQuery{4}}}, {false, {SelectQuery{0}}}}},
      {"strongest after same token",
       "- layer: 2\n- head: 5\n",
       {{true,
         {say("The green fish walk under golden bread and sing. Then the green fish walk under golden"),
          SelectQuery{16}}},
        {false, {SelectQuery{5}}}}},
      {"layers above 5", "", {{true, {}}}},
      {"layers above 6", "", {{false, {}}}},
      {"layers below 7", "", {{true, {}}}},
      {"strongest_weight above 90 %", first_head + "- token: saw\n", {{true, {}}}}};
  for (const auto& [conditions, lines, steps] : cases) {
    CoreFixture core(asking(conditions, lines));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      shown(core);
      for (const Action& action : steps[i].after) apply_and_show(core, action);
      EXPECT_EQ(holds(core), steps[i].expected) << conditions << ", step " << i;
    }
  }
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
