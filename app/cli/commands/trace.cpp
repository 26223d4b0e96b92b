#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/measured_tokens.h"
#include "app/cli/commands/output.h"
#include "app/run/edits/edit_text.h"
#include "app/run/version.h"
#include "model/files/quote.h"
#include "model/files/safetensors.h"
#include "model/pass/hooks.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

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
      case model::Site::result:
        return write_rows(piece, piece.head * shape_[2]);
      default:
        return write_rows(piece, piece.first_col);
    }
  }

 private:
  model::SafetensorsWriter* writer_;
  std::string name_;
  std::vector<std::int64_t> shape_;
  std::vector<float> block_;

  std::int64_t row_size() const {
    return std::accumulate(shape_.begin() + 1, shape_.end(), std::int64_t{1}, std::multiplies());
  }

  /// [head, query, key]: the keys after the chunk's last query were never computed; no query attends to them.
  void write_attention(const model::ConstActivation2d& piece, float beyond) {
    const std::int64_t length = shape_[2];
    block_.assign(static_cast<std::size_t>(piece.rows * length), beyond);
    for (int row = 0; row < piece.rows; ++row)
      std::ranges::copy(piece.row(row), block_.begin() + row * length);
    writer_->write(name_, (piece.head * length + piece.first_pos) * length, block_);
  }

  /// Writes [pos, ...]: rows of floats. The piece contains the columns from `first_col` on.
  void write_rows(const model::ConstActivation2d& piece, std::int64_t first_col) {
    const std::int64_t row_size = this->row_size();
    if (piece.cols == row_size && piece.stride == row_size) {
      writer_->write(name_, piece.first_pos * row_size,
                     std::span<const float>(piece.data, static_cast<std::size_t>(piece.rows * row_size)));
      return;
    }
    for (int row = 0; row < piece.rows; ++row)
      writer_->write(name_, (piece.first_pos + row) * row_size + first_col, piece.row(row));
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
        writer_(out, specs_, metadata) {
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

  void finish() { writer_.finish(); }

 private:
  static std::vector<model::TensorSpec> specs_of(const model::Config& config,
                                                 const std::vector<model::HookPoint>& points, int length,
                                                 bool gradients) {
    std::vector<model::TensorSpec> specs = {{"tokens", {length}, model::TensorSpec::Type::i64}};
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

/// The metric of a run, and its value.
struct Measured {
  model::Metric metric;
  double value = 0;
};

/// What a trace of several prompts has in common.
struct Tracing {
  const TraceCommand& command;
  std::vector<model::HookPoint> points;
  std::optional<MetricChoice> metric = {};
  Baseline baseline = {};
};

Tracing tracing_of(const TraceCommand& command, Engine& engine) {
  Tracing tracing{command, match_hook_points(engine.config(), command.hooks)};
  if (!command.gradients.given_metric) return tracing;
  MetricChoice& choice = tracing.metric.emplace();
  choice.metric = command.gradients.metric;
  set_tokens(choice, command.gradients, *engine.model);
  choice.position = command.gradients.position.value_or(-1);
  tracing.baseline = baseline_of(engine, command.comparison, command.prompt.start_token);
  return tracing;
}

/// What gradients are taken of in a run, whose baseline is found first.
Measured measured(const Tracing& tracing, Engine& engine, PromptRun& run, const std::string& where) {
  return saying_where(where, [&] {
    if (tracing.metric->metric == GradientMetric::divergence) {
      compare(engine, run, tracing.baseline);
    } else {
      compare_with_unedited(engine, run);
    }
    MetricChoice choice = *tracing.metric;
    if (token_count(choice.metric) > 0)
      name_by_id(choice.token, choice.against, run, choice.position, engine, "");
    Measured result{metric_for(choice, run, engine.workspace)};
    result.value = engine.model->transformer->gradients(*run.run, result.metric, engine.workspace);
    return result;
  });
}

/// Runs the prompt and writes the hooked activations piece by piece, so that the file may be larger than
/// memory; then the gradients, if they are asked for.
void trace_prompt(Engine& engine, const Tracing& tracing, const Prompt& prompt,
                  const std::filesystem::path& out, const std::string& where, std::ostream& err) {
  const system::InterruptGuard interrupts;  // a signal must not leave an incomplete file behind
  const model::Transformer& transformer = *engine.model->transformer;
  const model::Edits edits = engine.plan ? engine.plan->edits() : model::Edits();
  PromptRun run;
  std::optional<Measured> metric;
  std::map<std::string, std::string> metadata;
  if (tracing.metric) {  // the file's beginning names the metric, which may depend on the run
    run = run_prompt(engine, prompt, where);
    metadata = metadata_of(*engine.model, run.run->tokens, edits);
    metric = measured(tracing, engine, run, where);
    metadata["gradient_metric"] = describe(metric->metric, run);
    metadata["gradient_metric_value"] = format("%.9g", metric->value);
  } else {
    run.tokens = tokenize_whole(*engine.model, prompt, where);
    metadata = metadata_of(*engine.model, run.tokens.ids(), edits);
  }
  const std::vector<int> ids = run.tokens.ids();
  interrupts.check();
  TraceFile file(out, engine.config(), tracing.points, ids, metric.has_value(), metadata);
  const model::Hooks activations = file.hooks(interrupts, false);
  model::ForwardOptions options;
  options.hooks = &activations;
  options.plan = run.run != nullptr ? run.run->plan : plan_for(engine, ids);
  run.run = transformer.forward(ids, engine.workspace, options);
  if (metric) {
    const model::Hooks gradients = file.hooks(interrupts, true);
    model::GradientOptions gradient_options;
    gradient_options.hooks = &gradients;
    transformer.gradients(*run.run, metric->metric, engine.workspace, gradient_options);
  }
  interrupts.check();
  file.finish();
  warn_about(not_finite_note(*run.run), edits, run.run->length(), where, err);
}

void run_trace(const TraceCommand& command, const Streams& streams) {
  const bool divergence = command.gradients.given_metric == GradientMetric::divergence;
  Engine engine = start_engine(
      command, streams, {.second = divergence ? SecondModelUse::baseline : SecondModelUse::patch_source});
  const Tracing tracing = tracing_of(command, engine);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    trace_prompt(engine, tracing, prompt, source.file(command.out), source.where(), streams.err);
  });
}

/// Completes and checks what belongs to gradients alone.
void check_gradients(TraceCommand& trace) {
  MeasuredMetric<GradientMetric>& gradients = trace.gradients;
  const bool none = !gradients.given_metric;
  const bool divergence = gradients.given_metric == GradientMetric::divergence;
  const ComparisonArguments& comparison = trace.comparison;
  const EditArguments& edits = trace.prompt.edits;
  refuse({{none && !gradients.token.empty(), "--token requires --gradients"},
          {none && !gradients.other_token.empty(), "--other-token requires --gradients"},
          {none && gradients.position, "--position requires --gradients"},
          {comparison.second && !divergence, "--second requires --gradients kl"},
          {divergence && !comparison.second && edits.empty() && !edits.second_model,
           "--gradients kl compares the run with a baseline: give --edit, --edits, --second or "
           "--second-model"}});
  check_measured(gradients, kGradientMetrics, "--gradients");
}

}  // namespace

