#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/analyses/attention_questions.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"

// What changed, in views that ask about one position: the answer about the selected token less that about the
// token of the other run that stands for it.
namespace headscope::app {

/// The answer to a question with a `position`, or on the side of changes `difference(after, before)` of it
/// and of the other run's. Null while it is not there, and where nothing stands for the token.
template <class Q, class Difference>
std::shared_ptr<const typename Q::Answer> ask_difference(const ViewContext& c, const Q& question,
                                                         Difference difference) {
  if (c.side != Side::difference || !c.run) return c.ask(question);
  Q there = question;
  there.position = compared_query(c);
  if (there.position < 0) return nullptr;
  const auto after = c.ask_on(Side::run, question), before = c.ask_on(Side::baseline, there);
  return after && before ? std::make_shared<const typename Q::Answer>(difference(*after, *before)) : nullptr;
}

/// Why there is no picture of that; null where it is `known`.
template <class Q>
std::optional<Picture> waiting_for(const ViewContext& c, const Q& question, bool known) {
  if (c.side != Side::difference || !c.run) return waiting(c, question, known);
  Q there = question;
  there.position = compared_query(c);
  if (there.position < 0) return no_counterpart(c);
  const bool here = c.ask_on(Side::run, question) != nullptr;
  return waiting(c, here ? Question(there).on_baseline() : Question(question), known);
}

/// Where nothing did.
inline const char* no_difference_words(const ViewContext& c) {
  return compares_different_inputs(*c.run) ? ": the same in both" : ": nothing changed here";
}

/// What the title says beside itself on the side of changes.
inline std::string difference_subtitle(const ViewContext& c,
                                       const std::vector<std::span<const float>>& changed) {
  const bool none = std::ranges::all_of(changed, [](std::span<const float> vector) {
    return !vector.empty() && std::ranges::all_of(vector, [](float v) { return v == 0; });
  });
  return difference_words(c) + (none ? no_difference_words(c) : "");
}

/// What stands before the name of a number on the side of changes, where difference_prefix is too long.
inline const char* delta(const ViewContext& c) {
  return c.side == Side::difference ? "Δ " : "";
}

}  // namespace headscope::app
