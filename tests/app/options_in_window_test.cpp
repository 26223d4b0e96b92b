// Every option of every view: its control in the window, its keys, and that it is kept between starts.
// Nothing here names a view or an option, so that a new one is tested with its row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/app/core_fixture.h"

namespace headscope::app {
namespace {

using ::testing::IsEmpty;

struct WindowSize {
  float width, height;
};

class OptionsInTheWindow : public CoreTest {
 protected:
  OptionsInTheWindow() { shown(core_); }

  void show(const View& view) {
    if (view.place == Place::tab) core_.apply(ShowView{std::string(view.id)});
    redraw();
  }
  void redraw() { shown(core_, size_.width, size_.height); }

  OptionValue now(const OptionSpec& option) const { return core_.state().options.value(option); }

  /// What the controls of an option set it to, and where they are.
  struct Setting {
    OptionValue value;
    viz::Point at;
  };
  std::vector<Setting> settings(const OptionSpec& option) const {
    std::vector<Setting> found;
    for (const Target& target : core_.window().targets) {
      if (!target.click) continue;
      const auto* set = std::get_if<SetOption>(&*target.click);
      if (set && set->option == &option) found.push_back({set->value, target.rect.center()});
    }
    return found;
  }

  /// Clicks the control that sets the option to a value; false when there is none.
  bool click_to(const OptionSpec& option, const OptionValue& value) {
    for (const Setting& setting : settings(option)) {
      if (setting.value != value) continue;
      click(core_, setting.at);
      redraw();
      return true;
    }
    return false;
  }

  void expect_changed_by_mouse(const OptionSpec& option) {
    if (std::holds_alternative<bool>(option.usual)) return expect_toggle(option);
    if (!option.choices.empty()) return expect_choices(option);
    if (std::holds_alternative<std::vector<int>>(option.usual)) return expect_field(option);
    if (std::holds_alternative<double>(option.usual) && option.steps.empty()) return expect_slider(option);
    expect_stepper(option);
  }

  void expect_toggle(const OptionSpec& option) {
    for (const bool to : {true, false}) {
      ASSERT_EQ(settings(option).size(), 1U);
      ASSERT_TRUE(click_to(option, to));
      EXPECT_EQ(now(option), OptionValue(to));
    }
  }

  void expect_choices(const OptionSpec& option) {
    for (int i = static_cast<int>(option.choices.size()) - 1; i >= 0; --i) {
      ASSERT_EQ(settings(option).size(), option.choices.size());
      ASSERT_TRUE(click_to(option, i)) << option.choices[static_cast<std::size_t>(i)].name;
      EXPECT_EQ(now(option), OptionValue(i));
    }
    core_.apply(SetOption{&option, option.usual});
    redraw();
  }

  void expect_stepper(const OptionSpec& option) {
    int moved = 0;
    for (const int by : {-1, 1}) {
      const OptionValue next = stepped(option, option.usual, by);
      if (next == option.usual) continue;  // at its end
      ++moved;
      ASSERT_EQ(settings(option).size(), 2U);
      ASSERT_TRUE(click_to(option, next));
      EXPECT_EQ(now(option), next);
      ASSERT_TRUE(click_to(option, option.usual)) << "and back";
      EXPECT_EQ(now(option), option.usual);
    }
    EXPECT_GT(moved, 0);
  }

  void expect_slider(const OptionSpec& option) {
    for (const Target& target : core_.window().targets) {
      if (!target.drag || target.drag->kind != DragKind::slider || target.drag->option != &option) continue;
      const viz::Rect rect = target.rect, track = target.drag->track;
      const float y = rect.center().y;
      core_.handle(MouseDown{{track.x + track.w / 4, y}, 0, 1, {}});
      const double quarter = option.low + (option.high - option.low) / 4;
      EXPECT_NEAR(std::get<double>(now(option)), quarter, option.step / 2 + 1e-9);
      core_.handle(MouseMove{{track.right() + 500, y + 90}});
      EXPECT_EQ(now(option), OptionValue(option.high));
      core_.handle(MouseUp{{track.right() + 500, y + 90}, 0});
      core_.handle(MouseMove{{track.x, y}});
      EXPECT_EQ(now(option), OptionValue(option.high)) << "it was let go";
      redraw();
      click(core_, rect.center(), 2);
      EXPECT_EQ(now(option), option.usual) << "a double click";
      redraw();
      return;
    }
    FAIL() << "no slider";
  }

