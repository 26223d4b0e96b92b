#include <array>
#include <map>

#include "app/run/tries.h"
#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"
#include "viz/charts/token_tree.h"

namespace headscope::app {
namespace tree {

enum Role { kNode };  // Region::id: index of a node

const auto kTexts = make_option<int>(
    "texts", "Texts", "number of continuations the model samples",
    {.phrase = "{sampled continuation}", .default_value = 3, .low = 0, .high = 16, .keys = "yY"});
const auto kFirstRow = first_row_option("tree-row", true, -1);
const auto kShift = pane_option("tree-shift", -1.0, 0.0, 1e6, true);  // the horizontal scroll position in ems

constexpr int kGuesses = 10;
constexpr std::size_t kMaxNodes = 3000;  // beyond that the oldest tries are left out
constexpr int kTokensInTip = 12;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The origin of a token in the tree, the most important first.
enum class Source { prompt, tried, drawn, guess };

struct Node {
  int id = 0;
  int parent = -1;
  double probability = kUnknown;  ///< the model's, at temperature 1
  Source source = Source::guess;
};

/// All tried texts that begin like the prompt, and possible continuations.
struct Tree {
  /// Parents before children, these by descending probability; the first is the root.
  std::vector<Node> nodes;
  int root_tokens = 0;  ///< number of the prompt's tokens in the root
  int end = 0;          ///< node where the prompt ends
  int drawn = 0;        ///< number of drawn texts
  bool full = false;    ///< the context is full

  /// The nodes from the root (excluded) to a node.
  std::vector<int> path_to(int node) const {
    std::vector<int> path;
    for (; node > 0; node = nodes[node].parent) path.push_back(node);
    return {path.rbegin(), path.rend()};
  }
};

/// Adds texts to a tree's nodes.
struct TreeBuilder {
  std::vector<Node>& nodes;
  std::map<std::pair<int, int>, int> children = {};  ///< (node, token) -> child

