#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/cli/prompts.h"
#include "app/run/analyses/measured.h"
#include "app/run/analyses/predictions.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/paths.h"
#include "app/run/token_ref.h"
#include "app/text/output_text.h"
#include "app/views/parts/selected.h"
#include "model/files/error.h"
#include "model/files/safetensors.h"
#include "model/pass/hooks.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

struct Tracing {
  std::string hooks;             ///< globs, comma-separated; empty: all
  std::optional<Metric> metric;  ///< of the gradients; nothing: none are written
  Measured measured = {};
};

constexpr std::span kTracedMetrics = std::span(kMetrics).first<5>();  // all that have gradients

/// Writes pieces of an activation to their places in its tensor.
class TensorStream {
 public:
  TensorStream(model::SafetensorsWriter& writer, std::string name, std::vector<std::int64_t> shape)
      : writer_(&writer), name_(std::move(name)), shape_(std::move(shape)) {}

  void write(const model::ConstActivation2d& piece) {
    switch (piece.point.site) {
      case model::Site::attn_scores:
        return write_attention(piece, -std::numeric_limits<float>::infinity());
      case model::Site::pattern:
        return write_attention(piece, 0.0F);
      default:
        return write_rows(piece);
    }
  }

 private:
  model::SafetensorsWriter* writer_;
  std::string name_;
  std::vector<std::int64_t> shape_;
  std::vector<float> block_;

  /// [head, query, key]: the keys after the chunk's last query were never computed; no query attends to them.
  void write_attention(const model::ConstActivation2d& piece, float beyond) {
    const std::int64_t length = shape_[2];
    block_.assign(static_cast<std::size_t>(piece.rows * length), beyond);
    for (int row = 0; row < piece.rows; ++row)
      std::ranges::copy(piece.row(row), block_.begin() + row * length);
    writer_->write(name_, (piece.head * length + piece.first_pos) * length, block_);
  }

  /// Writes [pos, ...]: rows of floats, or the part of them that belongs to the piece's head.
  void write_rows(const model::ConstActivation2d& piece) {
    const std::int64_t row_size =
        std::accumulate(shape_.begin() + 1, shape_.end(), std::int64_t{1}, std::multiplies());
    if (piece.cols == row_size && piece.stride == row_size) {
      writer_->write(name_, piece.first_pos * row_size,
                     std::span<const float>(piece.data, static_cast<std::size_t>(piece.rows * row_size)));
      return;
    }
    for (int row = 0; row < piece.rows; ++row)
      writer_->write(name_, (piece.first_pos + row) * row_size + piece.head * piece.cols, piece.row(row));
  }
};

/// The tensors of a file, and the callbacks that write them as a pass computes them.
class TraceFile {
 public:
  TraceFile(const std::filesystem::path& out, const model::Config& config,
            const std::vector<model::HookPoint>& points, const std::vector<int>& ids, bool gradients,
            const std::map<std::string, std::string>& metadata)
      : points_(points),
        specs_(specs_of(config, points, static_cast<int>(ids.size()), gradients)),
        writer_(out, specs_, metadata, gradients ? kRoomForMetric : 0) {
    writer_.write(specs_[0].name, 0, std::vector<std::int64_t>(ids.begin(), ids.end()));
  }

  /// The callbacks for the activations, or for the gradients.
  model::Hooks hooks(const system::InterruptGuard& interrupts, bool gradients) {
    model::Hooks hooks;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const model::TensorSpec& spec = specs_[1 + i + (gradients ? points_.size() : 0)];
      hooks.watch(points_[i], [&interrupts, stream = TensorStream(writer_, spec.name, spec.shape)](
                                  const model::ConstActivation2d& piece) mutable {
        interrupts.check();
        stream.write(piece);
      });
    }
    return hooks;
  }

  void finish(const std::map<std::string, std::string>& metadata) { writer_.finish(metadata); }

 private:
  static constexpr std::size_t kRoomForMetric = 4096;  // names two tokens, and GPT-2's are up to 128 bytes

  static std::vector<model::TensorSpec> specs_of(const model::Config& config,
                                                 const std::vector<model::HookPoint>& points, int length,
                                                 bool gradients) {
    std::vector<model::TensorSpec> specs = {{"tokens", {length}, "I64"}};
    for (const char* suffix : {"", "_grad"})
      for (const model::HookPoint& point : points)
        if (*suffix == '\0' || gradients)
          specs.push_back({hook_name(point) + suffix, hook_shape(config, point, length)});
    return specs;
  }

  const std::vector<model::HookPoint>& points_;
  std::vector<model::TensorSpec> specs_;
  model::SafetensorsWriter writer_;
};

/// The file's metadata: the tokens' names, as in attention files (see PatternFile), the prompt's text, and
/// what the run is edited by.
std::map<std::string, std::string> metadata_of(const LoadedModel& model, std::span<const int> ids,
                                               const model::Edits& edits) {
  Json texts = Json::array();
  for (const int id : ids) texts.push_back(utf8_or_replacement(model.tokenizer->text(id)));
  std::map<std::string, std::string> metadata{{"producer", "headscope " + version()},
                                              {"model", utf8_or_replacement(model.name)},
                                              {"tokens", texts.dump()},
                                              {"text", utf8_or_replacement(model.tokenizer->decode(ids))}};
  if (!edits.empty()) metadata["edits"] = edit_text(edits);
  return metadata;
}

/// What gradients are taken of in a run.
Measured measured_of(const Tracing& tracing, Engine& engine, const PromptRun& run) {
  const auto token = [&](const TokenRef& given, const char* option) {
    return without_text(*engine.model, given, option);
  };
  const Measured& of = tracing.measured;
  return resolved(
      {*tracing.metric, token(of.token, "--token"), token(of.other, "--other-token"), of.position}, run,
      {engine.workspace});
}

