#include <tuple>

#include "app/views/parts/parts.h"
#include "viz/charts/links.h"
#include "viz/scene/dashes.h"

namespace headscope::app::lines {

/// Roles of regions: a row (for arcs a column) for each position.
enum Role { kQueries, kKeys };
using Arrangement = viz::LinkChart::Arrangement;

constexpr std::size_t kMaxHeads = 14;      // with distinguishable colours
constexpr std::size_t kMaxLines = 2000;    // drawn lines: as many as can be drawn in a frame
constexpr std::size_t kMaxCostly = 600;    // the same of arcs, and if some have dashes, dozens each
constexpr std::size_t kMaxRows = 100'000;  // limit of the table: a tenth of what a spreadsheet can hold
constexpr int kMaxWeights = 6 << 20;       // limit for all patterns together, to fit the memory for answers

const Option<std::vector<int>> kLineHeads =
    list_option("line-heads", "Heads", "heads to draw lines for, as LAYER.HEAD", "chosen",
                {.heads = true, .kept = false});
const Option<Arrangement> kArrangement = choice_option<Arrangement>(
    "arrangement", "Tokens", "vV", "two columns of tokens, or one row with arcs from each query to its keys",
    {{"columns", "Columns", "Queries on the left, keys on the right"},
     {"arcs", "Arcs", "A directed graph: arcs lead from queries to keys, loops to themselves"}});
const Option<double> kThreshold =
    number_option("threshold", "From", "tT", "smallest weight drawn as a line", 0.02, 0, 1,
                  {.steps = {0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}});
const Option<bool> kAllQueries =
    switch_option("all-queries", "All queries", "pP",
                  "lines from all queries, not only from the selected one and to "
                  "the selected key",
                  false, {.kept = false});

/// A source of lines.
struct Source {
  std::string heads;  ///< its name, or that of several together
  std::string name;   ///< the same, on the difference side with the direction
  viz::Color color;
  int dashes = 0;
  std::shared_ptr<const Pattern> pattern;
  float sign = 1;  ///< of the differences drawn: 1, or -1 for decreases

