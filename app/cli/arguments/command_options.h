#pragma once
#include <functional>
#include <string>

#include "app/cli/arguments/command.h"

namespace headscope::app {

/// Adds an option to a command: its name, what it takes, its help, what a value does.
using AddOption =
    std::function<void(const std::string& name, const std::string& values, const std::string& help,
                       const std::function<void(const std::string&)>& set)>;

/// Of a sweep, before it is known whether all of it goes together.
struct SweepArguments {
  SweepCommand command;
  std::optional<SweepChange> ablation;
  std::optional<model::Site> site;
};

/// What a command takes beside a model and prompts; values are written to the command, which must outlive the
/// parser. They throw WrongUse.
void add_lens_options(const AddOption& add, LensCommand& command);
void add_attribute_options(const AddOption& add, AttributeCommand& command);
void add_sweep_options(const AddOption& add, SweepArguments& arguments);
void add_comparison_options(const AddOption& add, ComparisonArguments& comparison);
void add_generate_options(const AddOption& add, GenerateCommand& command);

/// As the command line and its answers call it: "kl".
std::string name_of(SweepMetric metric);

/// What of it goes together, once all is given. Throws WrongUse.
SweepCommand sweep_command(const SweepArguments& arguments, bool second_model);

}  // namespace headscope::app
