#include <array>
#include <utility>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"
#include "viz/charts/token_tree.h"

namespace headscope::app::tree {

enum Role { kNode };  // Region::id: index of a node

const auto kTexts =
    number_option("texts", "Texts", "yY", "number of continuations the model samples", 3, 0, 16);
const auto kFirstRow = pane_option("tree-row", -1, 0, 1 << 24, true);
const auto kShift = pane_option("tree-shift", -1, 0, 1 << 24, true);  // the horizontal scroll position in ems

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
  std::vector<int> children = {};
};

/// All tried texts that begin like the prompt, and possible continuations.
struct Tree {
  std::vector<Node> nodes;  ///< parents before children; the first is the root
  int root_tokens = 0;      ///< number of the prompt's tokens in the root
  int end = 0;              ///< node where the prompt ends
  int drawn = 0;            ///< number of drawn texts
  bool full = false;        ///< the context is full

  /// The nodes from the root (excluded) to a node.
  std::vector<int> path_to(int node) const {
    std::vector<int> path;
    for (; node > 0; node = nodes[node].parent) path.push_back(node);
    return {path.rbegin(), path.rend()};
  }
};

/// Appends a node of a tree and all below it depth-first, for drawing: the most probable text first.
void append(Tree& to, const Tree& from, int node, int parent) {
  const int place = static_cast<int>(to.nodes.size());
  if (node == from.end) to.end = place;
  to.nodes.push_back(from.nodes[node]);
  to.nodes[place].parent = parent;
  if (parent >= 0) to.nodes[parent].children.push_back(place);
  std::vector<int> children = std::exchange(to.nodes[place].children, {});
  std::ranges::stable_sort(children, std::ranges::greater(), [&](int child) {
    const double p = from.nodes[child].probability;
    return std::isnan(p) ? -1 : p;
  });
  for (const int child : children) append(to, from, child, place);
}

Tree in_order(const Tree& tree) {
  Tree sorted = tree;
  sorted.nodes.clear();
  append(sorted, tree, 0, -1);
  return sorted;
}