  /// 0: masked.
  float weight(int query, int key) const { return sign * pattern->matrix().at(query, key); }
};

/// The maximum number of heads: limited by colours, and by memory for patterns of this length.
std::size_t most_heads(const ViewContext& c) {
  const int length = c.run->run->length(), keys = key_count(*c.run);
  const std::size_t colors = c.differs() ? kMaxHeads / 2 : kMaxHeads;
  return std::min<std::size_t>(colors, static_cast<std::size_t>(std::max(1, kMaxWeights / (length * keys))));
}

bool has_head(const ViewContext& c, int number) {
  const auto [layer, head] = head_of_number(number);
  return layer < c.config().n_layer && head < c.config().n_head;
}

/// The heads of the option that the model has, as many as are drawn; else the chosen one.
std::vector<PatternOf> shown_heads(const ViewContext& c) {
  std::vector<PatternOf> heads;
  for (const int number : c.options[kLineHeads])
    if (has_head(c, number) && heads.size() < most_heads(c))
      heads.push_back({head_of_number(number).first, head_of_number(number).second});
  if (heads.empty()) heads.push_back({c.selection.layer, c.selection.head});
  return heads;
}

std::string names_of_shown_heads(const ViewContext& c) {
  if (c.options[kOfHeads] != Heads::one) return name_of_heads(c);
  std::string names;
  for (const PatternOf& head : shown_heads(c))
    names += (names.empty() ? "" : ", ") + head_name(head.layer, head.head);
  return names;
}

/// The seven colours of a chart, then the same ones blended with the text colour.
viz::Color color_of(const ViewContext& c, std::size_t index) {
  const viz::Color color = viz::categorical(*c.theme, static_cast<int>(index));
  return index < kMaxHeads / 2 ? color : viz::blended(color, c.theme->text.with_alpha(130));
}

/// Nothing while a pattern is missing; the content says why.
std::vector<Source> sources_of(Content& it) {
  const ViewContext& c = it.c;
  const bool several = c.options[kOfHeads] != Heads::one;
  const PatternOf chosen{c.selection.layer, c.selection.head};
  std::vector<Source> sources;
  bool all = true;
  for (const PatternOf& head : c.run && !several ? shown_heads(c) : std::vector{chosen}) {
    const auto pattern = several ? need_of_heads(it, head) : it.need(head);
    const std::string name = several ? name_of_heads(c) : head_name(head.layer, head.head);
    all &= pattern != nullptr;
    const auto add = [&](const char* direction, float sign) {
      sources.push_back({name, name + direction, color_of(c, sources.size()),
                         static_cast<int>(sources.size()), pattern, sign});
    };
    if (all) add(c.differs() ? " more" : "", 1);
    if (all && c.differs()) add(" less", -1);
  }
  return all ? sources : std::vector<Source>();
}

/// The strongest weights from the threshold on, lightest first.
struct StrongestLinks {
  std::vector<viz::Link> links;
  std::size_t passed = 0;  ///< how many pass the threshold, drawn or not
};

/// At most `most`, from a query and to a key, or if neither is named, of all.
StrongestLinks strongest_links(const ViewContext& c, const std::vector<Source>& sources, const Ref& of,
                               std::size_t most) {
  const auto threshold = static_cast<float>(c.options[kThreshold]);
  StrongestLinks found;
  const auto shorten = [&] {
    if (found.links.size() <= most) return;
    const auto end = found.links.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(found.links, end, std::greater<>(), &viz::Link::weight);
    found.links.erase(end, found.links.end());
  };
  for (int s = 0; s < static_cast<int>(sources.size()); ++s)
    for (int query = 0; query < c.run->run->length(); ++query)
      for (int key = 0; key < sources[s].pattern->masked.end_of(query); ++key) {
        const float weight = sources[s].weight(query, key);
        const bool meant = of == Ref() || query == of.query || key == of.key;
        if (!meant || !(weight >= threshold) || weight <= 0) continue;
        ++found.passed;
        found.links.push_back({query, key, s, weight});
        if (found.links.size() >= 2 * most) shorten();
      }
  shorten();
  std::ranges::stable_sort(found.links, {}, &viz::Link::weight);
  return found;
}

/// What the lines are from and to; neither: all queries.
Ref shown_place(const ViewContext& c) {
  return c.options[kAllQueries] ? Ref{} : Ref{.query = c.selection.query, .key = c.selection.key};
}

bool draws_arcs(const ViewContext& c) {
  return c.options[kArrangement] == Arrangement::arcs;
}

/// The number of lines, and what is not drawn.
std::string note_of(const ViewContext& c, const StrongestLinks& drawn) {
  const double threshold = c.options[kThreshold];
  const auto passed = static_cast<std::int64_t>(drawn.passed), shown = std::ssize(drawn.links);
  std::string words;
  if (const std::size_t wanted = c.options[kLineHeads].size(), most = most_heads(c); wanted > most)
    words = "the first " + std::to_string(most) + " of " + std::to_string(wanted) + " heads; ";
  if (shown < passed) words += "the " + grouped(shown) + " strongest of ";
  return words + counted(passed, c.differs() ? "difference" : "weight") +
         (threshold > 0 ? " of at least " + plain(threshold) : " above 0");
}

viz::LinkChart chart_of(const ViewContext& c, const std::vector<Source>& sources,
                        std::vector<viz::Link> links) {
  viz::LinkChart chart;
  const bool arcs = draws_arcs(c);
  chart.arrangement = c.options[kArrangement];
  chart.from = token_axis(c, arcs ? "" : "query", c.theme->query, c.selection.query);
  chart.to = key_axis(c);
  if (!c.options[kAllQueries] && c.selection.key < 0) chart.to.emphasised = strongest_key(c);
  chart.marked_from = c.selection.query, chart.marked_to = c.selection.key;
  for (const Source& source : sources) chart.series.push_back({source.color, source.dashes});
  chart.links = std::move(links);
  const float largest = chart.links.empty() ? 1 : chart.links.back().weight;
  chart.full =
      c.options[kValueMax] > 0 ? c.options[kValueMax] : viz::round_limit(static_cast<double>(largest));
  chart.from_role = kQueries, chart.to_role = kKeys;
  return chart;
}

/// A click selects a token; one on the selected query draws the lines of all queries, or again its own.
ViewActions clicked(const ViewContext& c, int position, bool is_key) {
  const auto all = [](bool on) { return SetOption{&kAllQueries, on}; };
  if (!is_key && position == c.selection.query) return {all(!c.options[kAllQueries])};
  if (!is_key) return {SelectQuery{position}, all(false)};
  if (!c.options[kAllQueries] && position == c.selection.key) return {SelectKey{-1}};
  if (may_see(c, c.selection.query, position)) return {SelectKey{position}, all(false)};
  // The last query sees it.
  return {SelectQuery{c.run->run->length() - 1}, SelectKey{position}, all(false)};
}

/// The chart; the lines of the token under the mouse stand out.
class Lines final : public Box {
 public:
  Lines(const ViewContext& c, const std::vector<Source>& sources, std::vector<viz::Link> links)
      : c_(c), sources_(sources), chart_(chart_of(c, sources, std::move(links))) {}