  void expect_field(const OptionSpec& option) {
    for (const PlacedField& placed : core_.window().fields) {
      if (placed.field != Field::option) continue;
      click(core_, placed.look.rect.center());
      EXPECT_EQ(core_.state().focus, Field::option);
      core_.handle(KeyDown{Key::a, {.ctrl = true}});
      core_.handle(TextTyped{"3, 1"});
      EXPECT_EQ(now(option), OptionValue(std::vector{3, 1}));
      core_.handle(KeyDown{Key::enter, {}});
      EXPECT_EQ(core_.state().focus, Field::none);
      core_.apply(SetOption{&option, option.usual});
      redraw();
      EXPECT_EQ(core_.state().option_text.edit.text, "");
      return;
    }
    FAIL() << "no field";
  }

  Core core_{options()};
  WindowSize size_{1600, 1000};
};

TEST_F(OptionsInTheWindow, EachIsChangedWithTheMouse) {
  for (const WindowSize size : {WindowSize{1600, 1000}, {1024, 700}}) {
    size_ = size;
    for (const View& view : views()) {
      show(view);
      for (const OptionSpec* option : view.options) {
        SCOPED_TRACE(std::string(view.id) + " " + std::string(option->name) + " at " +
                     std::to_string(size.width));
        if (option->control == Control::automatic) {
          ASSERT_NO_FATAL_FAILURE(expect_changed_by_mouse(*option));
        }
        EXPECT_EQ(now(*option), option->usual);
      }
    }
  }
}

TEST_F(OptionsInTheWindow, EachHasItsControlOnceAndNoOtherHasOne) {
  for (const View& view : views()) {
    if (view.place != Place::tab) continue;
    show(view);
    std::set<const OptionSpec*> shown;
    for (const PlacedPicture& placed : core_.window().pictures)
      shown.insert(placed.view->options.begin(), placed.view->options.end());
    for (const OptionSpec* option : all_options()) {
      std::set<std::pair<float, float>> places;
      for (const Setting& setting : settings(*option)) places.insert({setting.at.x, setting.at.y});
      EXPECT_EQ(places.size(), settings(*option).size()) << view.id << " " << option->name;
      if (!shown.contains(option) || option->control == Control::none) {
        EXPECT_THAT(places, IsEmpty()) << view.id << " " << option->name;
      }
    }
  }
}

TEST_F(OptionsInTheWindow, NoControlLiesOnAnotherOrBesideTheWindow) {
  for (const WindowSize size : {WindowSize{1600, 1000}, {1024, 700}}) {
    size_ = size;
    for (const View& view : views()) {
      if (view.place != Place::tab) continue;
      show(view);
      std::vector<viz::Rect> taken;
      for (const Target& target : core_.window().targets) {
        const bool sets = target.click && std::holds_alternative<SetOption>(*target.click);
        const bool slides = target.drag && target.drag->kind == DragKind::slider;
        const bool does = target.click && std::holds_alternative<DoAll>(*target.click);
        if (!sets && !slides && !does) continue;
        const viz::Rect r = target.rect;
        EXPECT_GT(r.w, 8) << view.id << " " << target.tip;
        EXPECT_TRUE(r.x >= 0 && r.right() <= size.width && r.y >= 0 && r.bottom() <= size.height)
            << view.id << " " << target.tip;
        for (const viz::Rect& other : taken) {
          EXPECT_FALSE(r.x < other.right() - 0.5F && other.x < r.right() - 0.5F &&
                       r.y < other.bottom() - 0.5F && other.y < r.bottom() - 0.5F)
              << view.id << " " << size.width << " " << target.tip;
        }
        taken.push_back(r);
      }
      EXPECT_FALSE(taken.empty());
    }
  }
}

TEST_F(OptionsInTheWindow, EachWithKeysIsChangedByThem) {
  for (const View& tab : views()) {
    if (tab.place != Place::tab) continue;
    show(tab);
    core_.apply(FocusField{Field::none});
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
        core_.handle(TextTyped{std::string(1, option->keys[which])});
        EXPECT_EQ(now(*option), stepped(*option, before, which == 0 ? 1 : -1));
        changed += now(*option) == before ? 0 : 1;
      }
      EXPECT_GT(changed, 0);
      core_.apply(SetOption{option, option->usual});
    }
  }
}

