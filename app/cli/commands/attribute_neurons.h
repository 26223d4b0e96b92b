#pragma once
#include <iosfwd>
#include <optional>
#include <string>

#include "app/cli/commands/output.h"
#include "app/run/analyses/attribution.h"

// The neurons of MLPs in the answers of `attribute`.
namespace headscope::app {

class CommandSyntax;

/// The MLPs that are split by neuron.
struct NeuronArguments {
  std::optional<int> layer;
  bool all = false;        ///< those of every layer
  std::optional<int> top;  ///< the number of neurons in text; nothing: 20
  bool has(int of_layer) const { return all || layer == of_layer; }
};

/// Declares --neurons-of and --top.
void neuron_options(CommandSyntax& command, NeuronArguments& own);
/// Throws UsageError for --top without --neurons-of, or with JSON or CSV.
void check_neurons(const NeuronArguments& own, bool json, bool csv);

/// Adds a layer's neurons to its object.
void add_neurons(Json& layer, const NeuronParts& neurons);
/// Writes the strongest neurons of a layer, then what the others, the bias and edits add, and their sum.
/// `number`: a printf format for the numbers.
void write_neurons(const NeuronArguments& own, int layer, const NeuronParts& neurons, const char* number,
                   std::ostream& out);

}  // namespace headscope::app
