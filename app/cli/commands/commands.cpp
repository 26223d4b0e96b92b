#include "app/cli/commands/commands.h"

namespace headscope::app {

// Each is defined in the file of its name.
using Describe = Finish(CommandSyntax& command);
Describe describe_get, describe_info, describe_tokens, describe_predict, describe_lens, describe_attribute,
    describe_score, describe_composition, describe_saliency, describe_circuit, describe_sweep,
    describe_generate, describe_trace, describe_metrics, describe_search, describe_views, describe_plot,
    describe_shot, describe_doctor, describe_serve;

std::span<const CommandRow> command_rows() {
  static constexpr CommandRow kRows[] = {
      {"get", "fetch a GPT-2 from the Hugging Face hub into its cache", describe_get},
      {"info", "show a model's configuration and parameters", describe_info},
      {"tokens", "show a prompt's tokens: ids, bytes, ranges (needs only the tokenizer's files)",
       describe_tokens},
      {"predict", "show the most probable next tokens", describe_predict},
      {"lens",
       "show the logit lens: the model's guesses along the residual stream, and the rank (from 1) of its "
       "answer",
       describe_lens},
      {"attribute", "show what each part of the model adds to a token's logit", describe_attribute},
      {"score", "show what earlier heads, MLPs and embeddings add to an attention score", describe_score},
      {"composition", "show how much later heads read of what earlier ones write, by the weights",
       describe_composition},
      {"saliency", "show how much each token of the prompt counts for a prediction, by gradients",
       describe_saliency},
      {"circuit",
       "find the heads, MLPs and embeddings that make a prediction, and the strongest edges between them",
       describe_circuit},
      {"sweep",
       "measure the effect of ablating or patching each head, layer or head at each position, MLP, strong "
       "neuron, or path to a receiver, on a prediction",
       describe_sweep},
      {"generate", "continue the prompt; stops early at <|endoftext|> or when the context is full",
       describe_generate},
      {"trace", "write activations to a safetensors file, with TransformerLens' names", describe_trace},
      {"metrics", "compute metrics of each head over all prompts", describe_metrics},
      {"search", "find where heads attend from given tokens to given others", describe_search},
      {"views", "list the views and their options", describe_views},
      {"plot", "export a view's picture or its data", describe_plot, "view"},
      {"shot", "export a picture of the whole window; needs no display", describe_shot},
      {"serve", "answer requests one after another, with models that stay loaded", describe_serve},
      {"doctor", "check what headscope needs on this machine, and how to install what is missing",
       describe_doctor},
  };
  return kRows;
}

}  // namespace headscope::app
