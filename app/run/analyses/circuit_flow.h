#pragma once
#include <functional>
#include <stop_token>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/circuit/stream_graph.h"
#include "model/gradient/metric.h"

namespace headscope::app {

/// Information flow routes (Ferrando and Voita 2024, "Information Flow Routes: Automatically Interpreting
/// Language Models at Scale") along the edges of a model::StreamGraph. What a part z brings to a sum y is its
/// proximity, max(0, |y| - |z - y|) with sums of absolute values, divided by that of all parts. From the
/// logits at the metric's positions down, everything that arrives is divided among what it was made of: a
/// stream among all that earlier parts wrote to it, and a head's output among the values of its keys.
///
/// In the paper a stream is taken apart block by block, into what a block added and what was there; here at
/// once, into the parts themselves, so that its edges are those of edge attribution. Biases of attention,
/// which do not depend on the prompt, get no share. Queries and keys get none: they choose what flows, but do
/// not flow themselves.
///
/// Returns the edges' shares, [1, edges] or by position [T, edges]; those to the logits add up to 1.
/// `progress`: called with the fraction done. Throws model::Stopped.
std::vector<float> flow_shares(const PromptRun& run, const model::StreamWrites& writes,
                               const model::Metric& metric, bool by_position, const std::stop_token& stop,
                               const std::function<void(double done)>& progress = {});

}  // namespace headscope::app
