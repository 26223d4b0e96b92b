#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/counted.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"

namespace headscope::app {

namespace {

/// Truncates a longer text between characters. Returns whether it did.
bool shorten(std::string& text, std::size_t most) {
  if (text.size() <= most) return false;
  const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  std::size_t end = most;
  while (end > 0 && end + 4 > most && is_continuation(text[end])) --end;
  text.resize(end);
  return true;
}

/// A prompt in quotes: truncated between characters, spaces kept, line ends and the like made visible.
std::string quoted(std::string text, bool printed) {
  constexpr std::size_t kOnScreen = 60, kPrinted = 480;  // bytes
  const bool cut = shorten(text, printed ? kPrinted : kOnScreen);
  if (const std::size_t space = text.rfind(' '); cut && printed && space != text.npos && space > kOnScreen)
    text.resize(space);
  std::string shown;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t space = std::min(text.find(' ', start), text.size());
    shown += viz::visible(std::string_view(text).substr(start, space - start));
    if (space == text.size()) break;
    shown += ' ';
    start = space + 1;
  }
  return "“" + shown + (cut ? "…" : "") + "”";
}

/// The prompt for a caption.
std::string quoted_prompt(const PromptRun& run, bool printed) {
  if (run.model->patterns) {
    const PatternFile& file = *run.model->patterns;
    return (file.text().empty() ? file.name() : "“" + file.text() + "”") +
           (file.edits().empty() ? "" : " · with " + file.edits());
  }
  std::string text = run.prompt.text;
  if (!run.prompt.ids.empty()) text = run.model->tokenizer->decode(run.prompt.ids);
  if (run.tokens.was_empty) return "the empty prompt";
  return quoted(std::move(text), printed) + (run.tokens.has_start_token ? " after the start token" : "");
}

/// The baseline's description; for a picture that does not depend on the run, the second model's.
std::string subtracted(const PromptRun& run, bool of_run, bool printed) {
  if (!compares_different_inputs(run)) return "the same";
  const PromptRun& second = *run.baseline;
  if (second.model->patterns) return second.model->patterns->name();
  if (!compares_models(run)) return quoted_prompt(second, printed);
  const bool another = of_run && compares_texts(run);
  return (another ? quoted_prompt(second, printed) + " in " : "") + second.model->name;
}

/// The edits of a run, without those of positions that its prompt does not have.
model::Edits edits_within(const PromptRun& run) {
  model::Edits edits;
  if (run.run->plan) edits = run.run->plan->edits();
  std::erase_if(edits, [&](const model::Edit& edit) { return is_beyond(edit, run.run->length()); });
  return edits;
}

/// "L5 H1 off; no mask", or if that is long "L5 H1 off; and 12 more edits".
std::string words_of(const model::Edits& all, const PromptRun& run, bool printed) {
  constexpr std::size_t kMost = 240;  // bytes
  std::string text;
  std::ptrdiff_t left = std::ssize(all);
  for (const model::Edit& edit : all) {
    const std::string brief = edit_words(edit, {.prompt = [&](const std::vector<int>& ids) {
                                           return quoted(run.model->tokenizer->decode(ids), printed);
                                         }});
    if (text.size() + brief.size() > kMost) break;
    text += (text.empty() ? "" : "; ") + brief;
    --left;
  }
  if (left == 0) return text;
  const std::string edits = grouped(left) + (text.empty() ? "" : " more") + (left == 1 ? " edit" : " edits");
  return text.empty() ? edits : text + "; and " + edits;
}

/// Whether the caption says what an option does: only if the picture shows it, and differs by it from the
/// default one.
bool is_in_caption(const View& view, const OptionSpec& option, const ViewContext& c) {
  const OptionValue& value = c.options.value(option);
  return !option.pane_only && !option.reset_on_prompt_change && value != option.default_value &&
         has_effect(view, option, c.options) && (view.uses == nullptr || view.uses(c, option)) &&
         !is_named_by_lines(view, option, c.options, c.prompts.get()) && !(view.shown_heads && option.heads);
}

std::vector<std::string> caption_lines(const std::string& words, float width, const ViewContext& c) {
  const viz::Style style = style_of(c);
  return viz::wrap(style, words, style.small(), viz::FontStyle::regular, width - 2 * margin(c));
}

/// The lines of a heading, and its height: a subtitle without room next to the title is below it.
struct Heading {
  struct Line {
    std::string text;
    viz::Point at;
    bool is_title = false;
  };
  std::vector<Line> lines;
  float height = 0;
};

Heading heading_of(std::string_view title, std::string_view subtitle, float width, const ViewContext& c) {
  Heading heading;
  if (title.empty()) return heading;
  const viz::Style style = style_of(c);
  const float left = margin(c), room = width - 2 * left;
  float y = left;
  const auto add = [&](std::string_view words, bool is_title) {
    const float size = is_title ? style.title() : style.small(), line = style.line(size);
    const auto face = is_title ? viz::FontStyle::medium : viz::FontStyle::regular;
    for (std::string& text : viz::wrap(style, words, size, face, room)) {
      heading.lines.push_back({std::move(text), {left, y + line / 2}, is_title});
      y += line;
    }
  };
  add(title, true);
  const float used = style.width(title, style.title(), viz::FontStyle::medium) + 3 * style.unit();
  if (heading.lines.size() == 1 && used + style.width(subtitle, style.small()) <= room) {
    // On the title's baseline, not on its middle.
    const float lower = (c.fonts->cap_height(viz::FontStyle::medium, style.title()) -
                         c.fonts->cap_height(viz::FontStyle::regular, style.small())) /
                        2;
    heading.lines.push_back({std::string(subtitle), {left + used, heading.lines.front().at.y + lower}});
  } else {
    add(subtitle, false);
  }
  heading.height = y - left + 2 * style.unit();
  return heading;
}

/// "L5 H1, L9 H6", or "40 of them".
std::string list_words(const OptionSpec& option, const std::vector<int>& list) {
  constexpr std::size_t kMany = 12;
  if (list.size() > kMany) return grouped(std::ssize(list)) + " of them";
  std::string words;
  for (const int number : list) {
    const auto [first, second] = head_of_number(number);
    words += (words.empty() ? "" : ", ") +
             (option.heads   ? head_name(first, second)
              : option.cells ? "(" + std::to_string(first) + ", " + std::to_string(second) + ")"
                             : std::to_string(number));
  }
  return words;
}

/// The rows or columns that are shown: "2–4"; empty: all.
std::string range_words(double first, double count) {
  if (count <= 0) return "";
  const double from = std::floor(first), last = std::max(from, std::ceil(first + count) - 1);
  return plain(from) + (last > from ? "–" + plain(last) : "");
}

/// "rows 2–4, columns 1–3".
std::string zoom_words(const Zoom& zoom) {
  const std::string rows = range_words(zoom.row, zoom.rows), columns = range_words(zoom.col, zoom.cols);
  return (rows.empty() ? "" : "rows " + rows) + (rows.empty() || columns.empty() ? "" : ", ") +
         (columns.empty() ? "" : "columns " + columns);
}

/// "“·it”", "guess 2"
std::string token_words(const TokenRef& token, const ViewContext& c) {
  if (token.by == TokenRef::By::rank) return "guess " + std::to_string(token.number);
  return "“" + (token.by == TokenRef::By::id ? label_of(c, token.number) : viz::visible(token.text)) + "”";
}

/// "the prompts of “names”"; not how many: some may be skipped.
std::string list_of_prompts(const ViewContext& c) {
  return c.prompts ? "the prompts of “" + c.prompts->name + "”" : "a list of prompts";
}

}  // namespace

