#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/arguments/list_part.h"
#include "app/cli/program.h"
#include "app/run/analyses/activation_means.h"
#include "model/kernels/workspace.h"

// The list of prompts whose means edits and ablations set: --mean-over.
namespace headscope::app {

struct MeanList {
  OverPrompts over;
  ListFile file;
  std::int64_t tokens = 0;  ///< of all prompts
};

/// Reads a list and checks that the model can run each of its prompts whole. Throws model::LoadError and
/// model::RunError that name file and line.
std::shared_ptr<const MeanList> read_mean_list(const std::filesystem::path& file, const LoadedModel& model,
                                               bool start_token);

/// The answer to a question about the means of a list, with progress on a terminal. Throws model::RunError,
/// also if a prompt has none.
std::shared_ptr<const Answer> computed_means(const MeansOverList& question,
                                             const std::shared_ptr<const LoadedModel>& model,
                                             model::Workspace& workspace, const Streams& streams);

/// The source that other questions take.
MeanSource source_of(const MeansOverList& question, const Answer& answer);

/// "means over 1,500 tokens of 120 prompts of names.jsonl", for a terminal.
std::string words_of(const MeanList& list);

}  // namespace headscope::app
