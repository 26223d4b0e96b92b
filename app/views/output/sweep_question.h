#pragma once
#include "app/run/analyses/sweep.h"
#include "app/views/parts/selected.h"

// A sweep by the view's options: what is edited in turn, how, and what is measured; and the words for it.
namespace headscope::app::sweep {

// The values of a sweep, with their names on the command line and in the view.
inline constexpr ChoiceOf<Metric> kSweepMetrics[] = {kMetrics[0], kMetrics[1], kMetrics[5], kMetrics[4]};
/// What is edited in turn.
inline constexpr ChoiceOf<SweepOver> kSweepOver[] = {
    {SweepOver::heads, "heads", "Whole heads", "Each head, at all positions"},
    {SweepOver::positions, "layer-position", "Layers × positions", "Each layer at each position"},
    {SweepOver::senders, "senders", "Senders",
     "Each head and MLP, on its direct path to a later head or the logits (path patching)"},
    {SweepOver::head_positions, "head-position", "Heads × positions", "Each head at each position"},
    {SweepOver::mlps, "mlps", "MLPs", "Each layer's MLP, at all positions"},
    {SweepOver::neurons, "neurons", "Neurons",
     "The neurons whose edits have the largest estimated effect, at all positions"}};
inline constexpr ChoiceOf<SweepEdit> kSweepEdits[] = {
    {SweepEdit::zero, "zero", "Zero", "Set to zero (zero ablation)"},
    {SweepEdit::mean, "mean", "Mean", "Set to the mean over the prompt's positions (mean ablation)"},
    {SweepEdit::patch, "patch", "Patch",
     "Replace by the value in the second prompt (in a list: each prompt's own), second model or "
     "unedited run (activation patching)"},
    {SweepEdit::list_mean, "list-mean", "List mean",
     "Set to the mean over all positions of the open list of prompts (mean ablation)"}};
static_assert(in_order(kSweepOver) && in_order(kSweepEdits));
/// The site that is edited.
inline constexpr ChoiceOf<model::Site> kSweepSites[] = {
    {model::Site::resid_pre, "resid_pre", "Stream", "The residual stream before the layer"},
    {model::Site::attn_out, "attn_out", "Attention", "What the layer's attention adds"},
    {model::Site::mlp_out, "mlp_out", "MLP", "What the layer's MLP adds"},
    {model::Site::z, "z", "z", "The output of heads, before W_O"},
    {model::Site::q, "q", "q", "The queries of heads"},
    {model::Site::k, "k", "k", "The keys of heads"},
    {model::Site::v, "v", "v", "The values of heads"},
    {model::Site::pattern, "pattern", "Pattern", "The attention weights of heads"}};
/// The site that paths lead to.
inline constexpr ChoiceOf<model::Site> kSweepReceivers[] = {
    {model::Site::resid_post, "logits", "Logits", "The logits: the residual stream at its end"},
    {model::Site::q, "q", "q", "The queries of a head"},
    {model::Site::k, "k", "k", "The keys of a head"},
    {model::Site::v, "v", "v", "The values of a head"}};

extern const Option<int> kSweptMetric;  ///< a row of kSweepMetrics
extern const Option<SweepOver> kSweptOver;
extern const Option<SweepEdit> kSweptEdit;
extern const Option<int> kSweptSite;      ///< 0: the default one, else a row of kSweepSites, from 1
extern const Option<int> kSweptNeurons;   ///< their number
extern const Option<int> kReceiver;       ///< a row of kSweepReceivers
extern const Option<int> kReceiverLayer;  ///< -1: the last
extern const Option<int> kReceiverHead;   ///< -1: all heads of the layer

/// Its tokens are empty until they are known.
SweepOf sweep_question(const ViewContext& context);
/// The means of a list that it sets, which have to be known first.
MeansOverList means_of(const ViewContext& context, const SweepOf& question);

/// The cells whose edits the run has already, alone or joined with others; cells measure on top of that.
std::vector<std::size_t> applied_cells(const PromptRun& run, const SweepOf& question, const Sweep& sweep);

/// Whether a sweep is a list of bars, because its places have no second axis.
inline bool is_listed(SweepOver over) {
  return over == SweepOver::mlps || over == SweepOver::neurons;
}
inline bool is_by_position(SweepOver over) {
  return over == SweepOver::positions || over == SweepOver::head_positions;
}

/// A sweep with what a picture shows of it. Cells are counted layer by layer; those of a grid row by row.
struct Swept {
  SweepOf question;
  std::shared_ptr<const Sweep> sweep;
  Measured measured;                 ///< with the metric that is shown
  std::vector<std::size_t> applied;  ///< cells whose edits the run has
  /// The cells in the order of a list: layer by layer; neurons by their differences, the strongest first, or
  /// as long as some are not known by their estimates.
  std::vector<std::size_t> cells;
  std::optional<SweepReading> source;  ///< what is patched from, where that has the metric
  int rows_per_layer = 1;              ///< of a grid; heads at positions: the heads of a layer
  int cols = 1;

  SweepPlace place(std::size_t cell) const { return question.place_of(*sweep, cell); }
  bool is_known(std::size_t cell) const { return sweep->known[cell]; }
  bool is_complete() const { return sweep->known_count() == std::ssize(sweep->known); }
  bool is_estimated() const { return sweep->estimates_metric(measured.metric); }
  bool is_applied(std::size_t cell) const { return std::ranges::find(applied, cell) != applied.end(); }
  double before() const { return sweep->before.of(measured.metric); }
  double with_edit(std::size_t cell) const { return sweep->readings[cell].of(measured.metric); }
  double difference(std::size_t cell) const { return with_edit(cell) - before(); }
  double estimate(std::size_t cell) const {
    return is_estimated() ? sweep->estimates[cell].of(measured.metric) : NAN;
  }
  int rows() const { return static_cast<int>(sweep->known.size()) / cols; }
  std::size_t cell(int row, int col) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(col);
  }
};

Swept swept_of(const ViewContext& context, const SweepOf& question, std::shared_ptr<const Sweep> sweep);

/// What is edited in each cell, and how: "Each head zeroed", "mlp_out replaced by its mean, by layer and
/// position", "Paths into L9 H6 q, each sender zeroed".
std::string title_of(const PromptRun& run, const SweepOf& question);
/// "logit of “·the” − “·a” after 8 “·it”; before 3.21; 11 of 27 positions patched, from equal tokens".
std::string subtitle_of(const ViewContext& context, const Swept& swept);
/// "Δ logit difference"
std::string change_name(Metric metric);
/// A place's edit: "L4 H3 off", "L4 H3 = mean over the list". There must be one.
std::string edit_words(const SweepOf& question, const SweepPlace& place);
/// The strongest difference, and progress: "computing… 3 of 48; so far strongest: L4 at 8 “·it” +0.1234".
std::string state_of(const ViewContext& context, const Swept& swept);
/// What is said of estimates; empty: nothing.
std::string words_on_estimates(const ViewContext& context, const Swept& swept);

}  // namespace headscope::app::sweep