  /// A node's child with a token, added if missing; merges probability and source.
  int step(int from, int id, double probability, Source source) {
    const auto [at, is_new] = children.try_emplace({from, id}, static_cast<int>(nodes.size()));
    if (is_new) nodes.push_back({id, from, probability, source});
    Node& node = nodes[at->second];
    node.source = std::min(node.source, source);
    if (std::isnan(node.probability)) node.probability = probability;
    return at->second;
  }
};

/// Sorts depth-first, for drawing: the most probable text first.
Tree in_order(Tree tree) {
  std::vector<std::vector<int>> children(tree.nodes.size());
  for (std::size_t i = 1; i < tree.nodes.size(); ++i)
    children[tree.nodes[i].parent].push_back(static_cast<int>(i));
  const auto probability = [&](int i) {
    const double p = tree.nodes[i].probability;
    return std::isnan(p) ? -1 : p;
  };
  for (auto& of : children) std::ranges::stable_sort(of, std::ranges::greater{}, probability);
  std::vector<int> place(tree.nodes.size());
  std::vector<Node> nodes;
  for (std::vector<int> next{0}; !next.empty();) {
    const int i = next.back();
    next.pop_back();
    place[i] = static_cast<int>(nodes.size());
    nodes.push_back(tree.nodes[i]);
    int& parent = nodes.back().parent;
    if (parent >= 0) parent = place[parent];
    const auto& of = children[i];
    next.insert(next.end(), of.rbegin(), of.rend());
  }
  tree.nodes = std::move(nodes);
  tree.end = place[tree.end];
  return tree;
}

ContinuationsOf question_of(const ViewContext& c) {
  return continuations_of(c.options, c.options[kTexts]);
}

Tree tree_of(const ViewContext& c, const NextToken& next, const Continuations* drawn) {
  const std::vector<int>& prompt = c.run->run->tokens;
  Tree tree;
  tree.full = std::ssize(prompt) >= c.run->run->config.n_ctx || c.run->tokens.length() > std::ssize(prompt);
  const std::vector<const TriedText*> tries =
      c.tries ? tries_of(*c.tries, prompt) : std::vector<const TriedText*>();
  tree.root_tokens = static_cast<int>(prompt.size());
  for (const TriedText* tried : tries) tree.root_tokens = std::min(tree.root_tokens, tried->start);
  tree.nodes.push_back(
      {prompt[static_cast<std::size_t>(tree.root_tokens) - 1], -1, kUnknown, Source::prompt});
  TreeBuilder builder{tree.nodes};
  const auto first = static_cast<std::size_t>(tree.root_tokens);
  for (std::size_t i = first; i < prompt.size(); ++i)
    tree.end = builder.step(tree.end, prompt[i], kUnknown, Source::prompt);
  for (auto it = tries.rbegin(); it != tries.rend() && tree.nodes.size() < kMaxNodes; ++it) {
    const TriedText* tried = *it;
    int at = 0;
    for (std::size_t i = first; i < tried->ids.size(); ++i) {
      const auto known = static_cast<std::ptrdiff_t>(i) - tried->start;
      const double p = known >= 0 ? tried->probabilities[known] : kUnknown;
      at = builder.step(at, tried->ids[i], p, Source::tried);
    }
  }
  if (tree.full) return in_order(std::move(tree));
  std::vector<double> probabilities(next.logits.size());
  model::softmax(next.logits, 1, probabilities);
  for (const model::Guess& guess : model::largest_logits(next.logits, kGuesses))
    builder.step(tree.end, guess.id, probabilities[guess.id], Source::guess);
  if (drawn != nullptr) {
    for (const auto& text : drawn->texts) {
      int at = tree.end;
      for (const DrawnToken& token : text) at = builder.step(at, token.id, token.probability, Source::drawn);
    }
    tree.drawn = static_cast<int>(drawn->texts.size());
  }
  return in_order(std::move(tree));
}

std::optional<Tree> tree_of(const ViewContext& c) {
  const auto next = c.ask(NextAfter{-1});
  const auto drawn = c.options[kTexts] > 0 ? c.ask(question_of(c)) : nullptr;
  if (!c.run || !next) return std::nullopt;
  return tree_of(c, *next, drawn.get());
}

/// The end of the root's text, as much as fits; cut before a space if there is one.
std::string root_label(const ViewContext& c, const Tree& tree, float room) {
  const viz::Style style = style_of(c);
  std::string words, whole_words;
  for (int i = tree.root_tokens; i-- > 0;) {
    std::string longer = c.run->tokens.labels[i] + words;
    if (!words.empty() && style.width("…" + longer, style.font_size) > room)
      return "…" + (whole_words.empty() ? words : whole_words);
    words = std::move(longer);
    if (words.starts_with("·")) whole_words = words;
  }
  return words;
}

/// Width of the line to a token of this probability.
float line_width(double probability) {
  return 1 + (std::isnan(probability) ? 0.5F : 2.5F * static_cast<float>(std::sqrt(probability)));
}

viz::TokenTree drawing_of(const ViewContext& c, const Tree& tree) {
  const viz::Theme& theme = *c.theme;
  viz::TokenTree drawing;
  drawing.role = kNode;
  drawing.widest = 24 * c.font_size;
  const float root_room = std::min(drawing.widest, 0.3F * below_title(c).w);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    viz::TreeNode& n = drawing.nodes.emplace_back();
    n.parent = node.parent;
    n.label = i == 0 ? root_label(c, tree, root_room) : label_of(c, node.id);
    if (!std::isnan(node.probability)) n.number = percent(node.probability);
    n.text = theme.text;
    if (node.source == Source::prompt) n.fill = n.line = theme.text, n.text = theme.surface;
    if (node.source == Source::tried) n.fill = theme.raised, n.outline = n.line = theme.text_muted;
    if (node.source == Source::drawn) n.outline = n.line = theme.text_muted.with_alpha(150);
    if (node.source == Source::guess) n.text = theme.text_muted, n.line = theme.text_muted.with_alpha(110);
    n.line_width = line_width(node.probability);
  }
  return drawing;
}

/// A word's look, or the width of the line to it, and what it stands for.
struct LegendEntry {
  viz::TreeNode sample;
  bool is_line = false;
  std::string words;
  viz::Point at = {};  ///< left end and middle, relative to the legend's corner

