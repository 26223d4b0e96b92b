// The flow in the window: what the mouse is told over an edge, and where a click leads.
#include "app/run/analyses/logit_flow.h"
#include "app/views/output/flow_paint.h"
#include "app/views/parts/names.h"
#include "tests/app/window/window_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::flow_test {
namespace {

class FlowWindow : public HandsTest {
 protected:
  /// A point of the window at which an edge is under the mouse, and the edge's index.
  static std::pair<viz::Point, int> edge_place(const Core& core) {
    const PlacedPicture& placed = picture(core.window(), "flow");
    const auto& regions = placed.picture->regions;
    for (const viz::Region& region : regions) {
      if (region.role != flow_picture::kEdge) continue;
      const viz::Point in = region.rect.center();
      const auto hit = viz::hit_test(regions, in);
      if (hit && regions[static_cast<std::size_t>(hit->region)].role == flow_picture::kEdge)
        return {{placed.where.x + in.x, placed.where.y + in.y},
                regions[static_cast<std::size_t>(hit->region)].id};
    }
    ADD_FAILURE() << "no edge is under the mouse anywhere";
    return {};
  }
};

TEST_F(FlowWindow, AnEdgeTellsItsNumberAndOpensItsHead) {
  Core core(options("When Mary and John went to the store, John gave a drink to"));
  core.settle();
  apply_and_show(core, ShowView{"flow"});
  core.settle();
  shown(core);
  const auto [at, index] = edge_place(core);
  const PromptRun& run = *core.snapshot().run;
  const auto flow = answer(core, LogitFlowOf{run.run->length() - 1});
  ASSERT_TRUE(flow);
  const FlowEdge edge = flow_picture::graph_of(*flow, {}).edges.at(static_cast<std::size_t>(index));
  core.handle(MouseMove{at});
  WindowFrame frame;  // of the size that was shown
  frame.pointer = at;
  core.draw(frame);
  EXPECT_TRUE(says(core, head_name(edge.layer, edge.head) + ": from " + token_name(run.tokens, edge.key)));
  EXPECT_TRUE(says(core, edge.value < 0 ? "takes " + viz::fixed_number(-edge.value, 2) + " from the logit"
                                        : "adds " + viz::fixed_number(edge.value, 2) + " to the logit"));
  click_and_show(core, at);
  EXPECT_EQ(core.state().selection.layer, edge.layer);
  EXPECT_EQ(core.state().selection.head, edge.head);
  EXPECT_EQ(core.state().selection.key, edge.key);
  EXPECT_NO_THROW(picture(core.window(), "heatmap")) << "the view of attention";
}

}  // namespace
}  // namespace headscope::app::flow_test
