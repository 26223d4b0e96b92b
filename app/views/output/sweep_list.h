#pragma once
#include <cstddef>
#include <vector>

#include "app/run/analyses/sweep.h"
#include "app/views/parts/list.h"
#include "app/views/view.h"

// A sweep as a list of bars, for places without a second axis.
namespace headscope::app {

/// Roles of a sweep's regions. cell: of the grid, row: a layer, or a head at positions; col: a head, the MLP
/// or a position. row: of the list, its id is the row.
enum SweptRole { kSweptCell, kSweptRow };
extern const Option<int> kFirstSwept;  ///< first row shown
extern const ListRows kSweptRows;

/// The list of these cells; all arguments must outlive it.
List sweep_list(const ViewContext& context, const SweepOf& question, const Sweep& sweep,
                const std::vector<std::size_t>& cells);

/// The size of a figure that shows all of its rows.
viz::Point sweep_list_size(const ViewContext& context, const SweepOf& question);

}  // namespace headscope::app
