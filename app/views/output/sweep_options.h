#pragma once
#include <string>

#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

namespace headscope::app {

// The values of a sweep, with their names on the command line and in the view.
inline constexpr ChoiceOf<SweepMetric> kSweepMetrics[] = {
    {SweepMetric::logit, "logit", "Logit", "The logit of the token", "measured by the logit"},
    {SweepMetric::difference, "difference", "Logit difference",
     "The logit of the token minus that of the other token"},
    {SweepMetric::probability, "probability", "Probability", "The probability of the token",
     "measured by the probability"},
    {SweepMetric::divergence, "kl", "KL", "KL divergence of the edited distribution from the run's, in bits",
     "measured by KL divergence"}};
/// What is edited in turn.
inline constexpr ChoiceOf<SweepOver> kSweepOver[] = {
    {SweepOver::heads, "heads", "Whole heads", "Each head, at all positions"},
    {SweepOver::positions, "layer-position", "Layers × positions", "Each layer at each position",
     "layers by position"},
    {SweepOver::senders, "senders", "Senders",
     "Each head and MLP, on its direct path to a later head or the logits (path patching)", "senders"},
    {SweepOver::head_positions, "head-position", "Heads × positions", "Each head at each position",
     "heads by position"},
    {SweepOver::mlps, "mlps", "MLPs", "Each layer's MLP, at all positions", "MLPs"},
    {SweepOver::neurons, "neurons", "Neurons",
     "The neurons whose edits have the largest estimated effect, at all positions", "strongest neurons"}};
inline constexpr ChoiceOf<SweepEdit> kSweepEdits[] = {
    {SweepEdit::zero, "zero", "Zero", "Set to zero (zero ablation)"},
    {SweepEdit::mean, "mean", "Mean", "Set to the mean over the prompt's positions (mean ablation)",
     "… set to means over positions"},
    {SweepEdit::patch, "patch", "Patch",
     "Replace by the value in the second prompt (in a list: each prompt's own), second model or "
     "unedited run (activation patching)",
     "… patched"},
    {SweepEdit::list_mean, "list-mean", "List mean",
     "Set to the mean over all positions of the open list of prompts (mean ablation)",
     "… set to means over {}"}};
static_assert(in_order(kSweepMetrics) && in_order(kSweepOver) && in_order(kSweepEdits));
/// The site that is edited.
inline constexpr ChoiceOf<model::Site> kSweepSites[] = {
    {model::Site::resid_pre, "resid_pre", "Stream", "The residual stream before the layer",
     "… in the residual stream"},
    {model::Site::attn_out, "attn_out", "Attention", "What the layer's attention adds",
     "… in attention outputs"},
    {model::Site::mlp_out, "mlp_out", "MLP", "What the layer's MLP adds", "… in MLP outputs"},
    {model::Site::z, "z", "z", "The output of heads, before W_O", "… in head outputs"},
    {model::Site::q, "q", "q", "The queries of heads", "… in queries"},
    {model::Site::k, "k", "k", "The keys of heads", "… in keys"},
    {model::Site::v, "v", "v", "The values of heads", "… in values"},
    {model::Site::pattern, "pattern", "Pattern", "The attention weights of heads", "… in patterns"}};

/// Why a sweep cannot edit a site, or cannot edit it so: one sentence; empty if it can.
std::string refuse_site(SweepOver over, model::Site site, SweepEdit edit);

/// Why there is no sweep by a metric: one sentence; empty if there is one.
std::string refuse_metric(SweepOver over, SweepMetric metric);

}  // namespace headscope::app
