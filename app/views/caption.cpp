#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/ascii.h"
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
#include "viz/text/utf8.h"

namespace headscope::app {

namespace {

constexpr std::size_t kOnScreen = 60, kOnSlide = 160, kOnPaper = 480;  // bytes of a prompt

/// A prompt in quotes: truncated between characters, spaces kept, line ends and the like made visible.
std::string quoted(std::string text, std::size_t most) {
  const bool cut = text.size() > most;
  if (cut) text.resize(most), text.resize(most - viz::incomplete_tail(text));
  if (const std::size_t space = text.rfind(' '); cut && space != text.npos && space > kOnScreen)
    text.resize(space);
  std::string shown;
  for (const std::string_view word : split(text, " ")) shown += " " + viz::visible(word);
  return "“" + shown.substr(1) + (cut ? "…" : "") + "”";
}

/// The prompt for a caption.
std::string quoted_prompt(const PromptRun& run, std::size_t most) {
  if (run.model->patterns) {
    const PatternFile& file = *run.model->patterns;
    return (file.text().empty() ? file.name() : "“" + file.text() + "”") +
           (file.edits().empty() ? "" : " · with " + file.edits());
  }
  std::string text = run.prompt.text;
  if (!run.prompt.ids.empty()) text = run.model->tokenizer->decode(run.prompt.ids);
  if (run.tokens.was_empty) return "the empty prompt";
  return quoted(std::move(text), most) + (run.tokens.has_start_token ? " after the start token" : "");
}

/// The baseline's description; for a picture that does not depend on the run, the second model's.
std::string subtracted(const PromptRun& run, bool of_run, std::size_t most) {
  if (!compares_different_inputs(run)) return "the same";
  const PromptRun& second = *run.baseline;
  if (second.model->patterns) return second.model->patterns->name();
  if (!compares_models(run)) return quoted_prompt(second, most);
  const bool another = of_run && compares_texts(run);
  return (another ? quoted_prompt(second, most) + " in " : "") + second.model->name;
}

/// The edits of a run, without those of positions that its prompt does not have.
model::Edits edits_within(const PromptRun& run) {
  model::Edits edits;
  if (run.run->plan) edits = run.run->plan->edits();
  std::erase_if(edits, [&](const model::Edit& edit) { return is_beyond(edit, run.run->length()); });
  return edits;
}

/// "L5 H1 off; no mask", or if that is long "L5 H1 off; and 12 more edits".
std::string words_of(const model::Edits& all, const PromptRun& run, std::size_t most) {
  constexpr std::size_t kMost = 240;  // bytes
  std::string text;
  std::ptrdiff_t left = std::ssize(all);
  for (const model::Edit& edit : all) {
    const std::string brief = edit_words(edit, {.prompt = [&](const std::vector<int>& ids) {
                                           return quoted(run.model->tokenizer->decode(ids), most);
                                         }});
    if (text.size() + brief.size() > kMost) break;
    text += (text.empty() ? "" : "; ") + brief;
    --left;
  }
  if (left == 0) return text;
  const std::string edits = grouped(left) + (text.empty() ? "" : " more") + (left == 1 ? " edit" : " edits");
  return text.empty() ? edits : text + "; and " + edits;
}

/// Whether the caption names an option: only if it makes the picture differ from the default one.
bool is_in_caption(const View& view, const OptionSpec& option, const ViewContext& c) {
  const OptionValue& value = c.options.value(option);
  return !option.pane_only && !option.reset_on_prompt_change && value != option.default_value &&
         has_effect(view, option, c.options) && (view.uses == nullptr || view.uses(c, option)) &&
         !token_comes_from_list(view, option, c.options, c.prompts.get()) &&
         !(view.shown_heads && option.heads);
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

/// "rows 2–4, columns 1–3": those that are shown of all.
std::string zoom_words(const Zoom& zoom) {
  const auto part = [](const char* name, double first, double count) {
    return count > 0 ? name + range_words(static_cast<int>(first), static_cast<int>(std::ceil(first + count)))
                     : std::string();
  };
  const std::string rows = part("rows ", zoom.row, zoom.rows),
                    columns = part("columns ", zoom.col, zoom.cols);
  return rows + (rows.empty() || columns.empty() ? "" : ", ") + columns;
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
      weights && weights->report().precision != model::Precision::f32)
    text += " in " + std::string(name_of(weights->report().precision));
  const bool of_run = !view.is_of_model(c);
  const std::size_t most = is_on_paper(c) ? kOnPaper : c.printed ? kOnSlide : kOnScreen;
  const std::string prompt = quoted_prompt(*c.run, most);
  if (view.caption.prompt && of_run && prompt != text) text += " · " + prompt;
  const bool over_list = view.over_list.is_in(c.options);
  if (over_list) text += (can_show_means(view) ? " · mean over " : " · ") + list_of_prompts(c);
  // What is of the weights alone is as it is without edits.
  const model::Edits edits = of_run && view.caption.prompt ? edits_within(*c.run) : model::Edits();
  const bool edited = !edits.empty();
  if (edited) text += " · with " + words_of(edits, *c.run, most);
  if (c.differs() && (of_run || compares_models(*c.run))) {
    text += " · minus " + subtracted(*c.run, of_run, most);
    if (edited || !compares_different_inputs(*c.run)) text += " without edits";
    // What may be of a list of prompts are means, which match no tokens.
    const bool may_be_means = view.over_list.option != nullptr && !can_show_means(view);
    if (of_run && !may_be_means && matches_other_positions(*c.run)) text += " · equal tokens matched";
  } else if (!over_list && view.on_baseline && view.on_baseline(c) && compares_different_inputs(*c.run)) {
    const bool of_prompt = compares_texts(*c.run) || !compares_models(*c.run);
    text += (of_prompt ? " · second prompt " : " · second model ") + subtracted(*c.run, true, most);
  } else if (edited && c.run->second_model && model::patches_from_second(edits)) {
    text += " · second model " + c.run->second_model->name;
  }
  const std::string heads =
      view.shown_heads ? view.shown_heads(c) : head_name(c.selection.layer, c.selection.head);
  if (view.caption.head && !heads.empty()) text += " · " + heads;
  if (view.caption.prompt && view.caption.query && of_run)
    text += " · query " + token_name(c.run->tokens, c.selection.query);
  if (view.caption.head && of_run && c.selection.key >= 0)
    text += " · key " + token_name(key_tokens(*c.run), c.selection.key);
  for (const OptionSpec* option : view.options)
    if (is_in_caption(view, *option, c) && !(over_list && option == view.over_list.option))
      text += " · " + option_words(*option, c);
  if (!over_list && view.list_mean.is_in(c.options)) text += " · over " + list_of_prompts(c);
  if (c.note_in_caption && !view.caption.note.empty()) text += " · " + view.caption.note;
  return text;
}

float caption_height(const std::string& words, float width, const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto lines = static_cast<float>(small_lines(c, words, width - 2 * margin(c)).size());
  return std::ceil(lines * style.line(style.small()) + margin(c));
}

Picture with_caption(Picture picture, const std::string& words, const ViewContext& c) {
  viz::Scene& scene = picture.scene;
  const float m = margin(c);
  paint_small_lines(scene, c, small_lines(c, words, scene.width - 2 * m), {m, scene.height});
  scene.height += caption_height(words, scene.width, c);
  return picture;
}

}  // namespace headscope::app
