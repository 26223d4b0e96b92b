#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/continuations.h"
#include "app/run/analyses/next_token.h"
#include "app/run/tries.h"
#include "app/views/output/sampling_options.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/view.h"
#include "model/pass/statistics.h"
#include "model/tokens/sampling.h"
#include "viz/charts/token_tree.h"

namespace headscope::app {
namespace {

enum Role { kNode };  // Region::id: index of a node

const Option<int> kTexts{{.name = "texts",
                          .label = "Texts",
                          .help = "how many texts the model draws ahead",
                          .default_value = 3,
                          .low = 0,
                          .high = 16,
                          .keys = "yY"}};
const Option<int> kFirstRow{
    {.name = "tree-row",
     .label = "First line",
     .help = "first line of the tree that is shown (auto: so that the prompt's end is)",
     .default_value = -1,
     .default_name = "auto",
     .low = 0,
     .high = 1 << 16,
     .kept = false,
     .reset_on_prompt_change = true,
     .pane_only = true,
     .control = Control::none}};
const Option<double> kShift{
    {.name = "tree-shift",
     .label = "Shift",
     .help = "ems of the tree left of what is shown (auto: so that the prompt's end is)",
     .default_value = -1.0,
     .default_name = "auto",
     .low = 0,
     .high = 1e6,
     .kept = false,
     .reset_on_prompt_change = true,
     .pane_only = true,
     .control = Control::none}};

constexpr int kGuesses = 10;
constexpr std::size_t kMostNodes = 3000;  // what was tried longest ago does not show then
constexpr int kTokensInTip = 12;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Where a word of the tree comes from, what counts most first.
enum class Source { prompt, tried, drawn, guess };

struct Node {
  int id = 0;
  int parent = -1;
  double probability = kUnknown;  ///< that the model gave it, at temperature 1
  Source source = Source::guess;
};

/// All texts that begin like the prompt, and what may follow it.
struct Tree {
  std::vector<Node> nodes;  ///< parents before children, these by falling probability; the first is the root
  int root_tokens = 0;      ///< of the prompt that the root stands for
  int end = 0;              ///< node where the prompt ends
  int drawn = 0;            ///< texts
  bool full = false;        ///< nothing fits behind the prompt any more

  /// The tokens from the root on to a node.
  std::vector<int> way_to(int node) const {
    std::vector<int> ids;
    for (; node > 0; node = nodes[node].parent) ids.push_back(nodes[node].id);
    return {ids.rbegin(), ids.rend()};
  }
};

/// Adds texts to a tree's nodes.
class Planter {
 public:
  explicit Planter(std::vector<Node>& nodes) : nodes_(nodes) {}

