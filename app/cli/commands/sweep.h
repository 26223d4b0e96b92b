#pragma once
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/sweep.h"

namespace headscope::app {

/// What single changes make of a guess: of each head, or of each layer at each position.
struct SweepCommand : Arguments {
  SweepMetric metric = SweepMetric::difference;
  SweepOver over = SweepOver::heads;
  SweepChange change = SweepChange::zero;
  model::Site site = model::Site::z;
  std::string token;                      ///< text or id; empty: the most probable
  std::string other_token;                ///< text or id; empty: the second most probable
  int position = -1;                      ///< -1: the last
  std::optional<SweepChange> ablation;    ///< as given, like
  std::optional<model::Site> given_site;  ///< this
  std::optional<std::string> from;        ///< text of the prompt that is patched from
  std::optional<Alignment> alignment;     ///< of prompts that need not be as long
  bool no_recipe = false;                 ///< a picture's file does not carry what it was made of
  Destination out = {};
};

}  // namespace headscope::app
