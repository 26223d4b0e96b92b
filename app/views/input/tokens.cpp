#include "app/views/input/token_merges.h"
#include "app/views/parts/parts.h"
#include "viz/text/utf8.h"

namespace headscope::app::tokens {

enum Role { kChip, kToken };  // Region::id: position; besides, token_merges::kStep

enum class Shown { list, text, merges };
const auto kShown = choice_option<Shown>(
    "tokens-show", "Show", "fF",
    "a list of the tokens, the text shaded by attention, or the merges that built them",
    {{"list", "List", "The tokens with their bytes, their probabilities and the query's attention"},
     {"text", "Text", "The text, each token shaded by the query's attention"},
     {"merges", "Merges", "How each token was built from its bytes"}});
/// -1: such that the query's chip is visible.
const auto kFirstLine = pane_option("first-line", -1, 0, 1 << 24, true);
/// The same of rows.
const auto kFirstToken = first_row_option("first-token", true, -1);
const ListRows kRows{.role = kToken, .first = kFirstToken, .names = "tokens", .cut_keeps_order = true};

struct Numbers {
  std::shared_ptr<const Pattern> pattern;  ///< null: none yet
  std::span<const float> weights;          ///< the query's on the tokens; empty if keys are other tokens
  double strongest = 1;                    ///< the weight of the strongest shade

  bool masked(const ViewContext& c, int key) const {
    return key >= std::ssize(weights) || pattern->masked(c.selection.query, key);
  }
};

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Pattern> pattern) {
  Numbers n;
  n.pattern = std::move(pattern);
  if (n.pattern == nullptr || !has_own_keys(*c.run)) return n;
  n.weights = weights_of_query(c, n.pattern.get());
  if (c.options[kValueMax] > 0)
    n.strongest = c.options[kValueMax];
  else if (c.side == Side::difference)  // as in the head's heatmap
    n.strongest =
        pattern_scale(c, n.pattern->matrix(), "", n.pattern->masked.causal(), common_range(c)).scale.high;
  return n;
}

/// A chip's colour for a weight, as a part of the strongest one, or for a difference; NaN as in heatmaps.
viz::Color shade_of(const ViewContext& c, double weight) {
  constexpr double kStrongest = 0.72;  // opacity of the key colour, so that text stays legible
  if (std::isnan(weight)) return viz::sequential(*c.theme, weight);
  const bool is_difference = c.side == Side::difference;
  const viz::Color full = is_difference ? viz::sign_color(*c.theme, weight) : c.theme->key;
  const double strength = std::clamp(is_difference ? std::abs(weight) : weight, 0.0, 1.0);
  const auto alpha = static_cast<std::uint8_t>(std::lround(255 * kStrongest * strength));
  return viz::blended(c.theme->raised, full.with_alpha(alpha));
}

void color_chip(viz::Chip& chip, const ViewContext& c, const Numbers& n, int i) {
  const viz::Theme& theme = *c.theme;
  chip.outline = {0, 0, 0, 0};
  chip.fill = n.masked(c, i) ? theme.raised : shade_of(c, static_cast<double>(n.weights[i]) / n.strongest);
  chip.text = text_on(c, chip.fill);
  if (i >= c.run->tokens.run_length)  // beyond what the model can take
    chip.fill = theme.surface, chip.text = theme.text_muted.with_alpha(150);
  if (other_token_words(c, i)) chip.underline = chip.text;
  if (i == c.selection.key && has_own_keys(*c.run))
    (i == c.selection.query ? chip.inner_outline : chip.outline) = theme.key;
}

/// Below the chips: what a pale, a middle and a strong one stand for.
BoxPtr scale_of(const ViewContext& c, const Numbers& n) {
  if (n.weights.empty()) return nullptr;
  std::string words = difference_prefix(c) + std::string("weight ");
  std::vector<Swatch> looks;
  const double low = c.side == Side::difference ? -1 : 0;
  for (const double part : {low, (low + 1) / 2, 1.0})
    looks.push_back({std::exchange(words, "") + viz::number(part * n.strongest, 3), shade_of(c, part)});
  return may_be_left_out(swatches(std::move(looks)), "the scale");
}

/// Of the shown run; null: not known.
std::shared_ptr<const Statistics> statistics_of(const ViewContext& c) {
  const Side shown = c.side == Side::difference ? Side::run : c.side;
  return c.run->model->tokenizer ? c.ask_on(shown, StatisticsOfTokens{}) : nullptr;
}

/// The prediction of a position's token from the tokens before it; null: not known, or the first position.
const model::PositionStatistics* guessed_before(const ViewContext& c, const Statistics* statistics,
                                                int position) {
  const bool known = statistics && position > 0 && position < c.run->tokens.run_length &&
                     position <= std::ssize(statistics->positions);
  return known ? &statistics->positions[position - 1] : nullptr;
}

