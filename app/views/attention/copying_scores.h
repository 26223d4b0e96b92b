#pragma once
#include "app/run/analyses/head_circuit.h"
#include "app/views/view.h"

// The copying scores of all heads: a grid that the Circuits view shows in place of one head's circuit.
namespace headscope::app {

/// Region role of the grid; row: layer; col: head.
inline constexpr int kCopyingCell = 1;

Picture copying_picture(const ViewContext& context, TokenReading reading);
/// The head under the mouse and its score.
Facts copying_facts(const ViewContext& context, TokenReading reading, const Picture& picture,
                    const viz::Hit& hit);
/// A row for each head.
Table copying_table(const ViewContext& context, TokenReading reading);
/// The size of a figure.
viz::Point copying_size(const ViewContext& context);

}  // namespace headscope::app
