// Every action can be done by mouse alone and by keyboard alone; here are those with a way of their own.

#include "app/run/sources/paths.h"
#include "app/views/parts/attention_maps.h"
#include "app/views/parts/menu_lines.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::reach_test {
namespace {

namespace fs = std::filesystem;

class ReachTest : public HandsTest {
 protected:
  /// How to perform an action by mouse and by keyboard, and how to see that it was done.
  struct Step {
    std::string what;
    std::function<void(Core&)> by_mouse, by_keyboard;
    std::function<bool(const Core&)> done;
    std::function<void(Core&)> before = {};
  };

  CoreOptions with_everything() {
    CoreOptions o = options("The old king had a daughter, and the old king");
    o.examples = {example("First", "The first prompt"), example("Second", "The second prompt")};
    o.tours = load_tours({assets_folder() / "tours"}).tours;
    return o;
  }

  static auto item_click(std::string label) {
    return [label](Core& core) { click_item(core, label); };
  }
  static auto tabs_to(std::string label) {
    return [label](Core& core) { tab_and_press(core, label); };
  }
  template <class... Actions>
  static auto doing(Actions... actions) {
    return [=](Core& core) { (core.apply(actions), ...); };
  }
  static auto key(Key k, Modifiers modifiers = {}) {
    return [=](Core& core) { press(core, k, modifiers); };
  }
  /// Opens a menu by its button and clicks a line.
  static auto menu_click(std::string button, std::string line) {
    return [=](Core& core) {
      click_item(core, button);
      click_item(core, line);
    };
  }
  static auto menu_keys(Key k, Modifiers modifiers, std::string line) {
    return [=](Core& core) {
      press_and_draw(core, k, modifiers);
      tab_and_press(core, line, Key::enter);
    };
  }
  static auto cell_click(std::string view, int id, int row = 0, int col = 0) {
    return [=](Core& core) { click(core, cell(picture(core.window(), view), id, row, col)); };
  }
  /// Moves to a picture by F6 and presses keys.
  static auto in_picture(std::string title, std::vector<std::pair<Key, Modifiers>> keys) {
    return [=](Core& core) {
      for (int i = 0; i < 9 && keyboard_at(core) != title; ++i) press_and_draw(core, Key::f6);
      for (const auto& [k, modifiers] : keys) press_and_draw(core, k, modifiers);
    };
  }

  static void head_off_before(Core& core) { core.apply(ToggleEdit{head_off(0, 1)}); }