  float width(const viz::Style& style) const { return 10 * style.unit() + style.width(words, style.small()); }
};

/// The legend's entries, on as many lines as the width needs.
std::vector<LegendEntry> legend_of(const ViewContext& c, const Tree& tree, const viz::TokenTree& drawing,
                                   float width) {
  const viz::Style style = style_of(c);
  std::vector<LegendEntry> entries;
  const auto name = [&](Source source, std::string words) {
    const auto found = std::ranges::find(tree.nodes, source, &Node::source);
    if (found == tree.nodes.end()) return;
    const viz::TreeNode& sample = drawing.nodes[static_cast<std::size_t>(found - tree.nodes.begin())];
    const bool is_bare = sample.fill.a == 0 && sample.outline.a == 0;
    entries.push_back({sample, is_bare, std::move(words)});
    entries.back().sample.line_width = 1;
  };
  const int seed = c.options[kSeed];
  const std::string first = std::to_string(seed), last = std::to_string(seed + tree.drawn - 1);
  name(Source::prompt, "prompt");
  name(Source::tried, "tried before");
  name(Source::drawn,
       tree.drawn > 1 ? "sampled with seeds " + first + " to " + last : "sampled with seed " + first);
  name(Source::guess, "guess");
  if (!std::ranges::all_of(tree.nodes, [](const Node& node) { return std::isnan(node.probability); }))
    for (const double probability : {0.01, 0.25, 1.0}) {
      LegendEntry& entry = entries.emplace_back();
      entry.is_line = true;
      entry.sample.line = c.theme->text_muted, entry.sample.line_width = line_width(probability);
      entry.words = (probability == 0.01 ? "probability " : "") + viz::number(100 * probability, 3) + " %";
    }
  viz::Point at;
  for (LegendEntry& entry : entries) {
    const float own = entry.width(style);
    if (at.x > 0 && at.x + own - 4 * style.unit() > width) at = {0, at.y + style.line(style.small())};
    entry.at = at;
    at.x += own;
  }
  return entries;
}

float legend_height(const std::vector<LegendEntry>& entries, const viz::Style& style) {
  return (entries.empty() ? 0 : entries.back().at.y) + style.line(style.small()) + 3 * style.unit();
}

/// The placed and scrolled tree.
struct Layout {
  viz::TokenTree drawing;
  viz::TreeLayout tree;
  viz::Rect area;
  TableRows lines;
  double shift = 0, columns = 0;    ///< ems
  std::vector<LegendEntry> legend;  ///< empty: no room
  viz::Point origin;
  bool fits(float em) const { return lines.shown > 0 && area.w >= 12 * em; }
  double most_shift(float em) const { return std::max(0.0, static_cast<double>(tree.width / em) - columns); }
};

/// The number of a node's ancestors.
std::vector<int> depths_of(const Tree& tree) {
  std::vector<int> depths;
  for (const Node& node : tree.nodes) depths.push_back(node.parent < 0 ? 0 : depths[node.parent] + 1);
  return depths;
}

/// The tree without nodes deeper than `most`.
Tree pruned(const Tree& tree, int most) {
  const std::vector<int> depths = depths_of(tree);
  Tree result = tree;
  result.nodes.clear();
  std::vector<int> place(tree.nodes.size(), -1);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (depths[i] > most) continue;
    place[i] = static_cast<int>(result.nodes.size());
    result.nodes.push_back(tree.nodes[i]);
    int& parent = result.nodes.back().parent;
    if (parent >= 0) parent = place[parent];
  }
  result.end = place[tree.end];
  return result;
}

