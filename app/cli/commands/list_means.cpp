#include "app/cli/commands/list_means.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

#include "app/counted.h"
#include "app/views/parts/list_means.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// Calls `use(key, member)` for the members of a place, in the order in which answers have them.
template <class Place, class Use>
void for_each_member(Place& place, const Use& use) {
  use("layer", place.layer), use("head", place.head), use("part", place.part);
  use("position", place.position), use("hook", place.hook), use("quantity", place.quantity);
}

constexpr std::size_t kLongestText = 100;

std::string short_text_at(const Json& cell, const char* key) {
  const Json& text = cell.at(key);
  if (!text.is_string() || text.get_ref<const std::string&>().size() > kLongestText)
    throw std::invalid_argument(std::string(key) + " is not a short string");
  return terminal_safe(text.get_ref<const std::string&>());
}

MeanCell cell_of(const Json& read) {
  MeanCell cell{short_text_at(read, "cell")};
  for_each_member(cell.place, [&](const char* key, auto& member) {
    if (!read.contains(key)) return;
    if constexpr (requires { member.empty(); })
      member = short_text_at(read, key);
    else
      member = static_cast<int>(whole_at(read, key, 0));
  });
  if (read.contains("unit")) cell.unit = short_text_at(read, "unit");
  return cell;
}

}  // namespace

Json given_json(const GivenToken& token) {
  return token.empty() ? Json() : Json(utf8_or_replacement(text_of(token)));
}

void mean_options(CommandSyntax& command, MeanArguments& own) {
  command.flag("mean", kMeanHelp, own.mean);
  command.list_option("merge", "FILE.json...",
                      "instead of a prompt: combine what --mean --json wrote for parts of the\n"
                      "prompts (see --shard)",
                      own.merge, false);
  command.only_with("merge", {"json", "out", "format", "bom"});
}

void check_means(const Arguments& given, const MeanArguments& means) {
  if (!means.merge.empty()) return;  // only_with has checked what goes with it
  require_prompt(given);
  refuse({{means.mean && given.prompt.from != PromptArguments::From::list, "--mean requires --prompts"}});
}

void ListMeans::add(const Json& of, const MeasuredCells& prompt, const std::string& where) {
  if (of_.is_null()) of_ = of;
  for (const auto& [key, value] : of.items())
    if (of_.value(key, Json()) != value)
      throw std::runtime_error(where + "its " + (key == "what" ? "measurement" : key) + " is " +
                               value.dump() + ", that of the first prompt " + of_.value(key, Json()).dump() +
                               "; means are of one measurement");
  means_.add(prompt, where);
  ++part_.prompts;
}

void ListMeans::finish(const Json& how, const Shard& shard, const PromptsRun& run) {
  if (!how.is_null()) part_.conditions = conditions_of(how);
  part_.shard = shard;
  part_.skipped = run.skipped;
  part_.list = run.list;
}

void ListMeans::write_text(std::ostream& out, bool by_size) const {
  if (of_.is_null()) {
    out << "no prompt in this part\n";
    return;
  }
  out << terminal_safe(of_.at("what").get<std::string>()) << ": mean over "
      << counted(part_.prompts, "prompt") << (part_.list ? " of " + terminal_safe(part_.list->name) : "")
      << " ± standard error";
  if (of_.contains("mean_over")) out << "; " << terminal_safe(of_.at("mean_over").get<std::string>());
  out << '\n';
  std::vector<std::size_t> order(means_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto is_of_prompt = [&](std::size_t i) { return means_.cell(i).place.empty(); };
  std::ranges::stable_partition(order, std::not_fn(is_of_prompt));
  if (by_size) {
    const auto end = std::ranges::find_if(order, is_of_prompt);
    std::ranges::stable_sort(order.begin(), end, std::ranges::greater(), [&](std::size_t i) {
      return means_.mean(i).count() == 0 ? -1 : std::abs(means_.mean(i).mean());
    });
  }
  for (const std::size_t i : order) {
    const SampleMean& mean = means_.mean(i);
    if (mean.count() == 0) continue;
    const MeanCell& cell = means_.cell(i);
    const double error = mean.standard_error();
    out << format(by_size && !is_of_prompt(i) ? "%+14.6f" : "%14.6f", mean.mean())
        << (std::isnan(error) ? format("   %-10s", "") : format(" ± %-10.6f", error)) << "  " << cell.name
        << (cell.unit.empty() ? "" : ", ") << cell.unit;
    if (mean.count() != part_.prompts) out << "  (of " << counted(mean.count(), "prompt") << ')';
    out << '\n';
  }
}

void ListMeans::write_csv(std::ostream& out) const {
  out << to_csv(table_of(means_));
}

void ListMeans::write_json(std::ostream& out) const {
  Json answer;
  answer["how"] = how_of(part_, program_name());
  answer["of"] = of_;
  add_part_members(part_, answer);
  Json& means = answer["means"] = Json::array();
  for (std::size_t i = 0; i < means_.size(); ++i) {
    const MeanCell& of = means_.cell(i);
    Json cell = {{"cell", of.name}};
    for_each_member(of.place, [&](const char* key, const auto& member) {
      if constexpr (requires { member.empty(); }) {
        if (!member.empty()) cell[key] = member;
      } else if (member) {
        cell[key] = *member;
      }
    });
    if (!of.unit.empty()) cell["unit"] = of.unit;
    add_mean_members(means_.mean(i), cell);
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
              if (read.of_.contains("mean_over") && !read.of_.at("mean_over").is_string())
                throw std::invalid_argument("mean_over is not a string");
              read.part_.conditions["of"] = read.of_.dump();
              std::vector<MeanCell> cells;
              std::vector<SampleMean> numbers;
              for (const Json& cell : means) {
                cells.push_back(cell_of(cell));
                numbers.push_back(mean_of_members(cell, read.part_.prompts));
              }
              read.means_ = {std::move(cells), std::move(numbers)};
            });
  return read;
}

ListMeans ListMeans::merge(std::span<const std::filesystem::path> files, const std::string& command) {
  std::optional<ListMeans> all;
  ListParts sum;
  for_each_part(files, [&](const std::string& text, const std::string& file) {
    ListMeans part = parse(text, file, command);
    sum.add(part.part_, file);
    if (!all || all->means_.empty()) {  // a shard may have no prompt
      all = std::move(part);
      return;
    }
    if (part.means_.empty()) return;
    if (part.means_.cells() != all->means_.cells())
      throw model::LoadError(file + ": its numbers are not those of " + system::text_of(files.front()));
    all->means_ += part.means_;
  });
  all->part_ = sum.whole();
  all->part_.conditions.erase("of");
  return std::move(*all);
}

}  // namespace headscope::app
