#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/hub/hub_name.h"
#include "app/run/analyses/head_metrics.h"
#include "app/run/analyses/sweep.h"
#include "app/run/analyses/weight_search.h"
#include "model/tokens/sampling.h"

namespace headscope::app {

// The arguments of commands whose structs tests need.

struct WindowCommand : Arguments {
  std::filesystem::path file = {};  ///< a session or figure to show; empty: none
};

/// Fetches a model from the Hugging Face hub into the cache.
struct GetCommand : Arguments {
  std::string name;  ///< as typed
  HubModel wanted;
};

/// The most probable next tokens.
struct PredictCommand : Arguments {
  int top = 10;
  bool all_positions = false;
};

/// The logit lens after every position.
struct LensCommand : Arguments {
  int top = 5;  ///< guesses at each place
};

/// The contribution of each part of the model to a logit.
struct AttributeCommand : Arguments {
  std::string token;                        ///< text or id; empty: the most probable
  std::string against;                      ///< text or id; empty: none
  int position = -1;                        ///< -1: the last
  std::optional<model::HeadIndex> sources;  ///< the head whose contribution is split by source token
  bool all_sources = false;                 ///< the same for every head
};

/// The effect on a guess of editing each head, or each layer at each position, one at a time.
struct SweepCommand : Arguments {
  SweepMetric metric = SweepMetric::difference;
  SweepOver over = SweepOver::heads;
  SweepChange edit = SweepChange::zero;
  model::Site site = model::Site::z;
  std::string token;                      ///< text or id; empty: the most probable
  std::string other_token;                ///< text or id; empty: the second most probable
  int position = -1;                      ///< -1: the last
  std::optional<SweepChange> ablation;    ///< as given; nothing: not given
  std::optional<model::Site> given_site;  ///< as given; nothing: not given
  std::optional<std::string> from;        ///< text of the prompt to patch from
  std::optional<Alignment> alignment;     ///< alignment of prompts of different lengths
  bool no_recipe = false;                 ///< the picture's file carries no recipe
  Destination out = {};
};

/// Generates tokens by sampling.
struct GenerateCommand : Arguments {
  int tokens = 40;
  model::SamplingOptions sampling;
  std::uint64_t seed = 0;
  bool echo = false;  ///< print the prompt first
};

/// Writes activations to a safetensors file.
struct TraceCommand : Arguments {
  std::string hooks;  ///< globs, comma-separated; empty: all
  std::filesystem::path out;
};

/// Metrics of heads over all prompts together, or over repeated random tokens.
struct MetricsCommand : Arguments {
  enum class Form { text, csv, json };
  std::optional<RepeatedTokens> repeated;         ///< instead of prompts
  std::vector<std::filesystem::path> merge = {};  ///< parts of a measurement, instead of prompts
  std::uint64_t seed = 0;                         ///< of the random tokens
  std::optional<HeadMetric> sort;                 ///< sort by this, largest first; nothing: by layer and head
  int top = 0;                                    ///< number of heads; 0: all
  bool csv = false;
  Form form = Form::text;
};

/// Searches for heads with large weights between given tokens.
struct SearchCommand : Arguments {
  WeightSearch search;
  int top = 20;
};

}  // namespace headscope::app
