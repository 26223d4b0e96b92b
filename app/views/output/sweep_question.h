#pragma once
#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

// The question of a sweep, by the options of the view: what is edited in turn, how, and what is measured.
namespace headscope::app {

// The values of a sweep, with their names on the command line and in the view.
inline constexpr ChoiceOf<SweepMetric> kSweepMetrics[] = {
    {SweepMetric::logit, "logit", "Logit", "The logit of the token"},
    {SweepMetric::difference, "difference", "Logit difference",
     "The logit of the token minus that of the other token"},
    {SweepMetric::probability, "probability", "Probability", "The probability of the token"},
    {SweepMetric::divergence, "kl", "KL",
     "KL divergence of the edited distribution from the run's, in bits"}};
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
static_assert(in_order(kSweepMetrics) && in_order(kSweepOver) && in_order(kSweepEdits));
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

/// Where a path leads to.
enum class PathTo { logits, q, k, v };
inline constexpr ChoiceOf<PathTo> kPathTo[] = {
    {PathTo::logits, "logits", "Logits", "The logits: the residual stream at its end"},
    {PathTo::q, "q", "q", "The queries of a head"},
    {PathTo::k, "k", "k", "The keys of a head"},
    {PathTo::v, "v", "v", "The values of a head"}};
static_assert(in_order(kPathTo));

extern const Option<SweepOver> kSweptOver;
extern const Option<PathTo> kReceiver;
extern const Option<int> kReceiverLayer;  ///< -1: the last
extern const Option<int> kReceiverHead;   ///< -1: all heads of the layer

bool over_senders(const Options& options);

/// "the logits", "L9 H6 q".
std::string receiver_name(const SweepReceiver& receiver);

/// Shows the paths into a head: "Show paths into L4 H3 q".
MenuLine show_paths(const Options& options, int layer, int head);

extern const Option<SweepMetric> kSweptMetric;
extern const Option<SweepEdit> kSweptEdit;
extern const Option<int> kSweptSite;     ///< 0: the default one, else a row of kSweepSites, from 1
extern const Option<int> kSweptNeurons;  ///< their number
/// How many tokens the metric names.
int swept_tokens(const Options& options);

/// Its tokens are TokenChoice::By::none until they are known.
SweepOf sweep_question(const ViewContext& context);

/// The means of a list that it sets, which have to be known first.
MeansOverList means_of(const ViewContext& context, const SweepOf& question);

bool knows_tokens(const SweepOf& question);

/// Whether the run has a place's edit, alone or joined with others; cells are measured on top of the run's
/// edits.
bool is_applied(const ViewContext& context, const SweepOf& question, const SweepPlace& place);
/// The places of a grid for which it is true, some perhaps twice. They are found by the run's edits, of which
/// there are few, since a grid can have more than 100,000 cells.
std::vector<SweepPlace> applied_places(const ViewContext& context, const SweepOf& question);

/// Why there is no sweep with these options: one sentence, and in `option` the one that mends it; empty if
/// there is one.
struct SweepRefusal {
  std::string why;
  const OptionSpec* option = nullptr;  ///< null: none
};
SweepRefusal refuse_sweep(const ViewContext& context, const SweepOf& question);
/// The sentence for View::refuse: this, or that the options name no token or cannot limit the rows.
std::string refuse_sweep_options(const ViewContext& context, SweepRefusal refusal);

}  // namespace headscope::app
