#include "app/cli/commands/list_means.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "app/counted.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// More numbers than an exact sum of any count of numbers has.
constexpr std::size_t kMostParts = 64;

Json parts_json(const ExactSum& sum) {
  return Json(sum.parts());
}

ExactSum sum_at(const Json& cell, const char* key) {
  const Json& parts = cell.at(key);
  if (!parts.is_array() || parts.size() > kMostParts)
    throw std::invalid_argument(std::string(key) + " is not a list of at most " + std::to_string(kMostParts) +
                                " numbers");
  ExactSum sum;
  for (const Json& part : parts) {
    const bool has_room =
        part.is_number() && std::abs(part.get<double>()) <= ExactSum::kLargest * ExactSum::kLargest;
    if (!has_room) throw std::invalid_argument(std::string(key) + " has " + part.dump());
    sum.add(part.get<double>());
  }
  return sum;
}

SampleMean mean_of(const Json& cell, int prompts) {
  const std::int64_t count = whole_at(cell, "count", 0, prompts);
  return {count, sum_at(cell, "sum"), sum_at(cell, "sum_of_squares")};
}

/// The name of a place's member, and its value in CSV.
std::string csv_value(const Json& place, const std::string& column) {
  const auto found = place.find(column);
  if (place.is_null() || found == place.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// A place's members, and the cell's name where there is no other: columns of CSV.
std::vector<std::string> columns_of(const std::vector<Cell>& cells) {
  std::vector<std::string> columns;
  for (const Cell& cell : cells)
    for (const auto& [key, value] : cell.place.items())
      if (std::ranges::count(columns, key) == 0) columns.push_back(key);
  return columns;
}

}  // namespace

void mean_options(CommandSyntax& command, MeanArguments& own) {
  command.flag("mean",
               "with --prompts: the mean of each number over the prompts, with its standard\n"
               "error and count",
               own.mean);
  command.list_option("merge", "FILE.json...",
                      "instead of a prompt: combine what --mean --json wrote for parts of the\n"
                      "prompts (see --shard)",
                      own.merge, false);
  command.only_with("merge", {"json", "csv", "out", "format"});
}

void mean_csv_option(CommandSyntax& command, MeanArguments& own) {
  command.flag("csv", "with --mean or --merge: write CSV to standard output", own.csv);
}

void check_means(const Arguments& given, const MeanArguments& means) {
  if (means.csv && given.json) throw UsageError("one format at a time: both --csv and --json were given");
  if (!means.merge.empty()) return;  // only_with has checked what goes with it
  require_prompt(given);
  if (means.csv && !means.mean) throw UsageError("--csv requires --mean or --merge");
  if (!means.mean) return;
  if (given.prompt.from != PromptArguments::From::list) throw UsageError("--mean requires --prompts");
  if (given.prompt.resume) throw UsageError("--mean has one answer for all prompts; --resume does not apply");
}

void ListMeans::add(const Json& of, const std::vector<Cell>& cells, std::span<const double> numbers,
                    const std::string& where) {
  if (means_.empty()) {
    of_ = of;
    cells_ = cells;
    means_.resize(cells.size());
  }
  for (const auto& [key, value] : of.items())
    if (of_.value(key, Json()) != value)
      throw model::RunError(where + "its " + key + " is " + value.dump() + ", that of the first prompt " +
                            of_.value(key, Json()).dump() + "; means are of one measurement");
  if (cells != cells_) {
    const auto differs = std::ranges::mismatch(cells, cells_);
    const auto named = [](const auto& it, const std::vector<Cell>& all) {
      return it == all.end() ? std::string("none") : it->name;
    };
    throw model::RunError(where + "it has " + counted(std::ssize(cells), "number") + ", the first prompt " +
                          grouped(std::ssize(cells_)) + " (" + named(differs.in1, cells) +
                          " where that has " + named(differs.in2, cells_) +
                          "); means over layers and positions need prompts of the same length");
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) means_[i].add(numbers[i]);
  ++part_.prompts;
}

void ListMeans::finish(const Json& how, const PromptArguments& prompts, int skipped) {
  if (part_.prompts == 0 && prompts.shard.count == 1)
    throw model::RunError("there is no prompt in " + system::text_of(prompts.file));
  if (!how.is_null()) part_.conditions = conditions_of(how);
  part_.shard = prompts.shard;
  part_.skipped = skipped;
}

void ListMeans::write_text(std::ostream& out, bool by_size) const {
  out << of_.at("what").get<std::string>() << ": mean over " << counted(part_.prompts, "prompt")
      << " ± standard error\n";
  const double shown = of_.value("unit", Json()) == "nats" ? 1 / std::log(2.0) : 1;  // people read bits
  std::vector<std::size_t> order(cells_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_partition(order, [&](std::size_t i) { return !cells_[i].place.is_null(); });
  if (by_size) {
    const auto end = std::ranges::find_if(order, [&](std::size_t i) { return cells_[i].place.is_null(); });
    std::ranges::stable_sort(order.begin(), end, std::ranges::greater(), [&](std::size_t i) {
      return means_[i].count() == 0 ? -1 : std::abs(means_[i].mean());
    });
  }
  for (const std::size_t i : order) {
    const SampleMean& mean = means_[i];
    if (mean.count() == 0) continue;
    out << format(by_size && !cells_[i].place.is_null() ? "%+14.6f" : "%14.6f", shown * mean.mean())
        << (mean.count() > 1 ? format(" ± %-10.6f", shown * mean.standard_error()) : format("   %-10s", ""))
        << "  " << cells_[i].name;
    if (mean.count() != part_.prompts) out << "  (of " << counted(mean.count(), "prompt") << ')';
    out << '\n';
  }
}

void ListMeans::write_csv(std::ostream& out) const {
  const std::vector<std::string> columns = columns_of(cells_);
  out << "cell";
  for (const std::string& column : columns) out << ',' << column;
  out << ",mean,standard_error,count\n";
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    out << cells_[i].name;
    for (const std::string& column : columns) out << ',' << csv_value(cells_[i].place, column);
    const SampleMean& mean = means_[i];
    out << ',' << plain(mean.mean()) << ',' << plain(mean.standard_error()) << ',' << mean.count() << '\n';
  }
}

void ListMeans::write_json(std::ostream& out) const {
  Json answer;
  answer["how"] = {{"program", program_name()}};
  for (const auto& [key, value] : part_.conditions) answer["how"][key] = Json::parse(value);
  answer["of"] = of_;
  add_part_members(part_, answer);
  Json& means = answer["means"] = Json::array();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Json cell = {{"cell", cells_[i].name}};
    if (!cells_[i].place.is_null()) cell.update(cells_[i].place);
    const SampleMean& mean = means_[i];
    cell["mean"] = mean.mean();  // NaN is written as null
    cell["standard_error"] = mean.standard_error();
    cell["count"] = mean.count();
    cell["sum"] = parts_json(mean.sum());
    cell["sum_of_squares"] = parts_json(mean.squares());
    means.push_back(std::move(cell));
  }
  out << json_line(answer) << '\n';
}

