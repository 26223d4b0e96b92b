// Every option of every view: its control, its keys, that it is kept between starts, and one that runs
// through its values. No view or option is named in the first tests, so new ones are tested automatically.
#include "app/ascii.h"
#include "app/window/sessions.h"
#include "app/window/state/view.h"
#include "tests/app/core_fixture.h"

namespace headscope::app::options_in_window_test {
namespace {

class OptionsInTheWindow : public CoreTest {
 protected:
  OptionsInTheWindow() { shown(core_); }

  void show(const View& view) {
    if (view.place == Place::tab) core_.apply(ShowView{std::string(view.id)});
    redraw();
  }
  void redraw() { shown(core_); }

  OptionValue now(const OptionSpec& option) const { return core_.state().options.value(option); }

  /// The names of the items that change an option.
  static std::vector<std::string> names(const OptionSpec& option) {
    const std::string label(option.label);
    if (option.control == Control::none) return {};
    if (std::holds_alternative<std::vector<int>>(option.default_value)) return {"value"};
    if (std::holds_alternative<TokenRef>(option.default_value)) return {label + " −", label + " +", "value"};
    constexpr std::size_t kMaxSideBySide = 5;
    if (option.choices.size() > kMaxSideBySide || option.control == Control::list) return {label};
    std::vector<std::string> found;
    for (const Choice& choice : option.choices) found.push_back(label + " " + std::string(choice.label));
    const bool stepper = std::holds_alternative<int>(option.default_value) || !option.steps.empty();
    if (found.empty() && stepper) return {label + " −", label + " +"};
    return found.empty() ? std::vector{label} : found;
  }

  void press_item(const std::string& name, int clicks = 1) {
    click_item(core_, name, 0, clicks);
    redraw();
  }

  void expect_changed_by_mouse(const OptionSpec& option) {
    if (std::holds_alternative<bool>(option.default_value)) return expect_toggle(option);
    if (!option.choices.empty()) return expect_choices(option);
    if (std::holds_alternative<std::vector<int>>(option.default_value)) return expect_field(option);
    if (std::holds_alternative<double>(option.default_value) && option.steps.empty())
      return expect_slider(option);
    expect_stepper(option);
  }

  void expect_toggle(const OptionSpec& option) {
    for (int i = 0; i < 2; ++i) {
      const OptionValue before = now(option);
      press_item(names(option).front());
      EXPECT_NE(now(option), before);
    }
  }

  /// The choices are side by side, or in a list opened by a button.
  void expect_choices(const OptionSpec& option) {
    for (int i = static_cast<int>(option.choices.size()) - 1; i >= 0; --i) {
      const auto index = static_cast<std::size_t>(i);
      const std::string label(option.label), choice(option.choices[index].label);
      if (find_item(core_, label + " " + choice) == nullptr) {
        press_item(label);
        press_item(choice);
      } else {
        press_item(label + " " + choice);
      }
      EXPECT_EQ(now(option), OptionValue(i)) << option.choices[index].name;
    }
    core_.apply(SetOption{&option, option.default_value});
    redraw();
  }

  void expect_stepper(const OptionSpec& option) {
    int moved = 0;
    for (const int by : {-1, 1}) {
      const OptionValue next = stepped(option, option.default_value, by);
      if (next == option.default_value) continue;  // at its limit
      ++moved;
      press_item(names(option)[by < 0 ? 0 : 1]);
      EXPECT_EQ(now(option), next);
      press_item(names(option)[by < 0 ? 1 : 0]);
      EXPECT_EQ(now(option), option.default_value) << "and back";
    }
    EXPECT_GT(moved, 0);
  }

  void expect_slider(const OptionSpec& option) {
    const WindowItem* slider = find_item(core_, option.label);
    ASSERT_NE(slider, nullptr);
    const viz::Rect rect = slider->rect, track = rect.inset(7);  // half a knob at each end
    const float y = rect.center().y;
    core_.handle(MouseDown{{track.x + track.w / 4, y}, 0, 1, {}});
    const double quarter = option.low + (option.high - option.low) / 4;
    const double two_pixels = 2 * (option.high - option.low) / static_cast<double>(track.w);
    EXPECT_NEAR(std::get<double>(now(option)), quarter, option.step / 2 + two_pixels);
    core_.handle(MouseMove{{track.right() + 500, y + 90}});
    EXPECT_EQ(now(option), OptionValue(option.high));
    core_.handle(MouseUp{{track.right() + 500, y + 90}, 0});
    core_.handle(MouseMove{{track.x, y}});
    EXPECT_EQ(now(option), OptionValue(option.high)) << "it was let go";
    redraw();
    click(core_, rect.center(), 2);
    EXPECT_EQ(now(option), option.default_value) << "a double click";
    redraw();
    EXPECT_EQ(now(option), option.default_value) << "and it stays";
  }

