// What every row of the table of views promises, walked as data: a view is tested for what it declares,
// whoever adds it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <variant>

#include "app/cli/cli.h"
#include "app/cli/commands/commands.h"
#include "app/views/export.h"
#include "tests/app/view_fixture.h"
#include "tests/viz/text_boxes.h"
#include "tests/viz/xml_check.h"

#include <nlohmann/json.hpp>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace headscope::app {
namespace {

using namespace testing;
using ::testing::ElementsAreArray;
using viz::testing::fonts;
using viz::testing::text_faults;
using viz::testing::xml_error;

constexpr std::array<std::pair<float, float>, 3> kSizes{{{420, 360}, {900, 700}, {1600, 1000}}};

std::vector<std::string> ids_of_views() {
  std::vector<std::string> ids;
  for (const View& view : views()) ids.emplace_back(view.id);
  return ids;
}

class ViewSuite : public ::testing::TestWithParam<std::string> {
 protected:
  const View& view() const { return *find_view(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Views, ViewSuite, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

/// Where an option can be at its furthest: both of yes and no, each choice, the limits, corners of a matrix.
std::vector<OptionValue> ends_of(const OptionSpec& option) {
  std::vector<OptionValue> ends{option.usual};
  if (std::holds_alternative<bool>(option.usual)) {
    ends = {false, true};
  } else if (std::holds_alternative<Zoom>(option.usual)) {
    for (const Zoom corner : {Zoom{0, 0, 1, 1}, Zoom{0, 1e6, 5, 5}, Zoom{1e6, 0, 5, 5}, Zoom{1e6, 1e6, 5, 5},
                              Zoom{2.5, 0, 6, 0}, Zoom{0, 2.5, 0, 6}, Zoom{0, 0, 1e9, 1e9}})
      ends.emplace_back(corner);
  } else if (!option.choices.empty()) {
    ends.clear();
    for (std::size_t i = 0; i < option.choices.size(); ++i) ends.emplace_back(static_cast<int>(i));
  } else if (std::holds_alternative<int>(option.usual)) {
    for (const double end : {option.low, option.high}) ends.emplace_back(static_cast<int>(end));
  } else if (std::holds_alternative<double>(option.usual)) {
    for (const double end : {option.low, option.high}) ends.emplace_back(end);
    if (!option.steps.empty()) ends.insert(ends.end(), {option.steps.front(), option.steps.back()});
  } else {
    const int low = static_cast<int>(option.low), high = static_cast<int>(option.high);
    for (std::vector<int> list : {std::vector{low}, {high}, {low, high}, {low, low + 1, low + 2, low + 3}})
      ends.emplace_back(std::move(list));
  }
  return ends;
}

/// Whether a value is one that the option can have.
::testing::AssertionResult allowed(const OptionSpec& option, const OptionValue& value) {
  if (value.index() != option.usual.index()) return ::testing::AssertionFailure() << "of another type";
  Options kept;
  kept.set(option, value);
  if (kept.value(option) == value) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << to_text(option, value) << " lies beyond " << option.low << " to " << option.high;
}

TEST_P(ViewSuite, IsDescribed) {
  EXPECT_FALSE(view().title.empty());
  EXPECT_FALSE(view().help.empty());
  EXPECT_FALSE(title_of(view().group).empty());
  ASSERT_TRUE(view().build && view().hover && view().table);
  for (const OptionSpec* option : view().options) {
    SCOPED_TRACE(option->name);
    EXPECT_FALSE(option->label.empty());
    EXPECT_FALSE(option->help.empty());
    EXPECT_TRUE(allowed(*option, option->usual));
    for (const Choice& choice : option->choices)
      EXPECT_FALSE(choice.name.empty() || choice.label.empty() || choice.help.empty());
    const bool number = option->choices.empty() && (std::holds_alternative<int>(option->usual) ||
                                                    std::holds_alternative<double>(option->usual));
    EXPECT_EQ(option->low < option->high, number || std::holds_alternative<std::vector<int>>(option->usual));
    EXPECT_TRUE(std::ranges::count(all_options(), option) == 1);
    EXPECT_EQ(find_option(option->name), option) << "another option has its name";
  }
  for (const KeyCommand& command : view().commands) {
    EXPECT_FALSE(command.help.empty());
    EXPECT_FALSE(command.keys.empty() && command.label.empty()) << command.help;
    EXPECT_NE(command.act, nullptr) << command.help;
  }
}

TEST_P(ViewSuite, FlagsReadWhatIsWritten) {
  for (const OptionSpec* option : view().options) {
    for (const OptionValue& value : ends_of(*option)) {
      const std::string text = to_text(*option, value);
      SCOPED_TRACE("--" + std::string(option->name) + " " + text);
      EXPECT_EQ(parse_option(*option, text), value);
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"plot", GetParam()}, std::vector<std::string>{"shot"}}) {
        std::vector<std::string> arguments = command;
        for (const char* argument : {"--prompt", "x", "--out", "x.png"}) arguments.emplace_back(argument);
        arguments.push_back("--" + std::string(option->name));
        arguments.push_back(text);
        const Command parsed = parse_command_line(arguments);
        const auto* plot = std::get_if<PlotCommand>(&parsed);
        const auto* shot = std::get_if<ShotCommand>(&parsed);
        const auto* reply = std::get_if<Reply>(&parsed);
        ASSERT_TRUE(plot || shot) << (reply ? reply->text : "another command");
        EXPECT_EQ((plot ? plot->options : shot->options).value(*option), value);
      }
    }
  }
}

TEST(ViewsJson, ListsAllOfTheTable) {
  std::istringstream in;
  std::ostringstream out, err;
  run_views({.json = true}, {in, out, err});
  const nlohmann::json json = nlohmann::json::parse(out.str());
  const auto all = views();
  ASSERT_EQ(json.at("views").size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const nlohmann::json& view = json["views"][i];
    EXPECT_EQ(view.at("id"), all[i].id);
    EXPECT_EQ(view.at("title"), all[i].title);
    EXPECT_EQ(view.at("help"), all[i].help);
    EXPECT_EQ(view.at("group"), title_of(all[i].group));
    ASSERT_EQ(view.at("options").size(), all[i].options.size()) << all[i].id;
    for (std::size_t k = 0; k < all[i].options.size(); ++k) {
      const OptionSpec& spec = *all[i].options[k];
      const nlohmann::json& option = view["options"][k];
      EXPECT_EQ(option.at("name"), spec.name);
      EXPECT_EQ(option.at("help"), spec.help);
      EXPECT_EQ(option.at("values"), values_of(spec));
      EXPECT_EQ(parse_option(spec, option.at("default").get<std::string>()), spec.usual) << spec.name;
      EXPECT_EQ(option.contains("least"), option.contains("most"));
      if (option.contains("least")) {
        EXPECT_EQ(option["least"], spec.low) << spec.name;
        EXPECT_EQ(option["most"], spec.high) << spec.name;
      }
      for (const Choice& choice : spec.choices)
        EXPECT_NE(option["values"].get<std::string>().find(choice.name), std::string::npos);
    }
  }
}

// The places beside the tabs are always shown, and one tab with them.
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

/// Cells of a file as RFC 4180 has it: quotes, doubled quotes, lines that end in CR LF.
std::vector<std::vector<std::string>> cells_of_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = rows.back().back();
    if (quoted) {
      if (text[i] != '"') {
        cell += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_EQ(cell, "") << "a quote inside a cell";
      quoted = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      rows.emplace_back(1);
    } else {
      cell += text[i];
    }
  }
  EXPECT_FALSE(quoted) << "a quote without its end";
  EXPECT_EQ(rows.back(), std::vector<std::string>(1)) << "no line end after the last row";
  rows.pop_back();
  return rows;
}