/// For a printed figure, which does not scroll, the tree with as many tokens of each text as fit its width;
/// none if the prompt's end does not.
std::optional<Tree> fitted(const ViewContext& c, const Tree& tree) {
  if (!c.printed) return std::nullopt;
  const viz::Style style = style_of(c);
  const std::vector<int> depths = depths_of(tree);
  const int deepest = *std::ranges::max_element(depths), least = depths[tree.end] + 1;
  const auto fits = [&](const Tree& part) {
    return viz::lay_out_tree(drawing_of(c, part), style).width <= below_title(c).w;
  };
  if (fits(tree)) return std::nullopt;
  for (int depth = deepest - 1; depth >= least; --depth)
    if (Tree part = pruned(tree, depth); fits(part)) return part;
  return std::nullopt;
}

Layout lay_out(const ViewContext& c, const Tree& tree) {
  const viz::Style style = style_of(c);
  Layout l;
  l.drawing = drawing_of(c, tree);
  l.tree = viz::lay_out_tree(l.drawing, style);
  l.area = below_title(c);
  const float pitch = viz::tree_row_height(style), em = c.font_size;
  l.legend = legend_of(c, tree, l.drawing, l.area.w);
  if (const float legend = legend_height(l.legend, style); l.area.h >= legend + 6 * pitch)
    l.area.h -= legend;
  else
    l.legend.clear();
  const int all = l.tree.row_count, shown = std::clamp(static_cast<int>((l.area.h + 1) / pitch), 0, all);
  l.columns = static_cast<double>(l.area.w / em);
  const int row = l.tree.rows[tree.end];
  const int wanted = c.options[kFirstRow] >= 0 ? c.options[kFirstRow] : row < shown ? 0 : row - shown / 4;
  l.lines = {&kFirstRow, std::clamp(wanted, 0, all - shown), shown, all, l.area};
  // Continuations are more interesting than earlier tokens.
  const double to_end = static_cast<double>((l.tree.boxes[tree.end].right() - 0.4F * l.area.w) / em);
  l.shift = std::clamp(c.options[kShift] >= 0 ? c.options[kShift] : to_end, 0.0, l.most_shift(em));
  l.origin = {l.area.x - static_cast<float>(l.shift) * em,
              l.area.y - static_cast<float>(l.lines.first) * pitch};
  return l;
}

void paint_legend(Picture& picture, const ViewContext& c, const Layout& l) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  const float top = std::min(l.area.bottom(), l.area.y + l.tree.height) + 3 * u + line / 2;
  for (const LegendEntry& entry : l.legend) {
    const viz::TreeNode& sample = entry.sample;
    const float x = l.area.x + entry.at.x, y = top + entry.at.y;
    const viz::Rect box{x, y - 1.5F * u, 4 * u, 3 * u};
    if (entry.is_line) {
      picture.scene.add_line({box.x, y}, {box.right(), y}, sample.line, sample.line_width);
    } else {
      if (sample.fill.a > 0) picture.scene.add(viz::FillRect{box, sample.fill, u});
      if (sample.outline.a > 0) picture.scene.add(viz::StrokeRect{box.inset(0.5F), sample.outline, 1, u});
    }
    picture.whole &= viz::add_whole_label(picture.scene, style, entry.words, {x + 6 * u, y},
                                          l.area.right() - x - 6 * u, c.theme->text_muted);
  }
}

std::string subtitle_of(const ViewContext& c, const Tree& tree, const Layout& l, bool cut) {
  if (tree.full) return "the context of " + grouped(c.run->run->config.n_ctx) + " tokens is full";
  std::string words = "probabilities at temperature 1";
  if (const std::string why = c.failure(question_of(c)); !why.empty()) words += "; " + why;
  if (l.lines.scrolls())
    words += ", lines " + std::to_string(l.lines.first + 1) + " to " +
             std::to_string(l.lines.first + l.lines.shown) + " of " + std::to_string(l.lines.all);
  if (cut) words += "; only the tokens that fit";
  return words;
}

