#include "app/run/analyses/sweep.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/logit_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"

namespace headscope::app::sweep {

/// Roles of regions. cell: of the grid, row: a layer, or a head at positions; col: a head, the MLP or a
/// position. row: of the list, its id is the row.
enum Role { kCell, kRow };
const ListRows kRows{kRow, first_row_option("first-swept", true), "MLPs"};

// ---- what is said of a cell ----

/// All places of a row together: a head, or a layer, of senders its heads.
SweepPlace whole_row(const SweepOf& question, const SweepPlace& place) {
  if (question.over == SweepOver::head_positions) return {.layer = place.layer, .head = place.head};
  return question.place_of(place.layer, -1);
}

/// A cell; an MLP is named by the view.
Ref ref_to(const Swept& swept, std::size_t cell) {
  const SweepPlace place = swept.place(cell);
  return {.layer = place.layer,
          .head = place.head.value_or(-1),
          .key = place.position.value_or(-1),
          .neuron = place.neuron.value_or(-1),
          .other = place.is_mlp ? static_cast<int>(cell) : -1};
}

std::string signed_exact(double value) {
  return (value > 0 ? "+" : "") + exact(value);
}

/// What is done at a place: its edits, those of its row, and the paths to it.
void add_commands(std::vector<MenuLine>& menu, const ViewContext& c, const SweepOf& question,
                  const SweepPlace& place) {
  const auto add = [&](const char* apply, const char* back, const SweepPlace& at) {
    const model::Edits edits = question.edits(at);
    if (edits.empty()) return;
    const std::string words = "“" + edit_words(question, at) + "”";
    menu.push_back({(is_edited(c, edits.front()) ? back : apply) + words, toggled(edits.front())});
  };
  add("Apply ", "Undo ", place);
  if (!is_listed(question.over))
    add("Apply to the whole row: ", "Undo for the whole row: ", whole_row(question, place));
  if (!place.head || place.layer == 0) return;
  const int to = std::max(1, c.options[kReceiver]);  // the logits have no head
  menu.push_back(
      {"Show paths into " + head_name(place.layer, *place.head) + " " + std::string(kSweepReceivers[to].name),
       {SetOption{&kSweptOver, static_cast<int>(SweepOver::senders)}, SetOption{&kReceiver, to},
        SetOption{&kReceiverLayer, place.layer}, SetOption{&kReceiverHead, *place.head}}});
}

void say_cell(Facts& facts, const ViewContext& c, const Swept& swept, std::size_t cell) {
  const SweepOf& question = swept.question;
  const SweepPlace place = swept.place(cell);
  add_commands(facts.commands, c, question, place);
  const model::Edits edits = question.edits(place);
  if (edits.empty()) {
    const bool before = question.over != SweepOver::senders || question.receiver.is_after(place.layer);
    facts.say(before ? "no counterpart in the other prompt" : "not before the receiver");
    return;
  }
  const std::string words = edit_words(question, place), name = change_name(swept.measured.metric);
  facts.copy("the edit “" + words + "”", edit_text(edits.front()));
  facts.say(words);
  if (swept.is_known(cell)) {
    const double difference = swept.difference(cell);
    facts.number(name, difference).value = signed_exact(difference);
    if (swept.measured.metric != Metric::divergence)
      facts.say("from " + exact(swept.before()) + " to " + exact(swept.with_edit(cell)));
  } else {
    facts.say(kComputing);
  }
  if (const double estimate = swept.estimate(cell); !std::isnan(estimate))
    facts.number(name + ", estimated", estimate).value = signed_exact(estimate);
}

// ---- the grid ----

viz::ColorScale scale_of(const Swept& swept, std::span<const float> values) {
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(values));
  if (swept.measured.metric == Metric::divergence) return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  std::vector<float> others;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_by_position(swept.question.over) || swept.cols == 1 ||
        i % static_cast<std::size_t>(swept.cols) > 0)
      others.push_back(values[i]);
  return beyond_rounding(viz::robust_scale(viz::Matrix::row(others), 0, range));
}

/// Cells that are only estimated are half as high, which a cell of a single pixel's width shows as well.
void halve_estimated(viz::Scene& scene, const ViewContext& c, const Swept& swept, const viz::Region& grid) {
  for (int row = 0; row < swept.rows(); ++row)
    for (int col = 0; col < swept.cols; ++col) {
      const auto is_known = [&](int at) { return swept.is_known(swept.cell(row, at)); };
      if (is_known(col)) continue;
      viz::Rect cells = grid.cell_rect(row, col);
      while (col + 1 < swept.cols && !is_known(col + 1)) ++col;
      cells.w = grid.cell_rect(row, col).right() - cells.x;
      const float h = cells.h / 4;
      scene.add(viz::FillRect{{cells.x, cells.y, cells.w, h}, c.theme->surface});
      scene.add(viz::FillRect{{cells.x, cells.bottom() - h, cells.w, h}, c.theme->surface});
    }
}

