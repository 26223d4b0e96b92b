#pragma once
#include "app/run/analyses/saliency.h"
#include "app/views/option.h"

namespace headscope::app {

// The choices of saliency, with their names on the command line and in the view.
inline constexpr ChoiceOf<SaliencyMethod> kSaliencyMethods[] = {
    {SaliencyMethod::gradient_input, "gradient-input", "Gradient × input",
     "The gradient at each token's embedding times the embedding"},
    {SaliencyMethod::gradient_norm, "gradient-norm", "Gradient norm",
     "The length of the gradient at each token's embedding, without a sign", "lengths of gradients"},
    {SaliencyMethod::integrated, "integrated", "Integrated",
     "Integrated gradients: the mean gradient on the way from a baseline, times the way",
     "gradients along a path"}};
inline constexpr ChoiceOf<SaliencyBaseline> kSaliencyBaselines[] = {
    {SaliencyBaseline::zero, "zero", "Zero", "Zeros in place of every token's embedding; positions are kept"},
    {SaliencyBaseline::mean, "mean", "Mean",
     "The mean embedding of the vocabulary in place of every token's; positions are kept",
     "starting from the mean embedding"},
    {SaliencyBaseline::end_of_text, "endoftext", "<|endoftext|>",
     "The embedding of <|endoftext|> in place of every token's; positions are kept",
     "starting from <|endoftext|>"}};
inline constexpr ChoiceOf<GradientMetric> kSaliencyMetrics[] = {
    {GradientMetric::logit, "logit", "Logit", "The logit of the token", "by the logit"},
    {GradientMetric::difference, "difference", "Logit difference",
     "The logit of the token minus that of the other token", "by the logit difference"},
    {GradientMetric::log_probability, "logprob", "Log probability",
     "The logarithm of the token's probability, in bits", "by the log probability"},
    {GradientMetric::loss, "loss", "Loss", "The mean loss of the prompt's tokens, in bits",
     "by the mean loss"}};
static_assert(in_order(kSaliencyMethods) && in_order(kSaliencyBaselines) && in_order(kSaliencyMetrics));

/// What a picture says in place of the loss of a prompt in which no token follows another.
inline constexpr const char* kNoLoss =
    "the loss needs a token that follows another, but the prompt has 1 token";
inline bool has_no_loss(const PromptRun& run, GradientMetric metric) {
  return metric == GradientMetric::loss && run.run->length() < 2;
}

}  // namespace headscope::app
