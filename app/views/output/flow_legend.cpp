#include "app/views/output/flow_legend.h"

#include <algorithm>

#include "app/views/output/flow_paint.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "viz/scene/colormap.h"

namespace headscope::app::flow_picture {
namespace {

constexpr float kGap = 5;     // units between entries
constexpr float kSample = 6;  // units

float line_of(const viz::Style& style) {
  return style.line(style.small()) + style.unit();
}

std::string words_of(const Legend& legend, Legend::Entry entry, double unit = 0.05) {
  switch (entry) {
    case Legend::kWidth:
      return "a width of " + plain(unit) + " in the logit";
    case Legend::kAdds:
      return "adds";
    case Legend::kTakes:
      return "takes away";
    case Legend::kRestEntry:
      return "rest: not drawn, biases; as wide as all that it adds and takes";
    case Legend::kEdgesEntry:
      return legend.edges;
    case Legend::kFixedEntry:
      return legend.fixed;
    case Legend::kScale:
      break;
  }
  return legend.scale_title;
}

/// Whether it is words alone, without a sample.
bool is_bare(Legend::Entry entry) {
  return entry == Legend::kEdgesEntry || entry == Legend::kFixedEntry;
}

float width_of(const Legend& legend, Legend::Entry entry, const viz::Style& style) {
  if (entry == Legend::kScale) {
    viz::Scene measured;
    return viz::paint_color_scale_line(measured, legend.scale, legend.scale_title, {0, 0}, style);
  }
  const float words = style.width(words_of(legend, entry), style.small());
  return is_bare(entry) ? words : words + (kSample + 1.5F) * style.unit();
}

/// A round part of the logit that is wide enough to be seen.
double sample_of_width(double scale) {
  for (const double part : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0})
    if (scale * part >= 4) return part;
  return 100;
}

}  // namespace

void Legend::wrap(float width, const viz::Style& style, bool brief) {
  lines.assign(1, {});
  float x = 0;
  for (const Entry entry : {kWidth, kAdds, kTakes, kRestEntry, kScale, kEdgesEntry, kFixedEntry}) {
    if (entry == kFixedEntry && fixed.empty()) continue;
    if (brief && entry != kScale && !is_bare(entry)) continue;
    const float w = width_of(*this, entry, style);
    if (x > 0 && (x + w > width || (entry == kScale && lines.size() == 1 && !brief))) {
      lines.emplace_back();
      x = 0;
    }
    lines.back().push_back(entry);
    x += w + kGap * style.unit();
  }
}

float legend_height(const Legend& legend, const viz::Style& style) {
  return static_cast<float>(legend.lines.size()) * line_of(style);
}

void paint_legend(Picture& picture, const ViewContext& c, const Legend& legend, double scale,
                  viz::Point top_left) {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  const float u = style.unit(), line = style.line(style.small());
  const float right = c.width - margin(c);
  float y = top_left.y + line / 2;
  for (const auto& entries : legend.lines) {
    float x = top_left.x;
    for (const Legend::Entry entry : entries) {
      const float sample = kSample * u;
      const double unit = sample_of_width(scale);
      const bool is_too_wide = entry == Legend::kWidth && scale * unit > 0.9 * static_cast<double>(line);
      if (is_too_wide) continue;  // a clipped sample would be false
      if (entry == Legend::kWidth) {
        const float h = std::min(static_cast<float>(scale * unit), 0.9F * line);
        scene.add(viz::FillRect{{x, y - h / 2, sample, h}, c.theme->bar});
      } else if (entry == Legend::kAdds || entry == Legend::kTakes) {
        Strand strand;
        strand.width = 0.9F * u;
        strand.negative = entry == Legend::kTakes;
        strand.lines = {{{x, y}, {x + sample, y}}};
        paint_strand(scene, c, strand, edge_color(c, strand.negative));
      } else if (entry == Legend::kRestEntry) {
        scene.add(viz::FillRect{{x, y - 0.5F * u, sample, u}, rest_color(c)});
      }
      if (entry == Legend::kScale) {
        picture.whole &= viz::paint_color_scale_in(scene, legend.scale, legend.scale_title, std::nullopt,
                                                   {x, y}, right - x, style);
      } else {
        const float at = is_bare(entry) ? x : x + sample + 1.5F * u;
        picture.whole &= viz::add_whole_label(scene, style, words_of(legend, entry, unit), {at, y},
                                              right - at, c.theme->text_muted);
      }
      x += width_of(legend, entry, style) + kGap * u;
    }
    y += line_of(style);
  }
}

}  // namespace headscope::app::flow_picture