Picture build(const ViewContext& c) {
  auto tree = tree_of(c);
  if (auto words = waiting(c, NextAfter{-1}, tree.has_value())) return *words;
  const std::string& faulty = c.ask(NextAfter{-1})->not_finite;
  if (!faulty.empty()) return message(c, "cannot sample a next token: " + faulty);
  const auto part = fitted(c, *tree);
  if (part) tree = part;
  const Layout l = lay_out(c, *tree);
  if (!l.fits(c.font_size)) return too_small(c, "for the tree");
  Picture picture = blank(c);
  const viz::Style style = style_of(c);
  const float height = static_cast<float>(l.lines.shown) * viz::tree_row_height(style);
  paint_title(picture, c, "Possible continuations", subtitle_of(c, *tree, l, part.has_value()));
  viz::paint_tree(picture, l.drawing, l.tree, l.origin, {l.area.x, l.area.y, l.area.w, height}, style);
  paint_legend(picture, c, l);
  if (!c.in_pane && (l.lines.scrolls() || l.tree.width > l.area.w)) picture.whole = false;
  return picture;
}

/// The tokens from the prompt's first to a node's.
std::vector<int> ids_of(const ViewContext& c, const Tree& tree, int node) {
  const auto root = c.run->run->tokens.begin();
  std::vector<int> ids(root, root + tree.root_tokens);
  for (const int i : tree.path_to(node)) ids.push_back(tree.nodes[i].id);
  return ids;
}

/// Makes the text that ends with a node the prompt.
ViewActions go_to(const ViewContext& c, const Tree& tree, int node) {
  if (node == tree.end || node >= std::ssize(tree.nodes)) return {};
  SetTokens to{ids_of(c, tree, node), {}, c.run};
  for (const int i : tree.path_to(node)) to.probabilities.push_back(tree.nodes[i].probability);
  return {to};
}

/// Left: one token less; right: the most probable next token; up and down: another token in its place.
ViewActions by_key(const ViewContext& c, Key key) {
  const auto tree = tree_of(c);
  if (!tree) return {};
  const std::vector<Node>& nodes = tree->nodes;
  const int from = tree->end, parent = nodes[from].parent;
  const auto children_of = [&](int of) {
    std::vector<int> children;
    for (int i = 1; i < std::ssize(nodes); ++i)
      if (nodes[i].parent == of) children.push_back(i);
    return children;
  };
  if (key == Key::left && parent >= 0) return go_to(c, *tree, parent);
  if (key == Key::left && tree->root_tokens > 1 && c.run->tokens.length() == c.run->run->length()) {
    const auto& tokens = c.run->run->tokens;
    return {SetTokens{{tokens.begin(), tokens.begin() + tree->root_tokens - 1}, {}, c.run}};
  }
  const bool across = (key == Key::up || key == Key::down) && parent >= 0;
  if (key != Key::right && !across) return {};
  const std::vector<int> nearby = children_of(across ? parent : from);
  const auto at = across ? std::ranges::find(nearby, from) - nearby.begin() + (key == Key::down ? 1 : -1) : 0;
  return at >= 0 && at < std::ssize(nearby) ? go_to(c, *tree, nearby[at]) : ViewActions{};
}

const char* words_of(Source source) {
  constexpr std::array kWords{"from the prompt", "tried before", "sampled by the model", "prediction"};
  return kWords[static_cast<std::size_t>(source)];
}

Table table(const ViewContext& c) {
  const auto tree = tree_of(c);
  if (!tree) return {};
  Table result{key_column("node"),   key_column("parent"), key_column("position"), note_column("id"),
               note_column("token"), "probability",        note_column("from")};
  for (int i = 0; i < std::ssize(tree->nodes); ++i) {
    const Node& node = tree->nodes[i];
    const auto position = tree->root_tokens - 1 + std::ssize(tree->path_to(i));
    add_row(result, i, node.parent < 0 ? std::nullopt : std::optional(node.parent), position, node.id,
            label_of(c, node.id),
            std::isnan(node.probability) ? std::nullopt : std::optional(node.probability),
            words_of(node.source));
  }
  return result;
}

SetOption shifted_to(double ems) {
  return {&kShift, std::clamp(ems, kShift.low, kShift.high)};
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture&) {
  const auto tree = tree_of(c);
  if (!tree) return {};
  const Layout l = lay_out(c, *tree);
  if (!l.fits(c.font_size)) return {};
  const float bar = kScrollBar * c.font_size;
  std::vector<Scroll> result = l.lines.bars(c.width - bar);
  if (l.most_shift(c.font_size) > 0)
    result.push_back({true,
                      {l.area.x, l.area.y, l.area.w, c.height - bar - l.area.y},
                      l.shift,
                      l.columns,
                      static_cast<double>(l.tree.width / c.font_size),
                      [](double ems) -> ViewActions { return {shifted_to(ems)}; }});
  return result;
}

