// Views and values that were renamed: help lists the new name, both are accepted, files keep the old one.
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/commands/figure.h"
#include "app/recipe/recipe.h"
#include "app/tour/tour.h"
#include "app/views/parts/matrix_zoom.h"
#include "tests/app/command_runs.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

constexpr std::pair<const char*, const char*> kRenamed[] = {
    {"way", "pass"}, {"plane", "query_key_space"}, {"cell", "score"}};

TEST(RenamedViews, HaveTwoNamesThatNoOtherViewHas) {
  for (const auto& [id, name] : kRenamed) {
    ASSERT_NE(find_view(name), nullptr) << name;
    EXPECT_EQ(find_view(name), find_view(id));
    EXPECT_EQ(find_view(name)->id, id);
    EXPECT_EQ(find_view(name)->name(), name);
  }
  std::set<std::string_view> all;
  for (const View& view : views()) {
    EXPECT_TRUE(all.insert(view.id).second) << view.id;
    if (!view.new_name.empty()) {
      EXPECT_TRUE(all.insert(view.new_name).second) << view.new_name;
    }
  }
  EXPECT_EQ(find_view(""), nullptr);
}

TEST(RenamedViews, AreCommandsByBothNamesAndListedByOne) {
  const std::string help = answered({"plot", "--help"}).text;
  for (const auto& [id, name] : kRenamed) {
    EXPECT_THAT(help, HasSubstr("\n  " + std::string(name) + " "));
    EXPECT_THAT(help, Not(HasSubstr("\n  " + std::string(id) + " ")));
    EXPECT_THAT(help, Not(HasSubstr(std::string(name) + ", " + id)));
    for (const char* given : {id, name})
      EXPECT_THAT(parsed<PlotCommand>({"plot", given, "--prompt", "a", "--out", "{view}.png"}).views,
                  ElementsAre(name));
  }
}

TEST(RenamedViews, StandInToursAndSessionsByBothNames) {
  for (const auto& [id, name] : kRenamed) {
    for (const std::string given : {id, name}) {
      const Tour tour =
          parse_tour("# T\n\nAbout.\n\n## Stop\n- prompt: a\n- view: " + given + "\n\nWords.\n", "t.md");
      EXPECT_EQ(tour.stops.front().view, id);
      auto session = nlohmann::json::parse(to_json(Recipe{}));
      session["view"] = given;
      session["beside"] = given;
      const Session read = parse_recipe(session.dump(), "s.headscope").session;
      EXPECT_EQ(read.view, id);
      EXPECT_EQ(read.second_view, id);
      EXPECT_THAT(to_json(Recipe{read, {}}), HasSubstr("\"view\": \"" + std::string(id) + "\""));
    }
  }
}

TEST(RenamedValues, AreTakenByBothNames) {
  for (const char* given : {"baseline", "other"}) {
    const auto plot = parsed<PlotCommand>(
        {"plot", "heatmap", "--prompt", "a", "--edit", "L0H0.z=0", "--show", given, "--out", "x.png"});
    EXPECT_EQ(plot.comparison.side, Side::baseline);
    auto session = nlohmann::json::parse(to_json(Recipe{}));
    session["show"] = given;
    EXPECT_EQ(parse_recipe(session.dump(), "s.headscope").session.side, Side::baseline);
  }
  Session session;
  session.side = Side::baseline;
  EXPECT_THAT(to_json(Recipe{session, {}}), HasSubstr("\"show\": \"other\""));
  EXPECT_THAT(answered({"plot", "heatmap", "--help"}).text, HasSubstr("run|baseline|difference"));

  for (const auto& [old_name, name] : {std::pair{"hide", "mask"}, {"show", "unmask"}}) {
    EXPECT_EQ(parse_option(kDragAction, old_name), parse_option(kDragAction, name));
    EXPECT_EQ(to_text(kDragAction, parse_option(kDragAction, name)), old_name) << "as files have it";
  }
  EXPECT_EQ(values_of(kDragAction), "off|mask|unmask|shape");

  const OptionSpec& least = *find_option("metric-least");
  EXPECT_EQ(parse_option(least, "all"), parse_option(least, "none"));
  EXPECT_EQ(values_of(least), "X|none");
}

}  // namespace
}  // namespace headscope::app
