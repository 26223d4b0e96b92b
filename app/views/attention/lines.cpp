#include <tuple>

#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"
#include "viz/charts/links.h"

namespace headscope::app {
namespace lines {

/// Roles of regions: a row (for arcs a column) for each position.
enum Role { kQueries, kKeys };
enum class Arrangement { columns, arcs };

constexpr std::size_t kMaxHeads = 14;      // with distinguishable colours
constexpr std::size_t kMaxLines = 2000;    // drawn lines: as many as can be drawn in a frame
constexpr std::size_t kMaxDashed = 600;    // the same if some have dashes, dozens each
constexpr std::size_t kMaxArcs = 600;      // the same for arcs
constexpr std::size_t kMaxOfToken = 2000;  // under the mouse
constexpr std::size_t kMaxRows = 100'000;  // limit of the table: a tenth of what a spreadsheet can hold
constexpr int kMaxWeights = 6 << 20;       // limit for all patterns together, to fit the memory for answers

const Option<std::vector<int>> kLineHeads =
    list_option("line-heads", "Heads", "heads to draw lines for, as LAYER.HEAD", "", "chosen",
                {.heads = true, .kept = false});
const Option<Arrangement> kArrangement = choice_option<Arrangement>(
    "arrangement", "Tokens", "vV", "two columns of tokens, or one row with arcs from each query to its keys",
    {{"columns", "Columns", "Queries on the left, keys on the right"},
     {"arcs", "Arcs", "A directed graph: arcs lead from queries to keys, loops to themselves",
      "drawn as arcs"}});
const Option<double> kThreshold =
    number_option("threshold", "From", "tT", "smallest weight drawn as a line", "weights of at least {}",
                  0.02, 0, 1, {0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5});
const Option<bool> kUniform =
    switch_option("uniform", "Uniform", "uU",
                  "also draw uniform attention: each query gives each of its n keys a weight of 1/n",
                  "with uniform attention");
const Option<bool> kPinned =
    switch_option("pinned", "Selected only", "pP", "only lines from the chosen query or to the chosen key",
                  "only lines from the query or to the key", false, {.kept = false});

/// A source of lines: a head of the model, or the uniform average if requested.
struct Source {
  std::string name;
  viz::Color color;
  int dashes = 0;
  std::shared_ptr<const Pattern> pattern;  ///< for the uniform average: the pattern whose mask it uses
  bool uniform = false;
  float sign = 1;  ///< sign of the differences drawn: 1, or -1 for decreases
  int keys = pattern->keys();