  /// The note, and lines of some weights. Where all are thin, only their shades tell the weights.
  std::vector<Swatch> words(const ViewContext& c, const std::string& note) const {
    const viz::Color color = sources_.size() == 1 ? sources_.front().color : c.theme->text;
    const auto stroke = [&](double part) {
      return viz::stroke_of(chart_, layout_, part * chart_.full, color, style_of(c));
    };
    const bool by_shade = stroke(1).width < style_of(c).unit() / 2;
    std::vector<Swatch> all{{note},
                            {difference_prefix(c) + std::string(by_shade ? "weight (shade)" : "weight")}};
    for (const double part : {0.25, 0.5, 1.0})
      all.push_back({.words = viz::number(part * chart_.full, 2),
                     .fill = stroke(part).color,
                     .line = by_shade ? 0 : stroke(part).width});
    return all;
  }

  Wish height(const ViewContext& c, float width) const override {
    const float em = c.font_size, line = 1.3F * style_of(c).small();
    const auto tokens = static_cast<float>(std::max(chart_.from.labels.size(), chart_.to.labels.size()));
    const float good =
        is_row() ? std::min(width, tokens * 7 * em) / 2 + 7 * em : std::min(tokens * line + 3 * em, 3000.F);
    return {9 * em, std::max(good, 9 * em), std::max(good, is_row() ? 12 * em : tokens * 2.6F * em)};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    chart_.centered = !c.trimmed;
    layout_ = viz::lay_out_links(chart_, area, style_of(c));
    return layout_.fits;
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    viz::paint_links(picture, chart_, layout_, style_of(c));
  }
  std::optional<Ref> ref_at(const Spot& at) const override {
    const int position = is_row() ? at.hit.col : at.hit.row;
    return at.region.role == kKeys ? Ref{.key = position} : Ref{.query = position};
  }
  /// All other lines fade.
  void frame(viz::Scene& scene, const ViewContext& c, const Picture&, const Ref& ref) const override {
    scene.add(viz::FillRect{layout_.drawing.inset(1), c.theme->surface.with_alpha(215)});
    viz::paint_link_lines(scene, chart_, links_at(ref), layout_, style_of(c));
  }
  void add_facts(Facts& facts, const ViewContext& c, const Spot& at) const override {
    constexpr std::size_t kNamed = 3;
    const Ref ref = *ref_at(at);
    const std::vector<viz::Link> links = links_at(ref);
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      std::string words;
      std::size_t named = 0;
      for (auto link = links.rbegin(); link != links.rend() && named < kNamed; ++link)
        if (link->series == static_cast<int>(s))
          words += (named++ > 0 ? ", " : "") +
                   (ref.query >= 0 ? token_name(key_tokens(*c.run), link->to)
                                   : token_name(c.run->tokens, link->from)) +
                   " " + viz::number(static_cast<double>(link->weight), 3);
      const char* end = ref.query >= 0 ? "to key " : "from query ";
      words = named > 0 ? end + words : "nothing at or above " + plain(c_.options[kThreshold]);
      facts.say(sources_[s].name + ": " + words, s == 0 ? Fact::Location::both : Fact::Location::tooltip);
    }
  }
  std::optional<ViewActions> on(const ViewContext& c, const Spot* at, const Gesture& gesture) const override {
    if (gesture.kind == Gesture::Kind::click && at) {
      const Ref ref = *ref_at(*at);
      const bool is_key = ref.key >= 0 || (gesture.modifiers.shift && has_own_keys(*c.run));
      return clicked(c, std::max(ref.query, ref.key), is_key);
    }
    Gesture along = gesture;  // the columns run downwards
    if (!is_row() && gesture.key == Key::up) along.key = Key::left;
    if (!is_row() && gesture.key == Key::down) along.key = Key::right;
    return keys_along_prompt(c, along);
  }

 private:
  bool is_row() const { return chart_.arrangement == Arrangement::arcs; }
  std::vector<viz::Link> links_at(const Ref& ref) const {
    return strongest_links(c_, sources_, ref, kMaxLines).links;
  }

