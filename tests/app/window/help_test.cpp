// The help with its guide, definitions in tooltips, and the command palette.

#include "app/run/analyses/heads.h"
#include "app/run/sources/paths.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/window/commands.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::help_test {
namespace {

class HelpTest : public HandsTest {
 protected:
  CoreOptions with_guide() {
    CoreOptions o = options();
    o.guide = load_guide(assets_folder() / "guide");
    o.rest_time = std::chrono::milliseconds(0);
    return o;
  }
  static void search(Core& core, const std::string& words) {
    apply_and_show(core, TypeInField{Field::help, Replace{words}});
  }
  /// Moves the mouse there; `rests`: and waits as long as it takes until a term is defined.
  /// The window draws with the mouse's place, and reports moves only while a button is held.
  static void point(Core& core, viz::Point at, bool rests) {
    WindowFrame frame;
    frame.pointer = at;
    core.draw(frame);
    if (!rests) return;
    core.take_results();
    core.draw(frame);
  }
};

TEST_F(HelpTest, ShowsTheWindowThenTheKeysAndAnyPageOfTheGuide) {
  CoreFixture core(with_guide());
  press_and_show(core, Key::f1);
  EXPECT_TRUE(says(core, "This page explains how to work in the window"));
  EXPECT_EQ(keyboard_at(core), "search the help");
  click_and_show(core, "Keys and mouse");
  EXPECT_TRUE(says(core, "Ctrl+E"));
  click_and_show(core, "Edits");
  EXPECT_EQ(core.state().help_form.page, "edits");
  EXPECT_TRUE(says(core, "An edit sets, scales"));
  EXPECT_TRUE(says(core, "headscope predict --prompt")) << "code";
  EXPECT_FALSE(says(core, "`")) << "nothing of the notation";
  EXPECT_FALSE(says(core, "**"));
  press_and_show(core, Key::f1);
  EXPECT_EQ(core.state().dialog, Dialog::none);
  press_and_show(core, Key::f1);
  EXPECT_EQ(core.state().help_form.page, "edits") << "where it was left";
}

TEST_F(HelpTest, FindsWhatIsSearchedInAllOfIt) {
  CoreFixture core(with_guide());
  press_and_show(core, Key::f1);
  type_and_show(core, "perplex");
  EXPECT_TRUE(says(core, "Two to the power")) << "of the glossary";
  EXPECT_FALSE(says(core, "Ctrl+E"));
  search(core, "along the sum");
  EXPECT_TRUE(says(core, "Head output"));
  EXPECT_TRUE(says(core, "(in the window: Attention → Merge)")) << "where the view is";
  search(core, "undo the last change of");
  EXPECT_TRUE(says(core, "Ctrl+Z")) << "of the keys";
  EXPECT_FALSE(says(core, "Ctrl+G")) << "only the line in which it was found";
  search(core, "zyxw no such words");
  EXPECT_TRUE(says(core, "Nothing found."));
  click_and_show(core, "Edits");
  EXPECT_TRUE(says(core, "An edit sets, scales"));
  EXPECT_EQ(core.state().help_form.search.edit.text, "");
}

TEST_F(HelpTest, EnterStaysAtASearch) {
  CoreFixture core(with_guide());
  const std::string text = prompt(core);
  press_and_show(core, Key::f1);
  type_and_show(core, "second");
  press_and_show(core, Key::enter);
  EXPECT_EQ(core.state().dialog, Dialog::help);
  type_and_show(core, " prompt");
  EXPECT_EQ(core.state().help_form.search.edit.text, "second prompt");
  EXPECT_EQ(prompt(core), text);
  search(core, "");
  press_and_show(core, Key::enter);
  EXPECT_EQ(core.state().dialog, Dialog::none) << "without a search";
}

TEST_F(HelpTest, LinksLeadToTheirPlace) {
  CoreFixture core(with_guide());
  apply_and_show(core, ShowGuide{"glossary", ""});
  const auto* link = find_item(core, "sweep");
  ASSERT_NE(link, nullptr);
  click_and_show(core, "sweep");
  EXPECT_EQ(core.state().view, "sweep") << "an entry's view opens";
  EXPECT_EQ(core.state().dialog, Dialog::none);
  for (int i = 0; i < 2; ++i) {
    apply_and_show(core, ShowGuide{"views", ""});
    click_and_show(core, "comparison");
    EXPECT_EQ(core.state().help_form.page, "window");
    EXPECT_EQ(core.state().help_form.anchor, "comparison");
    EXPECT_TRUE(says(core, "Every view shows the edited run or the baseline"))
        << "scrolled to it, time " << i;
    EXPECT_FALSE(says(core, "This page explains how to work in the window"));
  }
}

TEST_F(HelpTest, ALabelIsDefinedOnceTheMouseRests) {
  CoreFixture core(with_guide());
  apply_and_show(core, ShowView{"lens"});
  const viz::Point tab = item(core, "Views");
  point(core, tab, false);
  EXPECT_TRUE(says(core, "What the model would predict")) << "the tooltip itself";
  EXPECT_FALSE(says(core, "Reading the residual stream early"));
  EXPECT_TRUE(core.seconds_until_update().has_value()) << "the window has to wake";
  point(core, tab, true);
  EXPECT_TRUE(says(core, "Reading the residual stream early"));
  EXPECT_TRUE(says(core, "softmax(ln_f"));
  EXPECT_FALSE(core.seconds_until_update().has_value());
  point(core, {tab.x + 2, tab.y}, false);
  EXPECT_FALSE(says(core, "Reading the residual stream early")) << "it moves again";
  EXPECT_TRUE(says(core, "What the model would predict"));
  for (const Key key : {Key::page_down, Key::page_up}) press(core, key, {.ctrl = true});
  point(core, {tab.x + 2, tab.y}, false);
  EXPECT_FALSE(says(core, "What the model would predict")) << "a key has changed what the mouse is on";
}

TEST_F(HelpTest, TextsOfPicturesAreDefinedButNoTokens) {
  CoreOptions o = with_guide();
  o.window.prompt = Prompt{"The key and the key", {}, false};
  CoreFixture core(std::move(o));
  apply_and_show(core, ShowView{"lens"});
  ASSERT_THAT(core.snapshot().run->tokens.labels, Contains("·key"));
  const auto point_at = [&](std::string_view words) {
    const PlacedPicture placed = picture(core.window(), "lens");
    for (const viz::Item& drawn : placed.picture->scene.items) {
      const auto* run = std::get_if<viz::GlyphRun>(&drawn);
      if (run == nullptr || run->text != words) continue;
      const float along = 4, up = 3, c = std::cos(run->angle), s = std::sin(run->angle);
      const viz::Point at{run->origin.x + c * along + s * up, run->origin.y + s * along - c * up};
      if (viz::hit_test(placed.picture->regions, at)) continue;  // has a tooltip of its own
      return point(core, {placed.where.x + at.x, placed.where.y + at.y}, true);
    }
    ADD_FAILURE() << "no text " << words;
  };
  point_at("residual stream");
  EXPECT_TRUE(says(core, "The vector of each position that runs through")) << "the title of an axis";
  shown(core);
  point_at("·key");
  EXPECT_FALSE(core.window().over_term) << "a token on the other axis";
}

class PaletteTest : public CoreTest {
 protected:
  /// Opens the palette, types, and performs what it has first.
  static void perform(Core& core, std::string_view letters) {
    press_and_show(core, Key{'k'}, {.ctrl = true});
    EXPECT_EQ(core.state().dialog, Dialog::palette);
    type_and_show(core, letters);
    press_and_show(core, Key::enter);
    EXPECT_NE(core.state().dialog, Dialog::palette);
  }
};

std::vector<PaletteEntry> found(const Core& core, std::string_view letters) {
  return palette_matches(palette_entries(core.state(), core.snapshot(), core.window().pictures), letters);
}

TEST(Palette, RanksWholeLabelsBeforeBeginningsWordsAndLetters) {
  const std::vector<PaletteEntry> entries{{"Limits of all", "view"}, {"A Lens", "view"},
                                          {"Lens colour", "view"},   {"Lens", "view"},
                                          {"Lens", "glossary"},      {"Else", "view", "", "the lens"},
                                          {"Other", "view"},         {"Flens", "view"}};
  std::vector<std::string> labels;
  for (const PaletteEntry& entry : palette_matches(entries, "LENS"))
    labels.push_back(entry.label + " " + entry.kind);
  EXPECT_THAT(labels, ElementsAre("Lens view", "Lens colour view", "A Lens view", "Lens glossary",
                                  "Else view", "Flens view", StartsWith("Search the help")));
}

TEST_F(PaletteTest, FindsViewsByTheFieldsWordsInAnyOrder) {
  CoreFixture core(options());
  for (const auto& [words, title] : {std::pair{"positional encoding", "Positions"},
                                     {"masked scores", "Scores"},
                                     {"next token", "Predictions"},
                                     {"token next", "Predictions"},
                                     {"logit lens", "Logit lens"},
                                     {"lens logit", "Logit lens"},
                                     {"space query", "Query-key space"},
                                     {"what a head outputs", "Merge"},
                                     {"attention heatmap", "Heatmap"}}) {
    const auto entries = found(core, words);
    const auto view = std::ranges::find(entries, title, &PaletteEntry::label);
    ASSERT_NE(view, entries.end()) << words;
    EXPECT_EQ(view->kind, "view");
    EXPECT_LT(view - entries.begin(), 5) << words;
  }
}

TEST_F(PaletteTest, APaneThatANarrowWindowLeavesOutForTheToursIsShownAgain) {
  CoreOptions o = options();
  o.tours = {parse_tour("# A tour\n\nAbout.\n\n## A stop\n- prompt: The old king\n\nWords.\n", "a.md")};
  CoreFixture core(std::move(o));
  const auto has_next = [&] {
    return std::ranges::any_of(shown(core, 1024, 700).pictures,
                               [](const PlacedPicture& placed) { return placed.view->id == "next"; });
  };
  core.apply(OpenTour{});
  ASSERT_FALSE(has_next());
  const PaletteEntry entry = found(core, "next token").front();
  EXPECT_EQ(entry.label, find_view("next")->title);
  for (const Action& action : entry.acts) core.apply(action);
  EXPECT_TRUE(has_next());
  EXPECT_NE(found(core, "next token").front().label, entry.label) << "it is there";
}

TEST_F(PaletteTest, FindsEveryKindOfThing) {
  CoreOptions o = options("The old king had a daughter");
  o.examples = {example("First", "A king"), example("The second", "The kings")};
  CoreFixture core(std::move(o));
  const auto first = [&](std::string_view letters) { return found(core, letters).front(); };
  EXPECT_EQ(first("L3 H2").label, "L3 H2");
  EXPECT_EQ(first("dark").label, "Toggle dark theme");
  EXPECT_EQ(first("dark").keys, "Ctrl+T");
  EXPECT_EQ(first("king").kind, "token") << "before examples with it";
  EXPECT_EQ(first("temperature").label, "Temperature: 1 → 1.05");
  EXPECT_EQ(first("Colours Log").label, "Colours: Log");
  for (const View& view : all_tabs()) {
    EXPECT_EQ(first(view.title).label, view.title) << "a whole name comes first";
    EXPECT_EQ(first(view.title).kind, "view");
  }
  const auto by_id = found(core, "query_key_space");
  EXPECT_NE(std::ranges::find(by_id, "view", &PaletteEntry::kind), by_id.end());
}

TEST_F(PaletteTest, AnOptionOfTheShownViewDoesNotLeaveIt) {
  CoreFixture core(options());
  apply_and_show(core, ShowView{"softmax"});  // the query view has this option, too, and comes first
  perform(core, "strongest first");
  EXPECT_EQ(core.state().view, "softmax");
  EXPECT_TRUE(value<bool>(core, "strongest-first"));
}

TEST_F(PaletteTest, OffersNoCommandThatIsNotPossible) {
  CoreFixture core(options());
  const auto offers = [&](std::string_view label) {
    return std::ranges::any_of(found(core, ""),
                               [&](const auto& entry) { return entry.label.starts_with(label); });
  };
  EXPECT_FALSE(offers("Undo"));
  EXPECT_TRUE(offers("Quit"));
  apply_and_show(core, ToggleEdit{model::SetValues{{{model::Site::z, 1}, 6, {}, {}}, {0}}});
  EXPECT_TRUE(offers("Undo"));
  perform(core, "undo");
  EXPECT_TRUE(core.state().edits.edits.empty());
}

TEST_F(PaletteTest, EnterPerformsTheChosenEntry) {
  CoreFixture core(options());
  for (const auto& [letters, name] : {std::pair("5.5", "L5 H5"), {"l4H3", "L4 H3"}}) {
    perform(core, letters);
    EXPECT_EQ(head_name(core.state().selection.layer, core.state().selection.head), name);
  }
  perform(core, "logit lens");
  EXPECT_EQ(core.state().view, "lens");
  press_and_show(core, Key{'k'}, {.ctrl = true});
  type_and_show(core, "head");
  for (int i = 0; i < 2; ++i) press_and_show(core, Key::down);
  EXPECT_EQ(core.state().palette.chosen, 2);
  for (int i = 0; i < 3; ++i) press_and_show(core, Key::up);
  EXPECT_EQ(core.state().palette.chosen, 0) << "not above the first";
  press_and_show(core, Key::escape);
  EXPECT_EQ(core.state().dialog, Dialog::none);
  perform(core, "export");
  EXPECT_EQ(core.state().dialog, Dialog::export_);
}

TEST_F(PaletteTest, FindsTheHeadsThatAreHighestInAMetric) {
  CoreFixture core(options("The old king had a daughter, and the old king"));
  const auto thumbnails = core.window().pictures.front().context.ask(ThumbnailsOfHeads{});
  ASSERT_TRUE(thumbnails);
  const int heads = core.snapshot().run->run->config.n_head;
  for (const HeadMetricKind& metric : head_metrics()) {
    SCOPED_TRACE(metric.name);
    std::vector<double> values;
    for (const auto& of_head : thumbnails->of_head) values.push_back(of_head->metrics[metric.id]);
    const auto highest = static_cast<int>(std::ranges::max_element(values) - values.begin());
    const std::string name = head_name(highest / heads, highest % heads) + ": " + std::string(metric.phrase);
    const auto entries = found(core, metric.phrase);
    const auto entry = std::ranges::find(entries, "head metric", &PaletteEntry::kind);
    ASSERT_NE(entry, entries.end());
    EXPECT_LT(entry - entries.begin(), 3) << "in sight at once";
    EXPECT_THAT(entry->label, StartsWith(name + " "));
    EXPECT_EQ(entry->acts.size(), 1U) << "no view shows the metric";
    const bool is_share = metric.unit == "weight" || metric.unit == "share";
    EXPECT_EQ(entry->label.ends_with(" %"), is_share) << entry->label;
  }
  apply_and_show(core, ShowView{"metrics"});
  const HeadMetricKind& last = head_metrics().back();
  perform(core, last.phrase);
  EXPECT_EQ(value<int>(core, "metric"), static_cast<int>(last.id));
}

TEST_F(PaletteTest, FindsTheEditsOfAHeadByOtherWords) {
  CoreFixture core(options("The old king had a daughter"));
  apply_and_show(core, SelectHead{1, 6});
  for (const char* words : {"turn off", "switch head off", "ablate", "Set head to zero", "knock out"})
    EXPECT_EQ(found(core, words).front().label, "Turn off L1 H6") << words;
  EXPECT_EQ(found(core, "mean ablation").front().label, "Replace L1 H6 by its mean");
  perform(core, "switch off");
  ASSERT_EQ(core.state().edits.edits.size(), 1U);
  EXPECT_EQ(core.state().edits.edits[0].edit, head_off(1, 6));
  EXPECT_EQ(found(core, "switch off").front().label, "Undo: L1 H6 off");
}

TEST_F(PaletteTest, WordsThatNothingHasAreSearchedInTheHelp) {
  CoreFixture core(options());
  press_and_show(core, Key{'k'}, {.ctrl = true});
  type_and_show(core, "zyxw");
  EXPECT_EQ(found(core, "zyxw").size(), 1U);
  press_and_show(core, Key::enter);
  EXPECT_EQ(core.state().dialog, Dialog::help);
  EXPECT_EQ(core.state().help_form.search.edit.text, "zyxw");
}

}  // namespace
}  // namespace headscope::app::help_test
