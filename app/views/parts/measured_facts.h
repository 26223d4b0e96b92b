#pragma once
#include <string>
#include <string_view>

#include "app/views/table.h"
#include "app/views/view.h"

namespace headscope::app {

/// What the numbers of a table are about.
struct Measured {
  std::string_view metric;  ///< its name on the command line
  int position = -1;        ///< of the prediction; -1: none
  int token = -1;           ///< id; -1: none
  int against = -1;         ///< id of the token that it is compared with; -1: none; or kVocabularyMean
};

/// Adds the metric, the position and the tokens as facts.
void add_measured(Table& table, const ViewContext& context, const Measured& measured);
/// Adds a token as two facts: "token" and "token id".
void add_token(Table& table, const ViewContext& context, const std::string& name, int id);

}  // namespace headscope::app