  void expect_field(const OptionSpec& option) {
    press_item("value");
    press(core_, Key{'a'}, {.ctrl = true});
    const OptionValue two =
        option.heads ? std::vector{head_number(3, 1), head_number(1, 0)} : std::vector{3, 1};
    type(core_, to_text(option, two));
    EXPECT_EQ(now(option), two);
    core_.apply(SetOption{&option, option.default_value});
    redraw();
    EXPECT_EQ(core_.state().option_text.edit.text, "");
    press(core_, Key::escape);
  }

  Core core_{options()};
};

TEST_F(OptionsInTheWindow, EachThatHasAnEffectIsChangedWithTheMouse) {
  for (const View& view : views()) {
    show(view);
    for (const OptionSpec* option : view.options) {
      SCOPED_TRACE(std::string(view.id) + " " + std::string(option->name));
      if (option->control == Control::automatic && !option->of_list &&  // no list is open
          has_effect(view, *option, core_.state().options)) {
        ASSERT_NO_FATAL_FAILURE(expect_changed_by_mouse(*option));
      }
      EXPECT_EQ(now(*option), option->default_value);
    }
  }
}

TEST_F(OptionsInTheWindow, EachHasItsControlOnceAndNoOtherHasOne) {
  for (const View& view : all_tabs()) {
    show(view);
    std::set<std::string> wanted;
    for (const PlacedPicture& placed : core_.window().pictures)
      for (const OptionSpec* option : placed.view->options)
        if (!option->of_list && has_effect(*placed.view, *option, core_.state().options))
          for (const std::string& name : names(*option)) wanted.insert(name);
    for (const OptionSpec* option : all_options()) {
      for (const std::string& name : names(*option)) {
        EXPECT_EQ(find_item(core_, name) != nullptr, wanted.contains(name)) << view.id << " " << name;
        EXPECT_EQ(find_item(core_, name, 1), nullptr) << view.id << " " << name;
      }
    }
  }
}

TEST_F(OptionsInTheWindow, AdvancedOnesAreShownOnDemandOrWhileTheyAreSet) {
  constexpr const char* kAdvanced[] = {"Colours Log",   "max +",      "Without key 0",
                                       "Cells Rollout", "Mouse Mask", "Start token"};
  core_.apply(change(&UiState::all_controls, false));
  redraw();
  for (const char* name : kAdvanced) EXPECT_EQ(find_item(core_, name), nullptr) << name;
  core_.apply(SetOption{&option("value-scale"), 1});
  core_.apply(SetStartToken{true});
  redraw();
  for (const char* name : {"Colours Linear", "Start token"})
    EXPECT_NE(find_item(core_, name), nullptr) << name;
  press_item("More options");
  for (const char* name : kAdvanced) EXPECT_NE(find_item(core_, name), nullptr) << name;
  EXPECT_EQ(find_item(core_, "More options"), nullptr);
}

void press_key(Core& core, char key) {
  core.handle(KeyDown{Key{lower(key)}, {.shift = lower(key) != key, .alt = true}});
}

TEST_F(OptionsInTheWindow, EachWithKeysIsChangedByThem) {
  for (const View& tab : all_tabs()) {
    show(tab);
    std::vector<const OptionSpec*> with_keys;
    for (const PlacedPicture& placed : core_.window().pictures) {
      for (const OptionSpec* option : placed.view->options)
        if (!option->keys.empty()) with_keys.push_back(option);
    }
    EXPECT_FALSE(with_keys.empty());
    for (const OptionSpec* option : with_keys) {
      SCOPED_TRACE(std::string(tab.id) + " " + std::string(option->name));
      int changed = 0;
      for (const std::size_t which : {1, 0}) {
        if (which >= option->keys.size()) continue;
        const OptionValue before = now(*option);
        press_key(core_, option->keys[which]);
        EXPECT_EQ(now(*option), stepped(*option, before, which == 0 ? 1 : -1));
        changed += now(*option) == before ? 0 : 1;
      }
      EXPECT_GT(changed, 0);
      core_.apply(SetOption{option, option->default_value});
    }
  }
}

/// A value other than the default.
OptionValue non_default(const OptionSpec& option) {
  if (std::holds_alternative<std::vector<int>>(option.default_value)) return std::vector{7, 2};
  if (std::holds_alternative<Zoom>(option.default_value)) return Zoom{0, 1, 5, 4};
  const OptionValue up = stepped(option, option.default_value, 1);
  return up != option.default_value ? up : stepped(option, option.default_value, -1);
}

TEST_F(CoreTest, OptionsAreKeptBetweenStarts) {
  CoreOptions first = options();
  first.settings_file = folder_.path() / "settings.json";
  const auto file = first.settings_file;
  Options left;  // choices that views share follow the last one
  {
    CoreFixture core(std::move(first));
    for (const OptionSpec* option : all_options()) {
      core.apply(SetOption{option, non_default(*option)});
      ASSERT_NE(core.state().options.value(*option), option->default_value) << option->name;
    }
    left = core.state().options;
  }
  CoreOptions second = options();
  second.settings_file = file;
  second.settings = load_settings(file);
  Core core(std::move(second));
  for (const OptionSpec* option : all_options()) {
    EXPECT_EQ(core.state().options.value(*option), option->kept ? left.value(*option) : option->default_value)
        << option->name;
  }
}

class PlayingTest : public CoreTest {
 protected:
  CoreOptions with_clock() {
    CoreOptions o = options();
    o.clock = [this] { return time_; };
    return o;
  }
  double stage() { return value<double>(core_, "score-stage"); }
  const OptionSpec& stage_option() { return option("score-stage"); }
  /// Lets time pass as the window does.
  void pass(double seconds) {
    time_ += seconds;
    if (core_.take_results()) core_.draw({});
  }

