#include "app/cli/command_line.h"

namespace headscope::app {

// Each is defined in the file of its name.
using Describe = Run(CLI::App& app, const std::shared_ptr<Arguments>& arguments);
Describe describe_get, describe_info, describe_generate, describe_trace, describe_shot, describe_views,
    describe_serve, describe_doctor;

std::span<const CommandRow> command_rows() {
  static constexpr CommandRow kRows[] = {
      {"get", "fetch a GPT-2 from the Hugging Face hub into its cache", describe_get},
      {"info", "show a model's configuration and parameters, or how a figure was made", describe_info},
      {"generate", "continue the prompt; stops early at <|endoftext|> or when the context is full",
       describe_generate},
      {"trace", "write activations to a safetensors file, with TransformerLens' names", describe_trace},
      {"shot", "export a picture of the whole window; needs no display", describe_shot},
      {"views", "list the views, which are commands, and their options", describe_views},
      {"serve", "answer requests one after another, with models that stay loaded", describe_serve},
      {"doctor", "check what headscope needs on this machine, and how to install what is missing",
       describe_doctor},
  };
  return kRows;
}

}  // namespace headscope::app
