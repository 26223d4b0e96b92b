// Gestures on every view's pictures: each gesture, key, scroll bar and menu line leads to what exists.

#include "model/files/error.h"
#include "model/pass/edits.h"
#include "tests/app/views/view_suite.h"

namespace headscope::app::view_gestures_test {
namespace {

/// Whether an action of a view can be carried out: it uses the view's options, or those of the one that it
/// shows, within the limits and the run.
::testing::AssertionResult can_be_done(const View& view, const ViewContext& c, const Picture& picture,
                                       const ViewAction& action, bool shows_another = false) {
  const model::Config& config = c.run->run->config;
  const int length = c.run->run->length();
  const auto is_head = [&](int layer, int head) {
    return layer >= 0 && layer < config.n_layer && head >= 0 && head < config.n_head;
  };
  const auto is_position = [&](int position) { return position >= 0 && position < length; };
  const auto is_token = [&](int id) { return id >= 0 && id < config.vocab_size; };
  const auto is_edit = [&](const model::Edit& edit) {
    try {
      model::check(config, edit);
      return true;
    } catch (const model::RunError&) {
      return false;
    }
  };
  const auto is_zoom = [&](const Zoom& zoom) {
    constexpr double kRounding = 1e-6;
    const auto inside = [](double first, double count, int all) {
      return first >= 0 && count >= 0 && first + count <= all + kRounding;
    };
    return zoom == Zoom{} || std::ranges::any_of(picture.regions, [&](const viz::Region& region) {
             return inside(zoom.row, zoom.rows, region.row_count) &&
                    inside(zoom.col, zoom.cols, region.col_count);
           });
  };
  const auto can = [&](const auto& a) -> bool {
    using T = std::decay_t<decltype(a)>;
    if constexpr (std::is_same_v<T, SelectHead>) return is_head(a.layer, a.head);
    if constexpr (std::is_same_v<T, SelectQuery> || std::is_same_v<T, SelectKey>)
      return a.position == -1 || is_position(a.position);
    if constexpr (std::is_same_v<T, AppendToken>)
      return is_token(a.id) && (a.after == -1 || is_position(a.after));
    if constexpr (std::is_same_v<T, SetTokens>)
      return std::ranges::all_of(a.ids, is_token) && !a.ids.empty() && a.probabilities.size() <= a.ids.size();
    if constexpr (std::is_same_v<T, MoveHead>)
      return std::abs(a.layers) < std::max(2, config.n_layer) &&
             std::abs(a.heads) < std::max(2, config.n_head);
    if constexpr (std::is_same_v<T, MoveQuery>) return a.by != 0 && std::abs(a.by) <= 10;
    if constexpr (std::is_same_v<T, CopyText>) return !a.text.empty();
    if constexpr (std::is_same_v<T, ShowPart>) return view_of(a.part) != nullptr;
    if constexpr (std::is_same_v<T, ToggleEdit> || std::is_same_v<T, DragEdit>) return is_edit(a.edit);
    if constexpr (std::is_same_v<T, SetPositionId>) return is_edit(model::SetPositionIds{{a.id}});
    if constexpr (std::is_same_v<T, ShowPrompt>)
      return c.prompts && std::ranges::any_of(c.prompts->prompts, [&](const Prompt& prompt) {
               return prompt.text == a.prompt.text && prompt.ids == a.prompt.ids;
             });
    if constexpr (std::is_same_v<T, SetVisibility>)
      return is_head(a.layer, a.head) && is_position(a.query) && is_position(a.key);
    if constexpr (std::is_same_v<T, SetOption>) {
      const auto* zoom = std::get_if<Zoom>(&a.value);
      const auto has_option = [&](const View& one) {
        return (&one == &view || shows_another) && std::ranges::count(one.options, a.option) > 0;
      };
      return std::ranges::any_of(views(), has_option) &&
             (zoom != nullptr ? is_zoom(*zoom) : bool(allowed(*a.option, a.value)));
    }
    return false;
  };
  if (std::visit(can, action)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "action " << action.index() << ": " << in_words({action});
}

/// Middles and edges of the regions (a sample if there are many), and a point outside of all.
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
                        Key::page_down, Key::enter, Key{'a'}}) {
    for (const Modifiers& modifiers : {Modifiers{}, shift})
      gestures.push_back({Gesture::Kind::key, {}, {}, modifiers, key});
  }
  return gestures;
}

