#include "app/views/output/circuit_question.h"

#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace circuit_picture {

const Option<CircuitMethod> kMethod = choice_option<CircuitMethod>(
    "circuit-method", "Method", "cC", "how much an edge between two parts of the model matters",
    choices_of(kCircuitMethods), {.flag = "method"});
const Option<CircuitElsewhere> kElsewhere = choice_option<CircuitElsewhere>(
    "circuit-elsewhere", "Elsewhere", "wW", "what edges outside the circuit carry",
    choices_of(kCircuitElsewhere), {.flag = "elsewhere"});
const Option<GradientMetric> kMetric = make_option<GradientMetric>(
    "circuit-metric", "Metric", "the number that edges matter for",
    {.flag = "metric", .default_value = 1, .choices = choices_of(kSaliencyMetrics), .keys = "hH"});
const Option<int> kEdges = make_option<int>(
    "circuit-edges", "Edges", "the most edges, the strongest ones; at least those of one path",
    {.flag = "edges",
     .phrase = "at most {edge}",
     .default_value = kCircuitEdges,
     .low = 1,
     .high = kMostCircuitEdges,
     .steps = {1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000},
     .keys = "xX"});
const Option<bool> kByPosition =
    switch_option("circuit-positions", "By position", "oO",
                  "each part at each position apart, in columns of tokens", "by position");

int named_tokens(const Options& options) {
  return token_count(options[kMetric]);
}
const Option<int> kSteps = make_option<int>(
    "circuit-steps", "Steps", "gradients between the two runs' embeddings",
    {.flag = "steps",
     .phrase = "{gradient step}",
     .default_value = CircuitOf::kSteps,
     .low = 1,
     .high = CircuitOf::kMostSteps,
     .steps = {1, 2, 3, 5, 10, 20, 50},
     .keys = "pP",
     .applies = [](const Options& options) { return options[kMethod] == CircuitMethod::integrated; }});

CircuitCut cut_of(const ViewContext& c) {
  for (const auto& [elsewhere, cut] : kCutsElsewhere)
    if (elsewhere == c.options[kElsewhere]) return cut;
  return c.run ? CutOf::default_for(*c.run).cut : CircuitCut::mean;
}

MeansOverList means_of(const ViewContext& c) {
  return CutOf::means_over(over_list(c), c.run->run->config);
}

std::string elsewhere_words(const ViewContext& c) {
  switch (cut_of(c)) {
    case CircuitCut::second:
      return "the second prompt's values";
    case CircuitCut::mean:
      return "means";
    case CircuitCut::list_mean:
      if (const MeanSource source = mean_source(c, means_of(c)); source.means) return mean_words(c, source);
      return "means over a list of prompts";
    case CircuitCut::zero:
      break;
  }
  return "zeros";
}

std::optional<CircuitOf> question_of(const ViewContext& c) {
  CircuitOf question;
  question.metric.metric = c.options[kMetric];
  question.metric.position = named_tokens(c.options) > 0 ? std::max(0, c.selection.query) : -1;
  question.method = c.options[kMethod];
  question.cut.cut = cut_of(c);
  if (question.cut.cut == CircuitCut::list_mean && c.run)
    question.cut.mean_over = mean_source(c, means_of(c));
  question.steps = question.method == CircuitMethod::integrated ? c.options[kSteps] : CircuitOf::kSteps;
  question.by_position = c.options[kByPosition];
  if (named_tokens(c.options) > 0) {
    const auto token = token_choice(c, kMeasuredToken);
    if (!token) return std::nullopt;
    question.metric.token = *token;
  }
  if (named_tokens(c.options) > 1) {
    const auto against = other_token_choice(c, question.metric.token);
    if (!against) return std::nullopt;
    question.metric.against = *against;
  }
  return question;
}

}  // namespace circuit_picture

std::string name_of(model::StreamWriter part) {
  switch (part.kind) {
    case model::StreamWriter::Kind::embedding:
      return "embedding";
    case model::StreamWriter::Kind::head:
      return head_name(part.layer, part.head);
    case model::StreamWriter::Kind::mlp:
      break;
  }
  return "MLP " + std::to_string(part.layer);
}

std::string name_of(model::StreamReader part) {
  switch (part.kind) {
    case model::StreamReader::Kind::q:
      return head_name(part.layer, part.head) + " q";
    case model::StreamReader::Kind::k:
      return head_name(part.layer, part.head) + " k";
    case model::StreamReader::Kind::v:
      return head_name(part.layer, part.head) + " v";
    case model::StreamReader::Kind::mlp:
      return "MLP " + std::to_string(part.layer);
    case model::StreamReader::Kind::logits:
      break;
  }
  return "logits";
}

}  // namespace headscope::app
