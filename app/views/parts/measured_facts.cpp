#include "app/views/parts/measured_facts.h"

#include "app/run/analyses/logit_direction.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"

namespace headscope::app {

void add_token(Table& table, const ViewContext& c, const std::string& name, int id) {
  table.fact(name, label_of(c, id));
  table.fact(name + " id", id);
}

void add_measured(Table& table, const ViewContext& c, const Measured& measured) {
  table.fact("metric", measured.metric);
  if (measured.position >= 0) add_token_facts(table, c.run->tokens, "position", measured.position);
  if (measured.token >= 0) add_token(table, c, "token", measured.token);
  if (measured.against == kVocabularyMean) table.fact("other token", "mean");
  if (measured.against >= 0) add_token(table, c, "other token", measured.against);
}

}  // namespace headscope::app
