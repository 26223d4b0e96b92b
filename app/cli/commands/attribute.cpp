#include "app/cli/commands/attribute.h"

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/output.h"
#include "app/run/answers.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

constexpr const char* kNumber = "%14.6f  ";

/// A run and the answers to write.
struct Report {
  const AttributeCommand& command;
  const PromptRun& run;
  Answers& answers;
  std::shared_ptr<const Attribution> of;

  bool shows_sources(int layer, int head) const {
    if (command.all_sources) return true;
    return command.sources && command.sources->layer == layer && command.sources->head == head;
  }
  std::shared_ptr<const SourceParts> sources(int layer, int head) const {
    return ask(answers, SourcesOf{layer, head, of->position, of->token, of->against});
  }
};

void check_inside(const Report& report, int position, const std::string& where) {
  require_below(report.run.run->length(), position, where, "position");
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
  return json;
}

void write_json(const Report& report, std::ostream& out) {
  const Attribution& a = *report.of;
  const model::Tokenizer& tokenizer = *report.run.model->tokenizer;
  Json layers = Json::array();
  for (int layer = 0; layer < a.layers; ++layer) layers.push_back(layer_json(report, layer));
  Json parts = {{"position", a.position},
                {"token", token_or_null(tokenizer, a.token)},
                {"against", token_or_null(tokenizer, a.against)},
                {"logit", a.logit},
                {"sum", a.sum()},
                {"left", a.rounding_error()},
                {"ln_f_scale", a.scale},
                {"token_embedding", a.token_embedding},
                {"position_embedding", a.position_embedding},
                {"layers", std::move(layers)},
                {"ln_f_bias", a.final_bias}};
  if (a.edited) parts["edits"] = a.edits;
  write_json_line(tokenizer, report.run.tokens.tokens, parts, out);
}

std::vector<NamedNumber> lines_of(const Report& report) {
  const Attribution& a = *report.of;
  std::vector<NamedNumber> lines{{a.token_embedding, "token embedding"},
                                 {a.position_embedding, "position embedding"},
                                 {a.final_bias, "ln_f bias"}};
  if (a.edited) lines.push_back({a.edits, "edits"});
  for (int layer = 0; layer < a.layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    lines.push_back({a.attention_bias[layer], name + " attention bias"});
    lines.push_back({a.mlps[layer], name + " MLP"});
    for (int head = 0; head < a.n_head(); ++head)
      lines.push_back({a.head(layer, head), head_name(layer, head)});
  }
  return lines;
}

void write_sources(const Report& report, int layer, int head, std::ostream& out) {
  const auto sources = report.sources(layer, head);
  std::vector<NamedNumber> lines;
  for (std::size_t key = 0; key < sources->parts.size(); ++key)
    lines.push_back({sources->parts[key], std::to_string(key) + "  " + report.run.tokens.labels[key]});
  if (sources->edited) lines.push_back({sources->edits, "edits of its output"});
  out << "by source, " << head_name(layer, head) << '\n';
  write_by_size(std::move(lines), kNumber, out);
}

void write_text(const Report& report, std::ostream& out) {
  const Attribution& a = *report.of;
  out << logit_name(*report.run.model->tokenizer, a.token, a.against)
      << format(" after position %d  ", a.position) << report.run.tokens.labels[a.position] << '\n';
  write_by_size(lines_of(report), kNumber, out);
  out << format("%14.6f  sum\n%14.6f  the model's\n%14.6g  rounding error\n", printable(a.sum()),
                printable(a.logit), printable(a.rounding_error()));
  for (int layer = 0; layer < a.layers; ++layer)
    for (int head = 0; head < a.n_head(); ++head)
      if (report.shows_sources(layer, head)) write_sources(report, layer, head, out);
}

void run_attribute(const AttributeCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits);
  const model::Tokenizer& tokenizer = *engine.model->tokenizer;
  const TokenChoice token = token_of(tokenizer, command.token, "--token", TokenChoice::best());
  const TokenChoice against = token_of(tokenizer, command.against, "--against", {});
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    PromptRun made = run_prompt(engine, prompt, source.where());
    compare_with_unedited(engine, made);
    const auto run = std::make_shared<const PromptRun>(std::move(made));
    DirectAnswers answers(run, engine.workspace);
    Report report{command, *run, answers, nullptr};
    const int position = command.position < 0 ? run->run->length() - 1 : command.position;
    check_inside(report, position, source.where());
    report.of = ask(answers, AttributionOf{position, baseline_guess(token, *run, position, engine),
                                           baseline_guess(against, *run, position, engine)});
    if (command.json) {
      write_json(report, streams.out);
    } else {
      if (!source.is_first()) streams.out << '\n';
      write_text(report, streams.out);
    }
    warn_about(*run, source.where(), streams.err);
  });
}

}  // namespace

Finish describe_attribute(CommandSyntax& command) {
  const auto own = std::make_shared<AttributeCommand>();
  command.reading();
  command.option("token", "TEXT|ID",
                 "the token whose logit is attributed, e.g. \" it\", or its id (default:\nthe most probable "
                 "of the unedited run)",
                 own->token, token_text);
  command.option("against", "TEXT|ID", "the token whose logit is subtracted (default: none)", own->against,
                 token_text);
  command.option("position", "I", "the position of the prediction, from 0 (default -1: the last)",
                 own->position, whole(-1));
  command.option("sources", "L.H", "also split head H of layer L by source token; all: every head",
                 own->sources, [own = own.get()](const std::string& option, const std::string& text) {
                   own->all_sources = text == "all";
                   if (own->all_sources) return std::optional<model::HeadIndex>();
                   const auto [layer, head] = pair_of(
                       option, "a layer and a head, e.g. 5.1, or all, not " + model::quote(text), text);
                   return std::optional(model::HeadIndex{layer, head});
                 });
  return command.finish(own, require_prompt, run_attribute);
}

}  // namespace headscope::app
