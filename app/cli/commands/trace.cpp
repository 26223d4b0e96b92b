#include "app/cli/commands/trace.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/output.h"
#include "app/run/edits/edit_text.h"
#include "app/run/version.h"
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

/// The file's metadata: the tokens' names, as in attention files (see PatternFile), the prompt's text, and
/// what the run was edited by.
std::map<std::string, std::string> metadata_of(const LoadedModel& model, std::span<const int> ids,
                                               const model::Edits& edits) {
  Json texts = Json::array();
  for (const int id : ids) texts.push_back(utf8_or_replacement(model.tokenizer->bytes(id)));
  std::map<std::string, std::string> metadata{{"producer", "headscope " + version()},
                                              {"model", utf8_or_replacement(model.name)},
                                              {"tokens", texts.dump()},
                                              {"text", utf8_or_replacement(model.tokenizer->decode(ids))}};
  if (!edits.empty()) metadata["edits"] = edit_text(edits);
  return metadata;
}

/// Runs the prompt and writes the hooked activations piece by piece, so that the file may be larger than
/// memory.
void trace_prompt(Engine& engine, const std::vector<model::HookPoint>& points, const PromptTokens& tokens,
                  const std::filesystem::path& out, const std::string& where, std::ostream& err) {
  const system::InterruptGuard interrupts;  // a signal must not leave an incomplete file behind
  const int length = tokens.run_length;
  std::vector<model::TensorSpec> specs = {{"tokens", {length}, model::TensorSpec::Type::i64}};
  for (const model::HookPoint& point : points)
    specs.push_back(
        {hook_name(point), hook_shape(engine.config(), point, length), model::TensorSpec::Type::f32});
  const std::vector<int> ids = tokens.ids();
  const model::Edits edits = engine.plan ? engine.plan->edits() : model::Edits();
  model::SafetensorsWriter writer(out, specs, metadata_of(*engine.model, ids, edits));

  writer.write("tokens", 0, std::vector<std::int64_t>(ids.begin(), ids.end()));
  std::vector<TensorStream> streams;
  for (std::size_t i = 0; i < points.size(); ++i)
    streams.emplace_back(writer, specs[i + 1].name, specs[i + 1].shape);
  model::Hooks hooks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    hooks.watch(points[i], [&interrupts, &stream = streams[i]](const model::ConstActivation2d& piece) {
      interrupts.check();
      stream.write(piece);
    });
  }
  model::ForwardOptions options;
  options.hooks = &hooks;
  options.plan = plan_for(engine, ids);
  const auto run = engine.model->transformer->forward(ids, engine.workspace, options);
  interrupts.check();
  writer.finish();
  warn_about(not_finite_note(*run), edits, run->length(), where, err);
}

void run_trace(const TraceCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits);
  const std::vector<model::HookPoint> points = match_hook_points(engine.config(), command.hooks);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const auto file = source.file(command.out);
    if (!file) return;
    const PromptTokens tokens = tokenize_whole(*engine.model, prompt, source.where());
    trace_prompt(engine, points, tokens, *file, source.where(), streams.err);
  });
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
  command.out("FILE.safetensors", "the file; with --prompts, {n} in its name is the prompt's\nnumber from 1");
  command.resume();
  const auto check = [](TraceCommand& trace) {
    require_prompt(trace);
    require_out(trace, "run.safetensors");
    if (trace.out_name == "-")
      throw UsageError("a trace cannot be written to standard output; name a file after --out");
    trace.out = system::path_of(trace.out_name);
  };
  return command.finish(own, check, run_trace);
}

}  // namespace headscope::app
