// The command palette: what a few letters find, and what it does.

#include "app/window/palette.h"

#include "app/run/analyses/heads.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::palette_test {
namespace {

class PaletteTest : public CoreTest {};

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
                                     {"attention heatmap", "Heatmap"}}) {
    const auto entries = found(core, words);
    const auto view = std::ranges::find(entries, title, &PaletteEntry::label);
    ASSERT_NE(view, entries.end()) << words;
    EXPECT_EQ(view->kind, "view");
    EXPECT_LT(view - entries.begin(), 5) << words;
  }
}

TEST_F(PaletteTest, FindsEveryKindOfThing) {
  CoreFixture core(options("The old king had a daughter"));
  const auto first = [&](std::string_view letters) { return found(core, letters).front(); };
  EXPECT_EQ(first("logit lens").label, "Logit lens");
  EXPECT_EQ(first("5.5").label, "L5 H5");
  EXPECT_EQ(first("L3 H2").label, "L3 H2");
  EXPECT_EQ(first("dark").label, "Toggle dark theme");
  EXPECT_EQ(first("dark").keys, "Ctrl+T");
  EXPECT_THAT(first("king").label, HasSubstr("king"));
  const OptionSpec& scale = option("value-scale");
  const std::string label(scale.label), value(scale.choices[1].label);
  EXPECT_EQ(first(label + " " + value).label, label + ": " + value);
  for (const char* id : {"pass", "query_key_space"}) {
    const auto all = found(core, id);
    EXPECT_TRUE(std::ranges::any_of(all, [](const auto& entry) { return entry.kind == "view"; })) << id;
  }
}

TEST_F(PaletteTest, AWholeNameComesFirst) {
  CoreFixture core(options());
  for (const View& view : all_tabs()) {
    const PaletteEntry entry = found(core, view.title).front();
    EXPECT_EQ(entry.label, view.title);
    EXPECT_EQ(entry.kind, "view");
  }
}

TEST_F(PaletteTest, AKindOfThingListsThem) {
  CoreOptions o = options();
  o.tours = load_tours({assets_folder() / "tours"}).tours;
  CoreFixture core(std::move(o));
  EXPECT_EQ(found(core, "tour").front().kind, "tour");
}

TEST_F(PaletteTest, AnOptionOfTheShownViewDoesNotLeaveIt) {
  CoreFixture core(options());
  apply_and_show(core, ShowView{"softmax"});  // the query view has this option, too, and comes first
  press_and_show(core, Key::k, {.ctrl = true});
  type_and_show(core, "strongest first");
  press_and_show(core, Key::enter);
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
}

TEST_F(PaletteTest, EnterPerformsTheChosenEntry) {
  CoreFixture core(options());
  const auto run = [&](std::string_view letters) {
    press_and_show(core, Key::k, {.ctrl = true});
    EXPECT_EQ(core.state().dialog, Dialog::palette);
    type_and_show(core, letters);
    press_and_show(core, Key::enter);
    EXPECT_NE(core.state().dialog, Dialog::palette);
  };
  run("5.5");
  EXPECT_EQ(core.state().selection.layer, 5);
  EXPECT_EQ(core.state().selection.head, 5);
  run("logit lens");
  EXPECT_EQ(core.state().view, "lens");
  press_and_show(core, Key::k, {.ctrl = true});
  type_and_show(core, "head");
  for (int i = 0; i < 2; ++i) press_and_show(core, Key::down);
  EXPECT_EQ(core.state().palette.chosen, 2);
  for (int i = 0; i < 3; ++i) press_and_show(core, Key::up);
  EXPECT_EQ(core.state().palette.chosen, 0) << "not above the first";
  press_and_show(core, Key::escape);
  EXPECT_EQ(core.state().dialog, Dialog::none);
  run("export");
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
    const bool is_share = metric.unit == "weight" || metric.unit == "share";
    EXPECT_EQ(entry->label.ends_with(" %"), is_share) << entry->label;
  }
  const std::string chosen = found(core, "previous token").front().label;
  press_and_show(core, Key::k, {.ctrl = true});
  type_and_show(core, "previous token");
  press_and_show(core, Key::enter);
  const Selection& selection = core.state().selection;
  EXPECT_THAT(chosen, StartsWith(head_name(selection.layer, selection.head) + ": previous token "));
}

TEST_F(PaletteTest, FindsTheEditsOfAHeadByOtherWords) {
  CoreFixture core(options("The old king had a daughter"));
  apply_and_show(core, SelectHead{1, 6});
  for (const char* words : {"turn off", "switch off", "ablate", "Set head to zero", "knock out"})
    EXPECT_EQ(found(core, words).front().label, "Turn off L1 H6") << words;
  EXPECT_EQ(found(core, "mean ablation").front().label, "Replace L1 H6 by its mean");
  press_and_show(core, Key::k, {.ctrl = true});
  type_and_show(core, "switch off");
  press_and_show(core, Key::enter);
  ASSERT_EQ(core.state().edits.edits.size(), 1U);
  EXPECT_EQ(core.state().edits.edits[0].edit, head_off(1, 6));
  EXPECT_EQ(found(core, "switch off").front().label, "Undo: L1 H6 off");
}

TEST_F(PaletteTest, WordsThatNothingHasAreSearchedInTheHelp) {
  CoreFixture core(options());
  press_and_show(core, Key::k, {.ctrl = true});
  type_and_show(core, "zyxw");
  EXPECT_EQ(found(core, "zyxw").size(), 1U);
  press_and_show(core, Key::enter);
  EXPECT_EQ(core.state().dialog, Dialog::help);
  EXPECT_EQ(core.state().help_form.search.edit.text, "zyxw");
}

}  // namespace
}  // namespace headscope::app::palette_test