/// Performs all gestures on a picture with this context; returns how many of them had an effect.
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
      expect_all(view.on(c, picture, hit ? &*hit : nullptr, gesture));
    }
  }
  for (const Gesture& gesture : key_gestures()) expect_all(view.on(c, picture, nullptr, gesture));
  for (const KeyCommand& command : view.commands) {
    SCOPED_TRACE(command.help);
    for (int which = 0; which < std::max(1, static_cast<int>(command.keys.size())); ++which)
      expect_all(command.act(c, which));
  }
  return done;
}

/// Applies actions to the context, like the window.
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
  for (const Scenario* s : {&scenario(1), &beyond}) {
    SCOPED_TRACE(std::to_string(s->run->tokens.length()) + " tokens");
    EXPECT_EQ(expect_gestures_that_can_be_done(view(), s->context(900, 700, light())) > 0, true);
  }
}

TEST_P(ViewSuite, NothingCanBeDoneWithoutARun) {
  NoAnswers none;
  ViewContext c = scenario(12).context(900, 700, none);
  c.run = nullptr;
  const Picture picture = view().build(c);
  std::vector<Gesture> gestures = gestures_at({450, 350});
  for (const Gesture& gesture : key_gestures()) gestures.push_back(gesture);
  EXPECT_TRUE(menu_at(view(), c, picture, nullptr).empty());
  EXPECT_TRUE(view().scrolls(c, picture).empty());
  for (const Gesture& gesture : gestures) {
    for (const ViewAction& action : view().on(c, picture, nullptr, gesture)) {
      const auto* set = std::get_if<SetOption>(&action);
      EXPECT_TRUE(set && allowed(*set->option, set->value)) << "only where a picture will be scrolled to";
    }
  }
  for (const KeyCommand& command : view().commands)
    for (int which = 0; which < std::max(1, static_cast<int>(command.keys.size())); ++which)
      EXPECT_TRUE(command.act(c, which).empty()) << command.help;
}

// Dragging the bar's handle scrolls to that place, the picture leaves room for the bar, and the new picture
// reports the same position.
TEST_P(ViewSuite, ScrollsToWhereItsBarIs) {
  for (const int length : {12, 100}) {
    for (const auto& [width, height] : {std::pair{240.F, 300.F}, {470.F, 92.F}, {900.F, 700.F}}) {
      for (const bool zoomed : {false, true}) {
        SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                     std::to_string(height) + (zoomed ? ", zoomed" : ""));
        ViewContext c = scenario(length).context(width, height);
        c.in_pane = true;
        for (const auto& [name, value] : NamedOptions{{"zoom", "3:8,2:8"},
                                                      {"encoding-zoom", "10:50,20:80"},
                                                      {"heads-zoom", "2.5"},
                                                      {"heads-scroll", "0.5"},
                                                      {"sweep-over", "neurons"}})
          if (zoomed) set(c, name, value);
        const Picture picture = view().build(c);
        const auto scrolls = view().scrolls(c, picture);
        for (const Scroll& scroll : scrolls) {
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
            const auto same = std::ranges::find_if(after, [&](const Scroll& other) {
              return other.sideways == scroll.sideways && other.along.y == scroll.along.y;
            });
            ASSERT_NE(same, after.end());
            EXPECT_NEAR(same->first, std::clamp(to, 0.0, scroll.total - scroll.shown), 1e-6) << "to " << to;
            EXPECT_EQ(same->total, scroll.total);
          }
        }
      }
    }
  }
}

TEST_P(ViewSuite, MenusOfferWhatCanBeDone) {
  int lines = 0;
  for (const int length : {1, 12, 100}) {
    for (const bool zoomed : {false, true}) {
      ViewContext c = scenario(length).context(900, 700);
      c.in_pane = true;
      if (zoomed) {
        c.selection.key = 0;
        for (const auto& [name, value] :
             NamedOptions{{"zoom", "0:6,0:6"}, {"encoding-zoom", "10:50,20:80"}, {"heads-zoom", "2.5"}})
          set(c, name, value);
      }
      const Picture picture = view().build(c);
      for (const viz::Point at : places_of(picture)) {
        const auto hit = viz::hit_test(picture.regions, at);
        std::set<std::string> labels;
        for (const MenuLine& line : menu_at(view(), c, picture, hit ? &*hit : nullptr)) {
          ++lines;
          EXPECT_FALSE(line.label.empty());
          EXPECT_FALSE(line.actions.empty()) << line.label;
          EXPECT_TRUE(labels.insert(line.label).second) << line.label << " twice";
          const bool shows_another = std::ranges::any_of(line.actions, [](const ViewAction& action) {
            return std::holds_alternative<ShowPart>(action);
          });
          for (const ViewAction& action : line.actions)
            EXPECT_TRUE(can_be_done(view(), c, picture, action, shows_another)) << line.label;
        }
      }
    }
  }
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace headscope::app::view_gestures_test
