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

// What each command was given of the options that are its own, where a test looks at it.

struct WindowCommand : Arguments {
  std::filesystem::path file = {};  ///< a session or a figure that is shown at first; empty: none
};

/// Brings a model from the Hugging Face hub into the cache.
struct GetCommand : Arguments {
  std::string name;  ///< as it was given
  HubModel wanted;
};

/// The most probable next tokens.
struct PredictCommand : Arguments {
  int top = 10;
  bool all_positions = false;
};

/// The logit lens after every position.
struct LensCommand : Arguments {
  int top = 5;  ///< guesses of each place
};

/// What each part of the model adds to a logit.
struct AttributeCommand : Arguments {
  std::string token;                        ///< text or id; empty: the most probable
  std::string against;                      ///< text or id; empty: none
  int position = -1;                        ///< -1: the last
  std::optional<model::HeadIndex> sources;  ///< the head whose part is told by source
  bool all_sources = false;                 ///< of every head
};

/// What single changes make of a guess: of each head, or of each layer at each position.
struct SweepCommand : Arguments {
  SweepMetric metric = SweepMetric::difference;
  SweepOver over = SweepOver::heads;
  SweepEdit change = SweepEdit::zero;
  model::Site site = model::Site::z;
  std::string token;                      ///< text or id; empty: the most probable
  std::string other_token;                ///< text or id; empty: the second most probable
  int position = -1;                      ///< -1: the last
  std::optional<SweepEdit> ablation;      ///< as given, like
  std::optional<model::Site> given_site;  ///< this
  std::optional<std::string> from;        ///< text of the prompt that is patched from
  std::optional<Alignment> alignment;     ///< of prompts that need not be as long
  bool no_recipe = false;                 ///< a picture's file does not carry what it was made of
  Destination out = {};
};

/// More tokens, drawn one by one.
struct GenerateCommand : Arguments {
  int tokens = 40;
  model::SamplingOptions sampling;
  std::uint64_t seed = 0;
  bool echo = false;  ///< the prompt first
};

/// Activations as a safetensors file.
struct TraceCommand : Arguments {
  std::string hooks;  ///< globs, comma-separated; empty: all
  std::filesystem::path out;
};

/// What heads do with the prompts, all of them together, or with repeated random tokens.
struct MetricsCommand : Arguments {
  enum class Form { text, csv, json };
  std::optional<RepeatedTokens> repeated;         ///< in place of prompts
  std::vector<std::filesystem::path> merge = {};  ///< parts of a measurement, in place of prompts
  std::uint64_t seed = 0;                         ///< of the random tokens
  std::optional<HeadMetric> sort;                 ///< the largest first; none: by layer and head
  int top = 0;                                    ///< how many heads; 0: all
  bool csv = false;
  Form form = Form::text;
};

/// Where heads look from some tokens to some others.
struct SearchCommand : Arguments {
  WeightSearch search;
  int top = 20;
};

}  // namespace headscope::app
