#pragma once
#include <filesystem>

#include "model/files/tensor_file.h"

namespace headscope::model {

/// Opens a `pytorch_model.bin`: the ZIP archive that torch.save writes since PyTorch 1.6, with the pickle of
/// a state dict, or of a dictionary that has one as "model", "state_dict" or "model_state_dict". No Python
/// and no PyTorch take part, and nothing in the file is executed. Every tensor lies inside the bytes of its
/// storage. Throws LoadError that names the file and, where it is one's fault, the tensor.
TensorFile open_torch_file(const std::filesystem::path& file);

}  // namespace headscope::model