  /// The weight of a key up to `end_of`; 0 if it is masked.
  float weight(int query, int key) const {
    if (!uniform) return sign * pattern->values[static_cast<std::ptrdiff_t>(query) * keys + key];
    return pattern->masked(query, key) ? 0 : 1.F / static_cast<float>(pattern->masked.count_of(query));
  }
};

/// The maximum number of heads: limited by colours, and by memory for patterns of this length.
std::size_t most_heads(const ViewContext& c) {
  const int length = c.run->run->length(), keys = key_count(*c.run);
  const std::size_t colors = c.side == Side::difference ? kMaxHeads / 2 : kMaxHeads;
  return std::min<std::size_t>(colors, static_cast<std::size_t>(std::max(1, kMaxWeights / (length * keys))));
}

/// The heads of the option: those that the model has, and the names of the others.
struct LineHeads {
  std::vector<PatternOf> present;
  std::vector<std::string> missing;
};
LineHeads line_heads(const ViewContext& c) {
  const model::Config& config = c.run->run->config;
  LineHeads heads;
  for (const int number : c.options[kLineHeads]) {
    const auto [layer, head] = head_of_number(number);
    if (layer < config.n_layer && head < config.n_head) {
      heads.present.push_back({layer, head});
    } else {
      heads.missing.push_back(head_name(layer, head));
    }
  }
  return heads;
}

std::vector<PatternOf> shown_heads(const ViewContext& c) {
  std::vector<PatternOf> heads = line_heads(c).present;
  if (heads.size() > most_heads(c)) heads.resize(most_heads(c));
  if (heads.empty()) heads.push_back({c.selection.layer, c.selection.head});
  return heads;
}

std::string names_of_shown_heads(const ViewContext& c) {
  std::string names;
  for (const PatternOf& head : shown_heads(c))
    names += (names.empty() ? "" : ", ") + head_name(head.layer, head.head);
  return names;
}

/// Which heads of the option are not drawn, and why; empty: all are.
std::string missing_heads_words(const ViewContext& c) {
  const LineHeads heads = line_heads(c);
  std::string words;
  for (const std::string& name : heads.missing) words += (words.empty() ? "no head " : ", ") + name;
  if (heads.present.size() <= most_heads(c)) return words;
  return words + (words.empty() ? "" : "; ") + "the first " + std::to_string(most_heads(c)) + " of " +
         std::to_string(heads.present.size()) + " heads";
}

/// The seven colours of a chart, then the same ones blended with the text colour.
viz::Color color_of(const ViewContext& c, std::size_t index) {
  const viz::Color color = viz::categorical(*c.theme, static_cast<int>(index));
  return index < kMaxHeads / 2 ? color : viz::blended(color, c.theme->text.with_alpha(130));
}

/// Nothing while a pattern is missing; `missing` is then the question.
std::vector<Source> sources_of(const ViewContext& c, std::optional<Question>* missing = nullptr) {
  std::vector<Source> sources;
  bool all = true;
  for (const PatternOf& head : shown_heads(c)) {
    const auto pattern = c.ask(head);
    if (!pattern && missing && all) *missing = head;
    all &= pattern != nullptr;
    if (!pattern) continue;
    const auto add = [&](const char* suffix, float sign) {
      sources.push_back({head_name(head.layer, head.head) + suffix, color_of(c, sources.size()),
                         static_cast<int>(sources.size()), pattern, false, sign});
    };
    const bool difference = c.side == Side::difference;
    add(difference ? " more" : "", 1);
    if (difference) add(" less", -1);
  }
  if (!all) return {};
  if (c.options[kUniform] && c.side != Side::difference)
    sources.push_back({"uniform 1/n", c.theme->text_muted, 0, sources.front().pattern, true});
  return sources;
}

bool draws_arcs(const ViewContext& c) {
  return c.options[kArrangement] == Arrangement::arcs;
}

/// The strongest weights that pass a threshold, lightest first, and how many there are.
class StrongestLinks {
 public:
  StrongestLinks(float threshold, std::size_t most) : threshold_(threshold), cut_(threshold), most_(most) {}

  void add(const viz::Link& link) {
    if (!(link.weight >= threshold_) || link.weight <= 0) return;
    ++passed_;
    if (link.weight < cut_) return;
    links_.push_back(link);
    if (links_.size() >= 2 * most_) shorten();
  }
  std::vector<viz::Link> take() {
    if (links_.size() > most_) shorten();
    std::ranges::stable_sort(links_, {}, &viz::Link::weight);
    return std::move(links_);
  }
  std::size_t passed() const { return passed_; }

 private:
  void shorten() {
    const auto end = links_.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(links_.begin(), end, links_.end(),
                     [](const viz::Link& a, const viz::Link& b) { return a.weight > b.weight; });
    links_.erase(end, links_.end());
    cut_ = std::max(cut_, std::ranges::min_element(links_, {}, &viz::Link::weight)->weight);
  }

