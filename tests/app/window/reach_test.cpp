// Every action can be done by mouse alone and by keyboard alone.

#include "app/run/sources/paths.h"
#include "app/views/parts/attention_maps.h"
#include "app/views/parts/menu_lines.h"
#include "model/files/error.h"
#include "tests/app/window/window_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::reach_test {
namespace {

namespace fs = std::filesystem;

class ReachTest : public HandsTest {
 protected:
  ReachTest() { testing::write_model_with_warnings(odd_); }

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
    o.examples_model = bundled_folder();
    o.tours = load_tours({assets_folder() / "tours"}).tours;
    o.guide = bundled_guide();
    o.find_models = [] {
      return std::vector<DiscoveredModel>{{"tales (bundled)", bundled_folder()},
                                          {"org/other", "/nowhere/other"}};
    };
    o.fetch = [](const HubModel&, const FetchOptions& how) -> fs::path {
      while (!how.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      throw model::Stopped();
    };
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
  static void type_edit(Core& core) {
    type(core, "L1H6.z=0");
    press(core, Key::enter);
  }

  std::vector<Step> steps() {
    const auto selected = [](auto of) {
      return [of](const Core& core) { return of(core.state().selection); };
    };
    const OptionSpec& scale = option("value-scale");
    const auto example = [](const Core& core) { return prompt(core) == "The second prompt"; };
    std::vector<Step> steps{
        {"example", menu_click("Examples", "Second"), menu_keys(Key{'l'}, {.ctrl = true}, "Second"), example},
        {"append a guess",
         [](Core& core) {
           const PlacedPicture& next = picture(core.window(), "next");
           click(core, cell(next, next.picture->regions.front().id));
         },
         key(Key{'1'}, {.alt = true}),
         [](const Core& core) {
           return prompt(core).starts_with("The old king had a daughter, and the old king ");
         }},
        {"go to a text of the tree",
         [](Core& core) {
           const PlacedPicture& tree = picture(core.window(), "tree");
           click(core, cell(tree, tree.picture->regions.at(1).id));
         },
         in_picture("Tree", {{Key::right, {}}}),
         [](const Core& core) { return core.state().tries->size() == 1; }, doing(ShowView{"tree"})},
        {"choose a head",
         [](Core& core) {
           click(core, cell(picture(core.window(), "heads"), core.snapshot().run->run->config.n_head + 2));
         },
         in_picture("Heads", {{Key::down, {}}, {Key::right, {}}, {Key::right, {}}}),
         selected([](const Selection& s) { return s.layer == 1 && s.head == 2; })},
        {"the next head", cell_click("heads", 1), key(Key::right, {.shift = true, .alt = true}),
         selected([](const Selection& s) { return s.layer == 0 && s.head == 1; })},
        {"choose a query", cell_click("tokens", 0), in_picture("Tokens", {{Key::home, {}}}),
         selected([](const Selection& s) { return s.query == 0; })},
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
         selected([](const Selection& s) { return s.key >= 0; }), doing(SelectQuery{4})},
        {"a view beside", item_click("Two views"), key(Key{'d'}, {.ctrl = true}),
         [](const Core& core) { return !core.state().second_view.empty(); }},
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
        {"no tour", item_click("Close the tour"), menu_keys(Key::f10, {}, "Tours"),
         [](const Core& core) { return !core.state().tour.open; }, doing(OpenTour{0})},
        {"back", item_click("Back"), key(Key::left, {.alt = true}),
         [](const Core& core) { return core.state().view == UiState().view; }, doing(ShowView{"query"})},
        {"one view again", item_click("One view"), key(Key{'d'}, {.ctrl = true}),
         [](const Core& core) { return core.state().second_view.empty(); }, doing(ShowView{"scores", true})},
        {"an option", item_click("Colours Log"), key(Key{'s'}, {.alt = true}),
         [&scale](const Core& core) { return core.state().options.value(scale) == OptionValue(1); }},
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
        {"zoom",
         [](Core& core) {
           core.handle(MouseWheel{cell(picture(core.window(), "heatmap"), 0, 5, 2), 0, 2, {}});
         },
         key(Key{'+'}, {.alt = true}), [](const Core& core) { return core.state().options[kZoom].rows > 0; }},
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
        {"the stages played", item_click("Play"), tabs_to("Play"),
         [](const Core& core) { return value<double>(core, "score-stage") >= 1; }, doing(ShowView{"scores"})},
        {"larger text", menu_click("More", "Larger text"), key(Key{'='}, {.ctrl = true}),
         [](const Core& core) { return core.state().font_size == 15; }},
        {"start token", item_click("Start token"), key(Key{'b'}, {.ctrl = true}),
         [](const Core& core) { return core.state().start_token; }},
        {"generate", item_click("Generate"), key(Key{'g'}, {.ctrl = true}),
         [](const Core& core) { return core.state().generation.running; }},
        {"help", menu_click("More", "Help"), key(Key::f1),
         [](const Core& core) { return core.state().dialog == Dialog::help; }},
        {"a page of the guide", item_click("Edits"), tabs_to("Edits"),
         [](const Core& core) { return core.state().help_form.page == "edits"; },
         doing(ShowDialog{Dialog::help})},
        {"the export's form", item_click("Scale 3×"), tabs_to("Scale 3×"),
         [](const Core& core) { return core.state().export_form.scale == 3; },
         doing(ShowDialog{Dialog::export_})},
        {"export",
         [](Core& core) {
           click_and_show(core, "Export");
           click_item(core, "Export file");
         },
         [](Core& core) {
           press_and_draw(core, Key{'e'}, {.ctrl = true});
           press_and_show(core, Key::enter);  // for the weights' hash
         },
         [](const Core& core) { return core.state().message.text.starts_with("Saved "); }},
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
        {"copy the numbers", menu_click("More", "Copy data"), key(Key{'c'}, {.ctrl = true, .shift = true}),
         [this](const Core&) { return clipboard_.find("query\tquery token") != std::string::npos; },
         [this](Core&) { clipboard_.clear(); }},
        {"the models", item_click("Model"), key(Key{'m'}, {.ctrl = true}),
         [](const Core& core) {
           return core.widgets().menu == Menu::models || core.widgets().open == Menu::models;
         }},
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
        {"a model from the hub", menu_click("Model", "openai-community/gpt2-large"),
         menu_keys(Key{'m'}, {.ctrl = true}, "openai-community/gpt2-large"),
         [](const Core& core) { return core.state().fetching.model.has_value(); }},
        {"not to fetch it", item_click("Cancel fetching"), tabs_to("Cancel fetching"),
         [](const Core& core) {
           return core.state().fetching.stop.stop_requested() || !core.state().fetching.model;
         },
         [](Core& core) { core.apply(FetchModel{{"some-org/model"}}); }},
        {"no offer", item_click("Close the offer"), tabs_to("Close the offer"),
         [](const Core& core) { return !core.state().offer_models; }},
        {"into a folder", item_click("inside/"), tabs_to("inside/"),
         [](const Core& core) {
           return core.state().open_form.listing.folder.filename() == "inside" ||
                  core.state().open_form.loading;
         },
         [this](Core& core) {
           fs::create_directories(folder_.path() / "inside");
           core.apply(ShowDialog{Dialog::open});
           wait_for_folder(core);
         }},
        {"close an error", item_click("Close the message"), key(Key::escape),
         [](const Core& core) { return core.state().message.text.empty(); },
         doing(ShowMessage{"an error", true})},
        {"close a model's warnings", item_click("Close the warnings"), tabs_to("Close the warnings"),
         [](const Core& core) { return !core.state().closed_warnings.empty(); },
         [this](Core& core) { core.apply(OpenModel{odd_.path()}); }},
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
        {"paint on the mask",
         [](Core& core) {
           click_and_show(core, "Mouse Mask");
           const PlacedPicture map = picture(core.window(), "heatmap");
           drag(core, cell(map, 0, 8, 1), cell(map, 0, 8, 4));
         },
         [](Core& core) {
           press_and_draw(core, Key{'i'}, {.ctrl = true});
           type(core, "L0H0.mask=10/11");
           press(core, Key::enter);
         },
         [](const Core& core) {
           const auto edits = core.state().edits.active();
           return edits.size() == 1 && std::holds_alternative<model::SetMask>(edits.front());
         }},
        {"paint over a sweep",
         [](Core& core) {
           const PlacedPicture sweep = picture(core.window(), "sweep");
           drag(core, cell(sweep, 0, 1, 1), cell(sweep, 0, 2, 1));
         },
         type_edit, [](const Core& core) { return !core.state().edits.active().empty(); },
         doing(ShowView{"sweep"}, ShowEdits{true})},
        {"a place in a list of prompts",
         [](Core& core) {
           const PlacedPicture found = picture(core.window(), "search");
           click(core, cell(found, 0));
         },
         in_picture("Search", {{Key::down, {.shift = true}}}),
         [](const Core& core) { return prompt(core) == "A very old king"; },
         [](Core& core) {
           apply_and_show(core,
                          PromptsRead{std::make_shared<const PromptList>(
                              PromptList{"one.txt", {{{.text = "A very old king", .ids = {}}}}})},
                          SetOption{find_option("search-from"), 2});
         }},
        {"a change switched", item_click("Switch L0 H1 off"), tabs_to("Switch L0 H1 off"),
         [](const Core& core) { return core.state().edits.active().empty(); }, head_off_before},
        {"a change undone", item_click("Undo"), key(Key{'z'}, {.ctrl = true}),
         [](const Core& core) { return core.state().edits.edits.empty(); }, head_off_before},
        {"a change in words", type_edit, type_edit,
         [](const Core& core) { return core.state().edits.active().size() == 1; }, doing(ShowEdits{true})},
        {"all controls of a view", item_click("More options"),
         [](Core& core) { tab_and_press(core, "More options", Key::space); },
         [](const Core& core) { return core.state().all_controls; },
         doing(change(&UiState::all_controls, false))},
        {"the strip of changes", menu_click("More", "Edits bar"), key(Key{'i'}, {.ctrl = true}),
         [](const Core& core) { return core.state().edits_bar.open; }},
        {"the original", item_click("Show Baseline"), key(Key{'p'}, {.ctrl = true, .shift = true}),
         [](const Core& core) { return core.state().side == Side::baseline; }, head_off_before},
        {"a second prompt", menu_click("More", "Second prompt"), key(Key{'p'}, {.ctrl = true}),
         [](const Core& core) { return core.state().second.on; }},
        {"a second model",
         [](Core& core) {
           menu_click("More", "Second model…")(core);
           wait_until(core, [&] { return !core.state().models.empty(); });
           click_item(core, "org/other");
         },
         [](Core& core) {
           press_and_draw(core, Key{'m'}, {.ctrl = true, .shift = true});
           wait_until(core, [&] { return !core.state().models.empty(); });
           tab_and_press(core, "org/other", Key::enter);
         },
         [](const Core& core) { return !core.state().second.model.empty(); }},
        {"save the session",
         [](Core& core) {
           menu_click("More", "Save session")(core);
           click_and_show(core, "Save session");
         },
         [](Core& core) {
           press_and_draw(core, Key{'s'}, {.ctrl = true});
           press_and_show(core, Key::enter);
         },
         [](const Core& core) { return !core.state().session.empty() && fs::exists(core.state().session); },
         [this](Core&) { fs::remove(folder_.path() / "tales.headscope"); }},
        {"open a session",
         [](Core& core) {
           press_and_draw(core, Key{'o'}, {.ctrl = true});
           wait_for_folder(core);
           click_item(core, "other.headscope");
           wait_until(core, [&] { return prompt(core) == "another prompt"; });
         },
         [](Core& core) {
           press_and_draw(core, Key{'o'}, {.ctrl = true});
           wait_for_folder(core);
           tab_and_press(core, "other.headscope");
           wait_until(core, [&] { return prompt(core) == "another prompt"; });
         },
         [](const Core& core) { return prompt(core) == "another prompt"; },
         [this](Core&) {
           Session session;
           session.model = "tales";
           session.prompt.text = "another prompt";
           folder_.write("other.headscope", to_json(Recipe{session, {}}));
         }},
        {"quit", menu_click("More", "Quit"), key(Key{'q'}, {.ctrl = true}),
         [](const Core& core) { return core.state().quit; }},
    };
    return steps;
  }

  testing::TemporaryFolder odd_;

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

TEST_F(ReachTest, EverythingByMouseAlone) {
  for (const Step& step : steps()) {
    SCOPED_TRACE(step.what);
    Core core(with_everything());
    expect_done(core, step, step.by_mouse);
  }
}

TEST_F(ReachTest, EverythingByKeyboardAlone) {
  for (const Step& step : steps()) {
    SCOPED_TRACE(step.what);
    Core core(with_everything());
    expect_done(core, step, step.by_keyboard);
  }
}

}  // namespace
}  // namespace headscope::app::reach_test
