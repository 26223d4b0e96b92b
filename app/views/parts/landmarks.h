#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "app/views/parts/selected.h"
#include "app/views/view.h"

// Landmarks, found by the regions of a picture: a view names the roles that a tour can point at.
namespace headscope::app {

/// The smallest rectangle around the regions of a role, or around those that have this id. Nothing if the
/// picture has none.
std::optional<viz::Rect> around_regions(const Picture& picture, int role, std::optional<int> id = {});
/// The visible part of cells of a role's regions, around all of them; an index of -1 means the whole row,
/// or the whole column.
std::optional<viz::Rect> around_cells(const Picture& picture, int role, int row, int col);

/// Around the regions of a role whose first row is this one.
std::optional<viz::Rect> around_vectors(const Picture& picture, int role, int row);
/// The place of a position in a region with a row for each, or a column for each.
std::optional<viz::Rect> around_position(const Picture& picture, int role, int position);

/// All regions of a role: a list, a grid.
template <int kRole>
Landmark landmark(std::string_view name) {
  return {name, [](const ViewContext&, const Picture& p) { return around_regions(p, kRole); }};
}
/// The regions of a role with an id.
template <int kRole, int kId>
Landmark landmark(std::string_view name) {
  return {name, [](const ViewContext&, const Picture& p) { return around_regions(p, kRole, kId); }};
}
/// The regions of a role that show one kind of vector, see viz::VectorStrip::row.
template <int kRole, int kRow>
Landmark vector_landmark(std::string_view name) {
  return {name, [](const ViewContext&, const Picture& p) { return around_vectors(p, kRole, kRow); }};
}
/// The region whose id is the query's position.
template <int kRole>
Landmark query_landmark(std::string_view name) {
  return {name,
          [](const ViewContext& c, const Picture& p) { return around_regions(p, kRole, c.selection.query); }};
}
/// The region whose id is the position of the selected key, or else of the strongest one.
template <int kRole>
Landmark key_landmark(std::string_view name) {
  return {name,
          [](const ViewContext& c, const Picture& p) { return around_regions(p, kRole, attended_key(c)); }};
}
/// "query row", "key column" and "cell" of grids whose rows are queries and whose columns are keys.
template <int kRole>
std::vector<Landmark> attention_landmarks() {
  return {{"query row", [](const ViewContext& c,
                           const Picture& p) { return around_cells(p, kRole, c.selection.query, -1); }},
          {"key column",
           [](const ViewContext& c, const Picture& p) {
             const int key = attended_key(c);
             return key < 0 ? std::nullopt : around_cells(p, kRole, -1, key);
           }},
          {"cell", [](const ViewContext& c, const Picture& p) {
             const int key = attended_key(c);
             return key < 0 ? std::nullopt : around_cells(p, kRole, c.selection.query, key);
           }}};
}

}  // namespace headscope::app
