#include "viz/text/piece_rows.h"

#include <algorithm>
#include <cmath>

#include "viz/scene/contrast.h"

namespace headscope::viz {
namespace {

constexpr float kMaxUnit = 3.4F;  // ems

float row_height(const Style& style) {
  return std::round(1.6F * style.font_size);
}
float pitch(const Style& style) {
  return row_height(style) + style.unit();
}
float head_height(const Style& style) {
  return style.line(style.small()) + style.unit();
}

/// The width of the widest of the rows' texts.
float widest(const PieceRows& pieces, std::string PieceRow::*text, const Style& style) {
  float width = 0;
  for (const PieceRow& row : pieces.rows) width = std::max(width, style.width(row.*text, style.small()));
  return std::ceil(width);
}

}  // namespace

float piece_rows_height(std::size_t rows, const Style& style) {
  return head_height(style) + static_cast<float>(rows) * pitch(style);
}

void paint_piece_rows(Picture& picture, const PieceRows& p, Rect area, const Style& style) {
  const Theme& theme = style.theme;
  const float u = style.unit(), h = row_height(style), line = style.line(style.small());
  const float numbers =
      std::max(widest(p, &PieceRow::number, style), std::ceil(style.width(p.number_title, style.small())));
  const float notes = widest(p, &PieceRow::note, style);
  const auto units = static_cast<float>(std::max(1, p.units));
  // Numbers have priority over notes, and both over wide pieces.
  const float least = std::min(1.2F * style.font_size, area.w / 2 / units);
  const bool with_numbers = units * least + 4 * u + numbers <= area.w;
  const float room = area.w - (with_numbers ? 4 * u + numbers : 0);
  const bool with_notes = with_numbers && units * least + 4 * u + notes <= room;
  const float unit_w =
      std::clamp((room - (with_notes ? 4 * u + notes : 0)) / units, 0.F, kMaxUnit * style.font_size);
  const float numbers_at = area.x + units * unit_w + 4 * u + numbers;
  if (with_numbers)
    add_muted(picture.scene, style, p.number_title, {numbers_at, area.y + line / 2}, Align::right);
  // All labels have the same size, a smaller one if some would not fit otherwise.
  const auto box_width = [&](const Piece& piece) {
    return std::max(0.F, static_cast<float>(piece.length) * unit_w - 2);
  };
  const bool fits = std::ranges::all_of(p.rows, [&](const PieceRow& row) {
    return std::ranges::all_of(row.pieces, [&](const Piece& piece) {
      return style.width(piece.label, style.font_size) <= box_width(piece) - 1;
    });
  });
  const float size = fits ? style.font_size : style.small();
  float y = area.y + head_height(style);
  const int count = static_cast<int>(p.rows.size());
  const int room_for =
      static_cast<int>(std::max(0.F, (area.bottom() + 0.5F - y + pitch(style) - h) / pitch(style)));
  const bool all = room_for >= count;
  // The last row is needed for the note about those left out.
  const int shown = all ? count : std::max(room_for, 2) - 1;
  if (!all) picture.whole = false;
  for (int i = 0; i < std::min(shown, room_for); ++i, y += pitch(style)) {
    const PieceRow& row = p.rows[i];
    for (const Piece& piece : row.pieces) {
      const Rect box{area.x + static_cast<float>(piece.start) * unit_w + 1, y, box_width(piece), h};
      const Color fill = piece.made ? p.made : theme.raised;
      picture.scene.add(FillRect{box, fill, u});
      const Color text = text_on(theme, blended(theme.surface, fill));
      add_label(picture.scene, style, piece.label, box.center(), size, text, FontStyle::regular,
                Align::center, box.w - 1);
      if (style.width(piece.label, size) > box.w - 1) picture.whole = false;
    }
    if (with_numbers)
      add_label(picture.scene, style, row.number, {numbers_at, y + h / 2}, style.small(), theme.text,
                FontStyle::regular, Align::right);
    if (with_notes) add_muted(picture.scene, style, row.note, {numbers_at + 4 * u, y + h / 2});
    picture.regions.push_back(
        Region::grid(p.role, i, {area.x, y, units * unit_w, h}, 1, std::max(1, p.units)));
  }
  if (all || room_for < 2) return;
  add_muted(picture.scene, style, "… and " + std::to_string(count - shown) + " more", {area.x, y + h / 2},
            Align::left, area.w);
}

}  // namespace headscope::viz
