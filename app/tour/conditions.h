#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

struct TourStop;

/// A kind of condition: a row of the table in conditions.cpp.
struct ConditionKind {
  std::string_view name;  ///< in a tour's file: "this prompt"
  /// Whether it holds for the run and the selection at a stop (see resolve_stop); nothing while it is not
  /// known.
  std::optional<bool> (*holds)(const TourStop& stop, const ViewContext& context);
  /// What the stop lacks for the condition to make sense: "- key: …"; empty: nothing.
  std::string_view (*lacks)(const TourStop& stop) = nullptr;
};

/// Something that must hold for a paragraph to be shown: a kind, or a limit on a number of the run, such as
/// "weight above 50 %".
struct Condition {
  const ConditionKind* kind = nullptr;  ///< null: a limit
  std::string_view number;              ///< of numbers.h
  bool above = true;
  double limit = 0;
};

/// A paragraph of a stop, and when it is shown.
struct TourParagraph {
  std::string words;                  ///< with {names} of numbers: see numbers.h
  std::vector<Condition> conditions;  ///< all must hold
  bool otherwise = false;             ///< only if the paragraph before it could be shown and was not
};

/// Parses conditions separated by commas: "this prompt, this model, weight above 0.5". Throws
/// std::invalid_argument: what was expected and what was found.
std::vector<Condition> parse_conditions(std::string_view text);
/// What a condition needs that the stop, completed by the previous ones, does not say; empty: nothing.
std::string_view lacks(const Condition& condition, const TourStop& stop);

/// The paragraphs that a stop, completed by the previous ones, shows for this run and this selection, with
/// numbers in place of their names. A paragraph is left out while its conditions are not known.
std::vector<std::string> shown_paragraphs(const TourStop& stop, const ViewContext& context);

}  // namespace headscope::app
