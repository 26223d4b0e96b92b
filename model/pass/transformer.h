#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/circuit/stream_graph.h"
#include "model/files/loading.h"
#include "model/gradient/metric.h"
#include "model/kernels/workspace.h"
#include "model/pass/edits.h"
#include "model/pass/hooks.h"
#include "model/pass/plan.h"
#include "model/pass/results.h"
#include "model/pass/run.h"

namespace headscope::model {

class Transformer;

/// What patches may come from besides the prompts that they name.
struct SecondModel {
  const Transformer* model = nullptr;  ///< null: there is none
  std::span<const int> tokens = {};    ///< tokens of the patched run: see PatchFrom::tokens
};

struct ForwardOptions {
  const Run* base = nullptr;  ///< pages of the common prefix of its tokens are shared, not recomputed
  std::shared_ptr<const Plan> plan = {};  ///< edits, which apply before hooks; null: none
  /// With a plan: the unedited run of these tokens. Layers and positions before the first edit are shared
  /// with it, not recomputed, unless there are hooks.
  const Run* clean = nullptr;
  const Hooks* hooks = nullptr;
  int hooked_from = 0;  ///< hooks are called from this position on; those before may be the base's, uncalled
  std::stop_token stop = {};  ///< polled within each layer of each chunk
  Progress progress = {};
  int chunk = 128;  ///< positions computed at a time, at most; all with a plan that needs the whole run
  std::shared_ptr<const Run>* partial = nullptr;  ///< out, when stopped: the completed chunks, a shorter run
};

struct GradientOptions {
  /// Called with the derivatives with respect to the activations at their points, instead of the activations:
  /// from the logits down, of the shapes of the pass, in pieces like its own. Scores and patterns come with
  /// all keys of the run.
  const Hooks* hooks = nullptr;
  std::stop_token stop = {};  ///< polled within each layer
  Progress progress = {};
};

/// GPT-2 (Radford et al. 2019), equivalent to Hugging Face's `GPT2LMHeadModel`. Immutable after loading and
/// thread-safe; each caller needs its own Workspace. All results for a run with edits include the edits,
/// bit-identical to what the pass computed. A run is given to the model that computed it, and arguments have
/// the shapes that are stated.
class Transformer {
 public:
  /// Loads a Hugging Face folder: `config.json` and the weights, see TensorSource::open. Throws LoadError
  /// (one sentence) or Stopped.
  static std::shared_ptr<const Transformer> load(const std::filesystem::path& folder,
                                                 const LoadOptions& options = {});

  ~Transformer();
  const Config& config() const;
  const LoadReport& report() const;
  std::int64_t parameter_count() const;  ///< tied matrices count once

  // --- Running a prompt: pass.cpp. ---

  /// Runs `tokens` ([T], 1 <= T <= n_ctx) and keeps q, k, v and the residual stream. Computes no logits
  /// unless a hook wants them. Throws RunError (too long, empty, an id outside the vocabulary) or Stopped.
  std::shared_ptr<const Run> forward(std::span<const int> tokens, Workspace& workspace,
                                     const ForwardOptions& options = {}) const;

  /// Logits of positions [first, first + count) of a run: out is [count, vocab_size] row-major.
  void logits(const Run& run, int first, int count, Workspace& workspace, std::span<float> out) const;

  /// The product of any vector [d_model] with the unembedding, without a layer norm: out [vocab_size].
  void unembed(std::span<const float> vector, Workspace& workspace, std::span<float> out) const;

  // --- Edits, and many runs at once: recorded_sources.cpp, variants.cpp. ---

  /// Creates a plan of edits for this model: runs the prompts that are patched from, with their edits, in the
  /// second model if PatchFrom says so. Throws RunError (one sentence: which edit, what it names and what the
  /// model has) or Stopped.
  std::shared_ptr<const Plan> plan(Edits edits, Workspace& workspace, std::stop_token stop = {},
                                   const SecondModel& second = {}) const;