Tree tree_of(const ViewContext& c, const NextToken& next, const Continuations* drawn) {
  const std::vector<int>& prompt = c.run->run->tokens;
  Tree tree;
  tree.full = std::ssize(prompt) >= c.config().n_ctx || c.run->tokens.length() > std::ssize(prompt);
  const std::vector<const TriedText*> tries =
      c.tries ? tries_of(*c.tries, prompt) : std::vector<const TriedText*>();
  tree.root_tokens = static_cast<int>(prompt.size());
  for (const TriedText* tried : tries) tree.root_tokens = std::min(tree.root_tokens, tried->start());
  tree.nodes.push_back(
      {prompt[static_cast<std::size_t>(tree.root_tokens) - 1], -1, kUnknown, Source::prompt});
  // A node's child with a token, added if missing; merges probability and source.
  const auto step = [&nodes = tree.nodes](int from, int id, double probability, Source source) {
    const auto known =
        std::ranges::find(nodes[from].children, id, [&nodes](int child) { return nodes[child].id; });
    const bool is_new = known == nodes[from].children.end();
    const int at = is_new ? static_cast<int>(nodes.size()) : *known;
    if (is_new) {
      nodes[from].children.push_back(at);
      nodes.push_back({id, from, probability, source});
    }
    nodes[at].source = std::min(nodes[at].source, source);
    if (std::isnan(nodes[at].probability)) nodes[at].probability = probability;
    return at;
  };
  const bool edited = !c.run->prompt.edits.empty();  // what was tried has the unedited model's probabilities
  const auto first = static_cast<std::size_t>(tree.root_tokens);
  for (std::size_t i = first; i < prompt.size(); ++i)
    tree.end = step(tree.end, prompt[i], kUnknown, Source::prompt);
  for (auto it = tries.rbegin(); it != tries.rend() && tree.nodes.size() < kMaxNodes; ++it) {
    const TriedText* tried = *it;
    int at = 0;
    for (std::size_t i = first; i < tried->ids.size(); ++i) {
      const auto known = static_cast<std::ptrdiff_t>(i) - tried->start();
      const double p = known >= 0 && !edited ? tried->probabilities[known] : kUnknown;
      at = step(at, tried->ids[i], p, Source::tried);
    }
  }
  if (tree.full) return tree;
  const std::vector<double> probabilities = model::softmax(next.logits, 1);
  for (const model::Guess& guess : model::largest_logits(next.logits, kGuesses))
    step(tree.end, guess.id, kUnknown, Source::guess);
  for (const int child : tree.nodes[tree.end].children)
    tree.nodes[child].probability = probabilities[tree.nodes[child].id];
  if (drawn != nullptr) {
    for (const auto& text : drawn->texts) {
      int at = tree.end;
      for (const DrawnToken& token : text) at = step(at, token.id, token.probability, Source::drawn);
    }
    tree.drawn = static_cast<int>(drawn->texts.size());
  }
  return tree;
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

float line_width(double probability) {
  return 1 + 2.5F * static_cast<float>(std::sqrt(probability));
}

viz::TokenTree drawing_of(const ViewContext& c, const Tree& tree, float width) {
  const viz::Theme& theme = *c.theme;
  viz::TokenTree drawing;
  drawing.role = kNode;
  drawing.widest = 24 * c.font_size;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto& [id, parent, probability, source, children] = tree.nodes[i];
    viz::TreeNode& n = drawing.nodes.emplace_back();
    n.parent = parent;
    n.label = i == 0 ? root_label(c, tree, std::min(drawing.widest, 0.3F * width)) : label_of(c, id);
    n.text = theme.text;
    if (source == Source::prompt) n.fill = n.line = theme.text, n.text = theme.surface;
    if (source == Source::tried) n.fill = theme.raised, n.outline = n.line = theme.text_muted;
    if (source == Source::drawn) n.outline = n.line = theme.text_muted.with_alpha(150);
    if (source == Source::guess) n.text = theme.text_muted, n.line = theme.text_muted.with_alpha(110);
    n.line_width = 1.5F;
    if (std::isnan(probability)) continue;
    n.number = percent(probability);
    n.line_width = line_width(probability);
  }
  return drawing;
}

/// The tree, which scrolls in both directions.
class TreeBox final : public RoleBox {
 public:
  explicit TreeBox(const Tree& tree) : RoleBox(kNode), tree_(tree) {
    for (int i = 1; i < std::ssize(tree.nodes); ++i)  // depth-first: a first child goes on with its line
      row_count_ += tree.nodes[i].parent != i - 1 ? 1 : 0;
  }

  Wish height(const ViewContext& c, float) const override {
    const float row = viz::tree_row_height(style_of(c)), all = row * static_cast<float>(row_count_);
    return {std::min(all, 3 * row), all, all};
  }

  bool place(const ViewContext& c, viz::Rect area) override {
    const viz::Style style = style_of(c);
    const float pitch = viz::tree_row_height(style), em = c.font_size;
    drawing_ = drawing_of(c, tree_, area.w);
    drawing_.only_whole = c.printed;
    layout_ = viz::lay_out_tree(drawing_, style);
    area_ = area;
    const int shown = std::clamp(static_cast<int>((area.h + 1) / pitch), 0, row_count_);
    const int row = layout_.rows[tree_.end], first = row < shown ? 0 : row - shown / 4;
    lines_ = {&kFirstRow, std::min(first, row_count_ - shown), shown, row_count_, area};
    lines_ = lines_.with(c.options);
    // Continuations are more interesting than earlier tokens.
    const float to_end = (layout_.boxes[tree_.end].right() - 0.4F * area.w) / em;
    columns_ = {&kShift, 0,   static_cast<int>(area.w / em), static_cast<int>(std::ceil(layout_.width / em)),
                area,    true};
    columns_.first = std::clamp(static_cast<int>(to_end), 0, std::max(0, columns_.all - columns_.shown));
    columns_ = columns_.with(c.options);
    return shown > 0 && area.w >= 12 * em;
  }

