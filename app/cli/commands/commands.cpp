#include "app/cli/commands/commands.h"

namespace headscope::app {

// Each is defined in the file of its name.
using Describe = Finish(CommandSyntax& command);
Describe describe_get, describe_info, describe_tokens, describe_predict, describe_lens, describe_attribute,
    describe_sweep, describe_generate, describe_trace, describe_metrics, describe_search, describe_views,
    describe_plot, describe_shot, describe_bench, describe_doctor, describe_completion, describe_manual;

std::span<const CommandRow> command_rows() {
  static constexpr CommandRow kRows[] = {
      {"get", "fetch a GPT-2 from the Hugging Face hub into its cache", describe_get},
      {"info", "a model's configuration and the table of its parameters", describe_info},
      {"tokens", "a prompt's tokens: ids, bytes, ranges (needs only the tokenizer's files)", describe_tokens},
      {"predict", "the most probable next tokens", describe_predict},
      {"lens",
       "what the model would guess at each place of the residual stream, and the rank (from 1) of its answer",
       describe_lens},
      {"attribute", "what each part of the model adds to a token's logit", describe_attribute},
      {"sweep", "what switching off or patching each head, or each layer at each position, does to a guess",
       describe_sweep},
      {"generate", "continue the prompt; stops early at <|endoftext|> and where the context is full",
       describe_generate},
      {"trace", "write activations to a safetensors file, under TransformerLens' names", describe_trace},
      {"metrics", "what each head does, in numbers, over all prompts", describe_metrics},
      {"search", "where heads look from some tokens to some others", describe_search},
      {"views", "the views there are, and the options that each takes", describe_views},
      {"plot", "write a view's picture, as the window exports it", describe_plot, "view"},
      {"shot", "write a picture of the whole window; needs no display", describe_shot},
      {"bench", "measure how fast the model and the window are here", describe_bench},
      {"doctor", "what headscope runs on here, and what to do about what is missing", describe_doctor},
      {"completion", "what a shell reads to complete headscope's command line", describe_completion, "shell"},
      {"manual", "the manual page", describe_manual},
  };
  return kRows;
}

}  // namespace headscope::app