  /// The child of a node with a token, which it gets where it has none; what is known of it is joined.
  int step(int from, int id, double probability, Source source) {
    const auto [at, is_new] = children_.try_emplace({from, id}, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({id, from, probability, source});
    Node& node = nodes_[at->second];
    node.source = std::min(node.source, source);
    if (std::isnan(node.probability)) node.probability = probability;
    return at->second;
  }

 private:
  std::vector<Node>& nodes_;
  std::map<std::pair<int, int>, int> children_;
};

/// In the order of the drawing: a text from its first token to its last, the most probable first.
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

/// The model's guesses at what follows the prompt; null while they are not known.
std::shared_ptr<const NextToken> guesses_of(const ViewContext& c) {
  return c.ask(NextAfter{-1});
}

Tree tree_of(const ViewContext& c, const NextToken& next, const Continuations* drawn) {
  const std::vector<int>& prompt = c.run->run->tokens;
  Tree tree;
  tree.full = std::ssize(prompt) >= c.run->run->config.n_ctx || c.run->tokens.length() > std::ssize(prompt);
  const std::vector<const Tried*> tries = c.tries ? tries_of(*c.tries, prompt) : std::vector<const Tried*>();
  tree.root_tokens = static_cast<int>(prompt.size());
  for (const Tried* tried : tries) tree.root_tokens = std::min(tree.root_tokens, tried->begun);
  tree.nodes.push_back(
      {prompt[static_cast<std::size_t>(tree.root_tokens) - 1], -1, kUnknown, Source::prompt});
  Planter planter(tree.nodes);
  const auto first = static_cast<std::size_t>(tree.root_tokens);
  for (std::size_t i = first; i < prompt.size(); ++i)
    tree.end = planter.step(tree.end, prompt[i], kUnknown, Source::prompt);
  for (auto it = tries.rbegin(); it != tries.rend() && tree.nodes.size() < kMostNodes; ++it) {
    const Tried* tried = *it;
    int at = 0;
    for (std::size_t i = first; i < tried->ids.size(); ++i) {
      const auto known = static_cast<std::ptrdiff_t>(i) - tried->begun;
      const double p = known >= 0 ? tried->probabilities[known] : kUnknown;
      at = planter.step(at, tried->ids[i], p, Source::tried);
    }
  }
  if (tree.full) return in_order(std::move(tree));
  std::vector<double> probabilities(next.logits.size());
  model::softmax(next.logits, 1, probabilities);
  for (const model::Guess& guess : model::largest_logits(next.logits, kGuesses))
    planter.step(tree.end, guess.id, probabilities[guess.id], Source::guess);
  if (drawn != nullptr) {
    for (const auto& text : drawn->texts) {
      int at = tree.end;
      for (const DrawnToken& token : text) at = planter.step(at, token.id, token.probability, Source::drawn);
    }
    tree.drawn = static_cast<int>(drawn->texts.size());
  }
  return in_order(std::move(tree));
}

std::optional<Tree> tree_of(const ViewContext& c) {
  const auto next = guesses_of(c);
  const auto drawn = c.options[kTexts] > 0 ? c.ask(question_of(c)) : nullptr;
  if (!c.run || !next) return std::nullopt;
  return tree_of(c, *next, drawn.get());
}

// ---- the drawing ----

/// The end of the prompt that the root stands for, as much of it as fits.
std::string root_label(const ViewContext& c, const Tree& tree, float room) {
  const viz::Style style = style_of(c);
  std::string words;
  for (int i = tree.root_tokens; i-- > 0;) {
    std::string longer = c.run->tokens.labels[i] + words;
    if (!words.empty() && style.width("…" + longer, style.font_size) > room) return "…" + words;
    words = std::move(longer);
  }
  return words;
}

float area_width(const ViewContext& c) {
  return below_title(c).w;
}

viz::TokenTree drawing_of(const ViewContext& c, const Tree& tree) {
  const viz::Theme& theme = *c.theme;
  viz::TokenTree drawing;
  drawing.role = kNode;
  drawing.widest = 12 * c.font_size;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    viz::TreeNode& n = drawing.nodes.emplace_back();
    n.parent = node.parent;
    n.label =
        i == 0 ? root_label(c, tree, std::min(drawing.widest, 0.3F * area_width(c))) : label_of(c, node.id);
    if (!std::isnan(node.probability)) n.number = percent(node.probability);
    n.text = theme.text;
    switch (node.source) {
      case Source::prompt:
        n.fill = n.line = theme.accent;
        n.text = theme.on_accent;
        break;
      case Source::tried:
        n.fill = theme.raised;
        n.outline = n.line = theme.text_muted;
        break;
      case Source::drawn:
        n.outline = n.line = theme.text_muted.with_alpha(150);
        break;
      case Source::guess:
        n.text = theme.text_muted;
        n.line = theme.text_muted.with_alpha(110);
        break;
    }
    n.line_width =
        1 + (std::isnan(node.probability) ? 0.5F : 2.5F * static_cast<float>(std::sqrt(node.probability)));
  }
  return drawing;
}

/// The tree in its place, scrolled.
struct Layout {
  viz::TokenTree drawing;
  viz::TreeLayout tree;
  viz::Rect area;
  int first = 0, rows = 0;        ///< lines that show
  double shift = 0, columns = 0;  ///< ems
  bool legend = false;
  viz::Point origin;
  bool fits(float em) const { return rows > 0 && area.w >= 12 * em; }
  double most_shift(float em) const { return std::max(0.0, static_cast<double>(tree.width / em) - columns); }
};

Layout lay_out(const ViewContext& c, const Tree& tree) {
  const viz::Style style = style_of(c);
  Layout l;
  l.drawing = drawing_of(c, tree);
  l.tree = viz::lay_out_tree(l.drawing, style);
  l.area = below_title(c);
  const float legend = style.line(style.small()) + 3 * style.unit();
  const float pitch = viz::tree_row_height(style), em = c.font_size;
  l.legend = l.area.h >= legend + 6 * pitch;
  if (l.legend) l.area.h -= legend;
  l.rows = std::clamp(static_cast<int>((l.area.h + 1) / pitch), 0, l.tree.row_count);
  l.columns = static_cast<double>(l.area.w / em);
  const viz::Rect end = l.tree.boxes[tree.end];
  const int row = l.tree.rows[tree.end];
  const bool whole = l.rows >= l.tree.row_count;
  const int wanted = c.options[kFirstRow] >= 0 ? c.options[kFirstRow] : row < l.rows ? 0 : row - l.rows / 4;
  l.first = whole ? 0 : std::clamp(wanted, 0, l.tree.row_count - l.rows);
  // What may follow is more interesting than what came before.
  const double to_end = static_cast<double>((end.right() - 0.4F * l.area.w) / em);
  l.shift = std::clamp(c.options[kShift] >= 0 ? c.options[kShift] : to_end, 0.0, l.most_shift(em));
  l.origin = {l.area.x - static_cast<float>(l.shift) * em, l.area.y - static_cast<float>(l.first) * pitch};
  return l;
}

void paint_legend(Picture& picture, const ViewContext& c, const Tree& tree, const Layout& l) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  float x = l.area.x;
  const float y = std::min(l.area.bottom(), l.area.y + l.tree.height) + 3 * u + line / 2;
  const auto entry = [&](const viz::TreeNode& node, const std::string& words) {
    const float width = style.width(words, style.small());
    if (x + 6 * u + width > l.area.right()) return;
    const viz::Rect box{x, y - 1.5F * u, 4 * u, 3 * u};
    if (node.fill.a > 0) picture.scene.add(viz::FillRect{box, node.fill, u});
    if (node.outline.a > 0) picture.scene.add(viz::StrokeRect{box.inset(0.5F), node.outline, 1, u});
    if (node.fill.a == 0 && node.outline.a == 0)
      picture.scene.add(viz::FillRect{{box.x, y - 0.5F, box.w, 1}, node.line});
    viz::add_label(picture.scene, style, words, {x + 6 * u, y}, style.small(), c.theme->text_muted);
    x += 10 * u + width;
  };
  const auto named = [&](Source source, const std::string& words) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
      if (tree.nodes[i].source == source) return entry(l.drawing.nodes[i], words);
  };
  const int seed = c.options[kSeed];
  named(Source::prompt, "prompt");
  named(Source::tried, "tried before");
  named(Source::drawn, tree.drawn > 1 ? "drawn with seeds " + std::to_string(seed) + " to " +
                                            std::to_string(seed + tree.drawn - 1)
                                      : "drawn with seed " + std::to_string(seed));
  named(Source::guess, "guess");
}