std::string option_words(const OptionSpec& option, const ViewContext& c) {
  const OptionValue& value = c.options.value(option);
  std::string words = to_text(option, value);
  if (!option.choices.empty()) words = option.choices[std::get<int>(value)].label;
  if (const auto* on = std::get_if<bool>(&value)) words = *on ? "on" : "off";
  if (const auto* number = std::get_if<double>(&value)) words = exact(*number);
  if (const auto* zoom = std::get_if<Zoom>(&value)) words = zoom_words(*zoom);
  if (const auto* list = std::get_if<std::vector<int>>(&value)) words = list_words(option, *list);
  if (const auto* token = std::get_if<TokenRef>(&value)) words = token_words(*token, c);
  return std::string(option.label) + ": " + words;
}

std::string caption(const View& view, const ViewContext& c) {
  if (!c.run || !c.run->run) return std::string(view.title);
  std::string text = c.run->model->name;
  if (const auto& weights = c.run->model->transformer;
      weights && weights->precision() != model::Precision::f32)
    text += " in " + std::string(name_of(weights->precision()));
  const bool of_run = !(view.of_model && view.of_model(c));
  const std::string prompt = quoted_prompt(*c.run, c.printed);
  if (view.caption.prompt && of_run && prompt != text) text += " · " + prompt;
  const bool over_list = is_over_list(view, c.options);
  if (over_list) text += (can_show_means(view) ? " · mean over " : " · ") + list_of_prompts(c);
  // What is of the weights alone is as it is without edits.
  const model::Edits edits = of_run && view.caption.prompt ? edits_within(*c.run) : model::Edits();
  const bool edited = !edits.empty();
  if (edited) text += " · with " + words_of(edits, *c.run, c.printed);
  if (c.side == Side::difference && (of_run || compares_models(*c.run))) {
    text += " · minus " + subtracted(*c.run, of_run, c.printed);
    if (edited || !compares_different_inputs(*c.run)) text += " without edits";
    // What may be of a list of prompts are means, which match no tokens.
    const bool may_be_means = view.over_list.option != nullptr && !can_show_means(view);
    if (of_run && !may_be_means && matches_other_positions(*c.run)) text += " · equal tokens matched";
  } else if (!over_list && view.on_baseline && view.on_baseline(c) && compares_different_inputs(*c.run)) {
    const bool of_prompt = compares_texts(*c.run) || !compares_models(*c.run);
    text += (of_prompt ? " · second prompt " : " · second model ") + subtracted(*c.run, true, c.printed);
  } else if (edited && c.run->second_model && model::patches_from_second(edits)) {
    text += " · second model " + c.run->second_model->name;
  }
  const std::string heads =
      view.shown_heads ? view.shown_heads(c) : head_name(c.selection.layer, c.selection.head);
  if (view.caption.head && !heads.empty()) text += " · " + heads;
  if (view.caption.prompt && view.caption.query && of_run) text += " · query " + token_name(c.run->tokens, c.selection.query);
  if (view.caption.head && of_run && c.selection.key >= 0)
    text += " · key " + token_name(key_tokens(*c.run), c.selection.key);
  for (const OptionSpec* option : view.options)
    if (is_in_caption(view, *option, c) && !(over_list && option == view.over_list.option))
      text += " · " + option_words(*option, c);
  if (!over_list && sets_list_mean(view, c.options)) text += " · over " + list_of_prompts(c);
  if (c.note_in_caption && !view.caption.note.empty()) text += " · " + view.caption.note;
  return text;
}