/// Lines between layers that have several rows, unless these are so low that a line would cover one.
void separate_layers(viz::Scene& scene, const ViewContext& c, const Swept& swept, const viz::Region& grid) {
  constexpr float kRowWithLine = 3;  // device pixels
  if (grid.cell_rect(0, 0).h * c.device_scale < kRowWithLine) return;
  for (int row = swept.rows_per_layer; swept.rows_per_layer > 1 && row < swept.rows();
       row += swept.rows_per_layer) {
    const float y = style_of(c).snapped(grid.cell_rect(row, 0).y);
    scene.add_line({grid.rect.x, y}, {grid.rect.right(), y}, c.theme->text_muted);
  }
}

/// Draws a dot in a corner of the cell.
void mark_applied(viz::Scene& scene, const ViewContext& c, const viz::Rect& cell) {
  const float size = std::clamp(0.2F * std::min(cell.w, cell.h), 2.F, 0.5F * c.font_size);
  const viz::Rect dot{cell.right() - 1.7F * size, cell.y + 0.7F * size, size, size};
  const float ring = 0.25F * size;
  scene.add(viz::FillRect{dot.inset(-ring), c.theme->surface, size / 2 + ring});
  scene.add(viz::FillRect{dot, c.theme->text, size / 2});
}

std::unique_ptr<Grid> grid_by_position(const ViewContext& c, const Swept& swept, std::vector<float> values) {
  const int heads = swept.rows_per_layer;
  std::vector<std::string> names;
  for (int row = 0; row < swept.rows(); ++row)
    names.push_back(heads > 1 ? head_name(row / heads, row % heads) : "L" + std::to_string(row));
  const auto labels = std::span(c.run->tokens.labels).first(static_cast<std::size_t>(swept.cols));
  auto grid = std::make_unique<Grid>(c, kCell, std::move(values), std::move(names),
                                     std::vector<std::string>(labels.begin(), labels.end()));
  viz::Heatmap& map = grid->map;
  map.rows.title = heads > 1 ? "head" : "layer", map.rows.numbered = true;
  map.rows.emphasised = c.selection.layer * heads + (heads > 1 ? c.selection.head : 0);
  map.cols = token_axis(c, "position", c.theme->key, c.selection.key);
  map.cols.labels = labels;
  map.stretch = 0;
  grid->chosen_row = map.rows.emphasised, grid->chosen_col = c.selection.key;
  return grid;
}

std::unique_ptr<Grid> grid_of(Content& it, const Swept& swept) {
  const ViewContext& c = it.c;
  std::vector<float> values;
  std::vector<std::uint8_t> nothing;
  for (std::size_t cell = 0; cell < swept.cells.size(); ++cell) {
    nothing.push_back(swept.question.has_edits(swept.place(cell)) ? 0 : 1);
    const double shown = swept.is_known(cell) ? swept.difference(cell) : swept.estimate(cell);
    values.push_back(static_cast<float>(nothing.back() == 1 ? NAN : shown));
  }
  const viz::ColorScale scale = scale_of(swept, values);
  const bool senders = swept.question.over == SweepOver::senders;
  auto grid = is_by_position(swept.question.over) ? grid_by_position(c, swept, std::move(values))
              : senders ? grid_of_heads(c, kCell, std::move(values), "", "", {"MLP"})
                        : grid_of_heads(c, kCell, std::move(values), "");
  if (senders) grid->map.cols.title = "sender";
  grid->map.scale_title = change_name(swept.measured.metric);
  grid->map.cells.scale = scale;
  grid->map.cells.masked = it.keep(std::move(nothing));
  grid->map.cell_values = swept.is_complete();
  grid->map.saves_width = true;
  grid->refers_to = [&](int row, int col) { return ref_to(swept, swept.cell(row, col)); };
  grid->cell_facts = [&](Facts& facts, int row, int col) { say_cell(facts, c, swept, swept.cell(row, col)); };
  grid->over = [&](Picture& picture, const ViewContext& page, const viz::Region& region) {
    if (swept.is_estimated()) halve_estimated(picture.scene, page, swept, region);
    separate_layers(picture.scene, page, swept, region);
    for (const std::size_t cell : swept.applied) {
      const auto cols = static_cast<std::size_t>(swept.cols);
      mark_applied(picture.scene, page,
                   region.cell_rect(static_cast<int>(cell / cols), static_cast<int>(cell % cols)));
    }
  };
  return grid;
}

