#include <algorithm>
#include <cmath>

#include "app/views/common.h"
#include "viz/chips.h"

namespace headscope::app {
namespace {

constexpr double kStrongestShade = 0.72;  // of the key colour, so that the text stays legible

bool ends_line(std::string_view label) {
  return label.ends_with("↵");
}

viz::ChipFlow make_flow(const ViewContext& c) {
  const PromptTokens& tokens = c.run->tokens;
  const std::span<const float> weights = current_weights(c);
  const viz::Theme& theme = *c.theme;
  const viz::Color opposite = theme.dark ? viz::Color{16, 18, 24, 255} : viz::Color{255, 255, 255, 255};
  viz::ChipFlow flow;
  flow.role = static_cast<int>(Role::token);
  flow.outline = theme.query;
  flow.chips.reserve(tokens.labels.size());
  for (int i = 0; i < tokens.length(); ++i) {
    viz::Chip chip;
    chip.label = tokens.labels[static_cast<std::size_t>(i)];
    chip.break_after = ends_line(chip.label);
    chip.fill = theme.raised;
    chip.text = theme.text;
    if (i >= tokens.run_length) {  // beyond what the model can take
      chip.fill = theme.surface;
      chip.text = theme.text_muted.with_alpha(150);
    } else if (static_cast<std::size_t>(i) < weights.size()) {
      const double most = c.options.value_max > 0 ? c.options.value_max : 1;
      const double weight =
          std::clamp(static_cast<double>(weights[static_cast<std::size_t>(i)]) / most, 0.0, 1.0);
      const auto alpha = static_cast<std::uint8_t>(std::lround(255 * kStrongestShade * weight));
      chip.fill = viz::blended(theme.raised, theme.key.with_alpha(alpha));
      chip.text = viz::readable_on(chip.fill, theme.text, opposite);
    }
    chip.outlined = i == c.selection.query;
    flow.chips.push_back(std::move(chip));
  }
  return flow;
}

viz::Rect chips_area(const ViewContext& c) {
  const float m = std::min(margin(c), 2 * style_of(c).unit());
  return {m, m, std::max(0.F, c.width - 2 * m), std::max(0.F, c.height - 2 * m)};
}

int lines_in(const ViewContext& c) {
  const viz::Style style = style_of(c);
  return std::max(1, static_cast<int>(
                         std::floor((chips_area(c).h + style.unit() + 0.5F) / viz::chip_line_height(style))));
}

Picture build(const ViewContext& c) {
  if (auto words = waiting(c, true)) return *words;
  Picture picture = blank(c);
  const viz::Style style = style_of(c);
  const viz::Rect area = chips_area(c);
  const viz::ChipFlow flow = make_flow(c);
  const std::vector<viz::ChipPlace> places = viz::place_chips(flow, area.w, style);
  const int last_line = places.empty() ? 0 : places.back().line;
  const int first = std::clamp(c.options.chips_scroll, 0, std::max(0, last_line + 1 - lines_in(c)));
  viz::paint_chips(picture, flow, places, first, area, style);
  return picture;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  Hover result;
  if (!c.run || !c.run->run || region.role != static_cast<int>(Role::token) ||
      region.id >= c.run->tokens.length())
    return result;
  const PromptTokens& tokens = c.run->tokens;
  const int position = region.id;
  const model::Token& token = tokens.tokens[static_cast<std::size_t>(position)];
  const std::string_view bytes = c.run->model->tokenizer->bytes(token.id);
  result.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, style_of(c).unit()});
  result.lines = {"position " + token_name(tokens, position),
                  "id " + std::to_string(token.id) + ", bytes " + bytes_as_hex(bytes)};
  result.status = "position " + token_name(tokens, position) + "   id " + std::to_string(token.id);
  if (position >= tokens.run_length) {
    result.lines.push_back("beyond the " + grouped(c.run->run->config.n_ctx) +
                           " positions that the model has: not run");
    return result;
  }
  if (const Statistics* statistics = current_statistics(c); statistics && position > 0) {
    const model::PositionStatistics& before = statistics->positions[static_cast<std::size_t>(position) - 1];
    result.lines.push_back("the model found it " + percent(before.next_probability) +
                           " probable (its guess " + std::to_string(before.next_rank + 1) + " of " +
                           grouped(c.run->run->config.vocab_size) + ")");
  }
  const std::span<const float> weights = current_weights(c);
  const std::string query = "query " + token_name(tokens, c.selection.query);
  if (static_cast<std::size_t>(position) < weights.size()) {
    const std::string weight = exact(weights[static_cast<std::size_t>(position)]);
    result.lines.push_back("weight from " + query + " in " + head_name(c.selection.layer, c.selection.head) +
                           ": " + weight);
    result.status += "   weight from the query " + weight;
  } else if (!weights.empty()) {
    result.lines.push_back("comes after " + query + ": masked");
  }
  return result;
}

Table table(const ViewContext& c) {
  Table result;
  if (!c.run || !c.run->run) return result;
  const PromptTokens& tokens = c.run->tokens;
  const Statistics* statistics = current_statistics(c);
  const std::span<const float> weights = current_weights(c);
  result.header = {"position", "id", "token", "bytes", "start", "end", "probability", "rank", "weight"};
  for (int i = 0; i < tokens.length(); ++i) {
    const model::Token& token = tokens.tokens[static_cast<std::size_t>(i)];
    std::vector<std::string> row{std::to_string(i),
                                 std::to_string(token.id),
                                 tokens.labels[static_cast<std::size_t>(i)],
                                 bytes_as_hex(c.run->model->tokenizer->bytes(token.id)),
                                 std::to_string(token.start),
                                 std::to_string(token.end),
                                 "",
                                 "",
                                 ""};
    if (statistics && i > 0 && i < tokens.run_length) {
      const model::PositionStatistics& before = statistics->positions[static_cast<std::size_t>(i) - 1];
      row[6] = plain(before.next_probability);
      row[7] = std::to_string(before.next_rank + 1);
    }
    if (static_cast<std::size_t>(i) < weights.size()) row[8] = plain(weights[static_cast<std::size_t>(i)]);
    result.rows.push_back(std::move(row));
  }
  return result;
}

float whole_height(const ViewContext& c) {
  if (!c.run || !c.run->run) return c.height;
  return static_cast<float>(chip_lines(c).count) * viz::chip_line_height(style_of(c)) - style_of(c).unit() +
         2 * chips_area(c).y;
}

}  // namespace

ChipLines chip_lines(const ViewContext& c) {
  if (!c.run || !c.run->run) return {};
  const std::vector<viz::ChipPlace> places = viz::place_chips(make_flow(c), chips_area(c).w, style_of(c));
  if (places.empty()) return {};
  return {places.back().line + 1, lines_in(c),
          places[static_cast<std::size_t>(std::max(0, c.selection.query))].line};
}

View tokens_view() {
  View view;
  view.id = "tokens";
  view.title = "Tokens";
  view.help = "the prompt's tokens, shaded by what the query attends to in the chosen head";
  view.needs.head = true;
  view.needs.statistics = true;
  view.pane = false;
  view.options = {option("value-max"), option("first-line")};
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