std::string bytes_of(const ViewContext& c, int position) {
  const auto& tokenizer = c.run->model->tokenizer;  // null: patterns only
  return tokenizer ? bytes_as_hex(tokenizer->bytes(c.run->tokens.tokens[position].id)) : "";
}

/// The commands for a token besides choosing it, and copies of it.
void add_commands(Facts& facts, const ViewContext& c, int position) {
  const PromptTokens& tokens = c.run->tokens;
  if (position < tokens.run_length) {
    if (has_own_keys(*c.run)) add_choice_of_key(facts.commands, c, position, c.selection.query);
    add_position_edits(facts.commands, c, position);
  }
  add_copies_of_token(facts, c, tokens.tokens[position].id, tokens.labels[position]);
}

/// The characters of which a token has only some bytes; empty: none, or bytes that are no UTF-8.
std::string split_characters(std::string_view text, const model::Token& token) {
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t start = std::min(token.start, text.size()), end = std::min(token.end, text.size());
  if (!continues(start) && !continues(end)) return "";
  while (start > 0 && continues(start)) --start;
  while (continues(end)) ++end;
  const std::string_view whole = text.substr(start, end - start);
  for (std::size_t at = 0; at < whole.size();) {
    const viz::Decoded character = viz::decode_utf8(whole, at);
    if (!character.valid) return "";
    at += character.length;
  }
  return std::string(whole);
}

void say_weight(Facts& facts, const ViewContext& c, const Numbers& n, int position) {
  if (n.weights.empty()) return;
  const int chosen = c.selection.query;
  const std::string query = "query " + token_name(c.run->tokens, chosen);
  if (!n.masked(c, position))
    facts.number(difference_prefix(c) + ("weight from " + query) + " in " +
                     head_name(c.selection.layer, c.selection.head) +
                     (c.side == Side::difference ? "" : shown_run_words(c)) + ":",
                 n.weights[position]);
  else if (c.side == Side::difference && position <= chosen)
    facts.say("masked in both runs, or no matching token in the baseline", Fact::Location::tooltip);
  else
    facts.say((position > chosen ? "masked: comes after " : "masked by an edit for ") + query,
              Fact::Location::tooltip);
}

/// What is said of a token besides which one it is.
void add_facts(Facts& facts, const ViewContext& c, const Numbers& n, const Statistics* statistics,
               int position) {
  const PromptTokens& tokens = c.run->tokens;
  const model::Token& token = tokens.tokens[position];
  const auto tell = [&](const std::string& words) { facts.say(words, Fact::Location::tooltip); };
  const bool beyond = position >= tokens.run_length;
  if (beyond) facts.say("position " + token_name(tokens, position));
  if (const std::string bytes = bytes_of(c, position); !bytes.empty())
    facts.say("id " + std::to_string(token.id) + ", bytes " + bytes);
  if (const std::string whole = split_characters(c.run->prompt.text, token); !whole.empty())
    tell("a part of “" + whole + "”, which is split between tokens");
  if (c.side != Side::difference) tell(other_token_words(c, position).value_or(""));
  add_commands(facts, c, position);
  if (beyond) return tell("beyond the model's " + grouped(c.run->run->config.n_ctx) + " positions: not run");
  if (const auto* before = guessed_before(c, statistics, position)) {
    std::string words = "predicted with " + percent(before->next_probability) + shown_run_words(c);
    if (before->next_rank >= 0)  // else guesses have no order
      words += " (rank " + std::to_string(before->next_rank + 1) + " of " +
               grouped(c.run->run->config.vocab_size) + ")";
    tell(words);
  }
  say_weight(facts, c, n, position);
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const std::vector<model::Token>& tokens = c.run->tokens.tokens;
  const auto statistics = statistics_of(c);
  const auto before = [&c, statistics](int i) { return guessed_before(c, statistics.get(), i); };
  const auto unknown = [before](int i) { return before(i) == nullptr; };
  const viz::Color muted = c.theme->text_muted;
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(tokens.size()));
  list->refers_to = [&c](int i) { return i < c.run->tokens.run_length ? Ref{.query = i} : Ref(); };
  list->number("", 5, [](int i) { return i; },
               {.file = key_column("position"), .color = muted, .digits = 0, .tip = false});
  list->number("id", 4, [&tokens](int i) { return tokens[i].id; },
               {.file = note_column("id"), .digits = 0, .tip = false});
  list->text("token", 9, c.run->tokens.labels, {.file = note_column("token")});
  list->text("bytes", 1, [&c](int i) { return bytes_of(c, i); },
             {.file = note_column("bytes"), .color = muted});
  list->file(note_column("start"), [&tokens](int i) { return tokens[i].start; });
  list->file(note_column("end"), [&tokens](int i) { return tokens[i].end; });
  list->number("probability", 7, [before](int i) { return before(i) ? before(i)->next_probability : 0; },
               {.file = "probability", .scientific = 1e-4, .tip = false, .blank = unknown});
  list->number("rank", 3, [before](int i) { return before(i) ? rank_cell(before(i)->next_rank) : 0; },
               {.file = "rank", .digits = 0, .tip = false, .blank = unknown});
  const auto masked = [&](int i) { return n.masked(c, i); };
  list->bar(delta(c) + std::string("weight"), 8, [&, masked](int i) { return masked(i) ? 0 : n.weights[i]; },
            {.file = difference_column_prefix(c) + "weight", .axis = true, .tip = false, .blank = masked});
  list->row_facts = [&, statistics](Facts& facts, int i) { add_facts(facts, c, n, statistics.get(), i); };
  list->table.first_number = 0;
  list->table.marked = list->kept = c.selection.query;
  list->table.mark = c.theme->query;
  return list;
}

