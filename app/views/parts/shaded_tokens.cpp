#include "app/views/parts/shaded_tokens.h"

#include "app/views/parts/parts.h"

namespace headscope::app {
namespace {

/// The maximum fraction of the height for the chips.
constexpr float kMaxChips = 0.3F;

/// The least size of a picture with chips, in ems.
constexpr float kLeastSize = 14;

float legend_height(const viz::Style& style) {
  return style.line(style.small()) + 3 * style.unit();
}

}  // namespace

viz::Chip shaded_chip(const ViewContext& c, const std::string& label, std::optional<viz::Color> fill) {
  viz::Chip chip;
  chip.label = label;
  chip.break_after = label.ends_with("↵");
  chip.fill = fill.value_or(c.theme->surface);
  chip.text = fill ? text_on(c, *fill) : c.theme->text;
  if (!fill) chip.outline = c.theme->line;
  return chip;
}

void ShadedTokens::show_line_of(int token, bool in_the_middle) {
  if (places.empty() || shown_lines == 0) return;
  const int line = places[token].line - (in_the_middle ? shown_lines / 2 : 0);
  first_line = std::clamp(line, 0, lines() - shown_lines);
}

ShadedTokens lay_out_shaded_tokens(const ViewContext& c, viz::ChipFlow flow) {
  const viz::Style style = style_of(c);
  ShadedTokens l{below_title(c), std::move(flow)};
  l.places = viz::place_chips(l.flow, l.area.w, style);
  l.list = l.area;
  const float pitch = viz::chip_line_height(style), least = kLeastSize * style.font_size;
  if (l.area.h >= least && l.area.w >= least)
    l.shown_lines = std::min(l.lines(), static_cast<int>(std::floor((l.area.h * kMaxChips + 0.5F) / pitch)));
  if (l.shown_lines == 0) return l;
  l.chips = {l.area.x, l.area.y, l.area.w, static_cast<float>(l.shown_lines) * pitch};
  l.legend = l.chips.bottom() + style.line(style.small()) / 2;
  l.list.y = l.chips.bottom() + legend_height(style);
  l.list.h = std::max(0.F, l.area.bottom() - l.list.y);
  return l;
}

std::string shown_tokens_words(const Picture& picture, int length) {
  return "tokens " + grouped(picture.regions.front().id) + "–" + grouped(picture.regions.back().id) + " of " +
         grouped(length);
}

float shaded_tokens_height(const ViewContext& c, const viz::ChipFlow& flow, int rows, int fixed) {
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const std::vector<viz::ChipPlace> places = viz::place_chips(flow, area.w, style);
  const int lines = places.empty() ? 0 : places.back().line + 1;
  const float chips = static_cast<float>(lines) * viz::chip_line_height(style);
  viz::Table table;
  table.rows = rows;
  table.footer.resize(static_cast<std::size_t>(fixed));
  const float all = chips + legend_height(style) + viz::table_height(table, style);
  return area.y + std::max({all, chips / kMaxChips, kLeastSize * style.font_size}) + margin(c) + 1;
}

}  // namespace headscope::app
