#include "app/views/parts/parts.h"
#include "viz/text/utf8.h"

namespace headscope::app {
namespace tokens {

enum Role { kChip };  // Region::id: position

/// -1: such that the query's chip is visible.
const auto kFirstLine = first_row_option("first-line", true, -1);

constexpr double kStrongestShade = 0.72;  // opacity of the key colour, so that text stays legible

/// The query's weights on the tokens; empty if keys are other tokens.
std::span<const float> shading_of(const ViewContext& c, const Pattern* pattern) {
  return has_own_keys(*c.run) ? weights_of_query(c, pattern) : std::span<const float>();
}

/// The weight of the strongest shade; for differences, as in the head's heatmap.
double strongest_weight(const ViewContext& c, const Pattern& pattern) {
  if (c.options[kValueMax] > 0) return c.options[kValueMax];
  if (c.side != Side::difference) return 1;
  return pattern_scale(c, pattern.matrix(), "", pattern.masked.causal(), common_range(c)).scale.high;
}

/// A chip's colour for a weight, as a part of the strongest one, or for a difference; NaN as in heatmaps.
viz::Color shade_of(const ViewContext& c, double weight) {
  if (std::isnan(weight)) return viz::sequential(*c.theme, weight);
  const bool is_difference = c.side == Side::difference;
  const viz::Color full = is_difference ? viz::sign_color(*c.theme, weight) : c.theme->key;
  const double strength = std::clamp(is_difference ? std::abs(weight) : weight, 0.0, 1.0);
  const auto alpha = static_cast<std::uint8_t>(std::lround(255 * kStrongestShade * strength));
  return viz::blended(c.theme->raised, full.with_alpha(alpha));
}

viz::ChipFlow make_flow(const ViewContext& c) {
  const PromptTokens& tokens = c.run->tokens;
  const auto pattern = current_pattern(c);
  const std::span<const float> weights = shading_of(c, pattern.get());
  const double strongest = weights.empty() ? 1 : strongest_weight(c, *pattern);
  const viz::Theme& theme = *c.theme;
  viz::ChipFlow flow;
  flow.role = kChip;
  // A pane shows enough of what the model does not read to tell where that begins: a paste may be very long.
  constexpr int kBeyond = 256;
  const int count = c.in_pane ? std::min(tokens.length(), tokens.run_length + kBeyond) : tokens.length();
  flow.chips.reserve(count);
  for (int i = 0; i < count; ++i) {
    viz::Chip chip;
    chip.label = tokens.labels[i];
    chip.break_after = !c.in_pane && chip.label.ends_with("↵");  // the strip has few lines
    chip.fill = theme.raised;
    chip.text = theme.text;
    if (i >= tokens.run_length) {  // beyond what the model can take
      chip.fill = theme.surface;
      chip.text = theme.text_muted.with_alpha(150);
    } else if (i < std::ssize(weights) && !pattern->masked(c.selection.query, i)) {
      chip.fill = shade_of(c, static_cast<double>(weights[i]) / strongest);
      chip.text = text_on(c, chip.fill);
    }
    if (other_token_words(c, i)) chip.underline = chip.text;
    if (i == c.selection.query) chip.outline = theme.query;
    if (i == c.selection.key && has_own_keys(*c.run))
      (i == c.selection.query ? chip.inner_outline : chip.outline) = theme.key;
    flow.chips.push_back(std::move(chip));
  }
  return flow;
}

/// The chips in lines, of which some are shown.
struct Strip {
  viz::Rect area;
  float font_size = 0;  ///< of the chips
  viz::ChipFlow flow;
  std::vector<viz::ChipPlace> places;
  TableRows lines;
};

viz::Rect whole_area(const ViewContext& c) {
  const float m = c.printed ? margin(c) : std::min(margin(c), 2 * style_of(c).unit());  // under its title
  return {m, m, std::max(0.F, c.width - 2 * m), std::max(0.F, c.height - 2 * m)};
}

/// The note next to lines that are not all shown, wrapped as the room allows; its width does not depend on
/// the numbers.
struct Note {
  std::vector<std::string> lines;
  float width = 0;
};

Note note_of(const ViewContext& c, int first, int last, int count, float height) {
  const viz::Style style = style_of(c);
  const std::string range = grouped(first) + "–" + grouped(last), of = "of " + grouped(count);
  const auto room = static_cast<int>(height / style.line(style.small()));
  const std::string widest = grouped(count) + "–" + grouped(count);
  if (room < 2) return {{range + " " + of}, std::ceil(style.width(widest + " " + of, style.small()))};
  Note note{{range, of}, 0};
  if (room > 2) note.lines.insert(note.lines.begin(), "tokens");
  for (const std::string& words : {std::string("tokens"), widest, of})
    note.width = std::max(note.width, std::ceil(style.width(words, style.small())));
  return note;
}

/// Room for the note and a scroll bar.
float note_room(const ViewContext& c, const Note& note) {
  return note.width + 3 * style_of(c).unit() + kScrollBar * c.font_size;
}

viz::Style style_of_chips(const ViewContext& c, float font_size) {
  viz::Style style = style_of(c);
  style.font_size = font_size;
  return style;
}

/// The height of the line under a figure's chips that says what their colours mean; 0: there is none.
float scale_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const bool shades = c.printed && !shading_of(c, current_pattern(c).get()).empty();
  return shades ? style.line(style.small()) + 3 * style.unit() : 0;
}

/// The height of the chips in letters of a size; nothing if one of them would be cut.
std::optional<float> height_of_chips(const ViewContext& c, const viz::ChipFlow& flow, float width,
                                     float font_size) {
  const viz::Style style = style_of_chips(c, font_size);
  const std::vector<viz::ChipPlace> places = viz::place_chips(flow, width, style);
  if (std::ranges::any_of(places, [&](const viz::ChipPlace& place) { return place.w >= width; }))
    return std::nullopt;
  const int lines = places.empty() ? 0 : places.back().line + 1;
  return static_cast<float>(lines) * viz::chip_line_height(style) - style.unit();
}

/// The size of a figure's letters: nothing else is on a page, so they are as large as its height allows.
float fitting_size(const ViewContext& c, const viz::ChipFlow& flow, const viz::Rect& area) {
  constexpr float kLargest = 4, kStep = 0.95F;
  for (float size = kLargest * c.font_size; size > c.font_size; size *= kStep)
    if (const auto height = height_of_chips(c, flow, area.w, size); height && *height <= area.h + 0.5F)
      return size;
  return c.font_size;
}

/// The lines that fit an area.
int lines_in(const viz::Rect& area, const viz::Style& style) {
  return std::max(
      1, static_cast<int>(std::floor((area.h + style.unit() + 0.5F) / viz::chip_line_height(style))));
}

Strip lay_out(const ViewContext& c) {
  Strip strip;
  strip.area = whole_area(c);
  strip.area.h = std::max(0.F, strip.area.h - scale_height(c));
  strip.flow = make_flow(c);
  strip.font_size = c.printed ? fitting_size(c, strip.flow, strip.area) : c.font_size;
  int lines = 0;
  const auto place = [&] {
    strip.places = viz::place_chips(strip.flow, strip.area.w, style_of_chips(c, strip.font_size));
    lines = strip.places.empty() ? 0 : strip.places.back().line + 1;
  };
  place();
  const int room = lines_in(strip.area, style_of_chips(c, strip.font_size));
  if (c.in_pane && lines > room) {
    const Note note = note_of(c, 0, 0, c.run->tokens.length(), strip.area.h);
    strip.area.w = std::max(0.F, strip.area.w - note_room(c, note));
    place();
  }
  if (strip.places.empty()) return strip;
  const int shown = std::min(room, lines), of_query = strip.places[c.selection.query].line;
  const int first = c.options[kFirstLine] < 0 ? of_query - shown / 2 : c.options[kFirstLine];
  strip.lines = {&kFirstLine, std::clamp(first, 0, lines - shown), shown, lines, strip.area};
  return strip;
}

/// "tokens 60–118 of 1,024", at the strip's right end.
void paint_note(Picture& picture, const ViewContext& c) {
  if (picture.regions.empty()) return;
  const viz::Style style = style_of(c);
  const viz::Rect area = whole_area(c);
  const Note note =
      note_of(c, picture.regions.front().id, picture.regions.back().id, c.run->tokens.length(), area.h);
  const float line = style.line(style.small()),
              right = area.right() - note_room(c, note) + 2 * style.unit() + note.width;
  float y = area.y + line / 2;
  for (const std::string& words : note.lines) {
    viz::add_label(picture.scene, style, words, {right, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::right);
    y += line;
  }
}

/// What a figure says about its chips; in the window the strip has no room for a title.
struct Heading {
  std::string title, subtitle;
};
Heading heading_of(const ViewContext& c) {
  const auto pattern = current_pattern(c);
  if (shading_of(c, pattern.get()).empty()) return {};
  const std::string head = head_name(c.selection.layer, c.selection.head);
  const std::string shades = c.side == Side::difference
                                 ? "the more its weight in " + head + " differs; " + query_difference_words(c)
                                 : "the larger its weight in " + head;
  return {"Attention from query " + token_name(c.run->tokens, c.selection.query) + difference_suffix(c),
          "the stronger a token's colour, " + shades + "; outlined: the query" +
              (c.selection.key >= 0 ? " and the key" : "")};
}

/// Below a figure's chips: "weight 0", chips of some weights, "1".
void paint_scale(Picture& picture, const ViewContext& c, const Pattern& pattern, viz::Point top_left) {
  constexpr int kSamples = 6;  // from nothing to the strongest
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  const double strongest = strongest_weight(c, pattern);
  const int first = c.side == Side::difference ? 1 - kSamples : 0;
  float x = top_left.x;
  const float y = top_left.y + 3 * u + line / 2;
  const auto say = [&](const std::string& words) {
    viz::add_muted(picture.scene, style, words, {x, y});
    x += style.width(words, style.small()) + u;
  };
  say(difference_prefix(c) + std::string("weight ") + (first < 0 ? viz::number(-strongest, 3) : "0"));
  for (int i = first; i < kSamples; ++i) {
    const viz::Rect box{x, y - 1.5F * u, 4 * u, 3 * u};
    picture.scene.add(viz::FillRect{box, shade_of(c, static_cast<double>(i) / (kSamples - 1))});
    x = box.right();
  }
  x += u;
  say(first < 0 ? viz::number(strongest, 3) : plain(strongest));
}

Picture build(const ViewContext& c) {
  static_cast<void>(current_pattern(c));  // requested before there is a run, so that it arrives with it
  if (auto words = waiting(c)) return *words;
  Picture picture = blank(c);
  const Strip strip = lay_out(c);
  viz::paint_chips(picture, strip.flow, strip.places, strip.lines.first, strip.area,
                   style_of_chips(c, strip.font_size));
  if (picture.regions.empty()) picture.whole = false;
  if (c.in_pane && strip.lines.scrolls()) paint_note(picture, c);
  if (c.printed) {
    const Heading heading = heading_of(c);
    picture.title = heading.title, picture.subtitle = heading.subtitle;
  }
  if (scale_height(c) > 0 && !picture.regions.empty())
    paint_scale(picture, c, *current_pattern(c), {strip.area.x, picture.regions.back().rect.bottom()});
  return picture;
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

Table table(const ViewContext& c) {
  if (!c.run) return {};
  const PromptTokens& tokens = c.run->tokens;
  const auto& tokenizer = c.run->model->tokenizer;
  const auto pattern = current_pattern(c);
  const std::span<const float> weights = shading_of(c, pattern.get());
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
    std::optional<float> weight;
    if (i < std::ssize(weights) && !pattern->masked(c.selection.query, i)) weight = weights[i];
    add_row(result, i, token.id, tokens.labels[i], tokenizer ? bytes_as_hex(tokenizer->bytes(token.id)) : "",
            token.start, token.end, probability, rank, weight);
  }
  return result;
}

float whole_height(const ViewContext& c) {
  if (!c.run) return c.height;
  constexpr float kInPrint = 12;  // ems: more than the words above and below the chips take
  const viz::ChipFlow flow = make_flow(c);
  viz::Rect area = whole_area(c);
  area.h = kInPrint * c.font_size;
  const viz::Style style = style_of_chips(c, c.printed ? fitting_size(c, flow, area) : c.font_size);
  const std::vector<viz::ChipPlace> places = viz::place_chips(flow, area.w, style);
  const int lines = places.empty() ? 0 : places.back().line + 1;
  const Heading heading = c.printed ? heading_of(c) : Heading();
  return heading_height(heading.title, heading.subtitle, c.width, c) +
         static_cast<float>(lines) * viz::chip_line_height(style) - style.unit() + scale_height(c) +
         2 * area.y;
}

/// Selects the chip above or below the query's, the nearest by its middle.
ViewActions move_line(const ViewContext& c, int by) {
  const Strip strip = lay_out(c);
  const auto middle = [](const viz::ChipPlace& place) { return place.x + place.w / 2; };
  const viz::ChipPlace& from = strip.places[c.selection.query];
  int nearest = -1;
  for (int i = 0; i < c.run->run->length(); ++i) {
    const viz::ChipPlace& place = strip.places[i];
    if (place.line != from.line + by) continue;
    const auto distance = [&](int chip) { return std::abs(middle(strip.places[chip]) - middle(from)); };
    if (nearest < 0 || distance(i) < distance(nearest)) nearest = i;
  }
  if (nearest < 0) return {};
  return {SelectQuery{nearest}};
}

std::optional<ViewActions> on_key(const ViewContext& c, const Gesture& gesture) {
  if (gesture.key == Key::up) return move_line(c, -1);
  if (gesture.key == Key::down) return move_line(c, 1);
  return std::nullopt;
}

ViewActions on_wheel(const ViewContext& c, const Gesture& gesture) {
  const TableRows lines = lay_out(c).lines;
  return {lines.from(lines.first + (gesture.by.y > 0 ? -1 : 1))};
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const int position = region_of(picture, hit).id;
  if (position >= c.run->run->length()) return {};  // beyond what the model can take
  // Nothing moves under the mouse.
  return {SelectQuery{position}, SetOption{&kFirstLine, lay_out(c).lines.first}};
}

/// The commands for a token.
std::vector<MenuLine> commands_of(const ViewContext& c, int position) {
  std::vector<MenuLine> lines;
  if (position >= c.run->tokens.run_length) return lines;
  lines.push_back(choose_query(c, position));
  if (has_own_keys(*c.run)) add_choice_of_key(lines, c, position, c.selection.query);
  add_position_edits(lines, c, position);
  return lines;
}

void add_copies_of_position(Facts& facts, const ViewContext& c, int position) {
  add_copies_of_token(facts, c, c.run->tokens.tokens[position].id, c.run->tokens.labels[position]);
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

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  if (!c.run || region.id >= c.run->tokens.length()) return facts;
  const PromptTokens& tokens = c.run->tokens;
  const int position = region.id;
  const model::Token& token = tokens.tokens[position];
  const auto& tokenizer = c.run->model->tokenizer;  // null: patterns only
  facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, style_of(c).unit()});
  facts.commands = commands_of(c, position);
  facts.say("position " + token_name(tokens, position));
  if (tokenizer)
    facts.say("id " + std::to_string(token.id) + ", bytes " + bytes_as_hex(tokenizer->bytes(token.id)));
  if (const std::string whole = split_characters(c.run->prompt.text, token); !whole.empty())
    facts.say("a part of “" + whole + "”, which is split between tokens", Fact::Location::tooltip);
  if (const auto other = other_token_words(c, position)) facts.say(*other, Fact::Location::tooltip);
  add_copies_of_position(facts, c, position);
  if (position >= tokens.run_length) {
    facts.say("beyond the model's " + grouped(c.run->run->config.n_ctx) + " positions: not run",
              Fact::Location::tooltip);
    return facts;
  }
  if (const auto before = guessed_before(c, position)) {
    std::string words = "predicted with " + percent(before->next_probability) + shown_run_words(c);
    if (before->next_rank >= 0)  // else guesses have no order
      words += " (rank " + std::to_string(before->next_rank + 1) + " of " +
               grouped(c.run->run->config.vocab_size) + ")";
    facts.say(words, Fact::Location::tooltip);
  }
  const auto pattern = current_pattern(c);
  const std::span<const float> weights = shading_of(c, pattern.get());
  if (weights.empty()) return facts;
  const std::string query = "query " + token_name(tokens, c.selection.query);
  if (!pattern->masked(c.selection.query, position)) {
    const std::string of = c.side == Side::difference ? "" : shown_run_words(c);
    facts.number(difference_prefix(c) + ("weight from " + query) + " in " +
                     head_name(c.selection.layer, c.selection.head) + of + ":",
                 weights[position]);
  } else if (c.side == Side::difference && position <= c.selection.query) {
    facts.say("masked on both sides, or a token without counterpart", Fact::Location::tooltip);
  } else {
    facts.say((position > c.selection.query ? "masked: comes after " : "masked by an edit for ") + query,
              Fact::Location::tooltip);
  }
  return facts;
}

std::vector<MenuLine> menu(const ViewContext& c) {
  if (!c.run || c.selection.query >= c.run->tokens.length()) return {};
  Facts facts{.commands = commands_of(c, c.selection.query)};
  add_copies_of_position(facts, c, c.selection.query);
  return facts.menu();
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  if (!c.run || picture.regions.empty()) return {};
  return lay_out(c).lines.bars(c.width - kScrollBar * c.font_size);
}

}  // namespace tokens

View tokens_view() {
  using namespace tokens;
  View view = make_view(Group::input, "tokens", "Tokens",
                        "the prompt's tokens, shaded by the query's attention in the chosen head", build,
                        facts, table);
  view.place = Place::strip;
  view.options = {&kValueMax, &kFirstLine};
  add_gestures(view, click, on_key, on_wheel);
  view.menu = menu;
  view.scrolls = scrolls;
  view.shows_difference = true;
  view.needs = Capability::patterns;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  view.landmarks = {landmark("chips", kChip), query_landmark("query chip", kChip),
                    key_landmark("key chip", kChip)};
  return view;
}

}  // namespace headscope::app
