// When a tour's paragraphs are shown.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "app/ascii.h"
#include "app/run/analyses/parameters.h"
#include "app/run/edits/edit_text.h"
#include "app/tour/tour.h"
#include "app/views/parts/selected.h"
#include "model/files/error.h"
#include "model/pass/run.h"

namespace headscope::app {
namespace {

using Truth = std::optional<bool>;  // nothing: not known yet

Truth has_prompt(const TourStop& stop, const ViewContext& c) {
  const Prompt& prompt = c.run->prompt;
  return prompt.text == stop.prompt && prompt.ids.empty() && !prompt.start_token.value_or(false);
}

Truth has_bundled_model(const TourStop&, const ViewContext& c) {
  const auto answer = c.ask(IsBundledModel{});
  return answer ? Truth(*answer) : std::nullopt;
}

/// Compared with the stop's second prompt, position by position, or with no second prompt and no second
/// model. What is shown is the run itself.
Truth has_comparison(const TourStop& stop, const ViewContext& c) {
  const PromptRun& run = *c.run;
  if (run.baseline && c.side != Side::run) return false;
  if (!stop.second) return !compares_different_inputs(run);
  if (!compares_texts(run) || compares_models(run) || run.baseline->prompt.text != stop.second) return false;
  const model::Run &first = *run.run, &second = *run.baseline->run;
  return run.aligned == aligned_positions(first.tokens, second.tokens, Alignment::position);
}

/// Edited and compared as the stop says.
Truth has_edits(const TourStop& stop, const ViewContext& c) {
  if (has_comparison(stop, c) == false) return false;
  try {
    if (stop.edits.empty()) return c.run->prompt.edits.empty();
    return c.run->prompt.edits == parse_edits(stop.edits, *c.run->model);
  } catch (const model::RunError&) {  // the edits are about another model
    return false;
  }
}

/// Whether the run that is shown is one without edits.
Truth is_unedited(const TourStop&, const ViewContext& c) {
  const bool other_input = c.run->baseline && compares_different_inputs(*c.run);
  return !other_input && (c.run->prompt.edits.empty() || (c.run->baseline && c.side == Side::baseline));
}

Truth is_difference_from_unedited(const TourStop&, const ViewContext& c) {
  return c.run->baseline && !compares_different_inputs(*c.run) && c.side == Side::difference;
}

bool is_index(const std::optional<int>& given, int selected, int count) {
  return given && (*given < 0 ? count - 1 : *given) == selected;
}

Truth is_layer(const TourStop& stop, const ViewContext& c) {
  return is_index(stop.layer, c.selection.layer, c.run->model->config().n_layer);
}

Truth is_head(const TourStop& stop, const ViewContext& c) {
  return *is_layer(stop, c) && is_index(stop.head, c.selection.head, c.run->model->config().n_head);
}

/// The last position for "last", and for words that the prompt does not have.
Truth is_token(const TourStop& stop, const ViewContext& c) {
  const int position = position_of(stop.token.value_or("last"), c.run->prompt.text, c.run->tokens);
  return c.selection.query == (position < 0 ? c.run->run->length() - 1 : position);
}

Truth is_key(const TourStop& stop, const ViewContext& c) {
  const int position = position_of(stop.key.value_or("last"), c.run->prompt.text, c.run->tokens);
  return position >= 0 && c.selection.key == position;
}

/// A test of the position of the selected query's strongest key.
template <bool (*kTest)(const ViewContext&, int key)>
Truth strongest(const TourStop&, const ViewContext& c) {
  if (!has_own_keys(*c.run)) return false;
  const int key = strongest_key(c);
  return key < 0 ? std::nullopt : Truth(kTest(c, key));
}

bool is_previous(const ViewContext& c, int key) {
  return key == c.selection.query - 1;
}

/// Whether the query's token also stands directly before the key: what an induction head looks for.
bool follows_same_token(const ViewContext& c, int key) {
  const auto& tokens = c.run->run->tokens;
  return key > 0 && key <= c.selection.query && tokens[key - 1] == tokens[c.selection.query];
}

/// Whether an earlier token is the same as the query's.
Truth repeats(const TourStop&, const ViewContext& c) {
  const std::span tokens(c.run->run->tokens);
  const auto before = tokens.first(static_cast<std::size_t>(c.selection.query));
  return std::ranges::find(before, tokens[before.size()]) != before.end();
}

constexpr Condition kConditions[] = {
    {"this prompt", has_prompt},
    {"this model", has_bundled_model},
    {"these edits", has_edits},
    {"this comparison", has_comparison},
    {"unedited run", is_unedited},
    {"difference", is_difference_from_unedited},
    {"this layer", is_layer},
    {"this head", is_head},
    {"this token", is_token},
    {"this key", is_key},
    {"repeated token", repeats},
    {"strongest on previous token", strongest<is_previous>},
    {"strongest after same token", strongest<follows_same_token>},
};

/// "weight above 50 %"; nothing if it is something else.
std::optional<Condition> parse_limit(std::string_view text) {
  for (const bool above : {true, false}) {
    const std::vector<std::string_view> parts = split(text, above ? " above " : " below ");
    if (parts.size() != 2) continue;
    Condition condition{.number = find_number(trimmed(parts[0])), .above = above};
    std::string_view limit = trimmed(parts[1]);
    const bool percent = limit.ends_with('%');
    if (percent) limit = trimmed(limit.substr(0, limit.size() - 1));
    const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), condition.limit);
    const bool whole = error == std::errc{} && end == limit.data() + limit.size();
    const bool is_quantity = condition.number != nullptr && condition.number->value != nullptr;
    if (!whole || !std::isfinite(condition.limit) || !is_quantity) return {};
    if (percent) condition.limit /= 100;
    return condition;
  }
  return {};
}

