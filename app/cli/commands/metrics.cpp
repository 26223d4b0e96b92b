#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/prompt_source.h"
#include "app/text/json_text.h"
#include "app/views/common.h"
#include "model/error.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

/// What all heads do with all texts.
struct Measured {
  std::vector<HeadFigures> heads;  ///< layer * n_head + head
  int n_head = 0;
  int texts = 0;
};

Measured measure_prompts(Engine& engine, const MetricsCommand& command, const Streams& streams) {
  Measured measured;
  PromptSource source(command.prompt, streams.in);
  while (const auto prompt = source.next()) {
    const PromptRun run = run_prompt(engine, *prompt, source.where());
    warn_about(run, source.where(), streams.err);
    add_figures_of(*engine.model->transformer, *run.run, engine.workspace, measured.heads);
    ++measured.texts;
  }
  if (measured.texts == 0) throw model::RunError("there is no prompt in " + command.prompt.file.string());
  return measured;
}

Measured measure(Engine& engine, const MetricsCommand& command, const Streams& streams) {
  Measured measured;
  if (command.repeated) {
    PromptRun of_model;
    of_model.model = engine.model;
    FiguresOfHeads figures = FiguresOnRepeated{*command.repeated}.compute(
        of_model, {engine.workspace, {}, nullptr, nullptr, [](const FiguresOfHeads&, double) {}});
    measured = {std::move(figures.heads), 0, figures.sequences};
  } else {
    measured = measure_prompts(engine, command, streams);
  }
  measured.n_head = engine.config().n_head;
  return measured;
}

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

constexpr HeadFigure figure_at(std::size_t index) {
  return static_cast<HeadFigure>(index);
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
  answer["prompts"] = measured.texts;
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

}  // namespace

void run_metrics(const MetricsCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits);
  const Measured measured = measure(engine, command, streams);
  const std::vector<std::size_t> order = chosen(measured, command);
  switch (command.form) {
    case MetricsCommand::Form::text:
      return write_text(measured, order, streams.out);
    case MetricsCommand::Form::csv:
      return write_csv(measured, order, streams.out);
    case MetricsCommand::Form::json:
      return write_json(measured, command, order, streams.out);
  }
}

}  // namespace headscope::app
