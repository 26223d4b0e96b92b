#include "app/cli/commands/attribute_neurons.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/arguments/command_syntax.h"
#include "app/run/strongest_first.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

constexpr int kTop = 20;

}  // namespace

void neuron_options(CommandSyntax& command, NeuronArguments& own) {
  command.option("neurons-of", "L|all", "also split the MLP of layer L by neuron; all: every layer",
                 own.layer, [&own](const std::string& option, const std::string& text) {
                   own.all = text == "all";
                   if (own.all) return std::optional<int>();
                   if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
                     throw UsageError(option + " takes a layer, e.g. 3, or all, not " + model::quote(text));
                   return std::optional(whole_number(option, text, 0));
                 });
  command.option("top", "N", "only the N strongest neurons (default: 20; JSON and CSV have all)", own.top,
                 whole(1));
}

void check_neurons(const NeuronArguments& own, bool json, bool csv) {
  if (own.top && !own.layer && !own.all) throw UsageError("--top requires --neurons-of");
  if (own.top && (json || csv))
    throw UsageError("--top is for text; " + std::string(json ? "JSON" : "CSV") + " has all neurons");
}

void add_neurons(Json& layer, const NeuronParts& neurons) {
  layer["neurons"] = neurons.parts;
  layer["neuron_activations"] = neurons.activations;
  layer["neuron_bias"] = neurons.bias;
  if (neurons.edited) layer["neuron_edits"] = neurons.edits;
}

void write_neurons(const NeuronArguments& own, int layer, const NeuronParts& neurons, const char* number,
                   std::ostream& out) {
  const auto line = [&](double value, const std::string& name) {
    out << format(number, printable(value)) << name << '\n';
  };
  std::vector<int> shown = strongest_first(neurons.parts);
  shown.resize(std::min(shown.size(), static_cast<std::size_t>(own.top.value_or(kTop))));
  std::vector<bool> is_shown(neurons.parts.size());
  out << "by neuron, L" << layer << " MLP\n";
  for (const int neuron : shown) {
    is_shown[neuron] = true;
    line(neurons.parts[neuron],
         format("neuron %d, activation %.4g", neuron, printable(double{neurons.activations[neuron]})));
  }
  double others = 0;
  for (std::size_t i = 0; i < neurons.parts.size(); ++i)
    if (!is_shown[i]) others += neurons.parts[i];
  if (const auto left_out = std::ssize(neurons.parts) - std::ssize(shown); left_out > 0)
    line(others, "the other " + grouped(left_out));
  line(neurons.bias, "output bias");
  if (neurons.edited) line(neurons.edits, "edits of its output");
  line(neurons.sum(), "sum");
}

}  // namespace headscope::app
