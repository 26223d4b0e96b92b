#include "app/views/input/token_merges.h"
#include "app/views/parts/parts.h"

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
const ListRows kRows{.role = kToken,
                     .first = first_row_option("first-token", true, -1),
                     .names = "tokens",
                     .cut_keeps_order = true};

struct Numbers {
  std::shared_ptr<const Pattern> pattern;  ///< null: none yet
  std::span<const float> weights;          ///< the query's on the tokens; empty if keys are other tokens

  bool masked(const ViewContext& c, int key) const {
    return key >= std::ssize(weights) || pattern->masked(c.selection.query, key);
  }
};

/// Of the shown run; null: not known.
std::shared_ptr<const Statistics> statistics_of(const ViewContext& c) {
  if (!c.run->model->tokenizer) return nullptr;
  return c.ask_on(c.differs() ? Side::run : c.side, StatisticsOfTokens{});
}

/// The prediction of a position's token from the tokens before it; null: not known, or the first position.
const model::PositionStatistics* guessed_before(const ViewContext& c, const Statistics* statistics,
                                                int position) {
  const bool known = statistics && position > 0 && position < c.run->tokens.run_length &&
                     position <= std::ssize(statistics->positions);
  return known ? &statistics->positions[position - 1] : nullptr;
}

/// The commands for a token besides choosing it, and copies of it.
void add_commands(Facts& facts, const ViewContext& c, int position) {
  const PromptTokens& tokens = c.run->tokens;
  if (position < tokens.run_length && has_own_keys(*c.run))
    add_choice_of_key(facts.commands, c, position, c.selection.query);
  add_position_edits(facts.commands, c, position);
  add_copies_of_token(facts, c, tokens.tokens[position].id, tokens.labels[position]);
}

void say_weight(Facts& facts, const ViewContext& c, const Numbers& n, int position) {
  if (n.weights.empty()) return;
  const int query = c.selection.query;
  if (n.masked(c, position)) return facts.tip(masked_words(c, query, position));
  facts.number(difference_prefix(c) + ("weight from query " + token_name(c.run->tokens, query)) + " in " +
                   head_name(c.selection.layer, c.selection.head) + (c.differs() ? "" : shown_run_words(c)) +
                   ":",
               n.weights[position]);
}

/// What is said of a token besides which one it is.
void add_facts(Facts& facts, const ViewContext& c, const Numbers& n, const Statistics* statistics,
               int position) {
  const PromptTokens& tokens = c.run->tokens;
  const bool beyond = position >= tokens.run_length;
  if (beyond) facts.say(token_name(tokens, position) + ": not run, beyond the model's context");
  if (const std::string bytes = token_merges::bytes_at(c, position); !bytes.empty())
    facts.say("id " + std::to_string(tokens.tokens[position].id) + ", bytes " + bytes);
  if (!c.differs()) facts.tip(other_token_words(c, position).value_or(""));
  add_commands(facts, c, position);
  if (const auto* before = guessed_before(c, statistics, position))
    facts.tip("predicted with " + percent(before->next_probability) + shown_run_words(c) +
              (before->next_rank < 0 ? "" : " (rank " + grouped(before->next_rank + 1) + ")"));
  if (!beyond) say_weight(facts, c, n, position);
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const std::vector<model::Token>& tokens = c.run->tokens.tokens;
  const auto statistics = statistics_of(c);
  const auto before = [&c, statistics](int i) { return guessed_before(c, statistics.get(), i); };
  const auto unknown = [before](int i) { return before(i) == nullptr; };
  auto list = token_merges::list_of_tokens(c, kRows, static_cast<int>(tokens.size()));
  list->file(note_column("start"), [&tokens](int i) { return tokens[i].start; });
  list->file(note_column("end"), [&tokens](int i) { return tokens[i].end; });
  list->number("probability", 7, [before](int i) { return before(i) ? before(i)->next_probability : 0; },
               {.file = "probability", .scientific = 1e-4, .tip = false, .blank = unknown});
  list->number("rank", 3, [before](int i) { return before(i) ? rank_cell(before(i)->next_rank) : 0; },
               {.file = "rank", .digits = 0, .tip = false, .blank = unknown});
  const auto masked = [&](int i) { return n.masked(c, i); };
  list->bar(delta(c) + std::string("weight"), 8, [&, masked](int i) { return masked(i) ? 0 : n.weights[i]; },
            {.file = difference_column_prefix(c) + "weight",
             .axis = true,
             .most = 1e4F,  // all remaining room
             .tip = false,
             .blank = masked});
  list->row_facts = [&, statistics](Facts& facts, int i) { add_facts(facts, c, n, statistics.get(), i); };
  return list;
}

