// Tests of what every row in the table of views declares; new views are included automatically.
#include "tests/app/views/view_suite.h"

#include "app/views/export.h"
#include "tests/app/cli/command_runs.h"
#include "tests/support/matchers.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app::view_suite_test {
namespace {

/// The last ones are too small for most.
constexpr std::array<std::pair<float, float>, 9> kSizes{
    {{420, 360}, {900, 700}, {1600, 1000}, {140, 140}, {90, 90}, {20, 500}, {500, 20}, {1, 1}, {0, 0}}};

INSTANTIATE_TEST_SUITE_P(Views, ViewSuite, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(ViewSuite, IsDescribed) {
  EXPECT_FALSE(view().title.empty());
  EXPECT_FALSE(view().help.empty());
  EXPECT_FALSE(spec_of(view().group).title.empty());
  ASSERT_TRUE(view().declare);
  for (const OptionSpec* option : view().options) {
    SCOPED_TRACE(option->name);
    EXPECT_EQ(option->label.empty() || option->help.empty(), option->pane_only && option->keys.empty());
    EXPECT_TRUE(allowed(*option, option->default_value));
    for (const Choice& choice : option->choices)
      EXPECT_FALSE(choice.name.empty() || choice.label.empty() || choice.help.empty());
    const bool number = option->choices.empty() && (std::holds_alternative<int>(option->default_value) ||
                                                    std::holds_alternative<double>(option->default_value));
    const bool list = std::holds_alternative<std::vector<int>>(option->default_value);
    EXPECT_EQ(option->low < option->high, number || list);
    EXPECT_EQ(option->keys.empty(), list || option->control == Control::none) << "a key for each control";
    EXPECT_FALSE(option->applies && option->kept && option->control == Control::none);
    EXPECT_EQ(std::ranges::count(all_options(), option), option->pane_only ? 0 : 1);
    EXPECT_EQ(find_option(option->name), option->pane_only ? nullptr : option)
        << "another option has its name, or it is none of the command line";
  }
  for (const KeyCommand& command : view().commands) {
    EXPECT_FALSE(command.help.empty());
    EXPECT_FALSE(command.keys.empty() && command.label.empty()) << command.help;
    EXPECT_NE(command.act, nullptr) << command.help;
  }
}

TEST_P(ViewSuite, FlagsReadWhatIsWritten) {
  for (const OptionSpec* option : view().options) {
    if (option->pane_only) continue;
    for (const OptionValue& value : ends_of(*option)) {
      const std::string text = to_text(*option, value);
      SCOPED_TRACE("--" + std::string(option->name) + " " + text);
      EXPECT_EQ(parse_option(*option, text), value);
      const Words given{"--" + std::string(option->flag_name()), text},
          named{"--" + std::string(option->name), text};
      EXPECT_EQ(parsed(Words{GetParam(), "--prompt", "x"} + given).session.options.value(*option), value);
      EXPECT_EQ(parsed(Words{"shot", "--prompt", "x"} + named).session.options.value(*option), value);
    }
  }
}

// The side panes are always visible, together with one tab.
TEST(Keys, OfViewsThatAreShownTogetherMeanOneThing) {
  for (const View& tab : views()) {
    if (tab.place != Place::tab) continue;
    std::map<char, std::string> meaning;
    const auto claim = [&](std::string_view keys, const std::string& what) {
      std::set<char> own(keys.begin(), keys.end());
      EXPECT_EQ(own.size(), keys.size()) << what << " has a key twice: " << keys;
      for (const char key : own) {
        const auto [entry, is_new] = meaning.emplace(key, what);
        EXPECT_TRUE(is_new || entry->second == what)
            << "\"" << key << "\" is " << entry->second << " and " << what << ", beside " << tab.id;
      }
    };
    for (const View& view : views()) {
      if (view.place == Place::tab && &view != &tab) continue;
      for (const OptionSpec* option : view.options) claim(option->keys, "--" + std::string(option->name));
      for (const KeyCommand& command : view.commands)
        claim(command.keys, std::string(view.id) + ": " + std::string(command.help));
    }
    EXPECT_FALSE(meaning.empty());
  }
}

// ---- pictures and files ----

/// Checks a picture. Its texts are checked only if the picture claims to be whole.
void expect_sound(const View& view, const ViewContext& c) {
  const Picture picture = view.build(c);
  EXPECT_EQ(picture.scene.width, c.width);
  EXPECT_EQ(picture.scene.height, c.height);
  EXPECT_EQ(senseless_item(picture.scene), -1) << "of " << picture.scene.items.size();
  if (picture.whole && std::min(c.width, c.height) >= 360) {  // smaller ones are cut at their edges
    EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  }
  for (const viz::Region& region : picture.regions) {
    EXPECT_TRUE(region.rect.x >= 0 && region.rect.y >= 0 && region.rect.w >= 0 && region.rect.h >= 0 &&
                region.rect.right() <= c.width + 0.5F && region.rect.bottom() <= c.height + 0.5F)
        << region.rect.x << "," << region.rect.y << " " << region.rect.w << " x " << region.rect.h;
  }
}

void expect_sound_files(const View& view, const ViewContext& c) {
  constexpr ExportOptions kOptions{.scale = 1, .page = Page::at_least};
  const viz::Scene page = export_picture_of(view, c, kOptions).scene;
  EXPECT_EQ(text_faults(page, *fonts()), "");
  EXPECT_GE(page.width, c.width);
  EXPECT_GE(page.height, c.height);

  const std::string png = export_bytes(FileFormat::png, view, c, kOptions);
  const auto [width, height] = viz::testing::png_size(png);
  EXPECT_EQ(width, std::ceil(page.width));
  EXPECT_EQ(height, std::ceil(page.height));
  EXPECT_EQ(page.background, c.theme->surface);

  const Table table = view.table(c);
  EXPECT_EQ(export_bytes(FileFormat::csv, view, c, kOptions), to_csv(table));
  EXPECT_TRUE(table.rows() > 0 || view.id == "search") << "which may find nothing";
  std::set<std::string> names;
  for (const Column& column : table.columns) {
    EXPECT_TRUE(!column.name.empty() && names.insert(column.name).second) << column.name;
    EXPECT_EQ(column.size(), table.rows()) << column.name;
  }
  for (const TableFact& fact : table.facts) EXPECT_NE(fact.name, "");
  EXPECT_TRUE(table.ranked_by.empty() || !table.columns[table.at(table.ranked_by)].has_texts());
}

TEST_P(ViewSuite, IsSoundAtEveryLengthThemeAndSize) {
  for (const int length : {1, 12, bundled()->transformer->config().n_ctx}) {
    for (const viz::Theme* theme : {&light(), &dark()}) {
      if (theme->dark && length != 12) continue;  // the lengths differ in layout, the themes in colours
      for (const auto& [width, height] : kSizes) {
        SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                     std::to_string(height) + (theme->dark ? ", dark" : ", light"));
        expect_sound(view(), scenario(length).context(width, height, *theme));
      }
    }
    SCOPED_TRACE(std::to_string(length) + " tokens");
    expect_sound_files(view(), scenario(length).context(640, 480));
  }
}

TEST_P(ViewSuite, IsSoundWithEachOptionAtItsEnds) {
  // At its default each option is drawn at every length and size.
  for (const OptionSpec* option : view().options) {
    for (const OptionValue& value : ends_of(*option)) {
      SCOPED_TRACE("--" + std::string(option->name) + " " + to_text(*option, value));
      ViewContext large = scenario(30).context(900, 700);
      large.options.set(*option, value);
      expect_sound(view(), large);
      ViewContext c = scenario(12).context(640, 480);
      c.options.set(*option, value);
      if (!view().refusal(c).empty()) continue;  // it has no file
      EXPECT_EQ(
          text_faults(export_picture_of(view(), c, {.scale = 1, .page = Page::at_least}).scene, *fonts()),
          "");
    }
  }
}

}  // namespace
}  // namespace headscope::app::view_suite_test
