#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/list_means.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/measured_cells.h"
#include "app/run/answers.h"
#include "app/views/table.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

constexpr int kTop = 20;

/// Adds a layer's neurons to its object.
void add_neurons(Json& layer, const NeuronParts& neurons) {
  layer["neurons"] = neurons.parts;
  layer["neuron_activations"] = neurons.activations;
  layer["neuron_bias"] = neurons.bias;
  if (neurons.edited) layer["neuron_edits"] = neurons.edits;
}

/// Writes the strongest neurons of a layer, then what the others, the bias and edits add, and their sum.
void write_neurons(int top, int layer, const NeuronParts& neurons, std::ostream& out) {
  NumberList list{"by neuron, L" + std::to_string(layer) + " MLP"};
  list.most = static_cast<std::size_t>(top);
  for (std::size_t neuron = 0; neuron < neurons.parts.size(); ++neuron)
    list.numbers.push_back(
        {neurons.parts[neuron], format("neuron %zu, activation %.4g", neuron,
                                       printable(static_cast<double>(neurons.activations[neuron])))});
  list.facts = {{neurons.bias, "output bias"}};
  if (neurons.edited) list.facts.push_back({neurons.edits, "edits of its output"});
  list.facts.push_back({neurons.sum(), "sum"});
  write_text(std::move(list), out);
}

/// The metrics that are sums of parts.
constexpr Named<GradientMetric> kMetrics[] = {{"logit", GradientMetric::logit},
                                              {"difference", GradientMetric::difference}};

/// A run and the answers to write.
struct Report {
  const AttributeCommand& command;
  const PromptRun& run;
  Answers& answers;
  GradientMetric metric;
  std::shared_ptr<const Attribution> of;

  bool shows_sources(int layer, int head) const {
    const auto& of_head = command.sources;
    return of_head && (of_head->layer == kAll || (of_head->layer == layer && of_head->head == head));
  }
  bool shows_neurons(int layer) const { return command.neurons_of == kAll || command.neurons_of == layer; }
  std::shared_ptr<const SourceParts> sources(int layer, int head) const {
    return ask(answers, SourcesOf{layer, head, of->position, of->token, of->against});
  }
  std::shared_ptr<const NeuronParts> neurons(int layer) const {
    return ask(answers, NeuronsOf{layer, of->position, of->token, of->against});
  }
};

void check_inside(const Report& report, int position, const std::string& where) {
  require_below(report.run.run->length(), position, where, "position");
  if (const auto layer = report.command.neurons_of)
    require_below(report.run.run->config.n_layer, *layer, where, "layer");
  if (!report.command.sources) return;
  require_below(report.run.run->config.n_layer, report.command.sources->layer, where, "layer");
  require_below(report.run.run->config.n_head, report.command.sources->head, where, "head");
}

Json layer_json(const Report& report, int layer) {
  const Attribution& a = *report.of;
  Json heads = Json::array(), sources = Json::object(), edits = Json::object();
  for (int head = 0; head < a.n_head(); ++head) {
    heads.push_back(a.head(layer, head));
    if (!report.shows_sources(layer, head)) continue;
    const auto of = report.sources(layer, head);
    sources[std::to_string(head)] = of->parts;
    if (of->edited) edits[std::to_string(head)] = of->edits;
  }
  Json json = {
      {"heads", std::move(heads)}, {"attention_bias", a.attention_bias[layer]}, {"mlp", a.mlps[layer]}};
  if (!sources.empty()) json["sources"] = std::move(sources);
  if (!edits.empty()) json["source_edits"] = std::move(edits);
  if (report.shows_neurons(layer)) add_neurons(json, *report.neurons(layer));
  return json;
}

void write_json(const Json& how, const Report& report, std::ostream& out) {
  const Attribution& a = *report.of;
  const model::Tokenizer& tokenizer = *report.run.model->tokenizer;
  Json layers = Json::array();
  for (int layer = 0; layer < a.layers; ++layer) layers.push_back(layer_json(report, layer));
  Json parts = {{"position", a.position},
                {"token", token_or_null(tokenizer, a.token)},
                {"other_token", token_or_null(tokenizer, a.against)},
                {"metric", name_of(kMetrics, report.metric)},
                {"logit", a.logit},
                {"sum", a.sum()},
                {"rounding_error", a.rounding_error()},
                {"ln_f_scale", a.scale},
                {"token_embedding", a.token_embedding},
                {"position_embedding", a.position_embedding},
                {"layers", std::move(layers)},
                {"ln_f_bias", a.final_bias}};
  if (a.edited) parts["edits"] = a.edits;
  write_json_line(how, tokenizer, report.run.tokens.tokens, parts, out);
}

