#include "app/views/output/sweep_means.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/run/analyses/means_on_list.h"
#include "app/views/output/path_receiver.h"
#include "app/views/output/sweep_grid.h"
#include "app/views/output/sweep_list.h"
#include "app/views/output/sweep_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/output/sweep_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/list.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/prompt_list_words.h"
#include "viz/charts/heatmap.h"
#include "viz/charts/table.h"
#include "viz/scene/colormap.h"

namespace headscope::app {
namespace sweep_means {

SweepOnList question_of(const ViewContext& c) {
  return {over_list(c), sweep_of_prompts(c), c.options[kSweptMetric]};
}

/// Why there are no means with these options.
SweepRefusal refusal_of(const ViewContext& c) {
  const SweepOf question = sweep_of_prompts(c);
  if (question.over == SweepOver::neurons) return {kNoMeanOfNeurons, &kSweptOver};
  if (c.options[kSweptMetric] == SweepMetric::difference && question.token == question.against)
    return {kOneTwice, nullptr};
  return refuse_sweep_places(question);
}

/// The means of a sweep's places; its other numbers come after them.
struct Means {
  std::shared_ptr<const MeansOnList> answer;
  SweepOf question;  ///< with the positions of all prompts, for places that have one
  std::size_t places = 0;
  bool is_signed = true;