Finish describe_trace(CommandSyntax& command) {
  const auto own = std::make_shared<TraceCommand>();
  command.computing();
  command.prompt(true);
  command.edits();
  command.option("hooks", "GLOB,...",
                 "only the hooks whose names match, e.g. blocks.0.attn.*,logits\n"
                 "(default: all; hook_result only when it is named)",
                 own->hooks);
  command.choice_option("gradients",
                        "also write the gradients of a metric, as NAME_grad: a token's logit, the\n"
                        "difference of two, a token's log probability, the prompt's loss, or\n"
                        "KL(baseline || run)",
                        own->gradients.given_metric, kGradientMetrics);
  token_options(command, own->gradients, kGradientMetrics);
  command.second_prompt("the baseline of KL (default: the unedited run, or the second model)");
  command.out("FILE.safetensors", "the file; with --prompts, {n} in its name is the prompt's\nnumber from 1");
  const auto check = [](TraceCommand& trace) {
    require_prompt(trace);
    check_alignment(trace);
    check_gradients(trace);
    require_out(trace, "run.safetensors");
    refuse(
        {{trace.out_name == "-", "a trace cannot be written to standard output; name a file after --out"}});
    trace.out = system::path_of(trace.out_name);
  };
  return command.finish(own, check, run_trace);
}

}  // namespace headscope::app
