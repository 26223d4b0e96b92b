#pragma once
#include "app/cli/arguments/command.h"
#include "app/cli/program.h"

namespace headscope::app {

// One function for each command, in a file of its own. They throw model::LoadError, model::RunError,
// std::runtime_error (one sentence each), StreamError or Interrupted, which run_program turns into the exit
// status; one that has another to give returns it.

/// The exit status of the window.
int run_command(const WindowCommand& command, const Streams& streams);
void run_command(const GetCommand& command, const Streams& streams);
void run_command(const InfoCommand& command, const Streams& streams);
void run_command(const TokensCommand& command, const Streams& streams);
void run_command(const PredictCommand& command, const Streams& streams);
void run_command(const LensCommand& command, const Streams& streams);
void run_command(const AttributeCommand& command, const Streams& streams);
void run_command(const SweepCommand& command, const Streams& streams);
void run_command(const GenerateCommand& command, const Streams& streams);
void run_command(const TraceCommand& command, const Streams& streams);
void run_command(const MetricsCommand& command, const Streams& streams);
void run_command(const SearchCommand& command, const Streams& streams);
void run_command(const ViewsCommand& command, const Streams& streams);
void run_command(const PlotCommand& command, const Streams& streams);
void run_command(const ShotCommand& command, const Streams& streams);
void run_command(const BenchCommand& command, const Streams& streams);

/// The exit status: 1 when something is broken.
int run_command(const DoctorCommand& command, const Streams& streams);

/// The command that a recipe in a file makes with what else was given.
Command command_of_recipe(const RecipeCommand& command);
/// `info` of a file: what a figure or a session was made of.
void tell_recipe(const InfoCommand& command, const Streams& streams);

}  // namespace headscope::app
