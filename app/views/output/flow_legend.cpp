#include "app/views/output/flow_legend.h"

#include <algorithm>

#include "app/views/output/flow_paint.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "viz/scene/colormap.h"

namespace headscope::app::flow_picture {
namespace {

using Sample = Legend::Sample;

constexpr float kGap = 5;     // units between entries
constexpr float kSample = 6;  // units

float line_of(const viz::Style& style) {
  return style.line(style.small()) + style.unit();
}

/// The sample of a width stands for a part of the logit that depends on the layout.
std::string words_of(const Legend::Entry& entry, double unit = 0.05) {
  if (entry.sample == Sample::thinnest) return "thinnest lines: " + viz::number(unit, 2) + " or less";
  return entry.sample == Sample::width ? "this thick: " + plain(unit) + " in the logit" : entry.words;
}
bool has_sample(const Legend::Entry& entry) {
  return entry.sample != Sample::none && entry.sample != Sample::thinnest;
}

float width_of(const Legend& legend, const Legend::Entry& entry, const viz::Style& style) {
  if (entry.sample == Sample::scale) {
    viz::Scene measured;
    return viz::paint_color_scale_line(measured, legend.scale, entry.words, {0, 0}, style);
  }
  const float words = style.width(words_of(entry), style.small());
  return has_sample(entry) ? words + (kSample + 1.5F) * style.unit() : words;
}

/// The largest round part of the logit that is no wider than `most`.
double sample_of_width(double scale, float most) {
  double chosen = 0.01;
  for (const double part : {0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0})
    if (scale * part <= static_cast<double>(most)) chosen = part;
  return chosen;
}

}  // namespace

void Legend::wrap(float width, const viz::Style& style, bool brief) {
  lines.assign(1, {});
  float x = 0;
  for (int i = 0; i < std::ssize(entries); ++i) {
    const Entry& entry = entries[i];
    if (brief && !entry.needed) continue;
    const float w = width_of(*this, entry, style);
    // What follows an entry moves to the next line with it.
    float with_next = w;
    if (i + 1 < std::ssize(entries) && entries[i + 1].follows && !(brief && !entries[i + 1].needed))
      with_next += kGap * style.unit() + width_of(*this, entries[i + 1], style);
    if (with_next > width) with_next = w;
    const bool begins = entry.sample == Sample::scale && lines.size() == 1 && !brief;
    if (x > 0 && (x + with_next > width || begins)) {
      lines.emplace_back();
      x = 0;
    }
    lines.back().push_back(i);
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
  const float u = style.unit(), line = style.line(style.small()), sample = kSample * u;
  const float right = c.width - margin(c);
  const double width = sample_of_width(scale, 0.6F * line);
  float y = top_left.y + line / 2;
  for (const auto& entries : legend.lines) {
    float x = top_left.x;
    for (const int index : entries) {
      const Legend::Entry& entry = legend.entries[index];
      const double unit =
          entry.sample == Sample::thinnest ? static_cast<double>(c.least_line) / scale : width;
      const float h = static_cast<float>(scale * width);
      if (entry.sample == Sample::width && h > 0.9F * line) continue;  // a clipped sample would be false
      if (entry.sample == Sample::thinnest && legend.least >= unit) continue;
      if (entry.sample == Sample::width) {
        scene.add(viz::FillRect{{x, y - h / 2, sample, h}, c.theme->bar});
      } else if (entry.sample == Sample::adds || entry.sample == Sample::takes) {
        Strand strand;
        strand.width = 0.4F * u;  // as thin as most
        strand.negative = entry.sample == Sample::takes;
        strand.lines = {{{x, y}, {x + sample, y}}};
        paint_strand(scene, c, strand, edge_color(c, strand.negative));
      } else if (entry.sample == Sample::mlp) {
        const float half = 0.4F * line;
        scene.add(
            viz::FillPolygon{{{x, y - half}, {x + sample, y - half}, {x, y + half}}, wedge_color(c, false)});
      } else if (entry.sample == Sample::rest) {
        scene.add(viz::FillRect{{x, y - 0.5F * u, sample, u}, rest_color(c)});
      } else if (entry.sample == Sample::stub) {
        Strand strand;
        strand.width = 0.9F * u;
        strand.lines = {{{x, y}, {x + 2 * u, y}}};
        strand.tapers = {{{x + 2 * u, y - u / 2}, {x + sample, y}, {x + 2 * u, y + u / 2}}};
        paint_strand(scene, c, strand, edge_color(c, false));
      }
      if (entry.sample == Sample::scale) {
        picture.whole &= viz::paint_color_scale_in(scene, legend.scale, entry.words, std::nullopt, {x, y},
                                                   right - x, style);
      } else {
        const float at = has_sample(entry) ? x + sample + 1.5F * u : x;
        picture.whole &= viz::add_whole_label(scene, style, words_of(entry, unit), {at, y}, right - at,
                                              c.theme->text_muted);
      }
      x += width_of(legend, entry, style) + kGap * u;
    }
    y += line_of(style);
  }
}

}  // namespace headscope::app::flow_picture
