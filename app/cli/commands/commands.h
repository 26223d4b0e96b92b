#pragma once
#include "app/cli/cli.h"
#include "app/cli/program.h"

namespace headscope::app {

// One function for each command. They throw model::LoadError, model::RunError, std::runtime_error (one
// sentence each), StreamError or Interrupted, and leave the exit status to run_program.

void run_get(const GetCommand& command, const Streams& streams);
void run_info(const InfoCommand& command, const Streams& streams);
void run_tokens(const TokensCommand& command, const Streams& streams);
void run_predict(const PredictCommand& command, const Streams& streams);
void run_lens(const LensCommand& command, const Streams& streams);
void run_attribute(const AttributeCommand& command, const Streams& streams);
void run_sweep(const SweepCommand& command, const Streams& streams);
void run_generate(const GenerateCommand& command, const Streams& streams);
void run_trace(const TraceCommand& command, const Streams& streams);
void run_metrics(const MetricsCommand& command, const Streams& streams);
void run_search(const SearchCommand& command, const Streams& streams);
void run_views(const ViewsCommand& command, const Streams& streams);
void run_plot(const PlotCommand& command, const Streams& streams);
void run_shot(const ShotCommand& command, const Streams& streams);
/// The command that a recipe in a file makes with what else was given.
Command command_of_recipe(const RecipeCommand& command);
/// What a figure or a session was made of.
void run_recipe_info(const InfoCommand& command, const Streams& streams);
void run_bench(const BenchCommand& command, const Streams& streams);

/// The exit status: 1 when something is broken.
int run_doctor(const DoctorCommand& command, const Streams& streams);

}  // namespace headscope::app
