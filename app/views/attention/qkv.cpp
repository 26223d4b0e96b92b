#include <array>
#include <ranges>
#include <tuple>

#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace qkv {

enum Role { kComponent };  // Region::id: a Row
/// Strips, from above.
enum Row { kResidual, kNormed, kBias, kOutput, kQuery, kKey, kValue, kQueryHead, kKeyHead, kValueHead };
constexpr int kRows = kValueHead + 1, kAll = kQueryHead;  // the first ones are of all heads

AttentionInputOf question_of(const ViewContext& c) {
  return {c.selection.layer, c.selection.query};
}

std::shared_ptr<const AttentionInput> current_input(const ViewContext& c) {
  return c.run ? c.ask(question_of(c)) : nullptr;
}

std::vector<NamedStrip> strips_of(const ViewContext& c, const AttentionInput& input) {
  const model::Config& config = c.run->run->config;
  const auto d = static_cast<std::size_t>(config.n_embd), d_head = static_cast<std::size_t>(config.d_head());
  const int heads = config.n_head, head = c.selection.head;
  const std::string in_heads = shape_in_heads(config);
  const viz::Theme& t = *c.theme;
  const auto output = std::span(input.output);
  const std::vector<viz::Color> of_thirds{t.query, t.key, t.value};
  // q, k, v and their parts share a scale, so that they can be compared.
  const viz::ColorScale of_output = strip_scale(input.output);
  std::vector<NamedStrip> strips{
      {kResidual, "residual stream", shape_of(d), "the block's input at this position", t.text,
       input.residual, strip_scale(input.residual)},
      {kNormed, "ln_1", shape_of(d), "minus mean, divided by standard deviation, times gain, plus bias",
       t.text, input.normed, strip_scale(input.normed)},
      {kBias, "c_attn.bias", shape_of(3 * d), "the same for every token", t.text, input.bias,
       strip_scale(input.bias), 3, -1, of_thirds},
      {kOutput, "ln_1 × c_attn.weight + bias", shape_of(3 * d),
       "weight [" + grouped(config.n_embd) + " × " + grouped(3 * config.n_embd) + "]; thirds: q, k, v",
       t.text, input.output, of_output, 3, -1, of_thirds}};
  const std::array<const char*, 3> names{"query q", "key k", "value v"};
  for (int i = 0; i < 3; ++i)
    strips.push_back({kQuery + i, names[i], in_heads, "one slice per head", of_thirds[i],
                      output.subspan(i * d, d), of_output, heads, head});
  for (int i = 0; i < 3; ++i)
    strips.push_back({kQueryHead + i, std::string(names[i]) + " of " + head_name(c.selection.layer, head),
                      shape_of(d_head), "", of_thirds[i], output.subspan(i * d + head * d_head, d_head),
                      of_output});
  using model::Site;
  if (c.side == Side::difference) {
    for (NamedStrip& strip : strips) strip.name.insert(0, delta(c));
    strips[kNormed].detail = "input to all heads";
    const bool same = std::ranges::all_of(input.bias, [](float difference) { return difference == 0; });
    strips[kBias].detail = same ? "the same in both" : "differs between the models";
    strips[kOutput].name = "Δ ln_1 × c_attn.weight";
  }
  // Edits of q, k and v act after the product, whose strip shows them as they left it.
  const auto mark = [&](Row row, std::initializer_list<Site> sites) {
    strips[row].detail = with_edits(c, std::move(strips[row].detail), sites);
  };
  mark(kResidual, {Site::resid_pre});
  mark(kNormed, {Site::ln1_scale, Site::ln1_normalized});
  mark(kOutput, {Site::q, Site::k, Site::v});
  mark(kQuery, {Site::q});
  mark(kKey, {Site::k});
  mark(kValue, {Site::v});
  return strips;
}

/// The strips of all heads, and below them those of the chosen head, as many as fit.
struct Layout {
  int first = 0, end = 0;  ///< the strips [first, end) show; none: no room
  StripStack all, head;
  const StripStack& of(int row) const { return row < kAll ? all : head; }
  int number_of(int row) const { return row < kAll ? row - first : row - kAll; }
  viz::Rect rect(int row) const { return of(row).rect(number_of(row)); }
  bool shows(int row) const { return row >= first && row < end; }
};

Layout lay_out(const ViewContext& c, viz::Rect area) {
  constexpr std::array<std::pair<int, int>, 4> kChoices{
      {{kResidual, kRows}, {kOutput, kRows}, {kQuery, kRows}, {kQuery, kAll}}};
  Layout layout;
  if (area.w < 16 * c.font_size) return layout;
  const auto fits = [&](const auto& choice) {
    return area.h >= static_cast<float>(choice.second - choice.first) * least_strip_step(c);
  };
  const auto choice = std::ranges::find_if(kChoices, fits);
  if (choice == kChoices.end()) return layout;
  std::tie(layout.first, layout.end) = *choice;
  const int count = layout.end - layout.first, all = kAll - layout.first, of_head = count - all;
  const float spare = area.h - static_cast<float>(count) * least_strip_step(c);
  const float leads = of_head > 0 ? std::min(spare / 4, 1.4F * c.font_size) : 0;
  const float step = (area.h - leads) / static_cast<float>(count);
  layout.all = stack_strips(c, {area.x, area.y, area.w, step * static_cast<float>(all)}, all);
  if (of_head == 0) return layout;
  const float y = layout.all.bottom(all) + layout.all.gap + leads;
  layout.head = stack_strips(c, {area.x, y, area.w, step * static_cast<float>(of_head)}, of_head);
  return layout;
}