// ---- the list ----

std::unique_ptr<List> list_of(const ViewContext& c, const Swept& swept) {
  const bool neurons = swept.question.over == SweepOver::neurons;
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(swept.cells.size()));
  const auto cell = [&](int row) { return swept.cells[static_cast<std::size_t>(row)]; };
  const auto lacks_edit = [&swept, cell](int row) {
    return !swept.question.has_edits(swept.place(cell(row)));
  };
  list->refers_to = [&swept, cell](int row) { return ref_to(swept, cell(row)); };
  list->row_facts = [&, cell](Facts& facts, int row) { say_cell(facts, c, swept, cell(row)); };
  list->text(neurons ? "neuron" : "MLP", 9, [&, cell](int row) {
    return part_name(swept.place(cell(row))) + (swept.is_applied(cell(row)) ? "  •" : "");
  });
  list->bar(change_name(swept.measured.metric), 8,
            [&swept, cell](int row) { return swept.difference(cell(row)); },
            {.digits = 4,
             .scientific = 1e-4,
             .rounds = true,
             .axis = true,
             .most = 40 * c.font_size,
             .is_signed = swept.measured.metric != Metric::divergence,
             .tip = false,
             .blank = [&swept, cell, lacks_edit](int row) {
               return !swept.is_known(cell(row)) || lacks_edit(row);
             }});
  if (!neurons) list->rank_by([&swept, cell](int row) { return swept.difference(cell(row)); });
  if (swept.is_estimated())
    list->number(
        "estimate", 5, [&swept, cell](int row) { return swept.estimate(cell(row)); },
        {.color = c.theme->text_muted, .digits = 4, .scientific = 1e-4, .tip = false, .blank = lacks_edit});
  if (neurons)
    list->table.row_names = "strongest neurons";
  else if (c.in_pane)  // a figure is not about the selected layer
    list->table.marked = std::min(c.selection.layer, swept.sweep->layers - 1);
  return list;
}

// ---- gestures ----

ViewActions choose(const ViewContext& c, const Ref& ref) {
  ViewActions actions{SelectHead{ref.layer, ref.head < 0 ? c.selection.head : ref.head}};
  if (ref.key >= 0) actions.emplace_back(SelectKey{ref.key});
  return actions;
}

/// Dragging over cells applies the edits of all of them, whether or not the sweep knows them yet. A double
/// click applies one, or undoes it; with Shift they are about the whole row.
std::optional<ViewActions> on(const ViewContext& c, const Swept& swept, const Spot* at,
                              const Gesture& gesture) {
  const SweepOf& question = swept.question;
  const bool listed = is_listed(question.over);
  if (gesture.kind == Gesture::Kind::key && is_by_position(question.over))
    return arrows({1, 0})(c, at, gesture);
  if (at == nullptr) return std::nullopt;
  const auto edits_at = [&](std::size_t cell) {
    const SweepPlace place = swept.place(cell);
    return question.edits(gesture.modifiers.shift && !listed ? whole_row(question, place) : place);
  };
  if (gesture.kind == Gesture::Kind::double_click) {
    const int id = at->region.id;
    const std::size_t cell =
        listed ? swept.cells[static_cast<std::size_t>(id)] : swept.cell(at->hit.row, at->hit.col);
    const model::Edits edits = edits_at(cell);
    return edits.empty() ? ViewActions{} : toggled(edits.front());
  }
  if (gesture.kind != Gesture::Kind::drag || listed || !can_edit(c)) return std::nullopt;
  ViewActions actions;
  for (const auto& [row, col] : dragged_cells(*at, gesture))
    for (model::Edit& edit : edits_at(swept.cell(row, col))) actions.emplace_back(DragEdit{std::move(edit)});
  return actions;
}