/// A part of the model and what it adds to the logit.
struct Part : NamedNumber {
  std::optional<int> layer = {}, head = {};
};

/// All parts in their order, which add up to the logit.
std::vector<Part> parts_of(const Report& report) {
  const Attribution& a = *report.of;
  std::vector<Part> parts{{{a.token_embedding, "token embedding"}},
                          {{a.position_embedding, "position embedding"}}};
  for (int layer = 0; layer < a.layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    for (int head = 0; head < a.n_head(); ++head)
      parts.push_back({{a.head(layer, head), head_name(layer, head)}, layer, head});
    parts.push_back({{a.attention_bias[layer], name + " attention bias"}, layer});
    parts.push_back({{a.mlps[layer], name + " MLP"}, layer});
  }
  parts.push_back({{a.final_bias, "ln_f bias"}});
  if (a.edited) parts.push_back({{a.edits, "edits"}});
  return parts;
}

void write_sources(const Report& report, int layer, int head, std::ostream& out) {
  const auto sources = report.sources(layer, head);
  NumberList list{"by source, " + head_name(layer, head)};
  for (std::size_t key = 0; key < sources->parts.size(); ++key)
    list.numbers.push_back({sources->parts[key], std::to_string(key) + "  " + report.run.tokens.labels[key]});
  if (sources->edited) list.numbers.push_back({sources->edits, "edits of its output"});
  write_text(std::move(list), out);
}

void write_text(const Report& report, std::ostream& out) {
  const Attribution& a = *report.of;
  const std::vector<Part> parts = parts_of(report);
  write_text(NumberList{logit_name(*report.run.model->tokenizer, a.token, a.against) +
                            format(" after position %d  ", a.position) + report.run.tokens.labels[a.position],
                        {parts.begin(), parts.end()},
                        {{a.sum(), "sum"}, {a.logit, "the model's"}, {a.rounding_error(), "rounding error"}}},
             out);
  for (int layer = 0; layer < a.layers; ++layer)
    for (int head = 0; head < a.n_head(); ++head)
      if (report.shows_sources(layer, head)) write_sources(report, layer, head, out);
  for (int layer = 0; layer < a.layers; ++layer)
    if (report.shows_neurons(layer))
      write_neurons(report.command.top.value_or(kTop), layer, *report.neurons(layer), out);
}

/// The parts as rows: those of text, the chosen heads by source and the chosen MLPs by neuron. Rows of the
/// kind "part" add up to the logit; "share" is of one part; "check" are sums and what they are compared with.
/// `prompt`: its number in a list, which the first column has; nothing: no list, no such column.
void write_csv(const Report& report, std::optional<int> prompt, bool is_first, std::ostream& out) {
  const Attribution& a = *report.of;
  Table table{
      {"part", "kind", "layer", "head", "source", "source token", "weight", "neuron", "activation", "logit"},
      {}};
  const auto add_as = [&](const char* kind, const std::string& part, double value, std::optional<int> layer,
                          std::optional<int> head) {
    add_row(table, part, kind, layer, head);
    table.rows.back().back() = in_file(value);
  };
  const auto add_check = [&](const std::string& name, double value) {
    add_as("check", name, value, std::nullopt, std::nullopt);
  };
  constexpr const char* kShare = "share";
  for (const Part& part : parts_of(report)) add_as("part", part.name, part.number, part.layer, part.head);
  add_check("sum", a.sum());
  add_check("rounding error", a.rounding_error());
  add_check("the model's", a.logit);
  add_check("ln_f scale", a.scale);
  for (int layer = 0; layer < a.layers; ++layer) {
    for (int head = 0; head < a.n_head(); ++head) {
      if (!report.shows_sources(layer, head)) continue;
      const auto of = report.sources(layer, head);
      const std::string name = head_name(layer, head);
      for (std::size_t key = 0; key < of->parts.size(); ++key)
        add_row(table, name + " by source", kShare, layer, head, key, report.run.tokens.labels[key],
                of->weights[key], "", "", of->parts[key]);
      if (of->edited) add_as(kShare, "edits of the output of " + name, of->edits, layer, head);
    }
    if (!report.shows_neurons(layer)) continue;
    const auto of = report.neurons(layer);
    const std::string name = "L" + std::to_string(layer) + " MLP";
    for (std::size_t neuron = 0; neuron < of->parts.size(); ++neuron)
      add_row(table, name + " by neuron", kShare, layer, "", "", "", "", neuron, of->activations[neuron],
              of->parts[neuron]);
    add_as(kShare, "output bias of " + name, of->bias, layer, std::nullopt);
    if (of->edited) add_as(kShare, "edits of the output of " + name, of->edits, layer, std::nullopt);
  }
  if (prompt) {
    table.header.insert(table.header.begin(), "prompt");
    for (auto& row : table.rows) row.insert(row.begin(), std::to_string(*prompt));
  }
  const std::string text = to_csv(table);
  out << (is_first ? text : text.substr(text.find('\n') + 1));
}

