#pragma once
#include <map>
#include <string>
#include <vector>

#include "model/files/config.h"
#include "model/files/tensor_source.h"

namespace headscope::model {

/// Which tensors of a folder are which parameters of a GPT-2 (see parameters_of), under the names and in the
/// layouts that programs save them.
struct Checkpoint {
  /// With n_ctx and vocab_size as the tensors have them; tied without a head of its own in the files.
  Config config;
  std::map<std::string, const TensorSource::Entry*> tensors;  ///< by the parameters' names; biases may lack
  bool may_be_tied = false;        ///< there is a head, and the configuration ties it: see if they are equal
  bool linear_layout = false;      ///< the blocks' matrices are [out, in], as torch.nn.Linear keeps them
  std::vector<std::string> notes;  ///< sentences about what was taken differently than it is written
  std::vector<std::string> warnings;  ///< sentences about what is in the folder and not used
};

/// Throws LoadError for weights that are missing (all of them in one sentence, with the tensors that are
/// unknown), and for several models in one folder. Shapes are not checked.
Checkpoint match_tensors(const Config& config, const TensorSource& source);

}  // namespace headscope::model