std::unique_ptr<ShadedPrompt> text_of(const ViewContext& c, const Numbers& n) {
  auto prompt = std::make_unique<ShadedPrompt>(c, kChip, std::span<const float>(), viz::ColorScale(), "");
  for (int i = 0; i < std::ssize(prompt->flow.chips); ++i) color_chip(prompt->flow.chips[i], c, n, i);
  prompt->chosen = c.selection.query;
  prompt->first_line = &kFirstLine;
  return prompt;
}

/// What list, text and strip have in common. Null: there is no run.
const Numbers* begin(Content& it) {
  auto pattern = current_pattern(it.c);  // asked for before there is a run, so that it arrives with it
  if (!it.c.run) return nullptr;
  const Numbers& n = it.keep(numbers_of(it.c, std::move(pattern)));
  it.title = "Tokens", it.says_difference = n.weights.empty();
  it.facts = [&](Facts& facts, const ViewContext& now, const Picture& picture, const viz::Hit& hit) {
    const viz::Region& region = region_of(picture, hit);
    if (now.run == it.c.run && region.role == kChip)
      add_facts(facts, now, n, statistics_of(now).get(), region.id);  // asked for at the mouse only
  };
  it.table = [&] {
    Table table = list_of(it.c, n)->exported();
    add_head_facts(table, it.c);
    add_query_facts(table, it.c);
    return table;
  };
  return &n;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (c.options[kShown] == Shown::merges) return token_merges::declare(it, kRows);
  const Numbers* n = begin(it);
  if (!n) return;
  const bool is_list = c.options[kShown] == Shown::list;
  const std::string query = "query " + token_name(c.run->tokens, c.selection.query),
                    head = " in " + head_name(c.selection.layer, c.selection.head);
  if (!n->weights.empty() && is_list) it.subtitle = "weight from " + query + head;
  if (!n->weights.empty() && !is_list) it.title = "Attention from " + query, it.subtitle = "weight" + head;
  BoxPtr text, scale, list;
  if (!is_list || !c.in_pane) text = text_of(c, *n), scale = scale_of(c, *n);  // a pane is below the strip
  if (is_list) list = list_of(c, *n);
  it.body = rows(boxes(std::move(text), std::move(scale), std::move(list)));
}

void declare_strip(Content& it) {
  const Numbers* n = begin(it);
  if (!n) return;
  it.titled_in_pane = false;
  auto text = text_of(it.c, *n);
  for (viz::Chip& chip : text->flow.chips) chip.break_after = false;  // there are few lines
  it.body = std::move(text);
}

std::vector<MenuLine> menu(const ViewContext& c) {
  if (!c.run) return {};
  Facts facts;
  facts.commands.push_back(choose_query(c, c.selection.query));
  add_commands(facts, c, c.selection.query);
  return facts.menu();
}

View view() {
  View view = make_view("tokens", "Tokens", declare,
                        "the prompt's tokens: their bytes, how they were merged from these, how probable "
                        "each was, and the query's attention to it");
  view.options = {&kShown, &kValueMax, &kFirstLine, &kFirstToken};
  view.menu = menu;
  view.needs = Capability::patterns;
  view.caption.head = true;
  view.shown_heads = [](const ViewContext& c) {
    const bool are_merges = c.options[kShown] == Shown::merges;
    return are_merges ? "" : head_name(c.selection.layer, c.selection.head);
  };
  view.landmarks = {landmark("merges", token_merges::kStep), query_landmark("token", kToken)};
  return view;
}

}  // namespace headscope::app::tokens

namespace headscope::app {

const View& token_strip() {
  using namespace tokens;
  static const View strip = [] {
    View view = make_view("tokens", "Tokens", declare_strip,
                          "the prompt's tokens, shaded by the query's attention in the chosen head");
    view.group = Group::input, view.place = Place::strip;
    view.options = {&kValueMax, &kFirstLine};
    view.menu = menu;
    view.needs = Capability::patterns;
    return view;
  }();
  return strip;
}

}  // namespace headscope::app
