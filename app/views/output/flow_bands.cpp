#include "app/views/output/flow_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app::flow_picture {
namespace {

/// The lanes and wedges of each layer, without places.
std::vector<Band> bands_of(const Graph& graph, FirstToken first, double scale) {
  std::vector<Band> bands(graph.layers);
  std::vector<int> order(graph.edges.size());
  std::iota(order.begin(), order.end(), 0);
  // Short spans below long ones, so that strands to one query do not cross.
  std::ranges::stable_sort(order, {},
                           [&](int i) { return std::abs(graph.edges[i].query - graph.edges[i].key); });
  for (const int i : order) {
    const FlowEdge& edge = graph.edges[i];
    Lane lane{i,     strand_width(edge.value, scale), edge.query == graph.target,
              false, edge.query == edge.key,          0};
    lane.stub = first == FirstToken::stubs && is_stub(edge);
    bands[edge.layer].lanes.push_back(lane);
  }
  for (int layer = 0; layer < graph.layers; ++layer)
    for (const TokenColumn& column : graph.columns)
      bands[layer].widest =
          std::max(bands[layer].widest, static_cast<float>(std::abs(column.mlps[layer]) * scale));
  return bands;
}

/// Heights for one inner radius of turns.
struct Measure {
  const viz::Style& style;
  float turn = 0;
  bool tight = false;  // many layers or lanes, with little room for each
  float least = 0;     // height of a layer: that of its name, if there is room
  float u() const { return style.unit(); }
  float line() const { return style.line(style.small()); }
  float wedge(const Band& band) const {
    return std::clamp(0.5F * band.widest, (tight ? 0.5F : 1.5F) * u(), 12 * u());
  }
  float lane(const Lane& lane) const {
    return lane.width + (lane.loop ? 2.5F : tight ? 0.4F : 0.75F) * u() + (lane.labelled ? line() : 0);
  }
  /// Of the uppermost lane's label.
  float label(const Band& band) const {
    return band.lanes.empty() || !band.lanes.back().labelled ? 0 : line();
  }
  float band(const Band& band) const {
    float h = (band.lanes.empty() ? 0 : 2 * turn) + wedge(band) + (tight ? 0.25F : 1) * u();
    for (const Lane& one : band.lanes) h += lane(one);
    // The uppermost label is to the left of what is above its lane.
    return std::max(least, h - std::min(label(band), turn + wedge(band)));
  }
  float all(const std::vector<Band>& bands) const {
    float h = 0;
    for (const Band& one : bands) h += band(one);
    return h;
  }
};

/// Takes labels from the weakest edges until the layers fit.
void drop_labels(Bands& bands, const Graph& graph, const Measure& measure, float room) {
  for (int i = static_cast<int>(graph.edges.size()) - 1; i >= 0 && measure.all(bands.layers) > room; --i)
    for (Lane& lane : bands.layers[graph.edges[i].layer].lanes)
      if (lane.edge == i && lane.labelled) lane.labelled = bands.all_labels = false;
}

void place(std::vector<Band>& bands, const Measure& measure, float bottom, float room) {
  const auto count = static_cast<float>(bands.size());
  const float spare = room - measure.all(bands);
  // What is left goes to all layers alike, but no layer becomes hollow.
  const float each = std::min(spare / count, 6 * measure.line());
  float y = bottom - (spare - each * count) / 2;
  for (Band& band : bands) {
    band.bottom = y;
    float at = y - 0.3F * each - measure.turn;
    for (Lane& lane : band.lanes) {
      // On whole pixels, or a hairline would be half as dark.
      lane.y = measure.style.snapped(at - lane.width - (lane.loop ? measure.u() : 0)) + lane.width / 2;
      at -= measure.lane(lane);
    }
    band.top = y - measure.band(band) - each;
    band.wedge_top = band.top + 0.15F * each;
    band.wedge_bottom =
        std::min(band.lanes.empty() ? y - measure.u() : at + measure.label(band) - measure.turn,
                 band.wedge_top + std::max(measure.wedge(band), 1.3F * band.widest + 2 * measure.u()));
    y = band.top;
  }
}

}  // namespace

float strand_width(double value, double scale) {
  constexpr float kHairline = 1;
  return std::max(static_cast<float>(std::abs(value) * scale), kHairline);
}

Bands lay_out_bands(const Graph& graph, FirstToken first, double scale, float bottom, float top,
                    const viz::Style& style, bool keeps_edges) {
  constexpr float kWithoutNames = 1.25F, kTightest = 0.75F;
  constexpr float kForNames = 0.6F;  // the part of the room that the names of the layers may take
  constexpr int kMany = 24;
  const float room = bottom - top, names = static_cast<float>(graph.layers) * style.line(style.small());
  const float least = names <= kForNames * room ? style.line(style.small()) : 0;
  for (const float turn : {3.F, 2.F, kWithoutNames, kTightest}) {
    if (turn == kTightest && !keeps_edges) break;
    Bands bands{bands_of(graph, first, scale), turn * style.unit(), true};
    const Measure measure{style, bands.turn, graph.layers > kMany || turn == kTightest, least};
    if (turn <= kWithoutNames) drop_labels(bands, graph, measure, room);
    if (measure.all(bands.layers) > room) continue;
    place(bands.layers, measure, bottom, room);
    return bands;
  }
  return {};
}

}  // namespace headscope::app::flow_picture
