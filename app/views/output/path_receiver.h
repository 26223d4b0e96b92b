#pragma once
#include <string>

#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

// What a sweep edits in turn, and for paths their receiver: the options, their values and names.
namespace headscope::app {

/// Where a path leads to.
enum class PathTo { logits, q, k, v };
inline constexpr ChoiceOf<PathTo> kPathTo[] = {
    {PathTo::logits, "logits", "Logits", "The logits: the residual stream at its end"},
    {PathTo::q, "q", "q", "The queries of a head", "into queries"},
    {PathTo::k, "k", "k", "The keys of a head", "into keys"},
    {PathTo::v, "v", "v", "The values of a head", "into values"}};
static_assert(in_order(kPathTo));

extern const Option<SweepOver> kSweptOver;
extern const Option<PathTo> kReceiver;
extern const Option<int> kReceiverLayer;  ///< -1: the last
extern const Option<int> kReceiverHead;   ///< -1: all heads of the layer

bool over_senders(const Options& options);

/// The receiver of the options in the run's model.
SweepReceiver receiver_of(const ViewContext& context);

/// "the logits", "L9 H6 q".
std::string receiver_name(const SweepReceiver& receiver);

/// Shows the paths into a head: "Show paths into L4 H3 q".
MenuLine show_paths(const Options& options, int layer, int head);

}  // namespace headscope::app
