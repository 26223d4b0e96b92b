#include "app/views/common.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "app/run/patterns.h"
#include "model/statistics.h"

namespace headscope::app {
namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

template <class T>
std::string typeset(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::string text;
  for (const char c : shortest(value)) text += c == '-' ? std::string("−") : std::string(1, c);
  return text;
}

}  // namespace

viz::Style style_of(const ViewContext& c) {
  return {*c.theme, *c.fonts, c.font_size, c.device_scale};
}

float margin(const ViewContext& c) {
  const float unit = style_of(c).unit();
  return c.width < 25 * c.font_size ? 2 * unit : 4 * unit;
}

Picture blank(const ViewContext& c) {
  Picture picture;
  picture.scene.width = c.width;
  picture.scene.height = c.height;
  picture.scene.background = c.theme->surface;
  return picture;
}

Picture message(const ViewContext& c, std::string_view words) {
  Picture picture = blank(c);
  picture.whole = false;
  const viz::Style style = style_of(c);
  const float room = c.width - 2 * margin(c), line = style.line(style.small());
  std::vector<std::string> lines =
      viz::wrap(style, words, style.small(), viz::FontStyle::regular, std::max(1.F, room));
  if (static_cast<float>(lines.size()) * line > c.height) lines = {std::string(words)};  // shortened
  float y = c.height / 2 - line * static_cast<float>(std::ssize(lines) - 1) / 2;
  for (const std::string& text : lines) {
    viz::add_label(picture.scene, style, text, {c.width / 2, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::center, room);
    y += line;
  }
  return picture;
}

std::shared_ptr<const Pattern> current_pattern(const ViewContext& c) {
  return c.ask(PatternOf{c.selection.layer, c.selection.head});
}

std::shared_ptr<const Stages> current_stages(const ViewContext& c) {
  return c.ask(StagesOf{c.selection.layer, c.selection.head});
}

std::shared_ptr<const NextToken> current_next(const ViewContext& c) {
  return c.ask(NextAfter{c.chosen_query});
}

int compared_query(const ViewContext& c) {
  return c.compared() ? c.run->aligned[static_cast<std::size_t>(c.selection.query)] : -1;
}

Picture no_counterpart(const ViewContext& c, int position) {
  return message(
      c, "nothing in the " + second_name(*c.run) + " stands for " + token_name(c.run->tokens, position));
}
Picture no_counterpart(const ViewContext& c) {
  return no_counterpart(c, c.selection.query);
}

std::optional<TokenChoice> guess_of_rank(const ViewContext& c, int rank) {
  const PromptRun* run = c.asked ? c.asked.get() : c.run.get();
  if (run == nullptr || run->other == nullptr) return TokenChoice::best(rank);
  const bool two = is_of_two_prompts(*run);
  if (two && c.side == Side::run) return TokenChoice::best(rank);
  int position = c.selection.query;
  if (two && c.side == Side::other) {
    const auto stands = std::ranges::find(run->aligned, position);
    if (stands == run->aligned.end()) return TokenChoice::best(rank);
    position = static_cast<int>(stands - run->aligned.begin());
  }
  const auto next = c.ask_on(two ? Side::run : Side::other, NextAfter{position});
  if (!next) return std::nullopt;
  return TokenChoice::of(model::largest_logits(next->logits, rank + 1).back().id);
}

std::shared_ptr<const NextToken> compared_next(const ViewContext& c) {
  const int position = compared_query(c);
  if (position < 0) return nullptr;
  // The end as such: that is known with the run of a longer prompt, too.
  const bool end = c.chosen_query < 0 && position + 1 == c.run->other->run->length();
  return c.ask_on(Side::other, NextAfter{end ? -1 : position});
}

std::span<const float> weights_of_query(const ViewContext& c, const Pattern* pattern) {
  if (!pattern) return {};
  const auto keys = static_cast<std::size_t>(pattern->keys()),
             query = static_cast<std::size_t>(c.selection.query);
  return std::span(pattern->values)
      .subspan(query * keys, static_cast<std::size_t>(pattern->masked.end_of(c.selection.query)));
}

std::optional<Picture> waiting(const ViewContext& c) {
  if (!c.run) return message(c, c.no_run);
  return std::nullopt;
}

std::optional<Picture> waiting(const ViewContext& c, const Question& question, bool answered) {
  if (auto words = waiting(c)) return words;
  if (answered) return std::nullopt;
  const std::string failure = c.failure(question);
  return message(c, failure.empty() ? "computing…" : failure);
}

viz::Rect below_title(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const float m = margin(c), top = m + style.line(style.title()) + 2 * style.unit();
  // A pane's picture may get scroll bars on its right and under it.
  const float end = c.in_pane ? std::max(m, kScrollBar * c.font_size + style.unit()) : m;
  return {m, top, std::max(0.F, c.width - m - end), std::max(0.F, c.height - top - end)};
}

viz::Rect paint_title(Picture& picture, const ViewContext& c, std::string_view title,
                      std::string_view subtitle) {
  const viz::Style style = style_of(c);
  const float m = margin(c), u = style.unit(), line = style.line(style.title()), middle = m + line / 2;
  viz::add_label(picture.scene, style, title, {m, middle}, style.title(), c.theme->text,
                 viz::FontStyle::medium, viz::Align::left, c.width - 2 * m);
  const float width = style.width(title, style.title(), viz::FontStyle::medium), used = width + 3 * u;
  if (width > c.width - 2 * m) picture.whole = false;
  // A few letters and an ellipsis say nothing: all of the subtitle or most of it.
  const float room = c.width - 2 * m - used;
  if (room >= std::min(14 * style.font_size, style.width(subtitle, style.small()))) {
    // On the title's baseline, not on its middle.
    const float lower = (c.fonts->cap_height(viz::FontStyle::medium, style.title()) -
                         c.fonts->cap_height(viz::FontStyle::regular, style.small())) /
                        2;
    viz::add_label(picture.scene, style, subtitle, {m + used, middle + lower}, style.small(),
                   c.theme->text_muted, viz::FontStyle::regular, viz::Align::left, room);
  }
  return below_title(c);
}

ViewActions move_key(const ViewContext& c, int by) {
  if (!c.run) return {};
  const int query = c.selection.query;
  int last = key_count(*c.run) - 1;
  while (last > 0 && !may_see(c, query, last)) --last;
  const int from = c.selection.key >= 0 ? c.selection.key + by : by > 0 ? 0 : last;
  int key = std::clamp(from, 0, last);
  while (!may_see(c, query, key)) key += by > 0 ? 1 : -1;
  return {SelectKey{key}};
}

bool may_see(const ViewContext& c, int query, int key) {
  return may_see(*c.run, {c.selection.layer, c.selection.head}, query, key);
}

std::string why_masked(int query, int key) {
  return key > query ? "this key comes after the query" : "edits hide this key from the query";
}

SelectKey clicked_key(const ViewContext& c, int position) {
  return {position == c.selection.key ? -1 : position};
}

ViewActions keys_along_prompt(const ViewContext& c, const Gesture& gesture) {
  if (gesture.kind != Gesture::Kind::key || !c.run) return {};
  const auto step = [&](int by) -> ViewActions {
    if (gesture.modifiers.shift) return move_key(c, by);
    return {MoveQuery{by}};
  };
  switch (gesture.key) {
    case Key::left:
      return step(-1);
    case Key::right:
      return step(1);
    case Key::home:
      return {SelectQuery{0}};
    case Key::end:
      return {SelectQuery{-1}};
    default:
      return {};
  }
}

MenuLine copy_value(float value, std::string_view name) {
  const std::string words = name.empty() ? "" : std::string(name) + " ";
  return {"Copy " + words + exact(value), {CopyText{plain(value)}}};
}

MenuLine choose_query(const ViewContext& c, int position, std::string_view words) {
  return {std::string(words) + " " + token_name(c.run->tokens, position), {SelectQuery{position}}};
}

void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& c, int position, int of) {
  if (!may_see(c, of, position)) return;
  const bool chosen = position == c.selection.key && of == c.selection.query;
  MenuLine line{(chosen ? "No longer key " : "Key ") + token_name(key_tokens(*c.run), position), {}};
  if (of != c.selection.query) line.actions.emplace_back(SelectQuery{of});
  line.actions.emplace_back(SelectKey{chosen ? -1 : position});
  menu.push_back(std::move(line));
}

