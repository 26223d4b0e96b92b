#include "app/views/parts/edited.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "app/run/edits/edit_text.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

using model::Site;

bool is_of_head(const model::Edit& edit, int layer, int head) {
  return std::visit(
      [&](const auto& one) {
        using Kind = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, model::SetPositionIds>) {
          return false;
        } else if constexpr (std::is_same_v<Kind, model::SetMask>) {
          return one.layer.value_or(layer) == layer && one.head.value_or(head) == head;
        } else if constexpr (std::is_same_v<Kind, model::SetCells>) {
          return one.point.layer == layer && one.head.value_or(head) == head;
        } else {
          const model::HookPoint point = one.at.point;
          return model::has_heads(point.site) && point.layer == layer && one.at.head.value_or(head) == head;
        }
      },
      edit);
}

/// Whether an edit there cannot affect the attention pattern of a layer.
bool acts_after_pattern(model::HookPoint point, int layer) {
  if (!model::in_block(point.site)) return point.site > Site::resid_post;
  if (point.layer != layer) return point.layer > layer;
  return point.site == Site::v || point.site > Site::pattern;
}

}  // namespace

std::vector<model::Edit> edits_of_head(const ViewContext& c, int layer, int head) {
  std::vector<model::Edit> edits;
  if (!c.run) return edits;
  std::ranges::copy_if(c.run->prompt.edits, std::back_inserter(edits),
                       [&](const model::Edit& edit) { return is_of_head(edit, layer, head); });
  return edits;
}

bool is_edited_head(const ViewContext& c, int layer, int head) {
  return c.run && std::ranges::any_of(c.run->prompt.edits,
                                      [&](const model::Edit& edit) { return is_of_head(edit, layer, head); });
}

bool is_edited_output(const ViewContext& c, int layer, int head) {
  return std::ranges::any_of(edits_of_head(c, layer, head), [](const model::Edit& edit) {
    const Site site = model::point_of(edit).site;
    return site == Site::z || site == Site::result;
  });
}

std::string head_title(const ViewContext& c, int layer, int head) {
  const std::string name = head_name(layer, head);
  const std::vector<model::Edit> edits = edits_of_head(c, layer, head);
  if (edits.empty()) return name;
  const std::string words = edits.size() == 1 ? edit_words(edits.front()) : "";
  const bool is_its_own = words.starts_with(name + " ");
  return name + " (" + (is_its_own ? words.substr(name.size() + 1) : "edited") + ")";
}

std::string no_difference_words(const ViewContext& c, int layer) {
  if (compares_different_inputs(*c.run)) return "No difference here.";
  const bool after = std::ranges::all_of(c.run->prompt.edits, [&](const model::Edit& edit) {
    return acts_after_pattern(model::point_of(edit), layer);
  });
  return std::string("No difference here: ") +
         (after ? "the edits act after this attention." : "the edits do not affect it.") +
         " Logit lens and Next token show what they do affect.";
}

void paint_no_difference(Picture& picture, const ViewContext& c, int layer, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.font_size), room = 0.6F * area.w;
  const std::vector<std::string> lines =
      viz::wrap(style, no_difference_words(c, layer), style.font_size, viz::FontStyle::regular, room);
  float width = 0;
  for (const std::string& text : lines) width = std::max(width, style.width(text, style.font_size));
  const float height = line * static_cast<float>(lines.size());
  const viz::Point middle = area.center();
  const viz::Rect ground{middle.x - width / 2 - 3 * u, middle.y - height / 2 - 2 * u, width + 6 * u,
                         height + 4 * u};
  if (ground.h > area.h || ground.w > area.w) return;
  picture.scene.add(viz::FillRect{ground, c.theme->surface, 2 * u});
  picture.scene.add(viz::StrokeRect{ground, c.theme->line, 1, 2 * u});
  float y = ground.y + 2 * u + line / 2;
  for (const std::string& text : lines) {
    viz::add_label(picture.scene, style, text, {middle.x, y}, style.font_size, c.theme->text,
                   viz::FontStyle::regular, viz::Align::center);
    y += line;
  }
}

}  // namespace headscope::app
