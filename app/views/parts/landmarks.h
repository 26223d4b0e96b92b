#pragma once
#include "app/views/view.h"

// Landmarks, found by the regions of a picture: a view names the roles that a tour can point at.
namespace headscope::app {

/// The smallest rectangle around the regions of a role, or around those that have this id. Nothing if the
/// picture has none.
std::optional<viz::Rect> around_regions(const Picture& picture, int role, std::optional<int> id = {});
/// The visible part of cells of a role's regions, around all of them; an index of -1 means the whole row,
/// or the whole column.
std::optional<viz::Rect> around_cells(const Picture& picture, int role, int row, int col);

/// The place of a position in a region with a row for each, or a column for each.
std::optional<viz::Rect> around_position(const Picture& picture, int role, int position);

/// The regions of a role, a list or a grid, or those with an id.
Landmark landmark(std::string_view name, int role, std::optional<int> id = {});
/// The regions of a role that show one kind of vector, see viz::VectorStrip::row.
Landmark vector_landmark(std::string_view name, int role, int row);
/// The region whose id is the query's position.
Landmark query_landmark(std::string_view name, int role);
/// The region whose id is the position of the selected key, or else of the strongest one.
Landmark key_landmark(std::string_view name, int role);
/// "query row" and "cell" of grids whose rows are queries and whose columns are keys.
std::vector<Landmark> attention_landmarks(int role);

}  // namespace headscope::app