float heading_height(std::string_view title, std::string_view subtitle, float width, const ViewContext& c) {
  return heading_of(title, subtitle, width, c).height;
}

Picture with_heading(Picture picture, const ViewContext& c) {
  const viz::Style style = style_of(c);
  const Heading heading = heading_of(picture.title, picture.subtitle, picture.scene.width, c);
  viz::Scene scene = blank(c).scene;
  scene.width = picture.scene.width, scene.height = picture.scene.height + heading.height;
  for (const auto& [text, at, is_title] : heading.lines)
    viz::add_label(scene, style, text, at, is_title ? style.title() : style.small(),
                   is_title ? c.theme->text : c.theme->text_muted,
                   is_title ? viz::FontStyle::medium : viz::FontStyle::regular);
  viz::append(scene, picture.scene, {0, heading.height});
  picture.scene = std::move(scene);
  for (viz::Region& region : picture.regions) region.rect.y += heading.height;
  return picture;
}

float caption_height(const std::string& words, float width, const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto lines = static_cast<float>(caption_lines(words, width, c).size());
  return std::ceil(lines * style.line(style.small()) + margin(c));
}

Picture with_caption(Picture picture, const std::string& words, const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  const float line = style.line(style.small());
  float middle = scene.height + line / 2;
  for (const std::string& text : caption_lines(words, scene.width, c)) {
    viz::add_label(scene, style, text, {margin(c), middle}, style.small(), c.theme->text_muted);
    middle += line;
  }
  scene.height += caption_height(words, scene.width, c);
  return picture;
}

}  // namespace headscope::app
