#include "app/views/parts/edited.h"

#include "app/views/parts/parts.h"

namespace headscope::app {
namespace {

using model::Site;

constexpr std::uint8_t kFaded = 170;  // opacity of the ground over the map of a head that is off

/// What an edit makes of the factor of a head's output, see output_factor, which is nothing after an edit
/// that no factor expresses. Setting the output to 0 does not depend on what was before.
std::optional<double> factor_after(const model::Edit& edit, std::optional<double> before) {
  const auto is_whole = [](const model::EditSite& at) { return at.positions.empty() && at.units.empty(); };
  if (const auto* scale = std::get_if<model::ScaleValues>(&edit); scale && is_whole(scale->at)) {
    if (scale->factor == 0) return 0;
    if (before) return *before * double{scale->factor};
  }
  if (const auto* set = std::get_if<model::SetValues>(&edit); set && is_whole(set->at))
    if (std::ranges::all_of(set->values, [](float value) { return value == 0; })) return 0;
  return std::nullopt;
}

/// "off", "× 0.5"; empty for an unedited head.
std::string factor_words(double factor) {
  if (factor == 1) return "";
  return factor == 0 ? "off" : "× " + exact(static_cast<float>(factor));
}

/// Marks a head that is off or scaled: "off" or "×0.5" in the corner that the mask leaves empty; an off one
/// is also faded and struck through, as its attention moves nothing. Returns whether the words had room.
bool paint_factor(viz::Scene& scene, const ViewContext& c, const viz::Rect& tile, double factor) {
  constexpr float kSmallest = 8;  // logical pixels: the smallest readable text
  const viz::Style style = style_of(c);
  std::string words = factor_words(factor);
  std::erase(words, ' ');
  if (factor == 0) {
    scene.add(viz::FillRect{tile, c.theme->surface.with_alpha(kFaded)});
    const viz::Rect inside = tile.inset(0.75F);
    scene.add(viz::Polyline{{{inside.x, inside.bottom()}, {inside.right(), inside.y}}, c.theme->text, 1.5F});
  }
  const float gap = 1.5F, room = factor == 0 ? 0.6F * tile.w : tile.w - 2 * gap;  // the line stays in sight
  const float size = std::min(style.small(), style.small() * room / style.width(words, style.small()));
  const float height = style.line(size) * 0.9F;
  if (size < std::max(kSmallest, style.smallest) || height > 0.6F * tile.h) return factor == 0;
  const float width = style.width(words, size) + gap;
  const viz::Rect ground{tile.right() - width - gap / 2, tile.y + gap / 2, width, height};
  scene.add(viz::FillRect{ground, c.theme->surface, 2});
  viz::add_label(scene, style, words, ground.center(), size, c.theme->text, viz::FontStyle::regular,
                 viz::Align::center);
  return true;
}

}  // namespace

std::vector<model::Edit> edits_of_head(const ViewContext& c, int layer, int head) {
  std::vector<model::Edit> edits;
  if (!c.run) return edits;
  std::ranges::copy_if(c.run->prompt.edits, std::back_inserter(edits), [&](const model::Edit& edit) {
    return acts_on_head(edit, {layer, head});
  });
  return edits;
}

bool is_edited_at(const ViewContext& c, Site site, int layer, int head) {
  return std::ranges::any_of(edits_of_head(c, layer, head),
                             [site](const model::Edit& edit) { return model::point_of(edit).site == site; });
}

bool is_edited_at(const ViewContext& c, model::HookPoint point, int position) {
  const auto acts = [&](const auto& edit) {
    if constexpr (requires { edit.at; })
      return edit.at.point == point &&
             (edit.at.positions.empty() || std::ranges::count(edit.at.positions, position) > 0);
    return false;
  };
  return c.run && std::ranges::any_of(c.run->prompt.edits,
                                      [&](const model::Edit& edit) { return std::visit(acts, edit); });
}

std::string with_edits(const ViewContext& c, std::string words, std::initializer_list<Site> sites) {
  const bool edited = std::ranges::any_of(sites, [&](Site site) {
    return is_edited_at(c, {site, c.selection.layer}, c.selection.query);
  });
  if (edited) words += words.empty() ? "edited" : "; edited";
  return words;
}

std::optional<double> output_factor(const ViewContext& c, int layer, int head) {
  std::optional<double> factor = 1;
  const std::vector<model::Edit> edits = edits_of_head(c, layer, head);
  for (const Site site : {Site::z, Site::result})  // in the order of the pass
    for (const model::Edit& edit : edits)
      if (model::point_of(edit).site == site) factor = factor_after(edit, factor);
  return factor;
}

std::string head_title(const ViewContext& c, int layer, int head) {
  std::string words = factor_words(output_factor(c, layer, head).value_or(1));
  if (words.empty() && !edits_of_head(c, layer, head).empty()) words = "edited";
  return head_name(layer, head) + (words.empty() ? "" : " (" + words + ")");
}

void paint_edited_head(viz::Scene& scene, const ViewContext& c, const viz::Rect& tile, int layer, int head) {
  if (edits_of_head(c, layer, head).empty()) return;
  const auto factor = output_factor(c, layer, head);
  if (factor && *factor != 1 && paint_factor(scene, c, tile, *factor)) return;
  const float side = std::min(2 * style_of(c).unit(), 0.3F * tile.w);
  const viz::Rect dot{tile.right() - 1.5F * side, tile.y + 0.5F * side, side, side};
  scene.add(viz::FillRect{dot.inset(-1.5F), c.theme->surface, side / 2 + 1.5F});
  scene.add(viz::FillRect{dot, c.theme->text, side / 2});
}

}  // namespace headscope::app