  const SampleMean& at(std::size_t place) const { return answer->means.mean(place); }
  bool has(std::size_t place) const { return at(place).count() > 0; }
  double shown(std::size_t place) const { return at(place).mean(); }
  /// The metric in the runs.
  const SampleMean& before() const { return answer->means.mean(places); }
};

/// Nothing while no prompt is measured.
std::optional<Means> means_of(const ViewContext& c) {
  if (!c.run || !c.prompts || !refusal_of(c).why.empty()) return std::nullopt;
  const SweepOnList question = question_of(c);
  if (question.asked.edit == SweepEdit::list_mean && !question.asked.mean_over.means) return std::nullopt;
  Means means{c.ask(question), question.asked};
  if (!means.answer || means.answer->means.empty()) return std::nullopt;
  const model::Config& config = c.run->run->config;
  means.places = means.answer->means.size() - 1;
  const int columns = static_cast<int>(means.places) / config.n_layer;
  if (question.asked.over == SweepOver::positions) means.question.positions = columns;
  if (question.asked.over == SweepOver::head_positions) means.question.positions = columns / config.n_head;
  means.is_signed = question.metric != SweepMetric::divergence;
  return means;
}

std::string subtitle_of(const ViewContext& c, const Means& means) {
  const SweepMetric metric = c.options[kSweptMetric];
  const std::string name = metric == SweepMetric::divergence   ? "KL(run ‖ edited), bits"
                           : metric == SweepMetric::difference ? "logit difference"
                                                               : std::string(name_of(kSweepMetrics, metric));
  const std::string from = metric == SweepMetric::divergence
                               ? ""
                               : std::string(": what each ") +
                                     (is_listed(means.question.over) ? "edit" : "cell") + " changes, from " +
                                     mean_text(means.before(), false);
  return means_words(c, *means.answer) + "; " + name + " after the prompt's last or named position" + from;
}

/// The strongest mean, and how much is computed.
std::string state_words(const ViewContext& c, const Means& means) {
  std::size_t strongest = means.places;
  for (std::size_t place = 0; place < means.places; ++place)
    if (means.has(place) &&
        (strongest == means.places || std::abs(means.shown(place)) > std::abs(means.shown(strongest))))
      strongest = place;
  const std::string progress = progress_words(c, *means.answer),
                    begin = progress.empty() ? "" : progress + "; so far ";
  if (strongest == means.places) return begin + "no numbers";
  return begin + "strongest: " + means.answer->means.cell(strongest).name + "  " +
         mean_text(means.at(strongest), means.is_signed);
}

/// The bottom of the grid.
float paint_grid(Picture& picture, const ViewContext& c, const Means& means, const viz::Rect& area) {
  std::vector<float> values;
  SweptCells cells{means.question, {}};
  cells.marks_selection = c.in_pane;  // a figure is about no head in particular
  for (std::size_t place = 0; place < means.places; ++place) {
    values.push_back(static_cast<float>(means.shown(place)));
    cells.nothing.push_back(means.has(place) ? 0 : 1);
  }
  cells.values = values;
  const SweepGrid grid = sweep_grid(c.run->run->config, means.question);
  for (int col = 0; grid.by_position && col < grid.cols; ++col)
    cells.positions.push_back(std::to_string(col));
  return paint_sweep_grid(picture, c, cells, area, kSweptCell);
}

/// The MLPs as bars. Nothing if there is no room.
std::optional<float> paint_list(Picture& picture, const ViewContext& c, const Means& means,
                                const viz::Rect& area) {
  List list(c, kSweptRows, static_cast<int>(means.places));
  const auto at = [](int row) { return static_cast<std::size_t>(row); };
  const auto none = [&](int row) { return !means.has(at(row)); };
  list.text("MLP", 9, [&](int row) { return means.answer->means.cell(at(row)).name; });
  list.bar("mean " + sweep_scale_title(c), 8, [&](int row) { return means.shown(at(row)); },
           {.digits = 4,
            .scientific = 1e-4,
            .rounds = true,
            .axis = true,
            .most = 24 * c.font_size,
            .is_signed = means.is_signed,
            .blank = none});
  list.number("±", 7, [&](int row) { return means.at(at(row)).standard_error(); },
              {.color = c.theme->text_muted, .digits = 4, .scientific = 1e-4, .blank = [&](int row) {
                 return means.at(at(row)).count() < 2;
               }});
  if (c.in_pane) list.table.marked = std::min(c.selection.layer, static_cast<int>(means.places) - 1);
  if (!list.lay_out(area)) return std::nullopt;
  list.paint(picture);
  return list.layout().note_below ? area.bottom() : picture.regions.back().rect.bottom();
}

/// The place under the mouse.
struct PlaceAt {
  Means means;
  std::size_t index = 0;
  SweepPlace place;
};

std::optional<PlaceAt> place_at(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  auto means = means_of(c);
  if (!means) return std::nullopt;
  const viz::Region& region = region_of(picture, hit);
  PlaceAt at{*std::move(means), 0, {}};
  if (is_listed(at.means.question.over)) {
    if (region.role != kSweptRow || region.id >= static_cast<int>(at.means.places)) return std::nullopt;
    at.index = static_cast<std::size_t>(region.id);
    at.place = at.means.question.place_of(region.id, 0);
    return at;
  }
  const SweepGrid grid = sweep_grid(c.run->run->config, at.means.question);
  if (region.role != kSweptCell || hit.row >= grid.rows || hit.col >= grid.cols) return std::nullopt;
  at.index = grid.cell(hit.row, hit.col);
  at.place = grid.place(at.means.question, hit.row, hit.col);
  return at;
}

Picture build(const ViewContext& c) {
  if (auto words = waiting_for_list(c)) return *words;
  if (const std::string why = refusal_of(c).why; !why.empty()) return message(c, why);
  const SweepOf asked = sweep_of_prompts(c);
  if (asked.edit == SweepEdit::list_mean)
    if (auto words = waiting_for_means(c, means_of(c, asked))) return *words;
  const auto question = question_of(c);
  if (auto words = waiting_for_first_prompt(c, question, c.ask(question).get())) return *words;
  const auto means = means_of(c);
  const viz::Style style = style_of(c);
  viz::Rect area = below_title(c);
  const float line = style.line(style.small());
  area.h -= 1.5F * line;
  if (area.w < 10 * c.font_size || area.h < 6 * c.font_size) return too_small(c, "for a sweep");
  Picture picture = blank(c);
  paint_title(picture, c, sweep_list_title(means->question), subtitle_of(c, *means));
  const std::optional<float> bottom = is_listed(means->question.over) ? paint_list(picture, c, *means, area)
                                                                      : paint_grid(picture, c, *means, area);
  if (!bottom) return too_small(c, "for a sweep");
  paint_note(picture, c, state_words(c, *means), {area.x, std::min(area.bottom(), *bottom + line / 2) + line},
             area.w);
  return picture;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto at = place_at(c, picture, hit);
  if (!at) return {};
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  if (region.role == kSweptRow)
    facts = facts_of_row(c, region.rect);
  else
    viz::paint_crosshair(facts.overlay, region, hit.row, hit.col, c.theme->text_muted, c.theme->text_muted,
                         style_of(c));
  facts.say(at->means.answer->means.cell(at->index).name);
  say_mean(facts, sweep_scale_title(c), at->means.at(at->index), at->means.is_signed);
  if (!at->place.head) return facts;
  const int layer = at->place.layer, head = *at->place.head;
  facts.commands.push_back({"Show " + head_name(layer, head), {SelectHead{layer, head}}});
  if (layer > 0) facts.commands.push_back(show_paths(c.options, layer, head));
  return facts;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  const bool moves = gesture.kind == Gesture::Kind::key || gesture.kind == Gesture::Kind::wheel;
  if (moves && is_listed(c.options[kSweptOver]))
    return list_gesture(kSweptRows, nullptr, nullptr, c, picture, hit, gesture);
  if (gesture.kind == Gesture::Kind::key) {
    const bool sideways = gesture.key == Key::left || gesture.key == Key::right;
    if (!sideways || gesture.modifiers.shift) return keys_along_layers(c, gesture);
    return {MoveHead{0, gesture.key == Key::left ? -1 : 1}};
  }
  if (hit == nullptr || gesture.kind != Gesture::Kind::click) return {};
  const auto at = place_at(c, picture, *hit);
  if (!at) return {};
  return {SelectHead{at->place.layer, at->place.head.value_or(c.selection.head)}};
}

Table table(const ViewContext& c) {
  const auto means = means_of(c);
  return means ? table_of(means->answer->means) : Table{};
}

std::string refuse(const ViewContext& c) {
  return refuse_sweep_options(c, c.run ? refusal_of(c) : SweepRefusal{});
}

viz::Point figure_size(const ViewContext& c) {
  if (!c.run) return {60 * c.font_size, 40 * c.font_size};
  const SweepOf question = sweep_of_prompts(c);
  if (is_listed(question.over)) return sweep_list_size(c, question);
  const auto means = means_of(c);
  return sweep_grid_size(c, sweep_grid(c.run->run->config, means ? means->question : question));
}

}  // namespace sweep_means

const MeansForm kSweepMeans{
    .build = sweep_means::build,
    .facts = sweep_means::facts,
    .table = sweep_means::table,
    .on = sweep_means::on,
    .scrolls = [](const ViewContext& c,
                  const Picture& picture) { return list_scrolls(kSweptRows, c, picture); },
    .refuse = sweep_means::refuse,
    .figure_size = sweep_means::figure_size};

}  // namespace headscope::app