/// The shaded chips; in the strip, which has few lines, without their scale.
BoxPtr text_of(const ViewContext& c, const Numbers& n, bool is_strip) {
  std::vector<float> shades(n.weights.begin(), n.weights.end());
  for (int key = 0; key < std::ssize(shades); ++key)
    if (n.masked(c, key)) shades[key] = std::nanf("");
  const double most = c.options[kValueMax];
  const auto scale =
      c.differs() && n.pattern  // as in the head's heatmap
          ? pattern_scale(c, n.pattern->matrix(), "", n.pattern->masked.causal(), common_range(c)).scale
          : viz::linear_scale(most > 0 ? most : 1);
  auto prompt = std::make_unique<ShadedPrompt>(c, kChip, shades, scale);
  for (int i = 0; i < std::ssize(prompt->flow.chips); ++i) {
    viz::Chip& chip = prompt->flow.chips[i];
    chip.outline = c.theme->line;
    chip.break_after &= !is_strip;
    if (i >= c.run->tokens.run_length) chip.text = c.theme->text_muted.with_alpha(150);
    if (other_token_words(c, i)) chip.underline = chip.text;
    if (i == c.selection.key && has_own_keys(*c.run))
      (i == c.selection.query ? chip.inner_outline : chip.outline) = c.theme->key;
  }
  prompt->chosen = c.selection.query, prompt->first_line = &kFirstLine;
  if (is_strip || n.weights.empty()) return prompt;
  return rows(boxes(std::move(prompt), legend(scale, delta(c) + std::string("weight"))));
}

void declare_tokens(Content& it, bool is_list, bool is_strip) {
  const ViewContext& c = it.c;
  auto pattern = current_pattern(c);  // asked for before there is a run, so that it arrives with it
  if (!c.run) return;
  const auto weights = has_own_keys(*c.run) ? weights_of_query(c, pattern.get()) : std::span<const float>();
  const Numbers& n = it.keep(Numbers{std::move(pattern), weights});
  it.title = "Tokens", it.says_difference = weights.empty();
  it.titled_in_pane = !is_strip;
  if (!weights.empty())
    it.subtitle = "weight from query " + token_name(c.run->tokens, c.selection.query) + " in " +
                  head_name(c.selection.layer, c.selection.head);
  it.facts = [&](Facts& facts, const ViewContext& now, const Spot& at) {
    if (now.run == it.c.run && at.region.role == kChip)
      add_facts(facts, now, n, statistics_of(now).get(), at.region.id);  // asked for at the mouse only
  };
  it.table = [&] {
    Table table = list_of(it.c, n)->exported();
    add_head_facts(table, it.c);
    add_query_facts(table, it.c);
    return table;
  };
  // A pane is below the strip. Under the text of many tokens a figure has room for a few rows at most.
  constexpr int kMostListed = 100;
  const bool lists_some = c.in_pane || c.max_rows > 0 || c.run->tokens.length() <= kMostListed;
  BoxPtr text, list;
  if (!is_list || !c.in_pane) text = text_of(c, n, is_strip);
  if (is_list && lists_some) list = list_of(c, n);
  it.body = rows(boxes(std::move(text), std::move(list)));
}

void declare(Content& it) {
  if (it.c.options[kShown] == Shown::merges) return token_merges::declare(it, kRows);
  declare_tokens(it, it.c.options[kShown] == Shown::list, false);
}

View view() {
  View view = make_view("tokens", "Tokens", declare,
                        "the prompt's tokens: their bytes, how they were merged from these, how probable "
                        "each was, and the query's attention to it");
  view.options = {&kShown, &kValueMax, &kFirstLine, &kRows.first};
  view.menu = [](const ViewContext& c) {
    Facts facts;
    if (c.run) add_commands(facts, c, c.selection.query);
    return facts.menu();
  };
  view.needs = Capability::patterns;
  view.caption.head = true;
  view.shown_heads = [](const ViewContext& c) {
    return c.options[kShown] == Shown::merges ? "" : head_name(c.selection.layer, c.selection.head);
  };
  view.landmarks = {{"merges", token_merges::kStep}, {"token", kToken, selected_query}};
  return view;
}

}  // namespace headscope::app::tokens

namespace headscope::app {

const View& token_strip() {
  static const View strip = [] {
    View view = tokens::view();
    view.help = "the prompt's tokens, shaded by the query's attention in the chosen head";
    view.declare = [](Content& it) { tokens::declare_tokens(it, false, true); };
    view.group = Group::input, view.place = Place::strip;
    view.options = {&kValueMax, &tokens::kFirstLine};
    view.landmarks.clear();
    return view;
  }();
  return strip;
}

}  // namespace headscope::app