  /// Creates plans for several lists. A prompt that several of them patch from is run once.
  std::vector<std::shared_ptr<const Plan>> plans(std::vector<Edits> lists, Workspace& workspace,
                                                 std::stop_token stop = {},
                                                 const SecondModel& second = {}) const;

  /// Runs several plans (null: no edits) over the tokens of one unedited run. Calls visit(index of the plan,
  /// logits of positions [first, first + count)) for each, on this thread, as soon as they are ready; plans
  /// whose first edit is late in the pass come first. The logits are bit-identical to those of `forward` with
  /// `clean` followed by `logits`, for less work: variants share their products, nothing is recomputed that
  /// the unedited run has, and the last layer computes only the requested positions. Holds activations of
  /// about 512 positions, but of at least one variant. Throws RunError or Stopped.
  void variants(const Run& clean, std::span<const std::shared_ptr<const Plan>> plans, int first, int count,
                Workspace& workspace, const VariantVisitor& visit, std::stop_token stop = {}) const;

  // --- Predictions: statistics.cpp. ---

  /// The model's statistics at each position in [first, first + count). Holds what `lens` does.
  std::vector<PositionStatistics> statistics(const Run& run, int first, int count, int top,
                                             Workspace& workspace, std::stop_token stop = {}) const;

  /// The logit lens (nostalgebraist 2020): applies ln_f and the unembedding to rows of the residual stream,
  /// and returns for each row its `top` best guesses. rows: [positions * depth, d_model], the rows of a
  /// position consecutively, the last of them the end of the stream there, depth >= 1; targets: [positions],
  /// ids. Holds some columns of the logits of a block of rows, or all columns if edits change logits. `of`:
  /// this run's edits after the last block apply here, too, with `first` the position of the first rows.
  /// Throws Stopped.
  std::vector<LensReading> lens(std::span<const float> rows, int depth, std::span<const int> targets, int top,
                                Workspace& workspace, std::stop_token stop = {}, const Run* of = nullptr,
                                int first = 0) const;

  // --- Attention and MLPs in a run: transformer.cpp. ---

  /// The stages of one head, from the run's q and k, computed by the kernels of the forward pass.
  AttentionStages attention(const Run& run, int layer, int head) const;

  /// Only the pattern of one head, [T, T], into `out`; cheaper than all stages.
  void pattern(const Run& run, int layer, int head, std::span<float> out) const;

  /// One row of the stages, with the steps of its softmax; scores and weights are bit-identical to those of
  /// the stages. It extends to the last key that the query sees, and to at least `min_keys` if the run has
  /// them, which changes nothing else since they are masked. Throws RunError for a query that the run does
  /// not have, as do the functions below for a position.
  AttentionRow attention_row(const Run& run, int layer, int head, int query, int min_keys = 0) const;

  /// The patterns of several heads, each computed by one thread: calls visit(index in `heads`, first query,
  /// rows [n, T]) for blocks of a head's queries, in order. Holds one such block per thread. Throws RunError,
  /// or Stopped between heads.
  void patterns(const Run& run, std::span<const HeadIndex> heads, Workspace& workspace,
                const PatternVisitor& visit, std::stop_token stop = {}) const;

  /// The input of a block's c_attn at one position: ln_1 of the run's residual stream, [d_model],
  /// bit-identical to the pass.
  std::vector<float> attention_input(const Run& run, int layer, int pos, Workspace& workspace) const;

  /// `h.LAYER.attn.c_attn.bias`, [3 d_model]: for q, k and v.
  std::span<const float> attention_bias(int layer) const;

  /// The output of a block's attention at one position. z and out are bit-identical to the pass.
  AttentionOutput attention_output(const Run& run, int layer, int pos, Workspace& workspace) const;

  /// `h.LAYER.attn.c_proj.bias`, [d_model].
  std::span<const float> projection_bias(int layer) const;