/// What is wrong with a picture; "": nothing. Texts are looked at where it says that all of it is there.
void expect_sound(const View& view, const ViewContext& c) {
  const Picture picture = view.build(c);
  EXPECT_EQ(picture.scene.width, c.width);
  EXPECT_EQ(picture.scene.height, c.height);
  EXPECT_EQ(senseless_item(picture.scene), -1) << "of " << picture.scene.items.size();
  if (picture.whole) {
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
  const viz::Scene page = export_scene_of(view, c, kOptions);
  EXPECT_EQ(text_faults(page, *fonts()), "");
  EXPECT_GE(page.width, c.width);
  EXPECT_GE(page.height, c.height);

  const std::string png = export_bytes(FileFormat::png, view, c, kOptions);
  int width = 0, height = 0, channels = 0;
  unsigned char* pixels = stbi_load_from_memory(reinterpret_cast<const unsigned char*>(png.data()),
                                                static_cast<int>(png.size()), &width, &height, &channels, 4);
  ASSERT_NE(pixels, nullptr) << "no PNG";
  EXPECT_EQ(width, std::ceil(page.width));
  EXPECT_EQ(height, std::ceil(page.height));
  const viz::Color corner{pixels[0], pixels[1], pixels[2], pixels[3]};
  stbi_image_free(pixels);
  EXPECT_EQ(corner, c.theme->surface) << "the margin is the theme's";

  EXPECT_EQ(xml_error(export_bytes(FileFormat::svg, view, c, kOptions)), "");

  const auto rows = cells_of_csv(export_bytes(FileFormat::csv, view, c, kOptions));
  const Table table = view.table(c);
  ASSERT_EQ(rows.size(), table.rows.size() + 1);
  EXPECT_THAT(rows[0], ElementsAreArray(table.header));
  EXPECT_FALSE(table.rows.empty());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    ASSERT_EQ(rows[i + 1].size(), table.header.size()) << "row " << i;
    ASSERT_EQ(rows[i + 1], table.rows[i]) << "row " << i;
  }
}