/// The parts as cells of means: the same for every prompt.
void add_to(ListMeans& means, const Report& report, const std::string& where) {
  const std::string_view metric = name_of(kMetrics, report.metric);
  const char* what =
      report.metric == GradientMetric::difference ? "logit difference by part" : "logit by part";
  Json of = {{"command", "attribute"}, {"what", what}, {"metric", metric}};
  add_given(of, report.command.measured);
  means.add(of, cells_of(*report.of), where);
}

void run_attribute(const AttributeCommand& command, const Streams& streams) {
  if (!command.merge.empty())
    return write_means(ListMeans::merge(command.merge, "attribute"), command, true, streams);
  How how(command);
  Engine engine = start_engine(command, streams);
  AttributionOf asked;
  set_tokens(asked, command.measured, *engine.model);
  ListMeans means;
  const auto work = [&](const PromptSource& source, const ListedPrompt& prompt) {
    PromptRun made = run_prompt(engine, prompt, source.where());
    compare_with_unedited(engine, made);
    const auto run = std::make_shared<const PromptRun>(std::move(made));
    DirectAnswers answers(run, engine.workspace);
    const auto measured = measured_of(command.measured, prompt);
    Report report{command, *run, answers, measured.metric, nullptr};
    const int wanted = measured.position.value_or(-1),
              position = wanted < 0 ? run->run->length() - 1 : wanted;
    check_inside(report, position, source.where());
    AttributionOf question = asked;
    question.position = position;
    const bool is_difference = measured.metric == GradientMetric::difference;
    if (is_difference && command.measured.other_token.empty()) question.against = TokenChoice::other();
    set_tokens_of_line(question, prompt, token_count(measured.metric), *engine.model, source.where());
    if (!is_difference) question.against = {};
    name_by_id(question.token, question.against, *run, position, engine, source.where());
    report.of = ask(answers, question);
    warn_about(*run, source.where(), streams.err);
    if (command.mean) return add_to(means, report, source.where());
    if (command.json) return write_json(how.of(engine, *run), report, streams.out);
    if (command.csv)
      return write_csv(report, source.is_list() ? std::optional(source.number()) : std::nullopt,
                       source.is_first(), streams.out);
    source.separate(streams.out);
    write_text(report, streams.out);
  };
  const PromptsRun done = for_each_prompt(command.prompt, streams, work);
  if (!command.mean) return;
  means.finish(command.json ? how.shared(engine) : Json(), command.prompt.shard, done);
  write_means(means, command, true, streams);
}

}  // namespace

Finish describe_attribute(CommandSyntax& command) {
  const auto own = std::make_shared<AttributeCommand>();
  command.reading();
  measured_options(command, own->measured, kMetrics, "what is attributed to the parts of the model");
  command.option("sources", "L.H", "also split head H of layer L by source token; all: every head",
                 own->sources, [](const std::string& option, const std::string& text) {
                   if (text == "all") return model::HeadIndex{kAll, kAll};
                   const auto [layer, head] = pair_of(
                       option, "a layer and a head, e.g. 5.1, or all, not " + model::quote(text), text);
                   return model::HeadIndex{layer, head};
                 });
  mean_options(command, *own);
  command.option("neurons-of", "L|all", "also split the MLP of layer L by neuron; all: every layer",
                 own->neurons_of, [](const std::string& option, const std::string& text) {
                   return text == "all" ? kAll : whole_number(option, text, 0);
                 });
  command.option("top", "N", "only the N strongest neurons (default: 20; JSON and CSV have all)", own->top,
                 whole(1));
  command.answer_out(true);
  const auto check = [](AttributeCommand& attribute) {
    check_means(attribute, attribute);
    check_measured(attribute.measured, kMetrics);
    const bool splits = attribute.neurons_of.has_value(), has_top = attribute.top.has_value();
    refuse(
        {{attribute.writes_means() && attribute.sources,
          "sources are of one prompt's tokens; --mean and --sources cannot be combined"},
         {attribute.mean && splits, "means are of whole parts; --mean and --neurons-of cannot be combined"},
         {has_top && !splits, "--top requires --neurons-of"},
         {has_top && attribute.json, "--top is for text; JSON has all neurons"},
         {has_top && attribute.csv, "--top is for text; CSV has all neurons"}});
  };
  return command.finish(own, check, run_attribute);
}

}  // namespace headscope::app
