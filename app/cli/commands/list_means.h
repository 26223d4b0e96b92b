#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/arguments/list_part.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/output.h"
#include "app/run/cell_means.h"
#include "app/run/measured_metric.h"

// Means of a command's numbers over a list of prompts: what --mean writes, and --merge adds up.
namespace headscope::app {

/// The help of --mean.
inline constexpr const char* kMeanHelp =
    "with --prompts: the mean of each number over the prompts, with its standard\nerror and count";

/// A token as the command line takes it; null: none was given.
Json given_json(const GivenToken& token);

/// Declares --mean and --merge.
void mean_options(CommandSyntax& command, MeanArguments& own);

/// Throws UsageError for what --mean and --merge do not go with; else a prompt is required.
void check_means(const Arguments& given, const MeanArguments& means);

/// The mean of each cell over the prompts of a list, or of a part of it.
class ListMeans {
 public:
  /// Adds a prompt's numbers. `of`: what was measured, which all prompts and parts must agree in; its member
  /// "command" names the command, "what" the numbers. Throws std::runtime_error that begins with `where` if
  /// the prompt differs from the first one in that or in its cells: see CellMeans.
  void add(const Json& of, const MeasuredCells& prompt, const std::string& where);
  /// Sets what an answer says besides: how it was made (null: nothing), and of which prompts.
  void finish(const Json& how, const Shard& shard, const PromptsRun& run);

  void write_text(std::ostream& out, bool by_size) const;
  void write_csv(std::ostream& out) const;
  void write_json(std::ostream& out) const;

  /// Reads what write_json wrote for `command`. Throws model::LoadError that begins with `file`.
  static ListMeans parse(std::string_view json, const std::string& file, const std::string& command);
  /// Adds up parts, at least one: bit-identical to the means of the whole list. Throws model::LoadError if
  /// they do not belong together.
  static ListMeans merge(std::span<const std::filesystem::path> files, const std::string& command);

  int prompts() const { return part_.prompts; }
  const std::vector<SampleMean>& means() const { return means_.means(); }

 private:
  Json of_;
  ListPart part_;
  CellMeans means_;
};

/// Adds what options say of tokens and the position to what was measured of all prompts.
template <class Metric>
void add_given(Json& of, const MeasuredMetric<Metric>& measured) {
  of["token"] = given_json(measured.token);
  of["other_token"] = given_json(measured.other_token);
  of["position"] = measured.position ? Json(*measured.position) : Json(nullptr);
}

/// Writes means in the command's format. `by_size`: the largest first in text.
template <class Command>
void write_means(const ListMeans& means, const Command& command, bool by_size, const Streams& streams) {
  if (command.json) return means.write_json(streams.out);
  if (command.csv) return means.write_csv(streams.out);
  means.write_text(streams.out, by_size);
}

}  // namespace headscope::app