  const ViewContext& c_;
  const std::vector<Source>& sources_;
  viz::LinkChart chart_;
  viz::LinkLayout layout_;
};

/// A row for each weight above the threshold, the strongest first.
Table table(const ViewContext& c, const std::vector<Source>& sources) {
  StrongestLinks drawn = strongest_links(c, sources, shown_place(c), kMaxRows);
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
    const Source& source = sources[link.series];
    add_row(result, source.heads, link.from, c.run->tokens.labels[link.from], link.to,
            key_tokens(*c.run).labels[link.to], source.sign < 0 ? -link.weight : link.weight);
  }
  return result;
}

/// Why arcs are not possible; empty: they are.
std::string arcs_problem(const ViewContext& c) {
  if (!draws_arcs(c) || has_own_keys(*c.run)) return "";
  return "arcs need keys from the same text as the queries; here the keys are other tokens";
}

std::string refuse(const ViewContext& c) {
  const model::Config& config = c.config();
  for (const int number : c.options[kLineHeads])
    if (const auto [layer, head] = head_of_number(number); !has_head(c, number))
      return "there is no head " + head_name(layer, head) + ": the model has " +
             counted(config.n_layer, "layer") + " of " + counted(config.n_head, "head") + "; see --" +
             std::string(kLineHeads.name);
  return arcs_problem(c);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const std::vector<Source>& sources = it.keep(sources_of(it));
  if (sources.empty()) return;
  if (it.message = arcs_problem(c); !it.message.empty()) return;
  const std::vector<PatternOf> heads = shown_heads(c);
  it.title = "Attention of " + (c.options[kOfHeads] != Heads::one ? name_of_heads(c)
                                : heads.size() == 1 ? head_title(c, heads.front().layer, heads.front().head)
                                                    : std::to_string(heads.size()) + " heads");
  if (!c.options[kAllQueries]) {
    it.subtitle = "from query " + token_name(c.run->tokens, c.selection.query);
    if (c.selection.key >= 0) it.subtitle += " and to key " + token_name(key_tokens(*c.run), c.selection.key);
  }
  it.table = [&] { return table(c, sources); };
  it.same = std::ranges::all_of(sources, [](const Source& source) {
    return viz::value_range(source.pattern->matrix()).magnitude() == 0;
  });
  const bool costly = draws_arcs(c) || sources.size() > 1;
  StrongestLinks drawn = strongest_links(c, sources, shown_place(c), costly ? kMaxCostly : kMaxLines);
  const std::string& note = it.keep(note_of(c, drawn));
  auto lines = std::make_unique<Lines>(c, sources, std::move(drawn.links));
  const auto names = [&sources](const ViewContext& page) {
    std::vector<Swatch> all;
    for (const Source& source : sources)
      all.push_back({.words = source.name,
                     .fill = source.color,
                     .line = 2,
                     .dashes = viz::dashes_of(source.dashes, style_of(page).unit())});
    return all;
  };
  const auto words = [&note, &box = *lines](const ViewContext& page) { return box.words(page, note); };
  it.body = rows(boxes(may_be_left_out(swatches(names), "the heads"), std::move(lines),
                       may_be_left_out(swatches(words), "the scale", 2)));
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
  for (int head = 0; head < c.config().n_head && heads.size() < most_heads(c); ++head)
    heads.push_back(head_number(c.selection.layer, head));
  if (heads == c.options[kLineHeads]) heads.clear();
  return {SetOption{&kLineHeads, std::move(heads)}};
}

View view() {
  View view = make_view(
      "lines", "Lines", declare,
      "a line for each query and key, as wide as its weight: tokens in two columns, or a graph of arcs");
  view.options = {&kLineHeads, &kOfHeads, &kArrangement, &kThreshold, &kAllQueries, &kValueMax};
  view.commands = {
      {"h", "+ Head", "Add or remove the chosen head", toggle_head},
      {"lL", "Layer", "Draw all heads of the chosen layer, or only the chosen one", whole_layer}};
  view.refuse = refuse;
  view.needs = Capability::patterns;
  view.caption.head = true;
  view.shown_heads = names_of_shown_heads;
  view.landmarks = {{.name = "query", .role = kQueries, .position = selected_query},
                    {.name = "key", .role = kKeys, .position = attended_key},
                    {"queries", kQueries},
                    {"keys", kKeys}};
  return view;
}

}  // namespace headscope::app::lines