void add_copies_of_token(std::vector<MenuLine>& menu, const ViewContext& c, int id, std::string_view label) {
  const auto& tokenizer = c.run->model->tokenizer;
  const std::string text(tokenizer ? tokenizer->bytes(id) : label);
  menu.push_back({"Copy “" + std::string(label) + "”", {CopyText{text}}});
  if (!tokenizer) return;
  menu.push_back({"Copy id " + std::to_string(id), {CopyText{std::to_string(id)}}});
}

OverPrompts over_list(const ViewContext& c) {
  return {c.prompts, c.run && c.run->prompt.start_token};
}

Picture no_list(const ViewContext& c) {
  return message(
      c,
      "no list of prompts is open: drop a file on the window, .txt with a prompt a line or .jsonl, "
      "or name it with --over");
}

std::string list_words(const ViewContext& c, const ListProgress& progress) {
  return list_words(c, progress, c.prompts->prompts.size());
}

std::string list_words(const ViewContext& c, const ListProgress& progress, std::size_t of_first) {
  const auto count = static_cast<std::int64_t>(of_first);
  const std::string of =
      (count - static_cast<std::int64_t>(progress.skipped) == 1 ? " prompt of “" : " prompts of “") +
      c.prompts->name + "”";
  if (std::cmp_less(progress.done, count))
    return "computing… " + grouped(static_cast<std::int64_t>(progress.done)) + " of " + grouped(count) + of;
  std::string words = grouped(count - static_cast<std::int64_t>(progress.skipped)) + of;
  if (of_first < c.prompts->prompts.size())
    words = "the first " + grouped(count) + " of " + grouped(std::ssize(c.prompts->prompts)) + of;
  if (progress.skipped > 0)
    words +=
        " (" + grouped(static_cast<std::int64_t>(progress.skipped)) + " left out: " + progress.problem + ")";
  if (c.run && c.run->run->plan) words += ", without the changes";
  return words;
}

