#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ostream>
#include <set>
#include <stdexcept>

#include "app/cli/batch.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/run/edit_text.h"
#include "app/run/precision_names.h"
#include "app/run/weights_hash.h"
#include "app/text/json_text.h"
#include "app/views/common.h"
#include "model/error.h"
#include "model/file_io.h"
#include "model/json.h"
#include "model/plan.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

/// What all heads do with all texts.
struct Measured {
  std::vector<HeadFigures> heads;  ///< layer * n_head + head
  int n_head = 0;
  int texts = 0;
  int skipped = 0;  ///< prompts that failed
  Json how = {};    ///< of prompts: the model, and how it was run
  Shard shard = {};
};

std::string model_label(const Engine& engine) {
  return utf8_or_replacement(engine.model->name);
}

/// What has to be the same in parts that are added up.
Json how_of(const Engine& engine, const MetricsCommand& command) {
  Json edits = Json::array();
  if (engine.plan)
    for (const model::Intervention& edit : engine.plan->interventions()) edits.push_back(edit_text(edit));
  // In the order in which reading a file gives them back.
  return {{"edits", std::move(edits)},
          {"model", model_label(engine)},
          {"precision", name_of(command.model.precision)},
          {"start_token", command.prompt.start_token},
          {"weights", weights_hash(engine.model->folder)}};
}

constexpr HeadFigure figure_at(std::size_t index) {
  return static_cast<HeadFigure>(index);
}

Measured measure_repeated(Engine& engine, const RepeatedTokens& texts) {
  PromptRun of_model;
  of_model.model = engine.model;
  FiguresOfHeads figures = FiguresOnRepeated{texts}.compute(
      of_model, {engine.workspace, {}, nullptr, nullptr, [](const FiguresOfHeads&, double) {}});
  return {std::move(figures.heads), engine.config().n_head, figures.sequences};
}

// ---- parts ----

constexpr const char* kPart = ": expected what headscope metrics --prompts --json writes, without --top; ";

std::int64_t whole(const Json& of, const char* key, std::int64_t low, std::int64_t high) {
  const auto& value = of.at(key);
  if (!value.is_number_integer()) throw std::invalid_argument(std::string(key) + " is no whole number");
  const bool large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (large || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
    throw std::invalid_argument(std::string(key) + " is " + value.dump() + ", not from " +
                                std::to_string(low) + " to " + std::to_string(high));
  return value.get<std::int64_t>();
}

/// Of figures that count so many queries: none is larger than its unit has room for.
ExactMean sum_of(const Json& sum) {
  constexpr std::int64_t kMostUnits = (std::int64_t{1} << 37) - 1;
  const std::int64_t count = whole(sum, "count", 0, ExactMean::kMostNumbers);
  return {whole(sum, "units", -count * kMostUnits, count * kMostUnits), count, whole(sum, "lost", 0, count)};
}

Measured measured_of(const Json& part) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  Measured measured;
  if (part.contains("repeated")) throw std::invalid_argument("it is of repeated tokens");
  measured.how = part.at("how");
  measured.texts = static_cast<int>(whole(part, "prompts", 0, kMost));
  measured.skipped = static_cast<int>(whole(part, "skipped", 0, kMost));
  if (part.contains("shard")) {
    measured.shard.count = static_cast<int>(whole(part.at("shard"), "count", 1, kMost));
    measured.shard.index = static_cast<int>(whole(part.at("shard"), "index", 0, measured.shard.count - 1));
  }
  const Json& heads = part.at("heads");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Json& head = heads.at(i);
    const auto layer = whole(head, "layer", 0, kMost), number = whole(head, "head", 0, kMost);
    if (layer == 0) measured.n_head = static_cast<int>(number) + 1;
    if (layer * measured.n_head + number != static_cast<std::int64_t>(i) || number >= measured.n_head)
      throw std::invalid_argument("entry " + std::to_string(i) + " of its heads is " +
                                  head_name(static_cast<int>(layer), static_cast<int>(number)));
    HeadFigures& figures = measured.heads.emplace_back();
    for (std::size_t f = 0; f < kHeadFigures; ++f) {
      const std::string name(words_of(figure_at(f)).name);
      if (part.at("bits").at(name) != HeadFigures::bits(figure_at(f)))
        throw std::invalid_argument("its sums of " + name + " are in other units");
      figures.sum(figure_at(f)) = sum_of(head.at("sums").at(name));
    }
  }
  if (measured.heads.empty()) throw std::invalid_argument("it has no heads");
  return measured;
}

