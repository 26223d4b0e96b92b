#include <algorithm>
#include <cmath>

#include "app/run/token_statistics.h"
#include "app/views/common.h"
#include "viz/chips.h"
#include "viz/colormap.h"

namespace headscope::app {
namespace {

enum Role { kChip };  // Region::id: position

/// -1: as the query's chip wants it.
const Option<int> kFirstLine{{.name = "first-line",
                              .label = "First line",
                              .help = "first line of tokens that is shown (auto: so that the query's is)",
                              .usual = -1,
                              .usual_name = "auto",
                              .low = 0,
                              .high = 1 << 24,
                              .kept = false,
                              .follows = true,
                              .of_pane = true,
                              .control = Control::none}};

constexpr double kStrongestShade = 0.72;  // of the key colour, so that the text stays legible

bool ends_line(std::string_view label) {
  return label.ends_with("↵");
}

viz::ChipFlow make_flow(const ViewContext& c) {
  const PromptTokens& tokens = c.run->tokens;
  const auto pattern = current_pattern(c);
  const std::span<const float> weights = weights_of_query(c, pattern.get());
  const viz::Theme& theme = *c.theme;
  const viz::Color opposite = theme.dark ? viz::Color{16, 18, 24, 255} : viz::Color{255, 255, 255, 255};
  viz::ChipFlow flow;
  flow.role = kChip;
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
      const double most = c.options[kValueMax] > 0 ? c.options[kValueMax] : 1;
      const double weight = static_cast<double>(weights[static_cast<std::size_t>(i)]) / most;
      if (std::isnan(weight)) {
        chip.fill = viz::sequential(theme, weight);  // the colour of what is no number, as in the maps
      } else {
        const double shade = 255 * kStrongestShade * std::clamp(weight, 0.0, 1.0);
        chip.fill =
            viz::blended(theme.raised, theme.key.with_alpha(static_cast<std::uint8_t>(std::lround(shade))));
      }
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

/// The first line that is shown.
int first_line(const ViewContext& c, std::span<const viz::ChipPlace> places) {
  if (places.empty()) return 0;
  const int shown = lines_in(c), last_first = std::max(0, places.back().line + 1 - shown);
  const int of_query = places[static_cast<std::size_t>(c.selection.query)].line;
  const int first = c.options[kFirstLine] < 0 ? of_query - shown / 2 : c.options[kFirstLine];
  return std::clamp(first, 0, last_first);
}

Picture build(const ViewContext& c) {
  static_cast<void>(current_pattern(c));  // asked for before there is a run, so that it comes with it
  if (auto words = waiting(c)) return *words;
  Picture picture = blank(c);
  const viz::Style style = style_of(c);
  const viz::Rect area = chips_area(c);
  const viz::ChipFlow flow = make_flow(c);
  const std::vector<viz::ChipPlace> places = viz::place_chips(flow, area.w, style);
  viz::paint_chips(picture, flow, places, first_line(c, places), area, style);
  if (picture.regions.empty()) picture.whole = false;
  return picture;
}

/// " (its guess 3 of 1,024)"; nothing where guesses have no order.
std::string place_of_guess(int rank, int vocabulary) {
  if (rank < 0) return "";
  return " (its guess " + std::to_string(rank + 1) + " of " + grouped(vocabulary) + ")";
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  Hover result;
  if (!c.run || region.id >= c.run->tokens.length()) return result;
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
  if (const auto statistics = c.ask(StatisticsOfTokens{});
      statistics && position > 0 && position <= std::ssize(statistics->positions)) {
    const model::PositionStatistics& before = statistics->positions[static_cast<std::size_t>(position) - 1];
    result.lines.push_back("the model found it " + percent(before.next_probability) + " probable" +
                           place_of_guess(before.next_rank, c.run->run->config.vocab_size));
  }
  const auto pattern = current_pattern(c);
  const std::span<const float> weights = weights_of_query(c, pattern.get());
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
  if (!c.run) return result;
  const PromptTokens& tokens = c.run->tokens;
  const auto statistics = c.ask(StatisticsOfTokens{});
  const auto pattern = current_pattern(c);
  const std::span<const float> weights = weights_of_query(c, pattern.get());
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
    if (statistics && i > 0 && i < tokens.run_length && i <= std::ssize(statistics->positions)) {
      const model::PositionStatistics& before = statistics->positions[static_cast<std::size_t>(i) - 1];
      row[6] = plain(before.next_probability);
      row[7] = before.next_rank >= 0 ? std::to_string(before.next_rank + 1) : "nan";
    }
    if (static_cast<std::size_t>(i) < weights.size()) row[8] = plain(weights[static_cast<std::size_t>(i)]);
    result.rows.push_back(std::move(row));
  }
  return result;
}

float whole_height(const ViewContext& c) {
  if (!c.run) return c.height;
  const std::vector<viz::ChipPlace> places = viz::place_chips(make_flow(c), chips_area(c).w, style_of(c));
  const int lines = places.empty() ? 0 : places.back().line + 1;
  return static_cast<float>(lines) * viz::chip_line_height(style_of(c)) - style_of(c).unit() +
         2 * chips_area(c).y;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  const auto first = [&] {
    return first_line(c, viz::place_chips(make_flow(c), chips_area(c).w, style_of(c)));
  };
  if (gesture.kind == Gesture::Kind::wheel)
    return {SetOption{&kFirstLine, std::max(0, first() + (gesture.by.y > 0 ? -1 : 1))}};
  if (gesture.kind != Gesture::Kind::click || !hit) return {};
  const int position = picture.regions[static_cast<std::size_t>(hit->region)].id;
  if (position >= c.run->run->length()) return {};  // beyond what the model can take
  // Nothing moves under the mouse.
  return {SelectQuery{position}, SetOption{&kFirstLine, first()}};
}

}  // namespace

View tokens_view() {
  View view;
  view.id = "tokens";
  view.title = "Tokens";
  view.help = "the prompt's tokens, shaded by what the query attends to in the chosen head";
  view.group = Group::input;
  view.place = Place::strip;
  view.options = {&kValueMax, &kFirstLine};
  view.on = on;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
