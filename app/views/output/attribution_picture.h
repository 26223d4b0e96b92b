#pragma once
#include <optional>
#include <string>

#include "app/views/output/attribution_numbers.h"
#include "app/views/parts/list.h"
#include "app/views/view.h"

// The picture of an attribution: a grid of the parts in the layers, a row of the
// parts outside them, and a list next to these.
namespace headscope::app {

/// Roles of regions. cell: row: layer; col: a head, or after the heads attention's bias and the MLP. end: id:
/// an AttributionEnd. row: id: for parts their index, for layers the layer, for sources the position, for
/// neurons their number.
enum AttributionRole { kAttributionCell, kAttributionEnd, kAttributionRow };

extern const Option<AttributionList> kAttributionList;
extern const Option<int> kFirstContribution;
extern const ListRows kAttributionRows;

/// Whether source tokens that only the baseline has contributed.
bool shows_unmatched(const ViewContext& context, const AttributionNumbers& numbers);

/// What the picture says: title and subtitle above, and a note below.
struct AttributionWords {
  std::string title, subtitle, note;
};
Picture attribution_picture(const ViewContext& context, const AttributionNumbers& numbers,
                            const AttributionWords& words);
/// The size of a figure of it.
viz::Point attribution_size(const ViewContext& context);

/// What a region refers to: a part of the model, a layer, a source, or a neuron.
struct AttributionTarget {
  int part = -1;  ///< index into the parts
  int layer = -1;
  int source = -1;
  int neuron = -1;
  bool operator==(const AttributionTarget&) const = default;
};
AttributionTarget attribution_target(const ViewContext& context, const AttributionNumbers& numbers,
                                     const Picture& picture, const viz::Hit& hit);
/// Frames everything that refers to it: in the grid, next to it and in the list.
void frame_target(viz::Scene& overlay, const ViewContext& context, const AttributionNumbers& numbers,
                  const Picture& picture, const AttributionTarget& target);
/// The head of a part; none for other parts.
std::optional<SelectHead> head_of_part(const AttributionNumbers& numbers, int part);

/// Arrow keys move the selected head.
std::optional<ViewActions> attribution_key(const ViewContext& context, const TableRows& rows,
                                           const Gesture& gesture);

}  // namespace headscope::app
