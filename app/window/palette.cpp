#include "app/window/commands.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include "app/ascii.h"
#include "app/run/analyses/heads.h"
#include "app/text/guide.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "system/path_text.h"
#include "viz/scene/colormap.h"

namespace headscope::app {
namespace {

using Entries = std::vector<PaletteEntry>;

void add_commands(Entries& entries, const UiState& state) {
  for (const Command& command : commands()) {
    if (command.label == "Find…") continue;
    PaletteEntry entry{.label = command.label.empty() ? capitalized(command.help) : label_of(command, state),
                       .kind = "command",
                       .keys = keys_of(command),
                       .also = std::string(command.help),
                       .opens = command.opens};
    if (command.opens == Menu::none) {
      auto action = command.act(state);
      if (!action) continue;
      entry.acts = {*std::move(action)};
    }
    entries.push_back(std::move(entry));
  }
}

/// The commands of the shown views that are possible now.
void add_view_commands(Entries& entries, const UiState& state, const std::vector<PlacedPicture>& pictures) {
  for (const PlacedPicture& placed : pictures) {
    if (!placed.context.run) continue;
    for (const KeyCommand& command : placed.view->commands) {
      if (command.label.empty() && command.keys.size() > 1) continue;  // its keys do different things
      ViewActions actions = command.act(placed.context_with(state.options), 0);
      if (actions.empty()) continue;
      entries.push_back({.label = std::string(placed.view->title) + ": " + std::string(command.help),
                         .kind = "command",
                         .keys = command.keys.empty() ? "" : key_name(command.keys.front()),
                         .acts = {DoAll{std::move(actions), false, placed.context.side}}});
    }
  }
}

/// The tabs, and the panes that a narrow window leaves out beside a tour or a second view, which then close.
void add_views(Entries& entries, const std::vector<PlacedPicture>& pictures) {
  const auto add = [&](const View& view, std::vector<Action> acts) {
    entries.push_back({.label = std::string(view.title),
                       .kind = "view",
                       .also = std::string(view.id) + " " + std::string(view.help),
                       .acts = std::move(acts)});
  };
  for (const View* view : tabs()) add(*view, {ShowView{std::string(view->id)}});
  for (const View& view : views())
    if (view.place != Place::tab && std::ranges::count(pictures, &view, &PlacedPicture::view) == 0)
      add(view, {CloseTour{}, change(&UiState::second_view, "")});
}

/// The other state of switches, all values of choices and the next of numbers, where they have an effect now.
/// Those of a view that is not shown also show it.
void add_options(Entries& entries, const UiState& state, const Snapshot& snapshot,
                 const std::vector<PlacedPicture>& pictures) {
  const auto is_shown = [&](const View* view) {
    return view->place != Place::tab || std::ranges::count(pictures, view, &PlacedPicture::view) > 0;
  };
  std::vector<const View*> ordered;
  for (const View& view : views()) ordered.push_back(&view);
  std::ranges::stable_partition(ordered, is_shown);
  std::vector<const OptionSpec*> known;
  for (const View* view : ordered) {
    for (const OptionSpec* option : view->options) {
      if (option->control == Control::none || !has_effect(*view, *option, state, snapshot)) continue;
      if (std::ranges::find(known, option) != known.end()) continue;
      known.push_back(option);
      std::vector<Action> shows;
      if (!is_shown(view)) shows.emplace_back(ShowView{std::string(view->id)});
      const auto add = [&](std::string value, OptionValue to, std::string also) {
        std::vector<Action> acts = shows;
        acts.emplace_back(SetOption{option, std::move(to)});
        entries.push_back({.label = std::string(option->label) + ": " + std::move(value),
                           .kind = std::string(view->title),
                           .keys = option->keys.empty() ? "" : key_name(option->keys.front()),
                           .also = std::move(also),
                           .acts = std::move(acts)});
      };
      const OptionValue& now = state.options.value(*option);
      if (const bool* on = std::get_if<bool>(&now)) {
        add(*on ? "off" : "on", !*on, std::string(option->help));
      } else if (std::holds_alternative<double>(now) ||
                 (std::holds_alternative<int>(now) && option->choices.empty())) {
        OptionValue next = stepped(*option, now, 1);
        if (next == now) next = stepped(*option, now, -1);
        add(to_text(*option, now) + " → " + to_text(*option, next), next, std::string(option->help));
      } else {
        for (int i = 0; i < static_cast<int>(option->choices.size()); ++i)
          add(std::string(option->choices[i].label) + (now == OptionValue(i) ? " (now)" : ""), i,
              std::string(option->choices[i].help));
      }
    }
  }
}

/// The edits of the selected head.
void add_head_edits(Entries& entries, const ViewContext& c) {
  for (HeadEdit& edit : head_edits(c, c.selection.layer, c.selection.head))
    entries.push_back({.label = std::move(edit.line.label),
                       .kind = "edit",
                       .also = "head",
                       .names = std::move(edit.synonyms),
                       .acts = {DoAll{std::move(edit.line.actions)}}});
}

std::string metric_words(const HeadMetricKind& metric, double value) {
  if (metric.unit == "weight" || metric.unit == "share") return percent(value);
  return viz::number(value, 3) + " " + std::string(metric.unit);
}

/// For each metric the heads that have most of it on this prompt; Head metrics, if shown, then shows it.
void add_heads_by_metric(Entries& entries, const ViewContext& c, const std::vector<PlacedPicture>& pictures) {
  constexpr int kMaxHeads = 5;  // heads a metric
  const Side side = c.side == Side::difference ? Side::run : c.side;
  const auto thumbnails = c.ask_on(side, ThumbnailsOfHeads{});
  if (!thumbnails) return;
  const int heads = c.run->run->config.n_head;
  const View* view = find_view("metrics");
  const bool is_shown = std::ranges::count(pictures, view, &PlacedPicture::view) > 0;
  const OptionSpec* shown_metric = *std::ranges::find(view->options, "metric", &OptionSpec::name);
  for (const HeadMetricKind& metric : head_metrics()) {
    std::multimap<double, int, std::greater<>> values;
    for (int i = 0; i < thumbnails->done; ++i)
      if (const double value = thumbnails->of_head[i]->metrics[metric.id]; std::isfinite(value))
        values.emplace(value, i);
    for (const auto& [value, i] : values | std::views::take(kMaxHeads)) {
      entries.push_back({.label = head_name(i / heads, i % heads) + ": " + std::string(metric.phrase) + " " +
                                  metric_words(metric, value),
                         .kind = "head metric",
                         .also = std::string(metric.title),
                         .names = {std::string(metric.phrase)},
                         .acts = {DoAll{{SelectHead{i / heads, i % heads}}}}});
      if (is_shown) entries.back().acts.emplace_back(SetOption{shown_metric, static_cast<int>(metric.id)});
    }
  }
}

void add_places(Entries& entries, const Snapshot& snapshot) {
  if (!snapshot.run) return;
  const model::Config& config = snapshot.run->run->config;
  for (int layer = 0; layer < config.n_layer; ++layer)
    for (int head = 0; head < config.n_head; ++head)
      entries.push_back({.label = head_name(layer, head),
                         .kind = "head",
                         .names = {std::to_string(layer) + "." + std::to_string(head),
                                   "L" + std::to_string(layer) + "H" + std::to_string(head)},
                         .acts = {DoAll{{SelectHead{layer, head}}}}});
  for (int position = 0; position < snapshot.run->run->length(); ++position)
    entries.push_back({.label = token_name(snapshot.run->tokens, position),
                       .kind = "token",
                       .acts = {DoAll{{SelectQuery{position}}}}});
}

void add_files(Entries& entries, const UiState& state) {
  const auto add = [&](std::string label, const char* kind, Action act, std::string also = "") {
    entries.push_back(
        {.label = std::move(label), .kind = kind, .also = std::move(also), .acts = {std::move(act)}});
  };
  for (int i = 0; const TourStop& example : state.examples)
    add(example.title, "example", ShowExample{i++}, *example.prompt);
  for (int i = 0; const Tour& tour : state.tours) add(tour.title, "tour", OpenTour{i++});
  for (const GuidePage& page : state.guide->pages) add(page.title, "guide", ShowGuide{page.name, ""});
  for (const GlossaryEntry& entry : state.guide->glossary) {
    std::string synonyms;
    for (const std::string& synonym : entry.synonyms) synonyms += synonym + " ";
    add(entry.term, "glossary", ShowGuide{"glossary", anchor_of({{.text = entry.term}})}, synonyms);
  }
  for (const std::filesystem::path& model : state.recent_models)
    add(system::text_of(model.filename()), "recent model", OpenModel{model}, system::text_of(model));
  for (const std::filesystem::path& session : state.recent_sessions)
    add(system::text_of(session.filename()), "recent session", OpenFile{session}, system::text_of(session));
}

/// How well words fit a text: more is better. An entry of the guide or the glossary comes after others that
/// fit as well or nearly so.
enum Fit : int { kNoFit = 0, kInside = 20, kElsewhere = 30, kWords = 40, kBeginning = 50, kWhole = 60 };
constexpr int kReference = 25, kOtherName = 1;

/// How well words fit a text, and the text's length: of equal fits the shortest comes first.
using Score = std::pair<int, std::ptrdiff_t>;

/// `words` are in lower case.
Score fit(std::string_view text_as_shown, std::string_view words) {
  const std::string text = lowered(text_as_shown);
  const int fits = text == words                           ? kWhole
                   : text.starts_with(words)               ? kBeginning
                   : has_words(text, words)                ? kWords
                   : text.find(words) != std::string::npos ? kInside
                                                           : kNoFit;
  return {fits, -std::ssize(text)};
}

Score fit(const PaletteEntry& entry, std::string_view words) {
  Score best = fit(entry.label, words);
  if (entry.kind == words) best = {kWhole - 2 * kOtherName, 0};
  for (const std::string& name : entry.names) {
    const auto [fits, length] = fit(name, words);
    best = std::max(best, {fits - kOtherName, length});
  }
  if (best.first < kElsewhere && has_words(lowered(entry.label + " " + entry.kind + " " + entry.also), words))
    best.first = kElsewhere;
  if (entry.kind == "glossary" || entry.kind == "guide") best.first -= kReference;
  return best;
}

}  // namespace

std::vector<PaletteEntry> palette_entries(const UiState& state, const Snapshot& snapshot,
                                          const std::vector<PlacedPicture>& pictures) {
  Entries entries;
  add_commands(entries, state);
  add_views(entries, pictures);
  add_view_commands(entries, state, pictures);
  add_options(entries, state, snapshot, pictures);
  add_files(entries, state);
  const auto has_run = [](const PlacedPicture& placed) { return placed.context.run != nullptr; };
  if (const auto any = std::ranges::find_if(pictures, has_run); any != pictures.end()) {
    add_head_edits(entries, any->context);
    add_heads_by_metric(entries, any->context, pictures);
  }
  add_places(entries, snapshot);
  return entries;
}

void perform(PaletteEntry entry, std::vector<Action>& actions, Menu& opens) {
  actions.emplace_back(ShowDialog{Dialog::none});
  std::ranges::move(entry.acts, std::back_inserter(actions));
  opens = entry.opens;
}

std::vector<PaletteEntry> palette_matches(std::vector<PaletteEntry> entries, std::string_view letters) {
  if (letters.find_first_not_of(' ') == std::string_view::npos) return entries;
  const std::string words = lowered(letters);
  std::multimap<Score, PaletteEntry, std::greater<>> found;  // of equal scores, in their order
  for (PaletteEntry& entry : entries)
    if (const Score score = fit(entry, words); score.first > 0) found.emplace(score, std::move(entry));
  std::vector<PaletteEntry> matches;
  for (auto& [score, entry] : found) matches.push_back(std::move(entry));
  matches.push_back({.label = "Search the help for “" + std::string(letters) + "”",
                     .kind = "guide",
                     .acts = {ShowGuide{}, TypeInField{Field::help, Insert{std::string(letters), false}}}});
  return matches;
}

const std::vector<PaletteEntry>& found_entries(WidgetState& widgets, const UiState& state,
                                               const Snapshot& snapshot,
                                               const std::vector<PlacedPicture>& pictures) {
  if (!widgets.found)
    widgets.found = std::make_shared<const std::vector<PaletteEntry>>(
        palette_matches(palette_entries(state, snapshot, pictures), state.palette.search.edit.text));
  return *widgets.found;
}

}  // namespace headscope::app