/// A row for each cell that is known or estimated.
Table table(const ViewContext& c, const Swept& swept) {
  const auto& [question, sweep, measured, applied, cells, source, rows_per_layer, cols] = swept;
  const Metric metric = measured.metric;
  const std::string unit = metric == Metric::divergence ? "bits" : "";
  const bool estimated = swept.is_estimated();
  std::vector<std::size_t> with_numbers;
  for (const std::size_t cell : cells)
    if (question.has_edits(swept.place(cell)) && (swept.is_known(cell) || estimated))
      with_numbers.push_back(cell);
  List list(c, kRow, static_cast<int>(std::ssize(with_numbers)));
  const auto place = [&](int row) { return swept.place(with_numbers[row]); };
  const auto if_known = [&](const auto& number) {
    return [&, number](int row) {
      const std::size_t cell = with_numbers[row];
      return swept.is_known(cell) ? std::optional<double>(number(cell)) : std::nullopt;
    };
  };
  list.file("part", [&](int row) { return part_name(place(row)); });
  list.file(key_column("layer"), [&](int row) { return place(row).layer; });
  if (question.over != SweepOver::positions && !is_listed(question.over))
    list.file(key_column("head"), [&](int row) { return place(row).head; });
  if (is_by_position(question.over)) {
    list.file(key_column("position"), [&](int row) { return place(row).position; });
    list.file(note_column("token"), [&](int row) { return c.run->tokens.labels[*place(row).position]; });
  }
  if (question.over == SweepOver::neurons)
    list.file(key_column("neuron"), [&](int row) { return place(row).neuron; });
  list.file(note_column("edit"), [&](int row) { return edit_words(question, place(row)); });
  list.file({"change", unit}, if_known([&](std::size_t cell) { return swept.difference(cell); }));
  list.file({"with the edit", unit}, if_known([&](std::size_t cell) { return swept.with_edit(cell); }));
  if (estimated)
    list.file({"estimated change", unit}, [&](int row) { return swept.estimate(with_numbers[row]); });
  if (source)
    list.file("restored", if_known([&](std::size_t cell) {
                return restored(*swept.sweep, *swept.source, swept.measured.metric, swept.difference(cell));
              }));
  Table result = list.exported("change");
  add_measured(result, c, swept.measured);
  result.fact("edit", title_of(*c.run, question));
  result.fact("before", swept.before(), unit);
  if (source) result.fact("second", source->of(metric), unit);
  if (estimated) result.fact("rank correlation", sweep->estimate_correlation(metric));
  return result;
}

/// Why the run has no such sweep; empty: it has one.
std::string refuse(const ViewContext& c) {
  if (c.run && c.max_rows > 0 && !is_listed(c.options[kSweptOver]))
    return "--rows applies only to lists, --sweep-over mlps and neurons";
  try {
    if (c.run) sweep_question(c).check();
  } catch (const model::RunError& error) {
    return error.what();
  }
  return "";
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const SweepOf question = sweep_question(c);
  if (c.run && question.edit == SweepEdit::list_mean && !has_list_means(it, means_of(c, question))) return;
  it.message = refuse(c);
  if (c.run && it.message.empty() && question.measured.token.empty()) it.message = kComputing;
  const auto sweep = it.message.empty() ? it.need(question) : nullptr;
  if (!sweep) return;
  const Swept& swept = it.keep(swept_of(c, question, sweep));
  it.title = title_of(*c.run, question), it.subtitle = subtitle_of(c, swept);
  BoxPtr body = is_listed(question.over) ? BoxPtr(list_of(c, swept)) : BoxPtr(grid_of(it, swept));
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.other >= 0) facts.say(part_name(swept.place(static_cast<std::size_t>(ref.other))));
  };
  it.choose = choose;
  it.on = [&](const ViewContext& now, const Spot* at, const Gesture& gesture) {
    return on(now, swept, at, gesture);
  };
  it.table = [&] { return table(c, swept); };
  it.body = rows(boxes(std::move(body), notes({state_of(c, swept), words_on_estimates(c, swept)})));
}

View view() {
  View view =
      make_view("sweep", "Sweep", declare,
                "how much a prediction changes when each head, each layer or head at each position, each "
                "MLP, the strongest neurons, or each path to a head or the logits is ablated or patched");
  view.options = {&kSweptMetric,   &kSweptEdit,    &kSweptSite,     &kSweptOver,  &kSweptNeurons, &kReceiver,
                  &kReceiverLayer, &kReceiverHead, &kMeasuredToken, &kOtherToken, &kRows.first};
  view.metric = &kSweptMetric;
  view.with_second = {&kSweptEdit, static_cast<int>(SweepEdit::patch)};
  view.shows_parts = true;
  view.refuse = refuse;
  view.on_baseline = [](const ViewContext& c) { return c.options[kSweptEdit] == SweepEdit::patch; };
  view.list_mean = {&kSweptEdit, static_cast<int>(SweepEdit::list_mean)};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::sweep