  float threshold_, cut_;
  std::size_t most_, passed_ = 0;
  std::vector<viz::Link> links_;
};

void add_query(StrongestLinks& strongest, const std::vector<Source>& sources, int query) {
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const int end = sources[s].pattern->masked.end_of(query);
    for (int key = 0; key < end; ++key)
      strongest.add({query, key, static_cast<int>(s), sources[s].weight(query, key)});
  }
}
void add_key(StrongestLinks& strongest, const std::vector<Source>& sources, int key, int length,
             int without_query = -1) {
  for (std::size_t s = 0; s < sources.size(); ++s)
    for (int query = sources[s].pattern->masked.causal() ? key : 0; query < length; ++query)
      if (query != without_query)
        strongest.add({query, key, static_cast<int>(s), sources[s].weight(query, key)});
}

struct LinkSelection {
  std::vector<viz::Link> links;  ///< lightest first
  std::size_t passed = 0;        ///< weights from the threshold on, drawn or not
};

LinkSelection drawn_links(const ViewContext& c, const std::vector<Source>& sources, std::size_t most) {
  StrongestLinks strongest(static_cast<float>(c.options[kThreshold]), most);
  const int length = c.run->run->length();
  if (c.options[kPinned]) {
    add_query(strongest, sources, c.selection.query);
    if (c.selection.key >= 0) add_key(strongest, sources, c.selection.key, length, c.selection.query);
  } else {
    for (int query = 0; query < length; ++query) add_query(strongest, sources, query);
  }
  return {strongest.take(), strongest.passed()};
}

/// The largest drawn weight. Without edits it is 1: query 0 has a single key.
double largest_weight(const ViewContext& c, const std::vector<Source>& sources) {
  const bool causal =
      std::ranges::all_of(sources, [](const Source& s) { return s.pattern->masked.causal(); });
  if (causal && !c.options[kPinned] && c.side != Side::difference) return 1;
  const LinkSelection drawn = drawn_links(c, sources, 1);
  return drawn.links.empty() ? 1 : drawn.links.front().weight;
}

/// The chart without its lines: enough for the layout, and for drawing some of them.
viz::LinkChart frame_of(const ViewContext& c, const std::vector<Source>& sources) {
  viz::LinkChart chart;
  const bool arcs = draws_arcs(c);
  chart.arrangement = arcs ? viz::LinkChart::Arrangement::arcs : viz::LinkChart::Arrangement::columns;
  chart.from = token_axis(c, arcs ? "" : "query", c.theme->query, c.selection.query);
  chart.to = key_axis(c);
  if (c.options[kPinned] && c.selection.key < 0) chart.to.emphasised = strongest_key(c);
  chart.marked_from = c.selection.query;
  chart.marked_to = c.selection.key;
  for (const Source& source : sources) chart.series.push_back({source.name, source.color, source.dashes});
  chart.width_title = difference_prefix(c) + std::string("weight");
  chart.full = c.options[kValueMax] > 0 ? c.options[kValueMax] : largest_weight(c, sources);
  chart.centered = !c.trimmed;
  chart.from_role = kQueries;
  chart.to_role = kKeys;
  return chart;
}

viz::LinkChart chart_of(const ViewContext& c, const std::vector<Source>& sources) {
  viz::LinkChart chart = frame_of(c, sources);
  const bool dashed = std::ranges::any_of(sources, [](const Source& s) { return s.dashes > 0; });
  LinkSelection drawn = drawn_links(c, sources, draws_arcs(c) ? kMaxArcs : dashed ? kMaxDashed : kMaxLines);
  chart.links = std::move(drawn.links);
  const auto shown = static_cast<std::int64_t>(chart.links.size()),
             passed = static_cast<std::int64_t>(drawn.passed);
  const double threshold = c.options[kThreshold];
  const std::string least = threshold > 0 ? " of at least " + plain(threshold) : " above 0",
                    what = c.side == Side::difference ? " difference" : " weight";
  chart.note = shown < passed
                   ? "the " + grouped(shown) + " strongest of " + grouped(passed) + what + "s" + least
                   : grouped(passed) + what + (passed == 1 ? "" : "s") + least;
  if (const std::string left_out = missing_heads_words(c); !left_out.empty())
    chart.note = left_out + "; " + chart.note;
  return chart;
}

/// On the difference side: whether all weights are as in the baseline.
bool nothing_differs(const std::vector<Source>& sources) {
  return std::ranges::all_of(sources, [](const Source& source) {
    return viz::value_range(source.pattern->matrix()).magnitude() == 0;
  });
}

std::string subtitle_of(const ViewContext& c, const std::vector<Source>& sources) {
  if (c.side == Side::difference)
    return difference_words(c) +
           (nothing_differs(sources) ? kNoDifference : "; line width shows the difference");
  return draws_arcs(c) ? "arcs lead from queries to their keys" : "lines join queries and their keys";
}

/// Why arcs are not possible; empty: they are.
std::string arcs_problem(const ViewContext& c) {
  if (!draws_arcs(c) || has_own_keys(*c.run)) return "";
  return "arcs need keys from the same text as the queries; here the keys are other tokens";
}

Picture build(const ViewContext& c) {
  if (!c.run) {
    static_cast<void>(current_pattern(c));  // request it now, so that it arrives with the first run
    return *waiting(c);
  }
  if (const std::string words = arcs_problem(c); !words.empty()) return message(c, words);
  std::optional<Question> missing;
  const std::vector<Source> sources = sources_of(c, &missing);
  if (missing) return *waiting(c, *missing, false);
  const viz::Style style = style_of(c);
  const viz::LinkChart chart = chart_of(c, sources);
  const viz::LinkLayout layout = viz::lay_out_links(chart, below_title(c), style);
  if (!layout.fits) return too_small(c, "for the lines");
  Picture picture = blank(c);
  const std::vector<PatternOf> heads = shown_heads(c);
  paint_title(picture, c,
              "Attention of " +
                  (heads.size() == 1 ? head_title(c, heads.front().layer, heads.front().head)
                                     : std::to_string(heads.size()) + " heads") +
                  difference_suffix(c),
              subtitle_of(c, sources));
  viz::paint_links(picture, chart, layout, style);
  if (c.side == Side::difference && c.in_pane && nothing_differs(sources))
    paint_no_difference(picture, c, heads.front().layer, below_title(c));
  return picture;
}

/// The position under the mouse; `key`: whether it is in the keys' region.
struct Place {
  int position = 0;
  bool key = false;
};
Place place_of(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  return {draws_arcs(c) ? hit.col : hit.row, region.role == kKeys};
}

bool is_inside(const ViewContext& c, const Place& place) {
  return place.position < (place.key ? key_count(*c.run) : c.run->run->length());
}

/// A row for each weight above the threshold, the strongest first.
Table table(const ViewContext& c) {
  const std::vector<Source> sources = c.run ? sources_of(c) : std::vector<Source>();
  if (sources.empty()) return {};
  LinkSelection drawn = drawn_links(c, sources, kMaxRows);
  std::ranges::sort(drawn.links, [](const viz::Link& a, const viz::Link& b) {
    return std::tuple(-a.weight, a.series, a.from, a.to) < std::tuple(-b.weight, b.series, b.from, b.to);
  });
  Table result{"head",
               key_column("query"),
               note_column("query token"),
               key_column("key"),
               note_column("key token"),
               difference_column_prefix(c) + "weight"};
  result.ranked_by = result.columns.back().name;
  result.fact("weights", drawn.passed);  // of which there are at most kMaxRows rows
  for (const viz::Link& link : drawn.links) {
    const Source& source = sources[link.series];  // for differences its last word is the direction
    const std::size_t end = c.side == Side::difference ? source.name.rfind(' ') : std::string::npos;
    add_row(result, source.name.substr(0, end), link.from, c.run->tokens.labels[link.from], link.to,
            key_tokens(*c.run).labels[link.to], source.sign < 0 ? -link.weight : link.weight);
  }
  return result;
}

std::string refuse(const ViewContext& c) {
  const std::vector<std::string> missing = line_heads(c).missing;
  if (missing.empty()) return arcs_problem(c);
  const model::Config& config = c.run->run->config;
  return "there is no head " + missing.front() + ": the model has layers 0 to " +
         std::to_string(config.n_layer - 1) + " and heads 0 to " + std::to_string(config.n_head - 1) +
         "; see --" + std::string(kLineHeads.name);
}

/// A click pins a token, or unpins it.
ViewActions clicked(const ViewContext& c, const Place& place) {
  const bool pinned = c.options[kPinned];
  const auto pin = [](bool on) { return SetOption{&kPinned, on}; };
  if (place.key) {
    if (pinned && place.position == c.selection.key) return {SelectKey{-1}};
    if (!may_see(c, c.selection.query,
                 place.position))  // not visible to the selected query, but to the last one
      return {SelectQuery{c.run->run->length() - 1}, SelectKey{place.position}, pin(true)};
    return {SelectKey{place.position}, pin(true)};
  }
  if (pinned && place.position == c.selection.query) return {pin(false)};
  return {SelectQuery{place.position}, pin(true)};
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  if (gesture.kind == Gesture::Kind::click && hit) {
    Place place = place_of(c, picture, *hit);
    if (!is_inside(c, place)) return {};
    place.key |= gesture.modifiers.shift && has_own_keys(*c.run);
    return clicked(c, place);
  }
  Gesture along = gesture;  // the columns run downwards
  if (!draws_arcs(c) && gesture.key == Key::up) along.key = Key::left;
  if (!draws_arcs(c) && gesture.key == Key::down) along.key = Key::right;
  return keys_along_prompt(c, along);
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  constexpr std::size_t kNamed = 3;
  Facts facts;
  if (!c.run) return facts;
  const Place place = place_of(c, picture, hit);
  if (!is_inside(c, place)) return facts;
  const bool own_keys = has_own_keys(*c.run);
  if (own_keys || !place.key) facts.commands.push_back(choose_query(c, place.position));
  if (own_keys || place.key) add_choice_of_key(facts.commands, c, place.position, c.selection.query);
  if (c.options[kPinned]) facts.commands.push_back({"Show all lines", {SetOption{&kPinned, false}}});

  const std::vector<Source> sources = sources_of(c);
  if (sources.empty()) return facts;
  StrongestLinks strongest(static_cast<float>(c.options[kThreshold]), kMaxOfToken);
  if (place.key) {
    add_key(strongest, sources, place.position, c.run->run->length());
  } else {
    add_query(strongest, sources, place.position);
  }
  const std::vector<viz::Link> links = strongest.take();
  const viz::Style style = style_of(c);
  const viz::LinkChart chart = frame_of(c, sources);
  const viz::LinkLayout layout = viz::lay_out_links(chart, below_title(c), style);
  if (!layout.fits) return facts;
  // All other lines fade.
  facts.overlay.add(viz::FillRect{layout.drawing.inset(1), c.theme->surface.with_alpha(215)});
  viz::paint_link_lines(facts.overlay, chart, links, layout, style);

  const auto name = [&](bool key, int position) {
    return token_name(key ? key_tokens(*c.run) : c.run->tokens, position);
  };
  facts.say((place.key ? "key " : "query ") + name(place.key, place.position));
  for (std::size_t s = 0; s < sources.size(); ++s) {
    std::string words;
    std::size_t named = 0;
    for (auto link = links.rbegin(); link != links.rend() && named < kNamed; ++link) {
      if (link->series != static_cast<int>(s)) continue;
      words += (named++ > 0 ? ", "
                : place.key ? " from query "
                            : " to key ") +
               name(!place.key, place.key ? link->from : link->to) + " " +
               viz::number(static_cast<double>(link->weight), 3);
    }
    if (named == 0) words = " nothing at or above " + plain(c.options[kThreshold]);
    facts.say(sources[s].name + ":" + words, s == 0 ? Fact::Location::both : Fact::Location::tooltip);
  }
  return facts;
}

/// Large enough for every token's label.
viz::Point figure_size(const ViewContext& c) {
  constexpr float kMaxHeight = 3000;
  const viz::Style style = style_of(c);
  const float count = c.run ? static_cast<float>(std::max(c.run->run->length(), key_count(*c.run))) : 1;
  if (draws_arcs(c)) {
    const float width = std::min(count * 1.7F * style.small(), kMaxHeight);
    return {std::max(46 * c.font_size, width), std::max(32 * c.font_size, 0.4F * width)};
  }
  return {46 * c.font_size,
          std::clamp(count * 1.3F * style.small() + 12 * c.font_size, 26 * c.font_size, kMaxHeight)};
}

/// Adds the selected head to those that are drawn, or removes it.
ViewActions toggle_head(const ViewContext& c, int) {
  if (!c.run) return {};
  std::vector<int> heads = c.options[kLineHeads];
  const int chosen = head_number(c.selection.layer, c.selection.head);
  if (const auto found = std::ranges::find(heads, chosen); found != heads.end()) {
    heads.erase(found);
  } else if (heads.size() < most_heads(c)) {
    heads.push_back(chosen);
  } else {
    return {};
  }
  return {SetOption{&kLineHeads, std::move(heads)}};
}

/// Draws all heads of the selected layer, or only the selected one.
ViewActions whole_layer(const ViewContext& c, int) {
  if (!c.run) return {};
  std::vector<int> heads;
  for (int head = 0; head < c.run->run->config.n_head && heads.size() < most_heads(c); ++head)
    heads.push_back(head_number(c.selection.layer, head));
  if (heads == c.options[kLineHeads]) heads.clear();
  return {SetOption{&kLineHeads, std::move(heads)}};
}

}  // namespace lines

View lines_view() {
  using namespace lines;
  View view = make_view(
      Group::attention, "lines", "Lines",
      "a line for each query and key, as wide as its weight: tokens in two columns, or a graph of arcs",
      build, facts, table);
  view.options = {&kLineHeads, &kArrangement, &kThreshold, &kUniform, &kPinned, &kValueMax};
  view.commands = {
      {"h", "+ Head", "Add or remove the chosen head", toggle_head, "No more heads can be told apart."},
      {"lL", "Layer", "Draw all heads of the chosen layer, or only the chosen one", whole_layer}};
  view.on = on;
  view.figure_size = figure_size;
  view.refuse = refuse;
  view.shows_difference = true;
  view.needs = Capability::patterns;
  view.caption = {true, true, true};
  view.shown_heads = names_of_shown_heads;
  view.landmarks = {
      {"query", [](const ViewContext& c,
                   const Picture& p) { return around_position(p, kQueries, c.selection.query); }},
      {"key",
       [](const ViewContext& c, const Picture& p) { return around_position(p, kKeys, attended_key(c)); }},
      landmark("queries", kQueries),
      landmark("keys", kKeys)};
  return view;
}

}  // namespace headscope::app