ViewActions on_wheel(const ViewContext& c, const Gesture& gesture) {
  constexpr double kRows = 3, kEms = 4;
  const auto tree = tree_of(c);
  if (!tree) return {};
  const Layout l = lay_out(c, *tree);
  const double up = gesture.modifiers.shift ? 0 : static_cast<double>(gesture.by.y);
  const double left = static_cast<double>(gesture.modifiers.shift ? gesture.by.y : gesture.by.x);
  const double most = l.most_shift(c.font_size);
  ViewActions actions;
  if (up != 0 && l.lines.all > l.lines.shown) actions.emplace_back(l.lines.from(l.lines.first - kRows * up));
  if (left != 0 && most > 0) actions.emplace_back(shifted_to(std::min(most, l.shift - kEms * left)));
  return actions;
}

std::optional<ViewActions> on_key(const ViewContext& c, const Gesture& gesture) {
  if (gesture.key == Key::home || gesture.key == Key::end) return std::nullopt;
  return by_key(c, gesture.key);
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto tree = tree_of(c);
  return tree ? go_to(c, *tree, region_of(picture, hit).id) : ViewActions{};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto tree = tree_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!tree || region.id >= std::ssize(tree->nodes)) return facts;
  const Node& node = tree->nodes[region.id];
  facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1.5F, style_of(c).unit()});
  const std::vector<int> path = tree->path_to(region.id);
  const std::size_t left_out = path.size() - std::min<std::size_t>(path.size(), kTokensInTip);
  std::string text = left_out > 0 ? "…" : "";
  for (const int i : std::span(path).subspan(left_out)) text += label_of(c, tree->nodes[i].id);
  facts.say("“" + label_of(c, node.id) + "”, " + words_of(node.source));
  if (!text.empty()) facts.say(text, Fact::Location::tooltip);
  if (!std::isnan(node.probability)) facts.value("probability", plain(node.probability));
  if (const ViewActions actions = go_to(c, *tree, region.id); !actions.empty())
    facts.commands.push_back({"End the prompt here", actions});
  if (region.id != tree->end) facts.say("click to end the prompt here", Fact::Location::tooltip);
  facts.copy("the text up to here", c.run->model->tokenizer->decode(ids_of(c, *tree, region.id)));
  add_copies_of_token(facts, c, node.id);
  return facts;
}

viz::Point figure_size(const ViewContext& c) {
  constexpr float kMax = 4000;
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const auto tree = tree_of(c);
  if (!tree) return {c.width, c.height};
  const viz::TokenTree drawing = drawing_of(c, *tree);
  const viz::TreeLayout layout = viz::lay_out_tree(drawing, style);
  const float wide = std::max(40 * c.font_size, layout.width + 2 * area.x + 1);
  const float legend =
      legend_height(legend_of(c, *tree, drawing, c.printed ? area.w : wide - 2 * area.x), style);
  return {std::min(kMax, wide),
          std::min(kMax, area.y + std::max(layout.height, 6 * viz::tree_row_height(style)) + legend +
                             style.unit() + margin(c))};
}

}  // namespace tree

View tree_view() {
  using namespace tree;
  View view = make_view(Group::output, "tree", "Tree",
                        "continuations already tried and possible ones, token by token; click to go there",
                        build, facts, table);
  view.options = {&kTexts, &kAhead, &kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRow, &kShift};
  view.reads_tries = true;
  add_gestures(view, click, on_key, on_wheel);
  view.scrolls = scrolls;
  view.figure_size = figure_size;
  view.caption = {true, false, false};
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option == &kTexts || c.options[kTexts] > 0;
  };
  view.landmarks = {landmark("tree", kNode)};
  return view;
}

}  // namespace headscope::app