  /// Adds the output of a layer's MLP to any rows [n, d_model] of the stream before its layer norm.
  void add_mlp(int layer, FloatRows stream, Workspace& workspace) const;

  // --- Derivatives: backward.cpp; circuits: stream_graph.cpp, edge_attribution.cpp, cut_pass.cpp. ---

  /// The derivatives of a metric with respect to a run's activations, by one pass from the logits down to the
  /// first layer for which there are hooks. Returns the metric's value. As in TransformerLens, the derivative
  /// at a hook point is that with respect to the activation as edits left it, through all of the rest of the
  /// pass: one that is set has derivatives, but what it was computed from has none through it. See
  /// Plan::apply_gradient for each kind of edit, and backward.cpp for what is recomputed. Derivatives of a
  /// layer norm's scale are those through the division by it; of `normalized`, before gain and bias.
  ///
  /// float32, bit-identical for any number of threads. Memory besides the run: for each position 7 d_model
  /// floats (8 with hooks or edits of `result`), for 128 positions as many again and 2 n_inner (for all
  /// positions with a mean or without the mask), and the logits of 64 positions if the metric depends on all
  /// of a position's. Throws RunError for a metric that the model or run does not have, and a run of other
  /// weights; or Stopped.
  double gradients(const Run& run, const Metric& metric, Workspace& workspace,
                   const GradientOptions& options = {}) const;

  /// What the parts of the model wrote in a run. Throws Stopped.
  StreamWrites stream_writes(const Run& run, Workspace& workspace, std::stop_token stop = {}) const;

  /// Edge attribution (Syed et al. 2023, "Attribution Patching Outperforms Automated Circuit Discovery"):
  /// what a change of a writer's output, as one reader sees it, adds to a metric, to first order: the
  /// metric's derivative with respect to the stream that the reader sees, times the change. Adds `factor`
  /// times that to `sums` for every edge of StreamGraph: [1, edge_count], or by position [T, edge_count].
  /// Returns the metric's value. The derivatives are those in the run, which may have edits of the embeddings
  /// only. `changes`: of T positions. Memory: the run's derivatives, 4 d_model floats a layer and position,
  /// and for 64 positions the changes of all writers. Throws RunError as `gradients` does; or Stopped.
  double attribute_edges(const Run& run, const Metric& metric, const StreamWrites& changes, double factor,
                         Rows<double> sums, Workspace& workspace, std::stop_token stop = {}) const;

  /// A pass over an unedited run's tokens in which the edges that are not kept carry what their writers wrote
  /// in another run, `cut`, of as many tokens (as in Conmy et al. 2023, "Towards Automated Circuit Discovery
  /// for Mechanistic Interpretability"). Returns the metric. With all edges it is that of the run, with none
  /// that of `cut`, except for rounding. `embedding`: the run's, StreamWrites::embedding. Holds what
  /// writers with a kept edge wrote, and for each thread the scores [T, T] of a head. Throws RunError for a
  /// metric that the run does not have; or Stopped.
  double cut_pass(const Run& run, std::span<const float> embedding, const StreamWrites& cut,
                  const KeptEdges& kept, const Metric& metric, Workspace& workspace,
                  std::stop_token stop = {}) const;

  // --- Weights: parameters.cpp. ---

  /// Rows [first, first + count) of parameters()[index] as float32: out [count, columns], row-major. A vector
  /// is one row.
  void parameter_rows(std::size_t index, int first, int count, std::span<float> out) const;

  /// The product of `vector` [d_model] with each row of `wte.weight`, and the Euclidean norm of each row:
  /// dots, norms [vocab_size]. Sums are float32, in order of the components.
  void compare_embeddings(std::span<const float> vector, Workspace& workspace, std::span<float> dots,
                          std::span<float> norms) const;

  /// `wpe.weight`, [n_ctx, d_model] row-major, as float32.
  std::span<const float> position_embedding() const;

 private:
  struct Impl;
  explicit Transformer(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace headscope::model