std::string subtitle_of(const ViewContext& c, const Tree& tree, const Layout& l) {
  if (tree.full) return "the context of " + grouped(c.run->run->config.n_ctx) + " tokens is full";
  std::string words = "probabilities at temperature 1";
  if (const std::string why = c.failure(question_of(c)); !why.empty()) words += "; " + why;
  if (l.rows < l.tree.row_count)
    words += ", lines " + std::to_string(l.first + 1) + " to " + std::to_string(l.first + l.rows) + " of " +
             std::to_string(l.tree.row_count);
  return words;
}

Picture build(const ViewContext& c) {
  const auto tree = tree_of(c);
  if (auto words = waiting(c, NextAfter{-1}, tree.has_value())) return *words;
  const std::string& faulty = guesses_of(c)->not_finite;
  if (!faulty.empty()) return message(c, "no next token can be drawn: the run has " + faulty);
  const Layout l = lay_out(c, *tree);
  if (!l.fits(c.font_size)) return too_small(c, "for the tree");
  Picture picture = blank(c);
  paint_title(picture, c, "Ways on from the prompt", subtitle_of(c, *tree, l));
  viz::paint_tree(
      picture, l.drawing, l.tree, l.origin,
      {l.area.x, l.area.y, l.area.w, static_cast<float>(l.rows) * viz::tree_row_height(style_of(c))},
      style_of(c));
  if (l.legend) paint_legend(picture, c, *tree, l);
  if (!c.in_pane && (l.rows < l.tree.row_count || l.tree.width > l.area.w)) picture.whole = false;
  return picture;
}