TEST_P(ViewSuite, IsSoundAtEveryLengthThemeAndSize) {
  for (const int length : {1, 12, bundled()->transformer->config().n_ctx}) {
    for (const viz::Theme* theme : {&light(), &dark()}) {
      for (const auto& [width, height] : kSizes) {
        SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                     std::to_string(height) + (theme->dark ? ", dark" : ", light"));
        expect_sound(view(), scenario(length).context(width, height, *theme));
      }
      SCOPED_TRACE(std::to_string(length) + (theme->dark ? " tokens, dark" : " tokens, light"));
      expect_sound_files(view(), scenario(length).context(640, 480, *theme));
    }
  }
}

TEST_P(ViewSuite, IsSoundWithEachOptionAtItsEnds) {
  for (const OptionSpec* option : view().options) {
    for (const OptionValue& value : ends_of(*option)) {
      SCOPED_TRACE("--" + std::string(option->name) + " " + to_text(*option, value));
      for (const int length : {1, 12, 100}) {
        for (const auto& [width, height] : kSizes) {
          const bool in_pane = width < 500;
          SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                       std::to_string(height) + (in_pane ? ", in a pane" : ""));
          ViewContext c = scenario(length).context(width, height, in_pane ? dark() : light());
          c.in_pane = in_pane;
          c.options.set(*option, value);
          expect_sound(view(), c);
        }
      }
      ViewContext c = scenario(12).context(640, 480, light());
      c.options.set(*option, value);
      if (view().refuse && !view().refuse(c).empty()) continue;  // of no file
      expect_sound_files(view(), c);
    }
  }
}

// ---- gestures ----