bool is_shown_prompt(const ViewContext& c, std::size_t index) {
  const Prompt &prompt = c.prompts->prompts.at(index), &shown = c.run->prompt;
  return prompt.ids == shown.ids && (!prompt.ids.empty() || prompt.text == shown.text);
}

ShowPrompt show_prompt(const ViewContext& c, std::size_t index, const Selection& selection) {
  Prompt prompt = c.prompts->prompts.at(index);
  prompt.start_token = over_list(c).start_token;
  return {std::move(prompt), selection};
}

std::string second_name(const PromptRun& run) {
  if (run.model->patterns) return "second file";
  return is_of_two_models(run) && !is_of_two_texts(run) ? "second model" : "second prompt";
}

std::string second_words(const PromptRun& run) {
  return second_name(run) + (is_of_two_models(run) && is_of_two_texts(run) ? " in the second model" : "");
}

std::string no_counterpart_words(const ViewContext& c) {
  return "nothing in the " + second_name(*c.run) + " stands for it";
}

/// Whether neither side of the comparison is the other without its changes.
static bool is_between_two(const ViewContext& c) {
  return c.compared() && is_of_two_prompts(*c.run);
}

std::string change_words(const ViewContext& c) {
  if (!is_between_two(c)) return "changed − original";
  if (!c.run->run->plan) return "first − " + second_words(*c.run);
  return std::string(is_of_two_texts(*c.run) ? "first prompt" : "first model") + ", changed − " +
         second_words(*c.run) + ", unchanged";
}

const char* change_name(const ViewContext& c) {
  return is_between_two(c) ? "difference" : "change";
}

const char* what_changed(const ViewContext& c) {
  if (c.side != Side::change) return "";
  return is_between_two(c) ? ": what differs" : ": what changed";
}

const char* change_of(const ViewContext& c) {
  if (c.side != Side::change) return "";
  return is_between_two(c) ? "difference of " : "change of ";
}

std::string head_name(int layer, int head) {
  return "L" + std::to_string(layer) + " H" + std::to_string(head);
}

std::string token_name(const PromptTokens& tokens, int position) {
  const std::string number = std::to_string(position),
                    &label = tokens.labels[static_cast<std::size_t>(position)];
  return label == number ? number : number + " “" + label + "”";  // called by its position alone
}

std::string label_of(const ViewContext& c, int id) {
  const std::string_view bytes = c.run->model->tokenizer->bytes(id);
  return bytes.empty() ? "#" + std::to_string(id) : viz::visible(bytes);
}

std::string exact(float value) {
  return typeset(value);
}
std::string exact(double value) {
  return typeset(value);
}

std::string plain(float value) {
  return shortest(value);
}
std::string plain(double value) {
  return shortest(value);
}

std::string percent(double fraction) {
  const double p = 100 * fraction;
  std::array<char, 32> text{};
  if (p >= 99.95 && p < 100) {
    std::snprintf(text.data(), text.size(), "%.2f %%", std::min(p, 99.99));
  } else if (p >= 10 || p == 0) {
    std::snprintf(text.data(), text.size(), "%.1f %%", p);
  } else if (p >= 0.1) {
    std::snprintf(text.data(), text.size(), "%.2f %%", p);
  } else if (p >= 0.001) {
    std::snprintf(text.data(), text.size(), "%.4f %%", p);
  } else {
    return viz::number(p, 2) + " %";
  }
  return text.data();
}

std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3) {
    text.insert(static_cast<std::size_t>(i), ",");
  }
  return text;
}

std::string bytes_as_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%02X", static_cast<unsigned char>(c));
    text += (text.empty() ? "" : " ") + std::string(hex.data());
  }
  return text;
}

std::string scale_factor(const model::Config& config, int layer) {
  std::string text = config.scale_attn_weights ? "1/√" + std::to_string(config.d_head()) : "1";
  if (config.scale_attn_by_inverse_layer_idx) text += " × 1/" + std::to_string(layer + 1);
  return text;
}

viz::AxisLabels token_axis(const ViewContext& c, std::string_view title, viz::Color color, int emphasised) {
  return {std::span(c.run->tokens.labels).first(static_cast<std::size_t>(c.run->run->length())),
          std::string(title), color, emphasised};
}

viz::AxisLabels key_axis(const ViewContext& c) {
  return {std::span(key_tokens(*c.run).labels).first(static_cast<std::size_t>(key_count(*c.run))), "key",
          c.theme->key, c.selection.key};
}

}  // namespace headscope::app