TEST_F(OptionsInTheWindow, KeysOfAViewThatIsNotShownDoNothing) {
  core_.apply(FocusField{Field::none});
  for (const View& tab : views()) {
    if (tab.place != Place::tab) continue;
    show(tab);
    for (const OptionSpec* option : all_options()) {
      bool is_shown = false;
      for (const PlacedPicture& placed : core_.window().pictures)
        is_shown |= std::ranges::find(placed.view->options, option) != placed.view->options.end();
      for (const char key : option->keys) {
        if (is_shown) continue;
        core_.handle(TextTyped{std::string(1, key)});
        EXPECT_EQ(now(*option), option->usual) << tab.id << " " << option->name;
      }
    }
  }
}

/// Some value that is not the usual one.
OptionValue unusual(const OptionSpec& option) {
  if (std::holds_alternative<std::vector<int>>(option.usual)) return std::vector{7, 2};
  if (std::holds_alternative<Zoom>(option.usual)) return Zoom{0, 1, 5, 4};
  const OptionValue up = stepped(option, option.usual, 1);
  return up != option.usual ? up : stepped(option, option.usual, -1);
}

TEST_F(CoreTest, OptionsAreKeptBetweenStarts) {
  CoreOptions first = options();
  first.settings_file = folder_.path() / "settings.json";
  const auto file = first.settings_file;
  std::string list_view;  // that has a field for a list
  {
    Core core(std::move(first));
    shown(core);
    for (const OptionSpec* option : all_options()) {
      core.apply(SetOption{option, unusual(*option)});
      ASSERT_NE(core.state().options.value(*option), option->usual) << option->name;
      if (option->kept) {
        EXPECT_TRUE(load_settings(file).settings.options.contains(std::string(option->name)))
            << option->name << " is kept at once";
      }
    }
    for (const View& view : views())
      if (view.place == Place::tab && list_option(view) != nullptr) list_view = view.id;
    core.apply(ShowView{list_view});
  }
  CoreOptions second = options();
  second.settings_file = file;
  second.settings = load_settings(file).settings;
  Core core(std::move(second));
  for (const OptionSpec* option : all_options()) {
    EXPECT_EQ(core.state().options.value(*option), option->kept ? unusual(*option) : option->usual)
        << option->name;
  }
  ASSERT_EQ(core.state().view, list_view);
  EXPECT_EQ(core.state().option_text.edit.text, "7, 2");
}

TEST_F(CoreTest, AnOptionThatIsAsUsualAgainIsNotKept) {
  CoreOptions o = options();
  o.settings_file = folder_.path() / "settings.json";
  const auto file = o.settings_file;
  Core core(std::move(o));
  for (const OptionSpec* option : all_options()) {
    core.apply(SetOption{option, unusual(*option)});
    core.apply(SetOption{option, option->usual});
  }
  core.apply(SetDark{true});
  EXPECT_THAT(load_settings(file).settings.options, IsEmpty());
}

}  // namespace
}  // namespace headscope::app