  void paint(Picture& picture, const ViewContext& c) const override {
    const viz::Style style = style_of(c);
    const float pitch = viz::tree_row_height(style);
    viz::Rect area = area_;
    area.h = static_cast<float>(lines_.shown) * pitch;
    viz::paint_tree(picture, drawing_, layout_,
                    {area.x - static_cast<float>(columns_.first) * c.font_size,
                     area.y - static_cast<float>(lines_.first) * pitch},
                    area, style);
    if (!c.in_pane && (lines_.scrolls() || (columns_.scrolls() && !c.printed))) picture.whole = false;
  }

  std::string note() const override {
    const std::string fits = drawing_.only_whole && columns_.scrolls() ? "only the tokens that fit" : "";
    if (!lines_.scrolls()) return fits;
    return "lines " + std::to_string(lines_.first + 1) + " to " +
           std::to_string(lines_.first + lines_.shown) + " of " + std::to_string(lines_.all) +
           (fits.empty() ? "" : "; " + fits);
  }

  std::optional<ViewActions> on(const ViewContext&, const Spot*, const Gesture& gesture) const override {
    if (gesture.kind != Gesture::Kind::wheel) return std::nullopt;
    ViewActions actions = lines_.by_wheel(gesture);
    std::ranges::move(columns_.by_wheel(gesture), std::back_inserter(actions));
    return actions;
  }

  void add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c, const Picture&) const override {
    const float bar = kScrollBar * c.font_size;
    std::ranges::move(lines_.bars(c.width - bar), std::back_inserter(scrolls));
    TableRows columns = columns_;
    columns.place.h = c.height - bar - area_.y;
    std::ranges::move(columns.bars(area_.right()), std::back_inserter(scrolls));
  }

 private:
  Ref ref_of(const viz::Region& node, int, int) const override {
    return {.token = tree_.nodes[node.id].id, .other = node.id};
  }

  const Tree& tree_;
  int row_count_ = 1;
  viz::TokenTree drawing_;
  viz::TreeLayout layout_;
  TableRows lines_, columns_;  ///< columns are ems
};