ListMeans ListMeans::parse(std::string_view json, const std::string& file, const std::string& command) {
  ListMeans read;
  read_part(json, file, "the output of headscope " + command + " --prompts --mean --json",
            [&](const Json& part) {
              read.of_ = part.at("of");
              if (read.of_.at("command") != command)
                throw std::invalid_argument("it is of the command " + read.of_.at("command").dump());
              if (!read.of_.at("what").is_string()) throw std::invalid_argument("of.what is not a string");
              read.part_ = list_part_of(part);
              read.part_.conditions["of"] = read.of_.dump();
              const Json& means = part.at("means");
              if (!means.is_array()) throw std::invalid_argument("means is not a list");
              static const std::set<std::string> kNumbers = {"cell",  "mean", "standard_error",
                                                             "count", "sum",  "sum_of_squares"};
              for (const Json& cell : means) {
                Cell& named = read.cells_.emplace_back(Cell{cell.at("cell").get<std::string>(), Json()});
                for (const auto& [key, value] : cell.items())
                  if (!kNumbers.contains(key)) named.place[key] = value;
                read.means_.push_back(mean_of(cell, read.part_.prompts));
              }
            });
  return read;
}

ListMeans ListMeans::merge(std::span<const std::filesystem::path> files, const std::string& command) {
  std::optional<ListMeans> all;
  ListParts sum;
  for_each_part(files, [&](const std::string& text, const std::string& file) {
    ListMeans part = parse(text, file, command);
    sum.add(part.part_, file);
    if (!all || all->cells_.empty()) {  // a shard may have no prompt
      all = std::move(part);
      return;
    }
    if (part.cells_.empty()) return;
    if (part.cells_ != all->cells_)
      throw model::LoadError(file + ": its numbers are not those of " + system::text_of(files.front()));
    for (std::size_t i = 0; i < all->means_.size(); ++i) all->means_[i] += part.means_[i];
  });
  all->part_ = sum.whole();
  all->part_.conditions.erase("of");
  return std::move(*all);
}

}  // namespace headscope::app
