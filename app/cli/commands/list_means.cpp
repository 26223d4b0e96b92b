#include "app/cli/commands/list_means.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "app/counted.h"
#include "app/views/table.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// More numbers than an exact sum of any count of numbers has.
constexpr std::size_t kMostParts = 64;

Json parts_json(const ExactSum& sum) {
  return Json(sum.parts());
}

/// `largest`: that there can be of one number.
ExactSum sum_at(const Json& cell, const char* key, double largest) {
  largest *= kMostCounted;
  const Json& parts = cell.at(key);
  if (!parts.is_array() || parts.size() > kMostParts)
    throw std::invalid_argument(std::string(key) + " is not a list of at most " + std::to_string(kMostParts) +
                                " numbers");
  ExactSum sum;
  for (const Json& part : parts) {
    if (!part.is_number() || !(std::abs(part.get<double>()) <= largest))
      throw std::invalid_argument(std::string(key) + " has " + part.dump().substr(0, 60));
    sum.add(part.get<double>());
  }
  return sum;
}

SampleMean mean_of(const Json& cell, int prompts) {
  const std::int64_t count = whole_at(cell, "count", 0, prompts);
  return {count, sum_at(cell, "sum", ExactSum::kLargest),
          sum_at(cell, "sum_of_squares", ExactSum::kLargest * ExactSum::kLargest)};
}

/// The members of places, in the order of columns.
constexpr const char* kWholeMembers[] = {"layer", "head", "position"};
constexpr const char* kTextMembers[] = {"part", "hook", "quantity"};
constexpr std::size_t kLongestText = 100;

std::string short_text_at(const Json& cell, const char* key) {
  const Json& text = cell.at(key);
  if (!text.is_string() || text.get_ref<const std::string&>().size() > kLongestText)
    throw std::invalid_argument(std::string(key) + " is not a short string");
  return terminal_safe(text.get_ref<const std::string&>());
}

Cell cell_of(const Json& read) {
  Cell cell{short_text_at(read, "cell"), Json()};
  for (const auto& [key, value] : read.items()) {  // in their order
    const auto is_key = [&](const char* member) { return key == member; };
    if (std::ranges::any_of(kWholeMembers, is_key)) cell.place[key] = whole_at(read, key.c_str(), 0);
    if (std::ranges::any_of(kTextMembers, is_key)) cell.place[key] = short_text_at(read, key.c_str());
  }
  if (read.contains("unit")) cell.unit = short_text_at(read, "unit");
  return cell;
}

/// The members of the places of some cells.
std::vector<std::string> columns_of(const std::vector<Cell>& cells) {
  std::vector<std::string> columns;
  const auto add = [&](const char* key) {
    if (std::ranges::any_of(cells, [&](const Cell& cell) { return cell.place.contains(key); }))
      columns.emplace_back(key);
  };
  for (const char* key : kWholeMembers) add(key);
  for (const char* key : kTextMembers) add(key);
  return columns;
}

/// What a number is multiplied by for people, and the unit that they read.
std::pair<double, std::string> shown_unit(const Cell& cell) {
  return cell.unit == "nats" ? std::pair(1 / std::log(2.0), std::string(", bits"))
                             : std::pair(1.0, std::string());
}

}  // namespace

Json given_json(const GivenToken& token) {
  using By = GivenToken::By;
  if (token.empty()) return nullptr;
  if (token.by == By::text) return utf8_or_replacement("text:" + token.text);
  return (token.by == By::id ? "id:" : "rank:") + std::to_string(token.number);
}

void mean_options(CommandSyntax& command, MeanArguments& own, bool has_csv) {
  command.flag("mean",
               "with --prompts: the mean of each number over the prompts, with its standard\n"
               "error and count",
               own.mean);
  command.list_option("merge", "FILE.json...",
                      "instead of a prompt: combine what --mean --json wrote for parts of the\n"
                      "prompts (see --shard)",
                      own.merge, false);
  std::vector<std::string> beside{"json", "out", "format"};
  if (has_csv) {
    beside.insert(beside.begin() + 1, "csv");
    command.flag("csv", "with --mean or --merge: write CSV to standard output", own.csv);
  }
  command.only_with("merge", beside);
}

void check_means(const Arguments& given, const MeanArguments& means) {
  if (means.csv && given.json) throw UsageError("one format at a time: both --csv and --json were given");
  if (!means.merge.empty()) return;  // only_with has checked what goes with it
  require_prompt(given);
  if (means.csv && !means.mean) throw UsageError("CSV is for means: give --mean with --prompts, or --merge");
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
      throw std::runtime_error(where + "its " + key + " is " + value.dump() + ", that of the first prompt " +
                               of_.value(key, Json()).dump() + "; means are of one measurement");
  if (cells != cells_) {
    const auto differs = std::ranges::mismatch(cells, cells_);
    const auto named = [](const auto& it, const std::vector<Cell>& all) {
      return it == all.end() ? std::string("none") : it->name;
    };
    throw std::runtime_error(where + "it has " + counted(std::ssize(cells), "number") +
                             ", the first prompt " + grouped(std::ssize(cells_)) + " (" +
                             named(differs.in1, cells) + " where that has " + named(differs.in2, cells_) +
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
  if (of_.is_null()) {
    out << "no prompt in this part\n";
    return;
  }
  out << terminal_safe(of_.at("what").get<std::string>()) << ": mean over "
      << counted(part_.prompts, "prompt") << " ± standard error\n";
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
    const auto [shown, unit] = shown_unit(cells_[i]);
    const double error = shown * mean.standard_error();
    out << format(by_size && !cells_[i].place.is_null() ? "%+14.6f" : "%14.6f", shown * mean.mean())
        << (std::isnan(error) ? format("   %-10s", "") : format(" ± %-10.6f", error)) << "  "
        << cells_[i].name << unit;
    if (mean.count() != part_.prompts) out << "  (of " << counted(mean.count(), "prompt") << ')';
    out << '\n';
  }
}

void ListMeans::write_csv(std::ostream& out) const {
  const std::vector<std::string> columns = columns_of(cells_);
  Table table{{"cell"}, {}};
  table.header.insert(table.header.end(), columns.begin(), columns.end());
  for (const char* number : {"unit", "mean", "standard_error", "count"}) table.header.emplace_back(number);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{cells_[i].name});
    for (const std::string& column : columns) {
      const Json value = cells_[i].place.is_null() ? Json() : cells_[i].place.value(column, Json());
      row.push_back(value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
    }
    const SampleMean& mean = means_[i];
    row.push_back(cells_[i].unit);
    row.push_back(plain(mean.mean()));
    row.push_back(plain(mean.standard_error()));
    row.push_back(std::to_string(mean.count()));
  }
  out << to_csv(table);
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
    if (!cells_[i].unit.empty()) cell["unit"] = cells_[i].unit;
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
              read.part_ = list_part_of(part);
              const Json& means = part.at("means");
              if (!means.is_array()) throw std::invalid_argument("means is not a list");
              if (read.of_.is_null() && means.empty()) return;  // a shard without prompts
              if (read.of_.at("command") != command)
                throw std::invalid_argument("it is of the command " + read.of_.at("command").dump());
              short_text_at(read.of_, "what");
              read.part_.conditions["of"] = read.of_.dump();
              for (const Json& cell : means) {
                read.cells_.push_back(cell_of(cell));
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
