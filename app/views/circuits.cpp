#include <algorithm>
#include <array>
#include <cmath>

#include "app/run/head_circuit.h"
#include "app/views/common.h"
#include "viz/bars.h"

namespace headscope::app {
namespace {

/// Of regions: a token of the vocabulary, its id: the token's.
enum Role { kToken };
constexpr int kSides = 2;
constexpr float kBeside = 34;  // ems from which on the two lists stand side by side

/// The token that is attended to: the chosen key, else the query itself.
int position_of(const ViewContext& c) {
  return c.selection.key >= 0 ? c.selection.key : c.selection.query;
}
TokensOfHead tokens_question(const ViewContext& c) {
  const int id = c.run->run->tokens[static_cast<std::size_t>(position_of(c))];
  return {c.selection.layer, c.selection.head, id};
}
CopyingOfHead copying_question(const ViewContext& c) {
  return {c.selection.layer, c.selection.head};
}

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + viz::number(value, 3);
}

/// "copying score 0.83"; a score says what a head does with all tokens alike.
std::string copying_words(const ViewContext& c) {
  const auto copying = c.ask(copying_question(c));
  if (!copying) return c.failure(copying_question(c)).empty() ? "copying score: computing…" : "";
  return "copying score " + (std::isnan(copying->score) ? "none" : signed_number(copying->score));
}

std::string title_of(const ViewContext& c) {
  return head_name(c.selection.layer, c.selection.head) + " at “" +
         c.run->tokens.labels[static_cast<std::size_t>(position_of(c))] + "” writes";
}

const std::vector<TokenPush>& side_of(const HeadTokens& tokens, int side) {
  return side == 0 ? tokens.up : tokens.down;
}

/// A note in as many words as there is room for.
std::string fitting(const viz::Style& style, std::initializer_list<std::string> choices, float width) {
  for (const std::string& words : choices)
    if (style.width(words, style.small()) <= width) return words;
  return "";
}

viz::BarChart chart_of(const ViewContext& c, const HeadTokens& tokens, int side, std::size_t shown) {
  viz::BarChart chart;
  chart.role = kToken;
  chart.number_title = side == 0 ? "raises, logit" : "lowers, logit";
  chart.widest_number = "−00.00";
  double most = 0;
  for (const auto* list : {&tokens.up, &tokens.down})
    if (!list->empty() && std::isfinite(list->front().logit))
      most = std::max(most, std::abs(static_cast<double>(list->front().logit)));
  chart.longest = viz::round_limit(most);
  const auto& list = side_of(tokens, side);
  for (std::size_t i = 0; i < std::min(shown, list.size()); ++i) {
    const double logit = static_cast<double>(list[i].logit);
    viz::Bar bar;
    bar.label = label_of(c, list[i].id);
    // Where a head raises fewer tokens than there are bars the last ones have none.
    bar.value = std::isfinite(logit) ? std::max(0.0, side == 0 ? logit : -logit) : 0;
    bar.number = signed_number(logit);
    bar.color = side == 0 ? c.theme->value : c.theme->value.with_alpha(115);
    bar.label_color = c.theme->text;
    bar.id = list[i].id;
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

Picture build(const ViewContext& c) {
  const std::string copying = copying_words(c);
  if (auto words = waiting(c)) return *words;
  const auto tokens = c.ask(tokens_question(c));
  if (auto words = waiting(c, tokens_question(c), tokens != nullptr)) return *words;
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  Picture picture = blank(c);
  viz::Rect area = paint_title(picture, c, title_of(c), copying);
  area.h -= 2 * line + u;
  const bool beside = area.w >= kBeside * style.font_size;
  const float gap = 3 * style.font_size;
  const float height = beside ? area.h : std::floor((area.h - gap / 3) / kSides);
  const float room = (height - viz::bar_chart_height(0, true, style)) / viz::bar_height(style);
  if (room < 1 || area.w < 12 * style.font_size) return message(c, "too small for the tokens");
  const auto shown = std::min(static_cast<std::size_t>(room), std::size_t{HeadTokens::kMost});
  if (shown < tokens->up.size()) picture.whole = false;
  const float width = beside ? std::floor((area.w - gap) / kSides) : area.w;
  for (int side = 0; side < kSides; ++side) {
    const auto at = static_cast<float>(side);
    viz::paint_bar_chart(picture, chart_of(c, *tokens, side, shown),
                         {area.x + (beside ? at * (width + gap) : 0),
                          area.y + (beside ? 0 : at * (height + gap / 3)), width, height},
                         style);
  }
  const std::string own = "“" + label_of(c, tokens->own.id) +
                          "” itself: " + signed_number(static_cast<double>(tokens->own.logit)) + ", place " +
                          grouped(tokens->own_rank + 1);
  const std::array notes{
      fitting(style, {own + " of " + grouped(c.run->run->config.vocab_size), own}, area.w),
      fitting(style,
              {"logits = ln_1(W_E[token]) W_V W_O W_U, of ln_f the gain; without biases, positions and "
               "ln_f's scale",
               "ln_1(W_E[token]) W_V W_O W_U, without biases and ln_f's scale", "W_E W_V W_O W_U"},
              area.w)};
  const float used = viz::bar_chart_height(shown, true, style) * (beside ? 1 : 0) + (beside ? 0 : area.h);
  float middle = area.y + used + u + line / 2;
  for (const std::string& note : notes) {
    viz::add_label(picture.scene, style, note, {area.x, middle}, style.small(), c.theme->text_muted);
    middle += line;
  }
  return picture;
}

/// The push on a token's logit that a picture shows; null: none.
const TokenPush* push_of(const HeadTokens& tokens, int id) {
  for (const auto* list : {&tokens.up, &tokens.down}) {
    const auto found = std::ranges::find(*list, id, &TokenPush::id);
    if (found != list->end()) return &*found;
  }
  return nullptr;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Hover result;
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  const auto tokens = c.run ? c.ask(tokens_question(c)) : nullptr;
  const TokenPush* push = tokens ? push_of(*tokens, region.id) : nullptr;
  if (!push) return result;
  result.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->accent, 1, 3});
  result.lines = {label_of(c, push->id) + "   id " + std::to_string(push->id), "logit " + exact(push->logit)};
  result.status = title_of(c) + " " + result.lines[0] + "   " + result.lines[1];
  return result;
}

Table table(const ViewContext& c) {
  Table result;
  const auto tokens = c.run ? c.ask(tokens_question(c)) : nullptr;
  if (!tokens) return result;
  result.header = {"place", "raised id", "raised token", "logit", "lowered id", "lowered token", "logit"};
  for (std::size_t i = 0; i < std::min(tokens->up.size(), tokens->down.size()); ++i) {
    std::vector<std::string> row{std::to_string(i + 1)};
    for (int side = 0; side < kSides; ++side) {
      const TokenPush& push = side_of(*tokens, side)[i];
      row.insert(row.end(), {std::to_string(push.id), label_of(c, push.id), plain(push.logit)});
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

ViewActions on(const ViewContext& c, const Picture&, const viz::Hit*, const Gesture& gesture) {
  return keys_along_prompt(c, gesture);
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  const auto tokens = c.run && hit ? c.ask(tokens_question(c)) : nullptr;
  if (!tokens) return lines;
  const TokenPush* push = push_of(*tokens, picture.regions[static_cast<std::size_t>(hit->region)].id);
  if (!push) return lines;
  lines.push_back(copy_value(push->logit, "logit"));
  add_copies_of_token(lines, c, push->id, label_of(c, push->id));
  return lines;
}

viz::Point figure_size(const ViewContext& c) {
  const viz::Style style = style_of(c);
  return {52 * c.font_size, below_title(c).y + viz::bar_chart_height(HeadTokens::kMost, true, style) +
                                3 * style.line(style.small()) + style.unit() + margin(c)};
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const float chart = viz::bar_chart_height(HeadTokens::kMost, true, style);
  const float charts = area.w >= kBeside * c.font_size ? chart : 2 * chart + c.font_size + 2;
  return area.y + charts + 2 * style.line(style.small()) + 2 * style.unit() + margin(c) + 1;
}

}  // namespace

View circuits_view() {
  View view;
  view.id = "circuits";
  view.title = "Circuits";
  view.help =
      "what a head writes when it attends to a token: the logits that its OV circuit raises and lowers";
  view.on = on;
  view.menu = menu;
  view.figure_size = figure_size;
  view.whole_height = whole_height;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.caption = {false, true, false};
  return view;
}

}  // namespace headscope::app