Truth holds(const Condition& condition, const TourStop& stop, const ViewContext& c) {
  // Tours are about models: of attention without one, neither a sentence nor its alternative is known to
  // hold.
  if (!c.run || c.run->model->patterns) return std::nullopt;
  if (condition.holds != nullptr) return condition.holds(stop, c);
  const auto value = condition.number->value(c);
  if (!value) return std::nullopt;
  return condition.above ? *value > condition.limit : *value < condition.limit;
}

/// False if one condition does not hold, even if others are not known.
Truth all_hold(const std::vector<Condition>& conditions, const TourStop& stop, const ViewContext& c) {
  Truth all = true;
  for (const Condition& condition : conditions) {
    const Truth one = holds(condition, stop, c);
    if (one == false) return false;
    if (!one) all = std::nullopt;
  }
  return all;
}

}  // namespace

std::vector<Condition> parse_conditions(std::string_view text) {
  std::vector<Condition> conditions;
  for (std::string_view part : split(text, ",")) {
    part = trimmed(part);
    const auto* const known = std::ranges::find(kConditions, part, &Condition::name);
    const auto condition = known != std::end(kConditions) ? *known : parse_limit(part);
    if (part.empty() || !condition) {
      std::string names;
      for (const Condition& one : kConditions) names.append(one.name).append(", ");
      throw std::invalid_argument("expected " + names +
                                  "or a number's name, above or below, and a limit, found " +
                                  model::quote(part));
    }
    conditions.push_back(*condition);
  }
  return conditions;
}

std::vector<std::string> shown_paragraphs(const TourStop& stop, const ViewContext& context) {
  std::vector<std::string> shown;
  Truth settled = true;  // whether one of the alternatives so far is shown; nothing while that is not known
  for (const TourParagraph& paragraph : stop.caption) {
    const Truth here = all_hold(paragraph.conditions, stop, context);
    const bool shows = here == true && (!paragraph.otherwise || settled == false);
    if (shows) shown.push_back(with_numbers(paragraph.words, context));
    if (!paragraph.otherwise || settled == false) settled = here;
  }
  return shown;
}

}  // namespace headscope::app