/// Whether what a view asks of the program can be done: of the view's options, within limits and the run.
::testing::AssertionResult can_be_done(const View& view, const ViewContext& c, const Picture& picture,
                                       const ViewAction& action) {
  const model::Config& config = c.run->run->config;
  if (const auto* a = std::get_if<SelectHead>(&action)) {
    if (a->layer >= 0 && a->layer < config.n_layer && a->head >= 0 && a->head < config.n_head)
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "selects layer " << a->layer << ", head " << a->head;
  }
  if (const auto* a = std::get_if<SelectQuery>(&action)) {
    if (a->position >= -1 && a->position < c.run->run->length()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "selects query " << a->position;
  }
  if (const auto* a = std::get_if<AppendToken>(&action)) {
    if (a->id >= 0 && a->id < config.vocab_size && a->after >= -1 && a->after < c.run->run->length())
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "appends token " << a->id << " after " << a->after;
  }
  if (const auto* a = std::get_if<SelectKey>(&action)) {
    if (a->position >= -1 && a->position < c.run->run->length()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "selects key " << a->position;
  }
  if (const auto* a = std::get_if<MoveHead>(&action)) {
    if (std::abs(a->layers) < std::max(2, config.n_layer) && std::abs(a->heads) < std::max(2, config.n_head))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "moves by " << a->layers << " layers, " << a->heads << " heads";
  }
  if (const auto* a = std::get_if<MoveQuery>(&action)) {
    if (a->by != 0 && std::abs(a->by) <= 10) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "moves the query by " << a->by;
  }
  if (const auto* a = std::get_if<CopyText>(&action)) {
    if (!a->text.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "copies nothing";
  }
  const auto& set = std::get<SetOption>(action);
  if (std::ranges::find(view.options, set.option) == view.options.end())
    return ::testing::AssertionFailure() << "sets an option that the view does not have";
  if (const auto* zoom = std::get_if<Zoom>(&set.value)) {
    for (const viz::Region& region : picture.regions) {
      constexpr double kRounding = 1e-6;
      const auto inside = [](double first, double count, int all) {
        return first >= 0 && count >= 0 && first + count <= all + kRounding;
      };
      // The largest of a picture's regions is the matrix.
      if (inside(zoom->row, zoom->rows, region.row_count) && inside(zoom->col, zoom->cols, region.col_count))
        return ::testing::AssertionSuccess();
    }
    if (*zoom == Zoom{}) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "zooms to " << to_text(*set.option, set.value);
  }
  return allowed(*set.option, set.value) << ", option " << set.option->name;
}

/// Middles and edges of the regions, some of them where there are many, and what lies beside them all.
std::vector<viz::Point> places_of(const Picture& picture) {
  const float w = picture.scene.width, h = picture.scene.height;
  std::vector<viz::Point> places{{0, 0}, {w - 1, 0}, {0, h - 1}, {w - 1, h - 1}, {w / 2, h / 2}, {-5, h + 5}};
  const std::size_t step = 1 + picture.regions.size() / 12;
  for (std::size_t i = 0; i < picture.regions.size(); i += step) {
    const viz::Rect& r = picture.regions[i].rect;
    for (const viz::Point at :
         {r.center(), viz::Point{r.x + 0.5F, r.y + 0.5F}, viz::Point{r.right() - 0.5F, r.bottom() - 0.5F},
          viz::Point{r.x - 3, r.y - 3}})
      places.push_back(at);
  }
  return places;
}

std::vector<Gesture> gestures_at(viz::Point at) {
  using Kind = Gesture::Kind;
  std::vector<Gesture> gestures;
  for (const Kind kind : {Kind::click, Kind::double_click}) gestures.push_back({kind, at, {}, {}});
  for (const viz::Point by : {viz::Point{7, -5}, {-2000, 3000}, {2000, -3000}})
    gestures.push_back({Kind::drag, at, by, {}});
  Modifiers ctrl, shift;
  ctrl.ctrl = true;
  shift.shift = true;
  for (const Modifiers& modifiers : {Modifiers{}, ctrl, shift})
    for (const viz::Point by : {viz::Point{0, 1}, {0, -1}, {1, 0}, {-40, 40}, {40, -40}})
      gestures.push_back({Kind::wheel, at, by, modifiers});
  return gestures;
}

std::vector<Gesture> key_gestures() {
  Modifiers shift;
  shift.shift = true;
  std::vector<Gesture> gestures;
  for (const Key key : {Key::left, Key::right, Key::up, Key::down, Key::home, Key::end, Key::page_up,
                        Key::page_down, Key::enter, Key::a}) {
    for (const Modifiers& modifiers : {Modifiers{}, shift})
      gestures.push_back({Gesture::Kind::key, {}, {}, modifiers, key});
  }
  return gestures;
}

/// All that a user can do on a picture of this context; how many of it did something.
int expect_gestures_that_can_be_done(const View& view, const ViewContext& c) {
  const Picture picture = view.build(c);
  int done = 0;
  const auto expect_all = [&](const ViewActions& actions) {
    for (const ViewAction& action : actions) EXPECT_TRUE(can_be_done(view, c, picture, action));
    done += !actions.empty();
  };
  for (const viz::Point at : places_of(picture)) {
    const auto hit = viz::hit_test(picture.regions, at);
    SCOPED_TRACE("at " + std::to_string(at.x) + "," + std::to_string(at.y));
    for (const Gesture& gesture : gestures_at(at)) {
      SCOPED_TRACE("gesture " + std::to_string(static_cast<int>(gesture.kind)) + " by " +
                   std::to_string(gesture.by.x) + "," + std::to_string(gesture.by.y));
      if (view.on) expect_all(view.on(c, picture, hit ? &*hit : nullptr, gesture));
    }
  }
  for (const Gesture& gesture : key_gestures())
    if (view.on) expect_all(view.on(c, picture, nullptr, gesture));
  for (const KeyCommand& command : view.commands) {
    SCOPED_TRACE(command.help);
    for (int which = 0; which < std::max(1, static_cast<int>(command.keys.size())); ++which)
      expect_all(command.act(c, which));
  }
  return done;
}

/// The context after some actions, as the window has it.
void apply(ViewContext& c, const ViewActions& actions) {
  Selection& s = c.selection;
  for (const ViewAction& action : actions) {
    if (const auto* head = std::get_if<SelectHead>(&action)) s.layer = head->layer, s.head = head->head;
    if (const auto* by = std::get_if<MoveHead>(&action)) s.layer += by->layers, s.head += by->heads;
    if (const auto* query = std::get_if<SelectQuery>(&action)) s.query = query->position;
    if (const auto* by = std::get_if<MoveQuery>(&action)) s.query = std::max(0, s.query + by->by);
    if (const auto* key = std::get_if<SelectKey>(&action)) s.key = key->position;
    if (const auto* set = std::get_if<SetOption>(&action)) c.options.set(*set->option, set->value);
    s = clamped(s, *c.run);
    c.chosen_query = s.query;
  }
}

TEST_P(ViewSuite, GesturesStayWithinTheLimitsAndTheRun) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  const Scenario beyond = Scenario::of_length(n_ctx + 30);
  for (const Scenario* s : {&scenario(1), &scenario(12), &scenario(n_ctx), &beyond}) {
    SCOPED_TRACE(std::to_string(s->run->tokens.length()) + " tokens");
    EXPECT_EQ(expect_gestures_that_can_be_done(view(), s->context(900, 700, light())) > 0,
              view().on || !view().commands.empty());
  }
}

TEST_P(ViewSuite, GesturesStayWithinTheLimitsFromEachOptionsEnds) {
  for (const OptionSpec* option : view().options) {
    for (const OptionValue& value : ends_of(*option)) {
      SCOPED_TRACE("--" + std::string(option->name) + " " + to_text(*option, value));
      ViewContext c = scenario(12).context(900, 700, light());
      c.options.set(*option, value);
      expect_gestures_that_can_be_done(view(), c);
    }
  }
}

TEST_P(ViewSuite, NothingCanBeDoneWithoutARun) {
  NoAnswers none;
  ViewContext c = scenario(12).context(900, 700, light());
  c.answers = &none;
  c.run = nullptr;
  const Picture picture = view().build(c);
  std::vector<Gesture> gestures = gestures_at({450, 350});
  for (const Gesture& gesture : key_gestures()) gestures.push_back(gesture);
  if (view().menu) {
    EXPECT_TRUE(view().menu(c, picture, nullptr).empty());
  }
  if (view().scrolls) {
    EXPECT_TRUE(view().scrolls(c, picture).empty());
  }
  for (const Gesture& gesture : gestures) {
    if (view().on) {
      for (const ViewAction& action : view().on(c, picture, nullptr, gesture)) {
        const auto* set = std::get_if<SetOption>(&action);
        EXPECT_TRUE(set && allowed(*set->option, set->value)) << "only where a picture will be scrolled to";
      }
    }
  }
  for (const KeyCommand& command : view().commands)
    for (int which = 0; which < std::max(1, static_cast<int>(command.keys.size())); ++which)
      EXPECT_TRUE(command.act(c, which).empty()) << command.help;
}

// The arrows of a keyboard never lead out of the run, and they lead everywhere.
TEST_P(ViewSuite, KeysWalkWithinTheRun) {
  if (!view().on) return;
  for (const int length : {1, 40}) {
    for (const Gesture& gesture : key_gestures()) {
      SCOPED_TRACE(std::to_string(length) + " tokens, key " + std::to_string(static_cast<int>(gesture.key)));
      ViewContext c = scenario(length).context(470, 330, light());
      c.in_pane = true;
      for (int times = 0; times < 4; ++times) {
        const Picture picture = view().build(c);
        const ViewActions actions = view().on(c, picture, nullptr, gesture);
        for (const ViewAction& action : actions) EXPECT_TRUE(can_be_done(view(), c, picture, action));
        EXPECT_TRUE(actions.empty() || (gesture.key != Key::enter && gesture.key != Key::a));
        apply(c, actions);
        EXPECT_EQ(c.selection, clamped(c.selection, *c.run));
      }
    }
  }
}

// A handle on the bar leads to where it stands, the picture leaves the bar its room, and the picture that
// comes says that it is there.
TEST_P(ViewSuite, ScrollsToWhereItsBarIs) {
  int bars = 0;
  for (const int length : {12, 100, bundled()->transformer->config().n_ctx}) {
    for (const auto& [width, height] :
         {std::pair{240.F, 300.F}, {470.F, 92.F}, {470.F, 330.F}, {900.F, 700.F}}) {
      for (const bool zoomed : {false, true}) {
        SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                     std::to_string(height) + (zoomed ? ", zoomed" : ""));
        ViewContext c = scenario(length).context(width, height, light());
        c.in_pane = true;
        for (const auto& [name, value] : NamedOptions{{"zoom", "3:8,2:8"},
                                                      {"encoding-zoom", "10:50,20:80"},
                                                      {"heads-zoom", "2.5"},
                                                      {"heads-scroll", "0.5"}})
          if (zoomed) set(c, name, value);
        const Picture picture = view().build(c);
        const auto scrolls = view().scrolls ? view().scrolls(c, picture) : std::vector<Scroll>{};
        for (const Scroll& scroll : scrolls) {
          ++bars;
          EXPECT_GT(scroll.shown, 0);
          EXPECT_LT(scroll.shown, scroll.total) << "all is in sight";
          EXPECT_GE(scroll.first, 0);
          EXPECT_LE(scroll.first + scroll.shown, scroll.total + 1e-6);
          const float wide = kScrollBar * c.font_size;
          const viz::Rect& along = scroll.along;
          const viz::Rect bar = scroll.sideways ? viz::Rect{along.x, along.bottom(), along.w, wide}
                                                : viz::Rect{along.right(), along.y, wide, along.h};
          EXPECT_GT(bar.w, 0);
          EXPECT_GT(bar.h, 0);
          EXPECT_TRUE(bar.x >= 0 && bar.y >= 0 && bar.right() <= width + 0.01F &&
                      bar.bottom() <= height + 0.01F)
              << bar.x << "," << bar.y << " " << bar.w << " x " << bar.h;
          const auto covered = [&](const viz::Rect& r) {
            return r.x < bar.right() && bar.x < r.right() && r.y < bar.bottom() && bar.y < r.bottom();
          };
          for (const viz::Region& region : picture.regions) EXPECT_FALSE(covered(region.rect));
          for (const auto& text : viz::testing::text_boxes(picture.scene, *fonts()))
            EXPECT_FALSE(covered(text.bounds)) << text.text;
          for (const double to : {0.0, 1.0, scroll.total - scroll.shown, -5.0, 1e9}) {
            ViewContext moved = c;
            const ViewActions actions = scroll.to(to);
            for (const ViewAction& action : actions)
              EXPECT_TRUE(can_be_done(view(), c, picture, action)) << "to " << to;
            apply(moved, actions);
            const auto after = view().scrolls(moved, view().build(moved));
            const auto same = std::ranges::find(after, scroll.sideways, &Scroll::sideways);
            ASSERT_NE(same, after.end());
            EXPECT_NEAR(same->first, std::clamp(to, 0.0, scroll.total - scroll.shown), 1e-6) << "to " << to;
            EXPECT_EQ(same->total, scroll.total);
          }
        }
      }
    }
  }
  EXPECT_EQ(bars > 0, view().scrolls != nullptr);
}

TEST_P(ViewSuite, HasNoBarsWhereAllIsInSight) {
  ViewContext c = scenario(12).context(900, 700, light());
  c.in_pane = true;
  if (view().scrolls) {
    EXPECT_TRUE(view().scrolls(c, view().build(c)).empty());
  }
}

TEST_P(ViewSuite, MenusOfferWhatCanBeDone) {
  int lines = 0;
  for (const int length : {1, 12, 100}) {
    for (const bool zoomed : {false, true}) {
      ViewContext c = scenario(length).context(900, 700, light());
      c.in_pane = true;
      if (zoomed) {
        c.selection.key = 0;
        for (const auto& [name, value] :
             NamedOptions{{"zoom", "0:6,0:6"}, {"encoding-zoom", "10:50,20:80"}, {"heads-zoom", "2.5"}})
          set(c, name, value);
      }
      const Picture picture = view().build(c);
      if (!view().menu) continue;
      for (const viz::Point at : places_of(picture)) {
        const auto hit = viz::hit_test(picture.regions, at);
        std::set<std::string> labels;
        for (const MenuLine& line : view().menu(c, picture, hit ? &*hit : nullptr)) {
          ++lines;
          EXPECT_FALSE(line.label.empty());
          EXPECT_FALSE(line.actions.empty()) << line.label;
          EXPECT_TRUE(labels.insert(line.label).second) << line.label << " twice";
          for (const ViewAction& action : line.actions)
            EXPECT_TRUE(can_be_done(view(), c, picture, action)) << line.label;
        }
      }
    }
  }
  EXPECT_EQ(lines > 0, view().menu != nullptr);
}

// What a mouse can set, a key can.
TEST_P(ViewSuite, ControlsHaveKeys) {
  for (const OptionSpec* option : view().options) {
    const bool list = std::holds_alternative<std::vector<int>>(option->usual);
    EXPECT_EQ(option->keys.empty(), list || option->control == Control::none) << option->name;
  }
}

// A key, a slider's knob and a field all go through these.
TEST_P(ViewSuite, StepsStayWithinTheLimits) {
  for (const OptionSpec* option : view().options) {
    for (const OptionValue& value : ends_of(*option)) {
      for (const int by : {-1, 1, -1000, 1000}) {
        SCOPED_TRACE("--" + std::string(option->name) + " " + to_text(*option, value) + " by " +
                     std::to_string(by));
        const OptionValue next = stepped(*option, value, by);
        EXPECT_TRUE(allowed(*option, next));
        EXPECT_EQ(parse_option(*option, to_text(*option, next)), next);
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app