// ---- words and gestures ----

std::vector<int> ids_of(const ViewContext& c, const Tree& tree, int node) {
  const auto root = c.run->run->tokens.begin();
  std::vector<int> ids(root, root + tree.root_tokens);
  const std::vector<int> way = tree.way_to(node);
  ids.insert(ids.end(), way.begin(), way.end());
  return ids;
}

/// The prompt becomes the text that ends with a node.
ViewActions go_to(const ViewContext& c, const Tree& tree, int node) {
  if (node == tree.end || node >= std::ssize(tree.nodes)) return {};
  SetTokens to{ids_of(c, tree, node), {}, c.run};
  for (int i = node; i > 0; i = tree.nodes[i].parent)
    to.probabilities.insert(to.probabilities.begin(), tree.nodes[i].probability);
  return {to};
}

/// Left: a token less; right: the most probable one that follows; up and down: another one in its place.
ViewActions by_key(const ViewContext& c, Key key) {
  const auto tree = tree_of(c);
  if (!tree) return {};
  const std::vector<Node>& nodes = tree->nodes;
  const int from = tree->end, parent = nodes[from].parent;
  const auto siblings = [&](int of) {
    std::vector<int> children;
    for (std::size_t i = 1; i < nodes.size(); ++i)
      if (nodes[i].parent == of) children.push_back(static_cast<int>(i));
    return children;
  };
  if (key == Key::left && parent >= 0) return go_to(c, *tree, parent);
  if (key == Key::left && tree->root_tokens > 1 && c.run->tokens.length() == c.run->run->length()) {
    const auto& tokens = c.run->run->tokens;
    return {SetTokens{{tokens.begin(), tokens.begin() + tree->root_tokens - 1}, {}, c.run}};
  }
  if (key == Key::right) {
    const std::vector<int> children = siblings(from);
    return children.empty() ? ViewActions{} : go_to(c, *tree, children.front());
  }
  if ((key == Key::up || key == Key::down) && parent >= 0) {
    const std::vector<int> others = siblings(parent);
    const auto at = std::ranges::find(others, from) - others.begin() + (key == Key::down ? 1 : -1);
    if (at >= 0 && at < std::ssize(others)) return go_to(c, *tree, others[at]);
  }
  return {};
}

const char* name_of(Source source) {
  switch (source) {
    case Source::prompt:
      return "of the prompt";
    case Source::tried:
      return "tried before";
    case Source::drawn:
      return "drawn by the model";
    case Source::guess:
      return "a guess";
  }
  return "";
}

Table table(const ViewContext& c) {
  Table result;
  const auto tree = tree_of(c);
  if (!tree) return result;
  result.header = {"node", "parent", "position", "id", "token", "probability", "from"};
  std::vector<int> depth(tree->nodes.size(), tree->root_tokens - 1);
  for (std::size_t i = 0; i < tree->nodes.size(); ++i) {
    const Node& node = tree->nodes[i];
    if (node.parent >= 0) depth[i] = depth[node.parent] + 1;
    result.rows.push_back({std::to_string(i), node.parent < 0 ? "" : std::to_string(node.parent),
                           std::to_string(depth[i]), std::to_string(node.id), label_of(c, node.id),
                           std::isnan(node.probability) ? "" : plain(node.probability),
                           name_of(node.source)});
  }
  return result;
}

ViewActions to_row(double row) {
  return {
      SetOption{&kFirstRow, static_cast<int>(std::lround(std::clamp(row, kFirstRow.low, kFirstRow.high)))}};
}
ViewActions to_shift(double ems) {
  return {SetOption{&kShift, std::clamp(ems, kShift.low, kShift.high)}};
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture&) {
  const auto tree = tree_of(c);
  if (!tree) return {};
  const Layout l = lay_out(c, *tree);
  if (!l.fits(c.font_size)) return {};
  const float bar = kScrollBar * c.font_size;
  std::vector<Scroll> result;
  if (l.rows < l.tree.row_count)
    result.push_back({false,
                      {l.area.x, l.area.y, c.width - bar - l.area.x, l.area.h},
                      static_cast<double>(l.first),
                      static_cast<double>(l.rows),
                      static_cast<double>(l.tree.row_count),
                      to_row});
  if (l.most_shift(c.font_size) > 0)
    result.push_back({true,
                      {l.area.x, l.area.y, l.area.w, c.height - bar - l.area.y},
                      l.shift,
                      l.columns,
                      static_cast<double>(l.tree.width / c.font_size),
                      to_shift});
  return result;
}