Measured read_part(const std::filesystem::path& file) {
  const nlohmann::json part = model::parse_json(model::read_file(file), file.string());
  try {
    return measured_of(Json(part));
  } catch (const nlohmann::json::exception& error) {
    const std::string words = error.what();
    throw model::LoadError(file.string() + kPart + words.substr(words.find("] ") + 2));
  } catch (const std::invalid_argument& error) {
    throw model::LoadError(file.string() + kPart + error.what());
  }
}

/// Throws for what cannot be added to the others.
void check_part(const Measured& part, const std::string& file, const Measured& first,
                const std::string& first_file, std::set<int>& shards) {
  for (const auto& [key, value] : first.how.items())
    if (!part.how.is_object() || !part.how.contains(key) || part.how.at(key) != value)
      throw model::LoadError(file + ": its " + key + " is " +
                             (part.how.is_object() ? part.how.value(key, Json()).dump() : part.how.dump()) +
                             ", but that of " + first_file + " is " + value.dump());
  if (part.n_head != first.n_head || part.heads.size() != first.heads.size())
    throw model::LoadError(file + ": has " + std::to_string(part.heads.size()) + " heads, but " + first_file +
                           " has " + std::to_string(first.heads.size()));
  if (part.shard.count != first.shard.count)
    throw model::LoadError(file + ": is one of " + std::to_string(part.shard.count) + " shards, but " +
                           first_file + " one of " + std::to_string(first.shard.count));
  if (part.shard.count > 1 && !shards.insert(part.shard.index).second)
    throw model::LoadError(file + ": shard " + std::to_string(part.shard.index) + " is there twice");
}

/// The same to the last digit however the prompts were cut into parts: see ExactMean.
Measured merge(const std::vector<std::filesystem::path>& files) {
  Measured all;
  std::set<int> shards;
  for (const std::filesystem::path& file : files) {
    Measured part = read_part(file);
    check_part(part, file.string(), all.heads.empty() ? part : all, files.front().string(), shards);
    if (all.heads.empty()) {
      all = std::move(part);
      continue;
    }
    constexpr int kMost = std::numeric_limits<int>::max();
    if (part.texts > kMost - all.texts || part.skipped > kMost - all.skipped)
      throw model::LoadError(file.string() + ": there are too many prompts to add up");
    all.texts += part.texts;
    all.skipped += part.skipped;
    for (std::size_t i = 0; i < all.heads.size(); ++i) all.heads[i] += part.heads[i];
  }
  if (all.shard.count > 1 && std::ssize(shards) < all.shard.count)
    throw model::LoadError("there are " + std::to_string(shards.size()) + " of " +
                           std::to_string(all.shard.count) + " shards; all of them are needed");
  all.shard = {};
  return all;
}

// ---- writing ----

/// Of the heads that are to be shown, in their order.
std::vector<std::size_t> chosen(const Measured& measured, const MetricsCommand& command) {
  std::vector<std::size_t> order(measured.heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (command.sort) {
    const auto value = [&](std::size_t i) {
      const double figure = measured.heads[i][*command.sort];
      return std::isnan(figure) ? -std::numeric_limits<double>::infinity() : figure;
    };
    std::ranges::stable_sort(order, std::ranges::greater(), value);
  }
  if (command.top > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(command.top)));
  return order;
}

void write_text(const Measured& measured, const std::vector<std::size_t>& order, std::ostream& out) {
  out << format("%-8s", "head");
  for (std::size_t f = 0; f < kHeadFigures; ++f) out << format(" %9s", words_of(figure_at(f)).name.data());
  out << '\n';
  for (const std::size_t i : order) {
    const int index = static_cast<int>(i);
    out << format("%-8s", head_name(index / measured.n_head, index % measured.n_head).c_str());
    for (std::size_t f = 0; f < kHeadFigures; ++f) {
      const double value = measured.heads[i][figure_at(f)];
      out << (std::isnan(value) ? format(" %9s", "none")
                                : format(" %9.*f", words_of(figure_at(f)).decimals, value));
    }
    out << '\n';
  }
}

