#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/run/analyses/vectors.h"
#include "app/views/attention/query_rows.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/difference.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/table_rows.h"
#include "model/pass/plan.h"
#include "viz/charts/bars.h"
#include "viz/charts/table.h"
#include "viz/scene/colormap.h"

namespace headscope::app {
namespace {

enum Role { kRow };  // Region::id: index of a score
enum class Source { row, one, ten, hundred, robot };

const Option<Source> kSource{
    {.name = "scores-from",
     .label = "Scores",
     .help = "whose scores go through softmax: of the chosen query, or an example",
     .default_value = 0,
     .choices = {{"row", "Query", "The scores of the chosen query with its keys"},
                 {"one", "−1, 0, 1", "Three numbers"},
                 {"ten", "× 10", "The three numbers, ten times as large"},
                 {"hundred", "× 100",
                  "A hundred times as large: what is far below the largest all but vanishes"},
                 {"robot", "robot must…", "The four tokens of an example that is often printed"}},
     .keys = "eE"}};
const Option<double> kScale{{.name = "softmax-scale",
                             .label = "Scale",
                             .help = "what the scores are multiplied by, times what the model takes",
                             .default_value = 1.0,
                             .low = 0.05,
                             .high = 16,
                             .step = 0.05,
                             .keys = "xX",
                             .kept = false}};
const Option<int> kFirst =
    first_row_option("first-score", "First score", "first row of the table that is shown", true);

/// Scores in groups that each sum to 1, and what becomes of them. On the side of changes: what became of the
/// numbers themselves, NaN where nothing stands for a key, ±inf where it is hidden on one side alone.
struct Lab {
  std::vector<std::string> names;
  std::vector<float> scores, scaled, weights;
  std::vector<float> other;  ///< the same at another scale, for comparison; empty: none
  std::string other_name;
  std::string title, note;
  std::string other_note;  ///< goes on from the note where the other weights show
  double scale = 1;
  double entropy = 0;  ///< bits, of the first group
  bool one_group = true;
  bool change = false;
};

/// "robot must obey orders": raw scores of each token with all four; later keys are masked.
constexpr std::array<const char*, 4> kRobot{"robot", "must", "obey", "orders"};
constexpr std::array<std::array<float, 4>, 4> kRobotScores{{{0.11F, 0.00F, 0.81F, 0.79F},
                                                            {0.19F, 0.50F, 0.30F, 0.48F},
                                                            {0.53F, 0.98F, 0.95F, 0.14F},
                                                            {0.81F, 0.86F, 0.38F, 0.90F}}};

/// Softmax of groups of so many scores, one after another.
std::vector<float> softmax_of_groups(const std::vector<float>& scores, double scale,
                                     const std::vector<std::size_t>& sizes) {
  std::vector<float> weights;
  auto at = scores.begin();
  for (const std::size_t size : sizes) {
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    const std::vector<float> group = softmax_of(std::vector<float>(at, end), static_cast<float>(scale));
    weights.insert(weights.end(), group.begin(), group.end());
    at = end;
  }
  return weights;
}

void finish(Lab& lab, double factor, double other, const std::vector<std::size_t>& sizes) {
  lab.scale = factor;
  lab.weights = softmax_of_groups(lab.scores, factor, sizes);
  if (other > 0) lab.other = softmax_of_groups(lab.scores, other, sizes);
  for (const float score : lab.scores) lab.scaled.push_back(static_cast<float>(factor) * score);
  for (const float w : lab.weights)
    if (w > 0) lab.entropy -= static_cast<double>(w) * std::log2(static_cast<double>(w));
  lab.one_group = sizes.size() == 1;
}

/// Of a query's scores: the model's, or what edits made of them.
Lab lab_of_row(const ViewContext& c, const SoftmaxRow& row) {
  Lab lab;
  const double factor = c.options[kScale];
  const model::Config& config = c.run->run->config;
  lab.title = "Softmax of " + head_name(c.selection.layer, c.selection.head) + ", query " +
              token_name(c.run->tokens, c.selection.query);
  // What edits made of the scores, before they are scaled.
  const float of_model = config.attention_scale(c.selection.layer);
  lab.scores = row.scores;
  bool edited = false;
  for (std::size_t key = 0; key < lab.scores.size(); ++key) {
    if (row.masked[key] == row.scaled[key] || std::isnan(row.scaled[key])) continue;
    lab.scores[key] = row.masked[key] / of_model;
    edited = true;
  }
  lab.other_name = "unscaled";
  lab.note = std::string(edited ? "scores as edited × " : "scores × ") +
             (factor == 1 ? "" : viz::number(factor, 3) + " × ") + scale_factor(config, c.selection.layer);
  const model::Plan* plan = c.run->run->plan.get();
  if (plan != nullptr && plan->edits({model::Site::pattern, c.selection.layer}))
    lab.note += "; edits put other weights in place of these";
  lab.other_note = "; the last column leaves the scale out";
  finish(lab, factor * static_cast<double>(of_model), 1, {lab.scores.size()});
  return lab;
}

/// Key by key what became of the numbers of the row that stands for it.
Lab change_of_labs(Lab now, const Lab& before, const std::vector<int>& stands, const std::string& other) {
  now.change = true;
  now.entropy -= before.entropy;
  for (const auto values : {&Lab::scores, &Lab::scaled, &Lab::weights, &Lab::other}) {
    for (std::size_t key = 0; key < stands.size(); ++key) {
      float& value = (now.*values)[key];
      value = stands[key] < 0 ? std::numeric_limits<float>::quiet_NaN()
                              : difference(value, (before.*values)[static_cast<std::size_t>(stands[key])]);
    }
  }
  if (std::ranges::any_of(stands, [](int key) { return key < 0; }))
    now.note += "; blank: nothing in the " + other + " stands for the key";
  if (std::ranges::any_of(now.scores, [](float change) { return std::isinf(change); }))
    now.note += "; scores without a change: the key is hidden on one side alone";
  return now;
}

/// None while the query's scores are missing, or those that they are compared with.
std::optional<Lab> lab_of(const ViewContext& c) {
  if (!c.run) return std::nullopt;
  const Source source = c.options[kSource];
  const auto rows = rows_of_query(c);  // also for the examples: the view then answers like all others
  if (source == Source::row) {
    if (!rows) return std::nullopt;
    Lab lab = lab_of_row(c, *rows->now);
    for (std::size_t key = 0; key < lab.scores.size(); ++key)
      lab.names.push_back(token_name(c.run->tokens, static_cast<int>(key)));
    if (rows->before)
      return change_of_labs(std::move(lab), lab_of_row(c, *rows->before), rows->stands, second_name(*c.run));
    lab.other_note += ": the weights crowd onto few keys";
    return lab;
  }
  // An example is the same on all sides, whatever stands for the query.
  if (!rows && !(c.side == Side::difference && compared_query(c) < 0)) return std::nullopt;
  Lab lab;
  const double factor = c.options[kScale];
  if (source == Source::robot) {
    lab.title = "Softmax of “robot must obey orders”";
    std::vector<std::size_t> sizes;
    for (std::size_t query = 0; query < kRobot.size(); ++query) {
      sizes.push_back(query + 1);
      for (std::size_t key = 0; key <= query; ++key) {
        lab.names.push_back(std::string(kRobot[query]) + " → " + kRobot[key]);
        lab.scores.push_back(kRobotScores[query][key]);
      }
    }
    lab.other_name = "of a quarter";
    lab.note = "the weights often printed for these scores (0.48, 0.52, …) are softmax of a quarter of them";
    lab.other_note = ": the last column";
    finish(lab, factor, 0.25, sizes);
    return lab;
  }
  const float size = source == Source::one ? 1.F : source == Source::ten ? 10.F : 100.F;
  lab.scores = {-size, 0, size};
  for (const float score : lab.scores) lab.names.push_back(exact(score));
  lab.title = "Softmax of " + lab.names[0] + ", " + lab.names[1] + ", " + lab.names[2];
  lab.note = "in float32 the weight of a score 88 below the largest is subnormal, that of one 104 below is 0";
  finish(lab, factor, 0, {3});
  return lab;
}

// ---- the figure ----

constexpr int kWeightColumn = 3, kOtherColumn = 4, kMagnitudeColumn = 5;

/// In magnitude, of those that are finite; 0 of none.
float largest(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

/// The bars of a column that shows changes: up and down in the two colours of signed values.
void color_by_sign(viz::TableColumn& column, const viz::Theme& theme, bool quiet) {
  constexpr double kStrong = 0.75;
  constexpr std::uint8_t kQuiet = 130, kFull = 255;
  const auto color = [&](double t) { return viz::diverging(theme, t).with_alpha(quiet ? kQuiet : kFull); };
  column.bar_color = color(kStrong), column.bar_below = color(-kStrong);
  for (const float change : column.numbers) column.blank.push_back(!std::isfinite(change));
}

viz::Table figure_of(const ViewContext& c, const Lab& lab) {
  viz::Table table;
  table.rows = static_cast<int>(lab.scores.size());
  const auto column = [&](viz::TableColumn::Kind kind, const std::string& heading, int importance) {
    viz::TableColumn result;
    result.kind = kind;
    result.heading = heading;
    result.heading_color = c.theme->text_muted;
    result.color = c.theme->text;
    result.importance = importance;
    return result;
  };
  const bool row = c.options[kSource] == Source::row;
  viz::TableColumn name = column(viz::TableColumn::Kind::text, row ? "key" : "score of", 9);
  name.texts = lab.names;
  if (row) name.heading_color = c.theme->key;
  table.columns.push_back(name);
  const viz::Color muted = c.theme->text_muted.with_alpha(150);
  const auto bars = [&](const std::string& heading, const std::vector<float>& values, viz::Color color,
                        int importance) -> viz::TableColumn& {
    viz::TableColumn& result = table.columns.emplace_back(
        column(viz::TableColumn::Kind::bar, (lab.change ? delta(c) : "") + heading, importance));
    result.numbers = values;
    result.bar_color = color;
    if (lab.change) color_by_sign(result, *c.theme, color == muted);
    return result;
  };
  // Both on one axis: a spike stands out beside what is no spike. Differences of spikes would hide the
  // others'.
  const double both = static_cast<double>(std::max(largest(lab.weights), largest(lab.other)));
  const auto weights = [&](const std::string& heading, const std::vector<float>& values, viz::Color color,
                           int importance) {
    viz::TableColumn& result = bars(heading, values, color, importance);
    result.decimals = 4;
    result.scientific_below = 0.001;
    result.high = viz::round_limit(lab.change ? static_cast<double>(largest(values)) : both);
    if (lab.change) result.low = -result.high;
    result.axis = true;
  };
  bars("score", lab.scores, muted, 6);
  bars(lab.change ? "scaled" : "× " + viz::number(lab.scale, 3), lab.scaled, muted, 5).hidden =
      lab.scale == 1;
  weights("weight", lab.weights, c.theme->key, 8);
  if (!lab.other.empty()) weights(lab.other_name, lab.other, muted, lab.change ? 4 : 7);
  const bool sorted = row && c.options[kStrongestFirst];
  if (sorted) table.order = {lab.change ? kMagnitudeColumn : kWeightColumn};
  if (lab.change) {
    viz::TableColumn& magnitude = bars("", lab.weights, muted, 0);
    magnitude.hidden = true;
    for (float& change : magnitude.numbers) change = std::abs(change);
  }
  table.first = c.options[kFirst];
  table.marked = row ? c.selection.key : -1;
  table.mark = c.theme->key;
  table.row_names = sorted ? lab.change ? "keys that changed most" : "strongest keys" : row ? "keys" : "rows";
  table.first_number = sorted ? 1 : 0;
  table.row_role = kRow;
  return table;
}

std::string summary(const ViewContext& c, const Lab& lab) {
  if (lab.change) {
    return difference_subtitle(c, {lab.scores, lab.weights}) + "; entropy " + (lab.entropy > 0 ? "+" : "") +
           viz::number(lab.entropy, 3) + " bits";
  }
  if (!lab.one_group) return "each query's weights sum to 1; later keys are masked";
  const double most = std::log2(static_cast<double>(lab.weights.size()));
  return "entropy " + viz::number(lab.entropy, 3) + " of " + viz::number(most, 3) + " bits, largest weight " +
         viz::number(static_cast<double>(largest(lab.weights)), 3);
}

/// Room for the table; the note's lines stand under it.
struct Places {
  viz::Rect table;
  std::vector<std::string> note;
};
Places lay_out(const ViewContext& c, const Lab& lab, const viz::Table& table) {
  const viz::Style style = style_of(c);
  Places places{below_title(c), {}};
  const bool other = viz::lay_out_table(table, places.table, style).place_of(kOtherColumn) != nullptr;
  places.note = viz::wrap(style, lab.note + (other ? lab.other_note : ""), style.small(),
                          viz::FontStyle::regular, places.table.w);
  const float note = static_cast<float>(places.note.size()) * style.line(style.small()) + 2 * style.unit();
  // In a low pane keys are worth more than words on where the scale comes from.
  const float some_rows = viz::table_height(viz::Table{}, style) + 6 * viz::table_row_height(style);
  if (c.in_pane && c.options[kSource] == Source::row && places.table.h - note < some_rows) {
    places.note.clear();
    return places;
  }
  places.table.h -= note;
  return places;
}

Picture build(const ViewContext& c) {
  const auto lab = lab_of(c);
  if (!lab) return *waiting_for_rows(c, false);
  const viz::Style style = style_of(c);
  const viz::Table table = figure_of(c, *lab);
  const Places places = lay_out(c, *lab, table);
  const viz::TableLayout layout = viz::lay_out_table(table, places.table, style);
  if (layout.places.size() < 2 || layout.rows.empty()) return too_small(c, "for the table");
  Picture picture = blank(c);
  paint_title(picture, c, lab->title + (lab->change ? difference_suffix(c) : ""),
              summary(c, *lab) + (layout.note.empty() ? "" : ", ") + layout.note);
  const bool whole = picture.whole;  // rows scroll, columns give way
  viz::paint_table(picture, table, layout, style);
  picture.whole = whole;
  const float line = style.line(style.small());
  float y = std::min(places.table.bottom(), places.table.y + viz::table_height(table, style)) +
            2 * style.unit() + line / 2;
  for (const std::string& words : places.note) {
    viz::add_label(picture.scene, style, words, {places.table.x, y}, style.small(), c.theme->text_muted);
    y += line;
  }
  return picture;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Hover result;
  const auto lab = lab_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!lab || region.id >= std::ssize(lab->scores)) return result;
  const auto i = static_cast<std::size_t>(region.id);
  result.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->query, 1, 2});
  const std::string change = lab->change ? difference_prefix(c) : "";
  result.lines = {lab->names[i], change + "score " + exact(lab->scores[i]),
                  change + "scaled " + exact(lab->scaled[i]), change + "weight " + exact(lab->weights[i])};
  if (!lab->other.empty()) result.lines.push_back(change + lab->other_name + " " + exact(lab->other[i]));
  if (std::isnan(lab->weights[i]) && lab->change) result.lines = {lab->names[i], no_counterpart_words(c)};
  for (const std::string& line : result.lines) result.status += (result.status.empty() ? "" : "   ") + line;
  return result;
}