ViewActions by_wheel(const ViewContext& c, const Gesture& gesture) {
  constexpr double kRows = 3, kEms = 4;
  const auto tree = tree_of(c);
  if (!tree) return {};
  const Layout l = lay_out(c, *tree);
  const double up = gesture.modifiers.shift ? 0 : static_cast<double>(gesture.by.y);
  const double left = static_cast<double>(gesture.modifiers.shift ? gesture.by.y : gesture.by.x);
  ViewActions actions;
  const int most = l.tree.row_count - l.rows;
  if (up != 0 && most > 0) actions = to_row(std::min<double>(most, l.first - kRows * up));
  if (left != 0 && l.most_shift(c.font_size) > 0)
    for (const ViewAction& action : to_shift(std::min(l.most_shift(c.font_size), l.shift - kEms * left)))
      actions.push_back(action);
  return actions;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  switch (gesture.kind) {
    case Gesture::Kind::key:
      if (gesture.key == Key::home || gesture.key == Key::end) return keys_along_prompt(c, gesture);
      return by_key(c, gesture.key);
    case Gesture::Kind::wheel:
      return by_wheel(c, gesture);
    case Gesture::Kind::click: {
      const auto tree = hit ? tree_of(c) : std::nullopt;
      if (!tree) return {};
      return go_to(c, *tree, region_of(picture, *hit).id);
    }
    default:
      return {};
  }
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto tree = tree_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!tree || region.id >= std::ssize(tree->nodes)) return facts;
  const Node& node = tree->nodes[region.id];
  facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1.5F, style_of(c).unit()});
  const std::vector<int> way = tree->way_to(region.id);
  const std::size_t left_out = way.size() - std::min<std::size_t>(way.size(), kTokensInTip);
  std::string text = left_out > 0 ? "…" : "";
  for (const int id : std::span(way).subspan(left_out)) text += label_of(c, id);
  facts.say("“" + label_of(c, node.id) + "”, " + name_of(node.source));
  if (!text.empty()) facts.say(text, Fact::In::tooltip);
  if (!std::isnan(node.probability)) facts.value("probability", plain(node.probability));
  if (const ViewActions actions = go_to(c, *tree, region.id); !actions.empty())
    facts.commands.push_back({"End the prompt here", actions});
  if (region.id != tree->end) facts.say("click: the prompt ends here", Fact::In::tooltip);
  facts.copy("the text up to here", c.run->model->tokenizer->decode(ids_of(c, *tree, region.id)));
  add_copies_of_token(facts, c, node.id);
  return facts;
}

viz::Point figure_size(const ViewContext& c) {
  constexpr float kMost = 4000;
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const auto tree = tree_of(c);
  if (!tree) return {c.width, c.height};
  const viz::TreeLayout layout = viz::lay_out_tree(drawing_of(c, *tree), style);
  return {std::min(kMost, std::max(40 * c.font_size, layout.width + 2 * area.x + 1)),
          std::min(kMost, area.y + std::max(layout.height, 6 * viz::tree_row_height(style)) +
                              style.line(style.small()) + 4 * style.unit() + margin(c))};
}

}  // namespace

View tree_view() {
  View view;
  view.id = "tree";
  view.title = "Tree";
  view.help = "the texts that were tried and those that may follow, word by word; a click goes there";
  view.group = Group::output;
  view.options = {&kTexts, &kAhead, &kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRow, &kShift};
  view.reads_tries = true;
  view.on = on;
  view.scrolls = scrolls;
  view.build = build;
  view.facts = facts;
  view.table = table;
  view.figure_size = figure_size;
  view.caption = {true, false, false};
  return view;
}

}  // namespace headscope::app
