#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/cli/recipes.h"
#include "app/counted.h"
#include "app/run/memo.h"
#include "app/text/output_text.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

Json optional_id(const std::optional<int>& id) {
  return id ? Json(*id) : Json(nullptr);
}

/// The configuration, with the keys of config.json.
Json config_json(const model::Config& config) {
  return {{"n_layer", config.n_layer},
          {"n_head", config.n_head},
          {"n_embd", config.n_embd},
          {"n_ctx", config.n_ctx},
          {"vocab_size", config.vocab_size},
          {"n_inner", config.n_inner},
          {"activation_function", model::function_of(config.activation).name},
          {"layer_norm_epsilon", config.layer_norm_epsilon},
          {"scale_attn_weights", config.scale_attn_weights},
          {"scale_attn_by_inverse_layer_idx", config.scale_attn_by_inverse_layer_idx},
          {"tie_word_embeddings", config.tie_word_embeddings},
          {"bos_token_id", optional_id(config.bos_token_id)},
          {"eos_token_id", optional_id(config.eos_token_id)}};
}

std::string shape_text(const model::Parameter& parameter) {
  std::string text;
  for (const std::int64_t size : parameter.shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

Json info_json(const Json& how, const LoadedModel& model, int threads) {
  Json parameters = Json::array();
  for (const model::Parameter& parameter : model.transformer->report().parameters)
    parameters.push_back({{"name", utf8_or_replacement(parameter.name)},
                          {"shape", parameter.shape},
                          {"dtype", parameter.dtype},
                          {"count", parameter.count()}});
  return {{"how", how},
          {"name", utf8_or_replacement(model.name)},
          {"folder", utf8_or_replacement(system::text_of(model.folder))},
          {"config", config_json(model.transformer->config())},
          {"notes", texts_json(model.transformer->report().notes)},
          {"warnings", texts_json(model.warnings)},
          {"parameter_count", model.transformer->parameter_count()},
          {"weight_bytes", model.transformer->report().bytes},
          {"memory_budget_bytes", memory_budget(*model.transformer, threads)},
          {"parameters", std::move(parameters)}};
}

void write_config(const LoadedModel& model, std::ostream& out) {
  out << terminal_safe(model.name) << "  (" << terminal_safe(system::text_of(model.folder)) << ")\n\n";
  const Json config = config_json(model.transformer->config());
  for (const auto& [key, value] : config.items()) {
    if (value.is_null()) continue;
    const std::string text = key == "layer_norm_epsilon" ? format("%g", value.get<double>())
                             : value.is_string()         ? value.get<std::string>()
                                                         : value.dump();
    out << format("%-33s %s\n", key.c_str(), text.c_str());
  }
  for (const std::string& note : model.transformer->report().notes)
    out << "\nNote: " << terminal_safe(note) << '\n';
  for (const std::string& warning : model.warnings) out << "\nWarning: " << terminal_safe(warning) << '\n';
}

void write_parameters(const LoadedModel& model, std::ostream& out) {
  const auto row = [&](const std::string& name, const std::string& shape, const std::string& dtype,
                       const std::string& count) {
    out << format("%-40s %16s  %-5s %15s\n", name.c_str(), shape.c_str(), dtype.c_str(), count.c_str());
  };
  out << '\n';
  row("parameter", "shape", "dtype", "values");
  for (const model::Parameter& parameter : model.transformer->report().parameters)
    row(parameter.name, shape_text(parameter), parameter.dtype, grouped(parameter.count()));
  row("total, tied ones once", "", "", grouped(model.transformer->parameter_count()));
}

void write_info(Arguments& a, bool json, const Streams& streams) {
  const Engine engine = start_engine(a, streams);
  const auto& model = engine.model;
  const int threads = engine.workspace.threads();
  if (json) {
    streams.out << json_line(info_json(how_made(a, engine), *model, threads)) << '\n';
    return;
  }
  write_config(*model, streams.out);
  write_parameters(*model, streams.out);
  streams.out << format(
      "\n%.0f MB of weights in memory; the window takes at most %.0f MB in total, plus its graphics driver\n",
      static_cast<double>(model->transformer->report().bytes) / 1e6,
      static_cast<double>(memory_budget(*model->transformer, threads)) / 1e6);
}

}  // namespace

Run describe_info(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  const auto file = std::make_shared<std::string>();
  add_model(app, *a);
  app.add_option("FILE", *file, "a figure or a session: show its recipe instead of a model")
      ->excludes(app.get_option("--model"));
  add_out(app, *a, "txt|json", "write the answer to this file");
  return [&app, a, file](const Streams& streams) {
    const bool json = format_of(app, *a, "txt|json") == Format::json;
    AnswerFile out(a->out, streams);
    if (file->empty())
      write_info(*a, json, out.streams());
    else
      write_recipe(system::path_of(*file), json, out.streams().out);
    out.commit();
    return 0;
  };
}

}  // namespace headscope::app