/// Draws lines from the chosen piece to its own strip.
void paint_leads(viz::Scene& scene, const ViewContext& c, const Layout& layout, int heads) {
  const viz::Rect last = layout.rect(kValue), first = layout.rect(kQueryHead);
  const float part = last.w / static_cast<float>(heads),
              x = last.x + static_cast<float>(c.selection.head) * part;
  const float y0 = last.bottom() + 1, y1 = first.y - layout.head.words;
  if (y1 <= y0) return;
  scene.add(viz::Segments{{{x, y0}, {first.x, y1}, {x + part, y0}, {first.right(), y1}}, c.theme->accent, 1});
}

Picture build(const ViewContext& c) {
  if (auto words = waiting_for_run(c, AttentionInputOf{c.selection.layer, 0})) return *words;
  const auto input = current_input(c);
  if (auto words = waiting_for(c, question_of(c), input != nullptr)) return *words;
  const Layout layout = lay_out(c, below_title(c));
  if (layout.end == 0) return too_small(c, "for the vectors");
  Picture picture = blank(c);
  const bool is_difference = c.side == Side::difference;
  paint_title(
      picture, c, "q, k, v of " + token_name(c.run->tokens, c.selection.query) + difference_suffix(c),
      (is_difference ? difference_subtitle(c, {input->residual, input->normed, input->output}) + "; layer "
                     : "layer ") +
          std::to_string(c.selection.layer) + ": from the residual stream into the heads");
  if (layout.shows(kQueryHead)) paint_leads(picture.scene, c, layout, c.run->run->config.n_head);
  picture.whole &= layout.first == 0 && layout.end == kRows;
  for (const NamedStrip& strip : strips_of(c, *input))
    if (layout.shows(strip.id))
      paint_named_strip(picture, c, layout.of(strip.id), layout.number_of(strip.id), strip, kComponent);
  return picture;
}

/// The strip and its component; for q, k and v also the component's head.
struct Place {
  Row row = kResidual;
  int component = 0;
  int head = -1;
};
Place place_of(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const model::Config& config = c.run->run->config;
  Place place{static_cast<Row>(region.id), hit.col};
  if (place.row >= kQuery && place.row <= kValue) place.head = hit.col / config.d_head();
  if (place.row == kOutput) place.head = hit.col % config.n_embd / config.d_head();
  if (place.row >= kQueryHead) place.head = c.selection.head;
  return place;
}

/// A row for each component of the longest strip.
Table table(const ViewContext& c) {
  const auto input = current_input(c);
  if (!input) return {};
  const std::vector<NamedStrip> strips = strips_of(c, *input);
  Table result{key_column("component")};
  for (const NamedStrip& strip : strips) result.columns.emplace_back(strip.name);
  for (std::size_t i = 0; i < input->output.size(); ++i)
    add_row(result, i, strips | std::views::transform([i](const NamedStrip& strip) {
                         return i < strip.values.size() ? std::optional(strip.values[i]) : std::nullopt;
                       }));
  add_head_facts(result, c);
  add_query_facts(result, c);
  return result;
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const Place place = place_of(c, picture, hit);
  if (place.head < 0) return {};
  return {SelectHead{c.selection.layer, place.head}};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto input = current_input(c);
  if (!input) return facts;
  const Place place = place_of(c, picture, hit);
  const NamedStrip strip = strips_of(c, *input)[place.row];
  const std::string head = place.head >= 0 ? head_name(c.selection.layer, place.head) : "";
  if (place.head >= 0)
    facts.commands.push_back({"Show " + head, {SelectHead{c.selection.layer, place.head}}});
  if (place.component >= std::ssize(strip.values)) return facts;
  const model::Config& config = c.run->run->config;
  paint_hovered_component(facts.overlay, c, region_of(picture, hit), place.component,
                          place.row >= kQuery && place.row <= kValue ? config.n_head : 1);
  facts.number(strip.name + "[" + std::to_string(place.component) + "] =", strip.values[place.component]);
  if (place.row == kOutput || place.row == kBias) {
    const char* const parts[] = {"q", "k", "v"};
    facts.say(std::string("of ") + parts[place.component / config.n_embd] + ", component " +
              std::to_string(place.component % config.n_embd));
  }
  if (place.head >= 0)
    facts.say(head + ", component " +
              std::to_string(place.row >= kQueryHead ? place.component : place.component % config.d_head()));
  return facts;
}

}  // namespace qkv

View qkv_view() {
  using namespace qkv;
  View view =
      make_view(Group::attention, "qkv", "Q, K, V",
                "how a token gets its query, key and value: ln_1, one matrix product, split into heads",
                build, facts, table);
  add_gestures(view, click, heads_by_lines);
  view.figure_size = [](const ViewContext& c) -> viz::Point {
    return {56 * c.font_size, static_cast<float>(kRows) * 3.3F * c.font_size + 5 * c.font_size};
  };
  view.caption = {true, true, true};
  view.shows_difference = true;
  view.landmarks = {landmark("input", kComponent, kResidual), landmark("query", kComponent, kQueryHead),
                    landmark("key", kComponent, kKeyHead), landmark("value", kComponent, kValueHead)};
  return view;
}

}  // namespace headscope::app
