#include <array>
#include <ranges>

#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/views/parts/parts.h"

namespace headscope::app::qkv {

enum Role { kInput, kProduct, kHeads, kOwn };  // of strips: Region::id: a Row
/// Strips, from above.
enum Row { kResidual, kNormed, kBias, kOutput, kQuery, kKey, kValue, kQueryHead, kKeyHead, kValueHead, kEnd };

std::vector<NamedStrip> strips_of(const ViewContext& c, const AttentionInput& input) {
  const model::Config& config = c.config();
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
  if (c.differs()) {
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

/// The head that a component of q, k or v belongs to; -1: none.
int head_of(const ViewContext& c, int row, int component) {
  const model::Config& config = c.config();
  if (row >= kQueryHead) return c.selection.head;
  if (row >= kQuery) return component / config.d_head();
  return row == kOutput ? component % config.n_embd / config.d_head() : -1;
}

/// A row for each component of the longest strip.
Table table(const ViewContext& c, const std::vector<NamedStrip>& strips) {
  Table result{key_column("component")};
  for (const NamedStrip& strip : strips) result.columns.emplace_back(strip.name);
  for (std::size_t i = 0; i < strips[kOutput].values.size(); ++i)
    add_row(result, i, strips | std::views::transform([i](const NamedStrip& strip) {
                         return i < strip.values.size() ? std::optional(strip.values[i]) : std::nullopt;
                       }));
  add_head_facts(result, c);
  add_query_facts(result, c);
  return result;
}

/// Lines from the chosen head's piece of the strips above to its own strips below.
BoxPtr leads() {
  constexpr float kHeight = 0.5F;  // ems
  return custom({}, {kHeight, kHeight, kHeight}, [](Picture& picture, const ViewContext& c, viz::Rect area) {
    area = strips_in(c, area);
    const float part = area.w / static_cast<float>(c.config().n_head),
                x = area.x + static_cast<float>(c.selection.head) * part;
    area.y -= 3 * style_of(c).unit(), area.h += 3 * style_of(c).unit();  // from under the strip
    picture.scene.add(viz::Segments{
        {{x, area.y}, {area.x, area.bottom()}, {x + part, area.y}, {area.right(), area.bottom()}},
        c.theme->accent,
        1});
  });
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (it.lacks_counterpart()) return;
  const auto input = it.need(AttentionInputOf{c.selection.layer, std::max(0, c.selection.query)});
  if (!input) return;
  it.keep(input);
  const std::vector<NamedStrip>& strips = it.keep(strips_of(c, *input));
  it.title = "q, k, v of " + token_name(c.run->tokens, c.selection.query);
  it.same = are_zero({input->residual, input->normed, input->output});
  it.subtitle = "layer " + std::to_string(c.selection.layer);
  it.table = [&] { return table(c, strips); };
  const auto part = [&](Role role, Row first, Row end) {
    auto box = std::make_unique<Strips>(role, std::vector(strips.begin() + first, strips.begin() + end));
    box->enough = 2.6F, box->good = 3;  // as high for one strip as for three
    box->refers_to = [&c](const NamedStrip& strip, int component) {
      const int head = head_of(c, strip.id, component);
      return head < 0 ? Ref() : Ref{c.selection.layer, head};
    };
    box->component_facts = [&c](Facts& facts, const NamedStrip& strip, int component) {
      if (strip.id >= kQueryHead || head_of(c, strip.id, component) < 0) return;
      facts.say("component " + std::to_string(component % c.config().d_head()));
    };
    return box;
  };
  it.on = arrows({0, 1});
  it.body = rows(boxes(may_be_left_out(part(kInput, kResidual, kOutput), "the input", 1),
                       may_be_left_out(part(kProduct, kOutput, kQuery), "the product", 2),
                       part(kHeads, kQuery, kQueryHead),
                       may_be_left_out(rows(boxes(leads(), part(kOwn, kQueryHead, kEnd))),
                                       "the chosen head's q, k and v", 3)));
}

View view() {
  View view =
      make_view("qkv", "Q, K, V", declare,
                "how a token gets its query, key and value: ln_1, one matrix product, split into heads");
  view.caption.head = true;
  view.landmarks = {{"query", kOwn, always<kQueryHead>},
                    {"key", kOwn, always<kKeyHead>},
                    {"value", kOwn, always<kValueHead>}};
  return view;
}

}  // namespace headscope::app::qkv