/// Runs the prompt and writes the hooked activations piece by piece, so that the file may be larger than
/// memory; then the gradients, if they are asked for.
void trace_prompt(Engine& engine, const Arguments& a, const Tracing& tracing, const Prompt& prompt,
                  const std::filesystem::path& out, const std::string& where, std::ostream& err) {
  const system::InterruptGuard interrupts;  // a signal must not leave an incomplete file behind
  const model::Transformer& transformer = *engine.model->transformer;
  const auto points = match_hook_points(transformer.config(), tracing.hooks);
  const PromptTokens tokens = with_error_prefix(where, [&] { return tokenize(*engine.model, prompt); });
  if (tokens.run_length < tokens.length())
    throw model::RunError(where + beyond_context(tokens, *engine.model));
  TraceFile file(out, transformer.config(), points, tokens.ids(), tracing.metric.has_value(),
                 metadata_of(*engine.model, tokens.ids(), engine.edits));
  const model::Hooks activations = file.hooks(interrupts, false);
  const ComparedWith compared = !tracing.metric                        ? ComparedWith::nothing
                                : tracing.metric == Metric::divergence ? ComparedWith::second
                                                                       : ComparedWith::unedited;
  const PromptRun run = run_prompt(engine, a, prompt, where, compared, {}, &activations);
  std::map<std::string, std::string> metadata;
  if (tracing.metric) {
    const model::Hooks gradients = file.hooks(interrupts, true);
    with_error_prefix(where, [&] {
      const Measured of = measured_of(tracing, engine, run);
      const model::Metric metric = gradient_metric(of, run, {engine.workspace});
      const double value = transformer.gradients(*run.run, metric, engine.workspace, {.hooks = &gradients});
      metadata = {{"gradient_metric", describe(of, run)}, {"gradient_metric_value", format("%.9g", value)}};
    });
  }
  interrupts.check();
  file.finish(metadata);
  warn_about(run, where, err);
}

void check_trace(const CLI::App& app, const Arguments& a, const Tracing& tracing) {
  require_prompt(a);
  const bool divergence = tracing.metric == Metric::divergence;
  const int tokens = tracing.metric ? token_count(*tracing.metric) : 0;
  const bool baseline =
      is_given(app, "--second") || !a.session.edits.empty() || !a.edits_file.empty() || a.second_model;
  refuse(
      {{a.out.empty(), "--out is missing, e.g. --out run.safetensors"},
       {a.out == "-", "a trace cannot be written to standard output; name a file after --out"},
       {!a.out.ends_with(".safetensors"),
        "the file after --out must end in .safetensors; " + model::quote(a.out) + " does not"},
       {a.is_list() && a.out.find("{n}") == a.out.npos,
        "with --prompts there is a file for each: --out needs {n}, which becomes the prompt's number"},
       {tokens < 1 && is_given(app, "--token"), "--token is for --gradients logit, difference or logprob"},
       {tokens < 2 && is_given(app, "--other-token"), "--other-token is for --gradients difference"},
       {is_given(app, "--second") && !divergence, "--second requires --gradients kl"},
       {divergence && !baseline,
        "--gradients kl compares the run with a baseline: give --edit, --edits, --second or --second-model"},
       {is_given(app, "--align") && !is_given(app, "--second"), "--align requires --second"}});
}

CLI::Option* add_token(CLI::App& app, const std::string& name, TokenRef& token, const char* help) {
  const auto set = [&token, name](const std::string& text) {
    try {
      token = parse_token(text);
    } catch (const std::invalid_argument& error) {
      throw UsageError(name + error.what());
    }
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("TOKEN");
}

}  // namespace

Run describe_trace(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  const auto own = std::make_shared<Tracing>();
  add_computing(app, *a);
  add_prompt(app, *a, true);
  add_edits(app, *a);
  app.add_option("--hooks", own->hooks,
                 "only the hooks whose names match, e.g. blocks.0.attn.*,logits\n(default: all; hook_result "
                 "only when "
                 "it is named)")
      ->type_name("GLOB,...")
      ->check(kNotEmpty);
  auto* gradients =
      add_choice(app, "--gradients", own->metric, kTracedMetrics,
                 "also write the gradients of a metric, as NAME_grad: a token's logit, the\ndifference "
                 "of two, a token's log probability, the prompt's loss, or\nKL(baseline || run)");
  add_token(app, "--token", own->measured.token, "the token that is measured (default: rank:1)")
      ->needs(gradients);
  add_token(app, "--other-token", own->measured.other,
            "the token whose logit is subtracted (default: the most probable other one)")
      ->needs(gradients);
  add_number(app, "--position", "I", own->measured.position, -1, 1 << 24,
             "the position of the prediction, from 0 (default -1: the last)")
      ->needs(gradients);
  add_second(app, *a, "the baseline of KL (default: the unedited run, or the second model)");
  app.add_option("--out", a->out, "the file; with --prompts, {n} in its name is the prompt's\nnumber from 1")
      ->type_name("FILE.safetensors")
      ->check(kNotEmpty);
  return [&app, a, own](const Streams& streams) {
    check_trace(app, *a, *own);
    Engine engine = start_engine(*a, streams);
    for_each_prompt(*a, streams, [&](const PromptSource& source, const Prompt& prompt) {
      trace_prompt(engine, *a, *own, prompt, system::path_of(source.file(a->out)), source.where(),
                   streams.err);
    });
    return 0;
  };
}

}  // namespace headscope::app
