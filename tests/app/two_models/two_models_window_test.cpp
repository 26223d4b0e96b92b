// A second model in the window.

#include "app/recipe/recipe.h"
#include "app/run/analyses/predictions.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/parts/menu_lines.h"
#include "app/window/sessions.h"
#include "model/pass/plan.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/window/window_fixture.h"
#include "tests/support/pattern_files.h"

namespace headscope::app::two_models_window_test {
namespace {

class TwoModelsWindow : public HandsTest {
 protected:
  CoreOptions own() {
    CoreOptions o = options("The old king had a daughter");
    o.find_models = [] { return std::vector<DiscoveredModel>{{"org/second", second()}}; };
    return o;
  }
  static const std::filesystem::path& second() {
    static const SecondModelFolder folder("second");
    return folder.path();
  }
  static void compare(Core& core) {
    shown(core);
    apply_and_show(core, CompareModel{second()});
    ASSERT_TRUE(core.snapshot().run->baseline);
  }
  /// What a figure of a view would say of itself.
  static Session figure(const Core& core, const char* view = "heatmap") {
    return recipe_of(core.state().export_form, find_view(view), core.state(), core.snapshot(), Figure{})
        .session;
  }
};

TEST_F(TwoModelsWindow, IsChosenLookedAtAndLeft) {
  CoreFixture core(own());
  press_and_draw(core, Key{'m'}, {.ctrl = true, .shift = true});
  wait_until(core, [&] { return !core.state().models.empty(); });
  core.draw(frame_);
  EXPECT_EQ(find_item(core, "No second model"), nullptr) << "there is none";
  click_and_show(core, "org/second");
  EXPECT_EQ(core.state().second.model, second());
  ASSERT_TRUE(core.snapshot().second_model);
  EXPECT_EQ(core.snapshot().run->baseline->model, core.snapshot().second_model);
  EXPECT_TRUE(says(core, "Second model"));
  EXPECT_TRUE(says(core, "the same prompt runs in it"));
  click_and_show(core, "Show Second");
  EXPECT_EQ(picture(core.window(), "heads").context.run->model, core.snapshot().second_model);
  click_and_show(core, "Show Difference");
  EXPECT_TRUE(says(core, "first − second model"));
  type(core, "s");  // the prompt has the focus
  shown(core);
  EXPECT_EQ(core.snapshot().run->baseline->prompt.text, "The old king had a daughters")
      << "it follows the first";
  click_item(core, "Choose the second model");
  click_and_show(core, "No second model");
  EXPECT_FALSE(core.snapshot().run->baseline);
  EXPECT_FALSE(says(core, "Second model"));
}

TEST_F(TwoModelsWindow, IsPatchedFromAndTakesItsPatchesAlong) {
  Core core(own());
  compare(core);
  apply_and_show(core, ToggleEdit{head_off(0, 1)});
  open_menu(core, "heads", 0);
  click_and_show(core, "Patch L0 H0 from the second model");
  ASSERT_EQ(core.state().edits.edits.size(), 2U);
  EXPECT_EQ(edit_text(core.state().edits.edits[1].edit), "L0H0.z<-second");
  EXPECT_EQ(core.snapshot().error, "");
  EXPECT_TRUE(says(core, "L0 H0 from the second model"));
  apply_and_show(core, CompareModel{});
  EXPECT_EQ(core.snapshot().error, "");
  EXPECT_EQ(core.state().edits.edits.size(), 2U);
  ASSERT_TRUE(core.snapshot().run->run->plan);
  EXPECT_EQ(core.snapshot().run->run->plan->edits().size(), 1U) << "there is nothing to patch from";
  apply_and_show(core, CompareModel{second()});
  EXPECT_EQ(core.snapshot().run->run->plan->edits().size(), 2U);
}

TEST_F(TwoModelsWindow, WhatCannotBeComparedIsSaidUntilItIsLeft) {
  const SecondModelFolder small("small", 1, {.positions = 64, .vocabulary = 4096});
  CoreFixture core(own());
  apply_and_show(core, CompareModel{small.path()});
  const std::string why = "cannot be compared: the first has 6 layers, the second 2";
  EXPECT_TRUE(says(core, why));
  EXPECT_FALSE(core.snapshot().run->baseline);
  EXPECT_FALSE(says(core, "Difference")) << "nothing is compared";
  EXPECT_THAT(core.state().recent_models, Not(Contains(small.path())));
  apply_and_show(core, TypeInField{Field::prompt, Insert{"!", false}});
  EXPECT_TRUE(says(core, why)) << "its cause is still there";
  EXPECT_EQ(core.state().message.text, "") << "it is said once";
  click_and_show(core, "Close the second model");
  EXPECT_FALSE(says(core, why));
}

TEST_F(TwoModelsWindow, SessionsAndFiguresBringItBack) {
  const std::filesystem::path session = folder_.path() / "a.headscope";
  {
    Core core(own());
    core.apply(FindModels{});
    compare(core);
    apply_and_show(core, SetSide{Side::difference}, SaveSession{session});
    wait_until(core, [&] { return !core.state().session.empty(); });
  }
  const Session kept = read_recipe(session).session;
  EXPECT_EQ(kept.second_weights, weights_hash(second()));
  EXPECT_EQ(bytes_of_file(session).find(second().parent_path().string()), std::string::npos)
      << "nothing in a session is a path";
  const auto reopened = [&](CoreOptions o) {
    auto core = std::make_unique<Core>(std::move(o));
    shown(*core);
    core->apply(TypeInField{Field::prompt, Replace{"else"}});
    core->apply(OpenFile{session});
    wait_until(*core, [&] { return prompt(*core) == "The old king had a daughter"; });
    shown(*core);
    return core;
  };
  CoreOptions known = own();
  known.find_models = [] { return std::vector<DiscoveredModel>{{"second", second()}}; };
  const auto core = reopened(std::move(known));
  EXPECT_EQ(core->state().second.model, second());
  EXPECT_EQ(core->state().side, Side::difference);
  EXPECT_EQ(core->state().message.text, "");
  ASSERT_TRUE(core->snapshot().run->baseline);
  CoreOptions unknown = own();
  unknown.find_models = nullptr;
  const auto without = reopened(std::move(unknown));
  EXPECT_TRUE(without->state().second.model.empty());
  EXPECT_THAT(without->state().message.text, HasSubstr("compared with \"second\", which was not found"));
}

TEST_F(TwoModelsWindow, FiguresNameTheOneThatTheyShow) {
  Core core(own());
  compare(core);
  EXPECT_EQ(figure(core).second_model, "second");
  core.apply(CompareModel{folder_.path() / "to-come"});  // not drawn yet
  EXPECT_EQ(figure(core).second_model, "second");
}

TEST_F(TwoModelsWindow, TokensAreDrawnFromWhatIsShown) {
  const auto drawn = [&](Core& core) {
    core.apply(Generate{true});
    while (core.state().generation.running && core.state().generation.token_count < 3) {
      core.draw(frame_);
      while (!core.take_results()) std::this_thread::yield();
    }
    core.apply(Generate{false});
    return prompt(core);
  };
  CoreOptions alone = own();
  alone.window.model = second();
  CoreFixture of_second(std::move(alone));
  const std::string expected = drawn(of_second);
  Core core(own());
  compare(core);
  apply_and_show(core, SetSide{Side::baseline});
  EXPECT_EQ(drawn(core), expected);
  EXPECT_TRUE(std::isnan(core.state().tries->back().probabilities.back())) << "the first was not asked";

  apply_and_show(core, TypeInField{Field::prompt, Replace{"The old king"}});
  const std::vector<int> before = core.snapshot().run->run->tokens;
  apply_and_show(core, DoAll{{AppendToken{300, -1, 0.5, core.snapshot().run->baseline}}});
  EXPECT_EQ(core.snapshot().run->run->tokens.size(), before.size() + 1) << "a click goes on, too";
}

TEST_F(TwoModelsWindow, PatchesAloneCompareNothing) {
  Core core(own());
  compare(core);
  apply_and_show(core, ToggleEdit{model::PatchFrom{{{model::Site::z, 1}, {}, {}, {}}, {}, {}, true}});
  EXPECT_EQ(figure(core).edits.size(), 1U);
  click_and_show(core, "Close the second model");
  EXPECT_TRUE(figure(core).edits.empty()) << "as the picture is";
  const auto* side = find_item(core, "Show Difference");
  ASSERT_NE(side, nullptr);
  EXPECT_FALSE(side->enabled);
}

TEST_F(TwoModelsWindow, AFigureOfAViewWithoutDifferencesIsOfTheRun) {
  Core core(own());
  compare(core);
  core.apply(SetSide{Side::difference});
  EXPECT_EQ(figure(core, "sweep").side, Side::run);
  EXPECT_EQ(figure(core).side, Side::difference);
}

TEST_F(TwoModelsWindow, PatternsHaveNone) {
  Core core(own());
  compare(core);
  core.apply(CompareModel{});
  core.apply(CompareModel{second()});
  const auto file =
      folder_.write("any.safetensors", safetensors_bytes(pattern_tensors({2, 3, 7, 7}, even_rows(7)), ""));
  apply_and_show(core, OpenModel{file});
  ASSERT_TRUE(core.snapshot().model->patterns);
  EXPECT_TRUE(core.state().second.model.empty());
  EXPECT_EQ(core.snapshot().error, "");
  EXPECT_FALSE(can_undo(core.state(), Field::prompt, false)) << "an undone step would bring it back";
  core.apply(CompareModel{second()});
  EXPECT_THAT(core.state().message.text, HasSubstr("needs a model's weights"));
  EXPECT_TRUE(core.state().second.model.empty());
}

}  // namespace
}  // namespace headscope::app::two_models_window_test
