#include "app/views/parts/landmarks.h"

#include <algorithm>

#include "app/views/parts/selected.h"

namespace headscope::app {
namespace {

/// The smallest rectangle around two; `a` may be nothing yet.
viz::Rect around(const std::optional<viz::Rect>& a, const viz::Rect& b) {
  if (!a) return b;
  const float x = std::min(a->x, b.x), y = std::min(a->y, b.y);
  return {x, y, std::max(a->right(), b.right()) - x, std::max(a->bottom(), b.bottom()) - y};
}

std::optional<viz::Rect> around_all(const Picture& picture, int role, const auto& counts) {
  std::optional<viz::Rect> all;
  for (const viz::Region& region : picture.regions)
    if (region.role == role && counts(region)) all = around(all, region.rect);
  return all;
}

}  // namespace

std::optional<viz::Rect> around_regions(const Picture& picture, int role, std::optional<int> id) {
  return around_all(picture, role, [&](const viz::Region& region) { return !id || region.id == *id; });
}

std::optional<viz::Rect> around_position(const Picture& picture, int role, int position) {
  for (const viz::Region& region : picture.regions)
    if (region.role == role)
      return region.row_count > 1 ? around_cells(picture, role, position, -1)
                                  : around_cells(picture, role, -1, position);
  return std::nullopt;
}

std::optional<viz::Rect> around_cells(const Picture& picture, int role, int row, int col) {
  std::optional<viz::Rect> all;
  for (const viz::Region& region : picture.regions) {
    if (region.role != role || row >= region.row_count || col >= region.col_count) continue;
    const viz::Rect cell = region.cell_rect(std::max(row, 0), std::max(col, 0)), &shown = region.rect;
    const float left = col < 0 ? shown.x : std::max(cell.x, shown.x),
                top = row < 0 ? shown.y : std::max(cell.y, shown.y),
                right = col < 0 ? shown.right() : std::min(cell.right(), shown.right()),
                bottom = row < 0 ? shown.bottom() : std::min(cell.bottom(), shown.bottom());
    if (left < right && top < bottom) all = around(all, {left, top, right - left, bottom - top});
  }
  return all;
}

Landmark landmark(std::string_view name, int role, std::optional<int> id) {
  return {name, [=](const ViewContext&, const Picture& p) { return around_regions(p, role, id); }};
}

Landmark vector_landmark(std::string_view name, int role, int row) {
  return {name, [=](const ViewContext&, const Picture& p) {
            return around_all(p, role, [&](const viz::Region& region) { return region.first_row == row; });
          }};
}

Landmark query_landmark(std::string_view name, int role) {
  return {name,
          [=](const ViewContext& c, const Picture& p) { return around_regions(p, role, c.selection.query); }};
}

Landmark key_landmark(std::string_view name, int role) {
  return {name,
          [=](const ViewContext& c, const Picture& p) { return around_regions(p, role, attended_key(c)); }};
}

std::vector<Landmark> attention_landmarks(int role) {
  return {{"query row", [=](const ViewContext& c,
                            const Picture& p) { return around_cells(p, role, c.selection.query, -1); }},
          {"cell", [=](const ViewContext& c, const Picture& p) {
             const int key = attended_key(c);
             return key < 0 ? std::nullopt : around_cells(p, role, c.selection.query, key);
           }}};
}

}  // namespace headscope::app
