#include "app/views/attention/score_source_names.h"

#include "app/views/parts/names.h"

namespace headscope::app {

std::string name_of(const ScoreSource& source, bool of_key) {
  using Kind = ScoreSource::Kind;
  const std::string layer = "L" + std::to_string(source.layer);
  switch (source.kind) {
    case Kind::token_embedding:
      return "token embedding";
    case Kind::position_embedding:
      return "position embedding";
    case Kind::head:
      return source.head < 0 ? layer + " attention" : head_name(source.layer, source.head);
    case Kind::attention_bias:
      return layer + " bias";
    case Kind::mlp:
      return layer + " MLP";
    case Kind::norm_bias:
      return "ln_1 bias";
    case Kind::own_bias:
      return of_key ? "W_K bias" : "W_Q bias";
    case Kind::edits:
      break;
  }
  return "edits";
}

}  // namespace headscope::app
