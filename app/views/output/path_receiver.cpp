#include "app/views/output/path_receiver.h"

#include <algorithm>

#include "app/run/named.h"
#include "app/views/output/sweep_options.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/names.h"

namespace headscope::app {
namespace {

constexpr int kMost = 999;  // layers or heads; those of the model count

bool leads_to_head(const Options& options) {
  return over_senders(options) && options[kReceiver] != PathTo::logits;
}

constexpr model::Site kSites[] = {model::Site::resid_post, model::Site::q, model::Site::k, model::Site::v};

PathTo path_to(model::Site site) {
  return static_cast<PathTo>(std::ranges::find(kSites, site) - kSites);
}

std::string name_of(PathTo to) {
  return std::string(app::name_of(kPathTo, to));
}

}  // namespace

const Option<SweepOver> kSweptOver =
    choice_option<SweepOver>("sweep-over", "Over", "hH", "what is edited in turn", choices_of(kSweepOver));
const Option<PathTo> kReceiver =
    applying_if(over_senders, choice_option<PathTo>("sweep-receiver", "Receiver", "tT",
                                                    "what the senders' paths lead to", choices_of(kPathTo)));
const Option<int> kReceiverLayer =
    make_option<int>("sweep-receiver-layer", "Receiver layer", "the layer that the paths lead to",
                     {.phrase = "… in layer {}",
                      .default_value = -1,
                      .default_name = "last",
                      .low = -1,
                      .high = kMost,
                      .keys = "oO",
                      .applies = leads_to_head});
const Option<int> kReceiverHead =
    make_option<int>("sweep-receiver-head", "Receiver head", "the head that the paths lead to",
                     {.phrase = "…, head {}",
                      .default_value = -1,
                      .default_name = "all",
                      .low = -1,
                      .high = kMost,
                      .keys = "eE",
                      .applies = leads_to_head});

bool over_senders(const Options& options) {
  return options[kSweptOver] == SweepOver::senders;
}

SweepReceiver receiver_of(const ViewContext& c) {
  if (!c.run) return {};
  const model::Config& config = c.run->run->config;
  const PathTo to = c.options[kReceiver];
  const int last = config.n_layer - 1, layer = c.options[kReceiverLayer], head = c.options[kReceiverHead];
  const bool is_end = to == PathTo::logits || layer < 0;
  SweepReceiver receiver{{{kSites[static_cast<int>(to)], is_end ? last : std::min(layer, last)}, {}, {}, {}},
                         config.n_head};
  if (to != PathTo::logits && head >= 0) receiver.at.head = std::min(head, config.n_head - 1);
  return receiver;
}

std::string receiver_name(const SweepReceiver& receiver) {
  const auto& [point, head, positions, units] = receiver.at;
  if (point.site == model::Site::resid_post) return "the logits";
  const std::string where = head ? head_name(point.layer, *head) : "L" + std::to_string(point.layer);
  return where + " " + name_of(path_to(point.site));
}

MenuLine show_paths(const Options& options, int layer, int head) {
  const PathTo to = options[kReceiver] == PathTo::logits ? PathTo::q : options[kReceiver];
  return {"Show paths into " + head_name(layer, head) + " " + name_of(to),
          {SetOption{&kSweptOver, static_cast<int>(SweepOver::senders)},
           SetOption{&kReceiver, static_cast<int>(to)}, SetOption{&kReceiverLayer, layer},
           SetOption{&kReceiverHead, head}}};
}

}  // namespace headscope::app
