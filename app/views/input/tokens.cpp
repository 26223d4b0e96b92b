#include "app/views/parts/parts.h"
#include "viz/text/utf8.h"

namespace headscope::app {
namespace tokens {

enum Role { kChip };  // Region::id: position

/// -1: such that the query's chip is visible.
const auto kFirstLine = first_row_option("first-line", true, -1);

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
  chip.break_after = chip.break_after && !c.in_pane;  // the strip has few lines
  chip.fill = n.masked(c, i) ? theme.raised : shade_of(c, static_cast<double>(n.weights[i]) / n.strongest);
  chip.text = text_on(c, chip.fill);
  if (i >= c.run->tokens.run_length)  // beyond what the model can take
    chip.fill = theme.surface, chip.text = theme.text_muted.with_alpha(150);
  if (other_token_words(c, i)) chip.underline = chip.text;
  if (i == c.selection.key && has_own_keys(*c.run))
    (i == c.selection.query ? chip.inner_outline : chip.outline) = theme.key;
}

/// Below a figure's chips: "weight 0", chips of some weights, "1".
BoxPtr scale_of(const ViewContext& c, const Numbers& n) {
  if (c.in_pane || n.weights.empty()) return nullptr;
  constexpr float kLine = 1.4F;  // ems
  const auto paint = [&n](Picture& picture, const ViewContext& now, viz::Rect area) {
    constexpr int kSamples = 6;  // from nothing to the strongest
    const viz::Style style = style_of(now);
    const float u = style.unit(), y = area.center().y;
    const int first = now.side == Side::difference ? 1 - kSamples : 0;
    float x = area.x;
    if (area.w < 20 * now.font_size) return;
    const auto say = [&](const std::string& words) {
      viz::add_muted(picture.scene, style, words, {x, y});
      x += style.width(words, style.small()) + u;
    };
    say(difference_prefix(now) + std::string("weight ") + (first < 0 ? viz::number(-n.strongest, 3) : "0"));
    for (int i = first; i < kSamples; ++i, x += 4 * u)
      picture.scene.add(viz::FillRect{{x, y - 1.5F * u, 4 * u, 3 * u},
                                      shade_of(now, static_cast<double>(i) / (kSamples - 1))});
    x += u;
    say(first < 0 ? viz::number(n.strongest, 3) : plain(n.strongest));
  };
  const float least = c.side == Side::difference ? 28 : 17;  // ems
  return may_be_left_out(custom({least, least}, {kLine, kLine, kLine}, paint), "the scale");
}

/// The prediction of a position's token from the tokens before it, by the shown run; none: not known, or the
/// first position.
std::optional<model::PositionStatistics> guessed_before(const ViewContext& c, int position) {
  const Side shown = c.side == Side::difference ? Side::run : c.side;
  const auto statistics = c.run->model->tokenizer ? c.ask_on(shown, StatisticsOfTokens{}) : nullptr;
  const bool known = statistics && position > 0 && position < c.run->tokens.run_length &&
                     position <= std::ssize(statistics->positions);
  return known ? std::optional(statistics->positions[position - 1]) : std::nullopt;
}

Table table(const ViewContext& c, const Numbers& n) {
  const PromptTokens& tokens = c.run->tokens;
  const auto& tokenizer = c.run->model->tokenizer;
  Table result{key_column("position"),
               note_column("id"),
               note_column("token"),
               note_column("bytes"),
               note_column("start"),
               note_column("end"),
               "probability",
               "rank",
               difference_column_prefix(c) + "weight"};
  add_head_facts(result, c);
  add_query_facts(result, c);
  for (int i = 0; i < tokens.length(); ++i) {
    const model::Token& token = tokens.tokens[i];
    std::optional<double> probability, rank;
    if (const auto before = guessed_before(c, i)) {
      probability = before->next_probability;
      rank = rank_cell(before->next_rank);
    }
    const auto weight = n.masked(c, i) ? std::nullopt : std::optional(n.weights[i]);
    add_row(result, i, token.id, tokens.labels[i], tokenizer ? bytes_as_hex(tokenizer->bytes(token.id)) : "",
            token.start, token.end, probability, rank, weight);
  }
  return result;
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
    facts.say("masked on both sides, or a token without counterpart", Fact::Location::tooltip);
  else
    facts.say((position > chosen ? "masked: comes after " : "masked by an edit for ") + query,
              Fact::Location::tooltip);
}

/// What is said of a token besides which one it is; predictions are asked for at the mouse only.
void add_facts(Facts& facts, const ViewContext& c, const Numbers& n, int position) {
  const PromptTokens& tokens = c.run->tokens;
  const model::Token& token = tokens.tokens[position];
  const auto& tokenizer = c.run->model->tokenizer;  // null: patterns only
  const auto tell = [&](const std::string& words) { facts.say(words, Fact::Location::tooltip); };
  const bool beyond = position >= tokens.run_length;
  if (beyond) facts.say("position " + token_name(tokens, position));
  if (tokenizer)
    facts.say("id " + std::to_string(token.id) + ", bytes " + bytes_as_hex(tokenizer->bytes(token.id)));
  if (const std::string whole = split_characters(c.run->prompt.text, token); !whole.empty())
    tell("a part of “" + whole + "”, which is split between tokens");
  if (c.side != Side::difference) tell(other_token_words(c, position).value_or(""));
  add_commands(facts, c, position);
  if (beyond) return tell("beyond the model's " + grouped(c.run->run->config.n_ctx) + " positions: not run");
  if (const auto before = guessed_before(c, position)) {
    std::string words = "predicted with " + percent(before->next_probability) + shown_run_words(c);
    if (before->next_rank >= 0)  // else guesses have no order
      words += " (rank " + std::to_string(before->next_rank + 1) + " of " +
               grouped(c.run->run->config.vocab_size) + ")";
    tell(words);
  }
  say_weight(facts, c, n, position);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto pattern = current_pattern(c);  // asked for before there is a run, so that it arrives with it
  if (!c.run) return;
  const Numbers& n = it.keep(numbers_of(c, std::move(pattern)));
  it.titled_in_pane = false;
  it.title = "Tokens", it.says_difference = n.weights.empty();
  if (!n.weights.empty()) {
    it.title = "Attention from query " + token_name(c.run->tokens, c.selection.query);
    it.subtitle = "weight in " + head_name(c.selection.layer, c.selection.head);
  }
  auto prompt = std::make_unique<ShadedPrompt>(c, kChip, std::span<const float>(), viz::ColorScale(), "");
  for (int i = 0; i < std::ssize(prompt->flow.chips); ++i) color_chip(prompt->flow.chips[i], c, n, i);
  prompt->chosen = c.selection.query;
  prompt->first_line = &kFirstLine;
  it.facts = [&](Facts& facts, const ViewContext& now, const Picture& picture, const viz::Hit& hit) {
    if (now.run == c.run) add_facts(facts, now, n, region_of(picture, hit).id);
  };
  it.table = [&] { return table(c, n); };
  it.body = rows(boxes(std::move(prompt), scale_of(c, n)));
}

std::vector<MenuLine> menu(const ViewContext& c) {
  if (!c.run) return {};
  Facts facts;
  facts.commands.push_back(choose_query(c, c.selection.query));
  add_commands(facts, c, c.selection.query);
  return facts.menu();
}

}  // namespace tokens

View tokens_view() {
  using namespace tokens;
  View view = make_view(Group::input, "tokens", "Tokens",
                        "the prompt's tokens, shaded by the query's attention in the chosen head", declare);
  view.place = Place::strip;
  view.options = {&kValueMax, &kFirstLine};
  view.menu = menu;
  view.shows_difference = true;
  view.needs = Capability::patterns;
  view.caption = {true, true, true};
  view.landmarks = {landmark("chips", kChip), query_landmark("query chip", kChip),
                    key_landmark("key chip", kChip)};
  return view;
}

}  // namespace headscope::app