void write_csv(const Measured& measured, const std::vector<std::size_t>& order, std::ostream& out) {
  out << "layer,head";
  for (std::size_t f = 0; f < kHeadFigures; ++f) out << ',' << words_of(figure_at(f)).name;
  out << '\n';
  for (const std::size_t i : order) {
    const int index = static_cast<int>(i);
    out << index / measured.n_head << ',' << index % measured.n_head;
    for (std::size_t f = 0; f < kHeadFigures; ++f) out << ',' << plain(measured.heads[i][figure_at(f)]);
    out << '\n';
  }
}

/// The figures, and the whole numbers that they are means of, so that parts can be added up exactly.
void write_json(const Measured& measured, const MetricsCommand& command,
                const std::vector<std::size_t>& order, std::ostream& out) {
  Json answer;
  if (measured.shard.count > 1)
    answer["shard"] = {{"index", measured.shard.index}, {"count", measured.shard.count}};
  if (!command.repeated) answer["how"] = measured.how;
  answer["prompts"] = measured.texts;
  if (!command.repeated) answer["skipped"] = measured.skipped;
  if (command.repeated) {
    answer["repeated"] = {{"sequences", command.repeated->sequences},
                          {"length", command.repeated->length},
                          {"seed", command.repeated->seed}};
  }
  for (std::size_t f = 0; f < kHeadFigures; ++f)
    answer["bits"][std::string(words_of(figure_at(f)).name)] = HeadFigures::bits(figure_at(f));
  answer["heads"] = Json::array();
  for (const std::size_t i : order) {
    const int index = static_cast<int>(i);
    Json head{{"layer", index / measured.n_head}, {"head", index % measured.n_head}};
    Json sums;
    for (std::size_t f = 0; f < kHeadFigures; ++f) {
      const std::string name(words_of(figure_at(f)).name);
      const ExactMean& sum = measured.heads[i].sum(figure_at(f));
      head[name] = measured.heads[i][figure_at(f)];  // NaN is written as null
      sums[name] = {{"units", sum.units}, {"count", sum.count}, {"lost", sum.lost}};
    }
    head["sums"] = std::move(sums);
    answer["heads"].push_back(std::move(head));
  }
  out << answer.dump() << '\n';
}

void write(const Measured& measured, const MetricsCommand& command, std::ostream& out) {
  const std::vector<std::size_t> order = chosen(measured, command);
  switch (command.form) {
    case MetricsCommand::Form::text:
      return write_text(measured, order, out);
    case MetricsCommand::Form::csv:
      return write_csv(measured, order, out);
    case MetricsCommand::Form::json:
      return write_json(measured, command, order, out);
  }
}

}  // namespace

void run_metrics(const MetricsCommand& command, const Streams& streams) {
  if (!command.merge.empty()) return write(merge(command.merge), command, streams.out);
  Engine engine = start_engine(command.model, command.prompt.edits);
  if (command.repeated) return write(measure_repeated(engine, *command.repeated), command, streams.out);
  const model::Config& config = engine.config();
  Measured measured{std::vector<HeadFigures>(static_cast<std::size_t>(config.n_layer) *
                                             static_cast<std::size_t>(config.n_head)),
                    config.n_head,
                    0,
                    0,
                    command.form == MetricsCommand::Form::json ? how_of(engine, command) : Json(),
                    command.prompt.shard};
  measured.skipped =
      for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
        const PromptRun run = run_prompt(engine, prompt, source.where());
        warn_about(run, source.where(), streams.err);
        add_figures_of(*engine.model->transformer, *run.run, engine.workspace, measured.heads);
        ++measured.texts;
      });
  if (measured.texts == 0 && command.prompt.shard.count == 1)
    throw model::RunError("there is no prompt in " + command.prompt.file.string());
  write(measured, command, streams.out);
}

}  // namespace headscope::app