/// How the origins of tokens look, and how thick lines are.
std::vector<Swatch> legend_of(const ViewContext& c, const Tree& tree) {
  const int seed = c.options[kSeed];
  const viz::Theme& theme = *c.theme;
  const std::string seeds =
      tree.drawn > 1 ? "seeds " + std::to_string(seed) + " to " + std::to_string(seed + tree.drawn - 1)
                     : "seed " + std::to_string(seed);
  const std::pair<Source, Swatch> sources[] = {
      {Source::prompt, {.words = "prompt", .fill = theme.text}},
      {Source::tried, {.words = "tried before", .fill = theme.raised, .outline = theme.text_muted}},
      {Source::drawn, {.words = "sampled with " + seeds, .outline = theme.text_muted}},
      {Source::guess, {.words = "guess", .fill = theme.text_muted.with_alpha(110), .line = 1}}};
  std::vector<Swatch> looks;
  for (const auto& [source, look] : sources)
    if (std::ranges::count(tree.nodes, source, &Node::source) > 0) looks.push_back(look);
  for (const int p : {1, 25, 100})
    looks.push_back({.words = (p == 1 ? "probability " : "") + std::to_string(p) + " %",
                     .fill = theme.text_muted,
                     .line = line_width(p / 100.0)});
  return looks;
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
ViewActions by_key(const ViewContext& c, const Tree& tree, Key key) {
  const std::vector<Node>& nodes = tree.nodes;
  const int from = tree.end, parent = nodes[from].parent;
  if (key == Key::left && parent >= 0) return go_to(c, tree, parent);
  if (key == Key::left && tree.root_tokens > 1 && c.run->tokens.length() == c.run->run->length()) {
    const auto& tokens = c.run->run->tokens;
    return {SetTokens{{tokens.begin(), tokens.begin() + tree.root_tokens - 1}, {}, c.run}};
  }
  const bool across = (key == Key::up || key == Key::down) && parent >= 0;
  if (key != Key::right && !across) return {};
  const std::vector<int>& nearby = nodes[across ? parent : from].children;
  const auto at = across ? std::ranges::find(nearby, from) - nearby.begin() + (key == Key::down ? 1 : -1) : 0;
  return at >= 0 && at < std::ssize(nearby) ? go_to(c, tree, nearby[at]) : ViewActions{};
}

const char* words_of(Source source) {
  constexpr std::array kWords{"from the prompt", "tried before", "sampled by the model", "prediction"};
  return kWords[static_cast<std::size_t>(source)];
}

Table table(const ViewContext& c, const Tree& tree) {
  Table result{key_column("node"),   key_column("parent"), key_column("position"), note_column("id"),
               note_column("token"), "probability",        note_column("from")};
  for (int i = 0; i < std::ssize(tree.nodes); ++i) {
    const auto& [id, parent, probability, source, children] = tree.nodes[i];
    add_row(result, i, parent < 0 ? no_number() : parent, tree.root_tokens - 1 + std::ssize(tree.path_to(i)),
            id, label_of(c, id), std::isnan(probability) ? no_number() : probability, words_of(source));
  }
  return result;
}

void say_node(Facts& facts, const ViewContext& c, const Tree& tree, int node) {
  const std::vector<int> path = tree.path_to(node);
  const std::size_t left_out = path.size() - std::min<std::size_t>(path.size(), kTokensInTip);
  std::string text = left_out > 0 ? "…" : "";
  for (const int i : std::span(path).subspan(left_out)) text += label_of(c, tree.nodes[i].id);
  facts.say(words_of(tree.nodes[node].source));
  facts.tip(text);
  if (const double p = tree.nodes[node].probability; !std::isnan(p)) facts.number("probability", p);
  if (const ViewActions actions = go_to(c, tree, node); !actions.empty()) {
    facts.commands.push_back({"End the prompt here", actions});
    facts.tip("click to end the prompt here");
  }
  facts.copy("the text up to here", c.run->model->tokenizer->decode(ids_of(c, tree, node)));
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const ContinuationsOf question{c.options[kTexts], c.options[kAhead], c.options[kTemperature],
                                 c.options[kTopK],  c.options[kTopP],  seed_of(c.options)};
  const auto drawn = c.options[kTexts] > 0 ? c.ask(question) : nullptr;
  const auto next = it.need(NextAfter{-1});
  if (!next) return;
  if (!next->not_finite.empty()) {
    it.message = "cannot sample a next token: " + next->not_finite;
    return;
  }
  const Tree& tree = it.keep(in_order(tree_of(c, *next, drawn.get())));
  it.title = "Possible continuations";
  const bool scaled = tree.drawn > 0 && question.temperature != 1;
  it.subtitle = tree.full ? "context full"
                : scaled  ? "sampled at temperature " + to_text(kTemperature, question.temperature) +
                               "; probability at temperature 1"
                         : "probability; temperature 1";
  if (const std::string why = c.failure(question); !tree.full && !why.empty()) it.subtitle += "; " + why;
  it.table = [&] { return table(c, tree); };
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_node(facts, c, tree, ref.other); };
  it.choose = [&](const ViewContext& now, const Ref& ref) { return go_to(now, tree, ref.other); };
  it.on = [&](const ViewContext& now, const Spot*, const Gesture& gesture) {
    const bool moves =
        gesture.kind == Gesture::Kind::key && gesture.key != Key::home && gesture.key != Key::end;
    return moves ? std::optional(by_key(now, tree, gesture.key)) : std::nullopt;
  };
  it.body = rows(boxes(std::make_unique<TreeBox>(tree), swatches(legend_of(c, tree))));
}

View view() {
  View view = make_view("tree", "Tree", declare,
                        "continuations already tried and possible ones, token by token; click to go there");
  view.options = {&kTexts, &kAhead, &kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRow, &kShift};
  view.reads_tries = true;
  view.caption.query = false;
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option == &kTexts || c.options[kTexts] > 0;
  };
  view.landmarks = {{"tree", kNode}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::tree