  double time_ = 5;
  Core core_{with_clock()};
};

TEST_F(PlayingTest, TheButtonRunsThroughTheStagesOnce) {
  core_.apply(ShowView{"scores"});
  shown(core_);
  EXPECT_EQ(stage(), 0);
  click_item(core_, "Play");
  EXPECT_EQ(stage(), 1);
  shown(core_);
  EXPECT_GT(*core_.seconds_until_update(), 0.5) << "it rests: no frames are drawn";
  double before = 1;
  int moved = 0;
  for (int i = 0; i < 200 && core_.state().playing != nullptr; ++i) {
    pass(0.05);
    EXPECT_GE(stage(), before);
    moved += stage() != before;
    before = stage();
  }
  EXPECT_EQ(stage(), 4);
  EXPECT_EQ(moved, 3);
  EXPECT_EQ(core_.state().playing, nullptr);
  shown(core_);
  EXPECT_FALSE(core_.take_results());
  EXPECT_FALSE(core_.seconds_until_update());
  click_item(core_, "Stage all");
  EXPECT_EQ(stage(), 0);
}

TEST_F(PlayingTest, StopsWhenTheOptionIsSetOrRestoredOrOutOfSight) {
  const std::map<std::string, std::function<void()>> stops{
      {"a choice",
       [&] {
         core_.apply(SetOption{&stage_option(), 2.5});
       }},
      {"the button", [&] { core_.apply(PlayOption{&stage_option()}); }},
      {"another view", [&] { core_.apply(ShowView{"heatmap"}); }},
      {"the view before", [&] { core_.apply(Revisit{}); }},
      {"undo", [&] { core_.apply(UndoClick{}); }},
      {"a session", [&] {
         Recipe recipe{session_of(core_.state(), core_.snapshot()), {}};
         core_.apply(OpenSession{.recipe = recipe, .model = bundled_folder()});
       }}};
  for (const auto& [what, stop] : stops) {
    SCOPED_TRACE(what);
    core_.apply(SetOption{&stage_option(), 0.0});
    apply_and_show(core_, ShowView{"heatmap"});
    core_.apply(ShowView{"scores"});
    core_.apply(BeginClick{});
    core_.apply(PlayOption{&stage_option()});
    shown(core_);
    pass(2);
    ASSERT_NE(core_.state().playing, nullptr);
    ASSERT_GT(stage(), 1);
    stop();
    const double before = stage();
    shown(core_);
    pass(2);
    EXPECT_EQ(stage(), before);
    EXPECT_EQ(core_.state().playing, nullptr);
  }
}

}  // namespace
}  // namespace headscope::app::options_in_window_test