/// Of changes empty where nothing stands for a key, and where a score is hidden on one side alone.
Table table(const ViewContext& c) {
  Table result;
  const auto lab = lab_of(c);
  if (!lab) return result;
  result.header = {"of", "score", "scaled", "weight"};
  if (!lab->other.empty()) result.header.push_back(lab->other_name);
  if (lab->change)
    for (std::size_t i = 1; i < result.header.size(); ++i) result.header[i].insert(0, difference_prefix(c));
  for (std::size_t i = 0; i < lab->scores.size(); ++i) {
    std::vector<std::string> row{lab->names[i]};
    for (const auto* values : {&lab->scores, &lab->scaled, &lab->weights, &lab->other}) {
      if (values->empty()) continue;
      const float value = (*values)[i];
      row.push_back(lab->change && !std::isfinite(value) ? "" : plain(value));
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

TableRows rows_of(const ViewContext& c, const Picture& picture) {
  const auto lab = lab_of(c);
  return table_rows_of(picture, kRow, lab ? static_cast<int>(lab->scores.size()) : 0, c.options[kFirst],
                       kFirst);
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  switch (gesture.kind) {
    case Gesture::Kind::key:
      if (gesture.key == Key::page_up || gesture.key == Key::page_down)
        return rows_of(c, picture).by_key(gesture.key).value_or(ViewActions{});
      return keys_along_prompt(c, gesture);
    case Gesture::Kind::wheel:
      return rows_of(c, picture).by_wheel(gesture);
    case Gesture::Kind::click: {
      if (!hit || c.options[kSource] != Source::row) return {};
      const int key = region_of(picture, *hit).id;
      if (!may_see(c, c.selection.query, key)) return {};
      return {clicked_key(c, key)};
    }
    default:
      return {};
  }
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return rows_of(c, picture).bars(c.width - kScrollBar * c.font_size);
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Table table;
  table.rows = c.selection.query + 1;
  if (const auto lab = lab_of(c)) table.rows = static_cast<int>(lab->scores.size());
  return below_title(c).y + viz::table_height(table, style) + 4 * style.line(style.small()) + margin(c) + 1;
}

}  // namespace

View softmax_view() {
  View view;
  view.id = "softmax";
  view.title = "Softmax";
  view.help = "scores through softmax at any scale: how 1/√d_head keeps the weights from being a spike";
  view.options = {&kSource, &kScale, &kStrongestFirst, &kFirst};
  view.on = on;
  view.scrolls = scrolls;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  view.shows_difference = true;
  return view;
}

}  // namespace headscope::app