  std::vector<Step> steps() {
    return {
        {"example", menu_click("Examples", "Second"), menu_keys(Key{'l'}, {.ctrl = true}, "Second"),
         [](const Core& core) { return prompt(core) == "The second prompt"; }},
        {"append a guess",
         [](Core& core) {
           const PlacedPicture& next = picture(core.window(), "next");
           click(core, cell(next, next.picture->regions.front().id));
         },
         key(Key{'1'}, {.alt = true}),
         [](const Core& core) {
           return prompt(core).starts_with("The old king had a daughter, and the old king ");
         }},
        {"the next head", cell_click("heads", 1), key(Key::right, {.shift = true, .alt = true}),
         [](const Core& core) { return core.state().selection.head == 1; }},
        {"the query before",
         [](Core& core) {
           click(core, cell(picture(core.window(), "tokens"), core.snapshot().run->run->length() - 2));
         },
         key(Key::up, {.ctrl = true}),
         [](const Core& core) {
           return core.state().selection.query == core.snapshot().run->run->length() - 2;
         }},
        {"choose a key", cell_click("heatmap", 0, 4, 2),
         in_picture("Heatmap", {{Key::right, {.shift = true}}}),
         [](const Core& core) { return core.state().selection.key >= 0; }, doing(SelectQuery{4})},
        {"step through the views", menu_click("Views", "Scores"), key(Key::page_down, {.ctrl = true}),
         [](const Core& core) { return core.state().view == "scores"; }},
        {"a tour",
         [](Core& core) {
           menu_click("More", "Tours")(core);
           click_item(core, core.state().tours.front().title);
         },
         [](Core& core) {
           menu_keys(Key::f10, {}, "Tours")(core);
           tab_and_press(core, core.state().tours.front().title);
         },
         [](const Core& core) { return core.state().tour.tour == 0; }},
        {"its next stop", item_click("Next stop"), key(Key::page_down, {.alt = true}),
         [](const Core& core) { return core.state().tour.stop == 1; }, doing(OpenTour{0})},
        {"the second of two lists",
         [](Core& core) {
           click_item(core, "Curves as text");
           type(core, "7");
         },
         [](Core& core) {
           tab_and_press(core, "Curves as text");
           type(core, "7");
         },
         [](const Core& core) {
           return core.state().options.value(option("curves")) == OptionValue(std::vector{7});
         },
         doing(ShowView{"lines"}, ShowView{"positions", true})},
        {"all of it again", item_click("Fit"), key(Key{'0'}, {.alt = true}),
         [](const Core& core) { return core.state().options[kZoom] == Zoom{}; },
         [](Core& core) {
           core.apply(SetOption{&kZoom, Zoom{1, 1, 5, 5}});
         }},
        {"wider panes",
         [](Core& core) {
           const viz::Point at = item(core, "heads splitter");
           drag(core, at, {at.x + 30, at.y});
         },
         [](Core& core) {
           tab_to(core, "heads splitter");
           press_and_draw(core, Key::right);
         },
         [](const Core& core) { return core.state().panes.heads > 0; }},
        {"dark", menu_click("More", "Toggle dark theme"), key(Key{'t'}, {.ctrl = true}),
         [](const Core& core) { return core.state().dark; }},
        {"generate", item_click("Generate"), key(Key{'g'}, {.ctrl = true}),
         [](const Core& core) { return core.state().generation.running; }},
        {"copy a text",
         [](Core& core) {
           open_menu(core, "tokens", 2);
           click_line(core, "Copy id");
         },
         [](Core& core) {
           press(core, Key::left, {.ctrl = true, .shift = true});
           press(core, Key{'c'}, {.ctrl = true});
         },
         [this](const Core&) { return !clipboard_.empty() && clipboard_.size() < 20; },
         [this](Core&) { clipboard_.clear(); }},
        {"a model from a folder",
         [](Core& core) {
           click_item(core, "Model");
           click_item(core, "Open folder…");
           wait_for_folder(core);
           click_item(core, "a model");
         },
         [](Core& core) {
           press_and_draw(core, Key{'o'}, {.ctrl = true});
           wait_for_folder(core);
           tab_and_press(core, "a model");
         },
         [](const Core& core) { return core.state().model.filename() == "a model"; },
         [this](Core&) {
           if (!fs::exists(folder_.path() / "a model"))
             fs::copy(bundled_folder(), folder_.path() / "a model");
         }},
        {"a head off",
         [](Core& core) {
           open_menu(core, "heads", 0);
           click_item(core, "Turn off L0 H0");
         },
         key(Key{'/'}, {.alt = true}),
         [](const Core& core) { return core.state().edits.active().size() == 1; }},
        {"no position for a token",
         [](Core& core) {
           open_menu(core, "tokens", 1);
           click_line(core, "Remove the position of");
         },
         [](Core& core) {
           in_picture("Tokens", {{Key::f10, {.shift = true}}})(core);
           for (const WindowItem& line : core.window().items)
             if (line.layer > 0 && line.label.starts_with("Remove the position of")) {
               tab_and_press(core, std::string(line.label), Key::enter);
               return;
             }
         },
         [](const Core& core) { return core.state().edits.active().size() == 1; }},
        {"a change switched", item_click("Switch L0 H1 off"), tabs_to("Switch L0 H1 off"),
         [](const Core& core) { return core.state().edits.active().empty(); }, head_off_before},
        {"a change undone", item_click("Undo"), key(Key{'z'}, {.ctrl = true}),
         [](const Core& core) { return core.state().edits.edits.empty(); }, head_off_before},
        {"quit", menu_click("More", "Quit"), key(Key{'q'}, {.ctrl = true}),
         [](const Core& core) { return core.state().quit; }},
    };
  }

  static void wait_for_folder(Core& core) {
    wait_until(core, [&] { return !core.state().open_form.loading; });
  }

  void expect_done(Core& core, const Step& step, const std::function<void(Core&)>& hand) {
    shown(core);
    if (step.before) step.before(core);
    if (!core.state().generation.running) shown(core);
    EXPECT_FALSE(step.done(core)) << "already before";
    hand(core);
    wait_until(core, [&] { return step.done(core); });
  }
};

TEST_F(ReachTest, EverythingByEitherHandAlone) {
  for (const Step& step : steps()) {
    for (const auto& hand : {step.by_mouse, step.by_keyboard}) {
      SCOPED_TRACE(step.what);
      Core core(with_everything());
      expect_done(core, step, hand);
    }
  }
}

}  // namespace
}  // namespace headscope::app::reach_test
