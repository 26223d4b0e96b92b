// What a hand does to the window, and what the panels say of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/app/core_fixture.h"

namespace headscope::app {
namespace {

class WindowTest : public CoreTest {
 protected:
  static std::string long_text() {
    std::string text;
    while (text.size() < 300) text += "The wolf came to the door. ";
    return text;
  }

  /// Whether the window as it was last drawn has the words in one of its texts.
  static bool says(const Core& core, std::string_view words) {
    return std::ranges::any_of(core.window().scene.items, [&](const viz::Item& item) {
      const auto* text = std::get_if<viz::GlyphRun>(&item);
      return text != nullptr && text->text.find(words) != std::string::npos;
    });
  }

  static viz::Point splitter(const Core& core, DragKind kind) {
    for (const Target& target : core.window().targets)
      if (target.drag && target.drag->kind == kind) return target.rect.center();
    throw std::logic_error("no such splitter");
  }
};

TEST_F(WindowTest, TheMiddleButtonMovesTheHeatmapAndChoosesNothing) {
  Core core(options(long_text()));
  const viz::Point at = cell(picture(shown(core), "heatmap"), Role::cell, 3, 20, 10);
  core.handle(MouseWheel{at, 0, 3, {}});
  shown(core);
  const Zoom before = core.state().options.zoom;
  core.handle(MouseDown{at, 2, 1, {}});
  core.handle(MouseMove{{at.x - 40, at.y - 80}});
  core.handle(MouseUp{{at.x - 40, at.y - 80}, 2});
  EXPECT_EQ(core.state().selection.query, -1);
  EXPECT_GT(core.state().options.zoom.col, before.col);
  EXPECT_GT(core.state().options.zoom.row, before.row);
}

TEST_F(WindowTest, APanMovesEachWayByTheCellsOfThatWay) {
  UiState state;
  state.options.zoom = {50, 60, 20, 20};
  Drag drag;
  drag.kind = DragKind::pan;
  drag.zoom = state.options.zoom;
  drag.cells = {0.5F, 0.125F};
  drag.count = 100;
  for (const Action& action : {Action(StartDrag{drag}), Action(MoveDrag{{8, 16}})})
    state = apply(std::move(state), action, {}).state;
  EXPECT_EQ(state.options.zoom.col, 60 - 8 * 0.5);
  EXPECT_EQ(state.options.zoom.row, 50 - 16 * 0.125);
}

TEST_F(WindowTest, ASplitterThatWasMovedIsKeptAtOnce) {
  CoreOptions o = options();
  o.settings_file = folder_.path() / "settings.json";
  const auto file = o.settings_file;
  Core core(std::move(o));
  shown(core);
  for (const DragKind kind : {DragKind::heads_splitter, DragKind::next_splitter}) {
    const viz::Point at = splitter(core, kind);
    core.handle(MouseDown{at, 0, 1, {}});
    core.handle(MouseMove{{at.x + 20, at.y}});
    core.handle(MouseUp{at, 0});
    shown(core);
    const Settings kept = load_settings(file).settings;
    EXPECT_GT(kept.heads_pane, 0);
    EXPECT_EQ(kept.heads_pane, core.state().panes.heads);
    EXPECT_EQ(kept.next_pane, core.state().panes.next);
  }
  EXPECT_GT(core.state().panes.next, 0);
}

TEST_F(WindowTest, AQueryThatIsChosenWhileGeneratingDoesNotSteerIt) {
  Core core(options("Once upon a time"));
  shown(core);
  core.apply(Generate{true});  // the first token is drawn at once
  core.apply(SelectQuery{1});
  const std::string text = core.state().prompt.edit.text;
  core.settle();
  EXPECT_EQ(core.snapshot().next->position, 1);
  EXPECT_EQ(core.state().prompt.edit.text, text) << "nothing is drawn from what follows another query";
  EXPECT_TRUE(core.state().generation.running);
  core.apply(SelectQuery{-1});
  core.settle();
  EXPECT_GT(core.state().prompt.edit.text.size(), text.size());
}

TEST_F(WindowTest, StopStopsTheGenerating) {
  Core core(options("Once upon a time"));
  shown(core);
  ASSERT_TRUE(click_action<Generate>(core));
  EXPECT_TRUE(core.state().generation.running);
  core.draw({});
  EXPECT_TRUE(says(core, "Stop"));
  ASSERT_TRUE(click_action<Generate>(core));
  EXPECT_FALSE(core.state().generation.running);
  const std::string text = core.state().prompt.edit.text;
  shown(core);
  EXPECT_EQ(core.state().prompt.edit.text, text);
}

TEST_F(WindowTest, TheExportedWindowIsWithoutThePointer) {
  Core core(options());
  const viz::Point at = cell(picture(shown(core), "heatmap"), Role::cell, 3, 4, 1);
  std::vector<std::string> files;
  std::vector<std::size_t> items;
  for (const bool pointed : {false, true}) {
    WindowFrame frame;
    if (pointed) frame.pointer = at;
    items.push_back(core.draw(frame).scene.items.size());
    core.apply(ShowDialog{Dialog::export_});
    core.apply(SetExport{Subject::window, FileFormat::svg, 1, false});
    core.apply(DoExport{});
    EXPECT_FALSE(core.state().message_is_error) << core.state().message;
    files.push_back(headscope::testing::bytes_of_file(core.state().export_form.path.edit.text));
    core.apply(DismissMessage{});
  }
  EXPECT_GT(items[1], items[0]) << "the window itself shows what is under the pointer";
  EXPECT_FALSE(files[0].empty());
  EXPECT_TRUE(files[0] == files[1]);
}

TEST_F(WindowTest, AViewThatIsNoLongerShownKeepsNoRun) {
  Core core(options("The old king"));
  shown(core);
  const std::weak_ptr<const PromptRun> former = core.snapshot().run;
  const std::weak_ptr<const HeadData> head = core.snapshot().head;
  core.apply(ShowView{"positions"});
  shown(core);
  core.apply(SetPrompt{"Another", {}, ""});
  shown(core);
  EXPECT_TRUE(former.expired());
  EXPECT_TRUE(head.expired());
  core.apply(ShowView{"heatmap"});
  shown(core);
  EXPECT_EQ(picture(core.window(), "heatmap").picture->regions.front().row_count,
            core.snapshot().run->run->length())
      << "and it shows the new one when it comes back";
}

TEST_F(WindowTest, TheStatusLineSaysTheMemoryOfRunsInMegabytes) {
  Core core(options());
  shown(core);
  const auto megabytes = [](std::size_t bytes) {
    return std::to_string(std::lround(static_cast<double>(bytes) / 1e6));
  };
  ASSERT_EQ(core.snapshot().cache_budget, std::size_t{64} << 20);
  EXPECT_TRUE(says(core, "runs " + megabytes(core.snapshot().cache_bytes) + " of 67 MB"));
}

}  // namespace
}  // namespace headscope::app
