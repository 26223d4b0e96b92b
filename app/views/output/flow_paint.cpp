#include "app/views/output/flow_paint.h"

#include "app/views/parts/parts.h"

namespace headscope::app::flow_picture {

namespace {

using viz::Point;

float mix(float a, float b, float t) {
  return a + (b - a) * t;
}

/// A ribbon's stretch as polygons of one colour each, which overlap a little so that no gap shows.
void paint_slice(viz::Scene& scene, const ViewContext& c, const Slice& slice, const viz::ColorScale& scale,
                 const Confidence& confidence, int layers) {
  if (slice.y0 <= slice.y1) return;
  constexpr float kStep = 4, kOverlap = 1;
  const auto color_at = [&](float level) {
    if (confidence.lens == nullptr) return rest_color(c);
    const int layer = std::clamp(static_cast<int>(level), 0, layers - 1);
    const float t = std::clamp(level - static_cast<float>(layer), 0.F, 1.F);
    const double low = confidence.at(slice.column, layer), high = confidence.at(slice.column, layer + 1);
    return scale.color(*c.theme, low + (high - low) * static_cast<double>(t));
  };
  const int steps = std::max(1, static_cast<int>(std::ceil((slice.y0 - slice.y1) / kStep)));
  int from = 0;
  viz::Color color = color_at(mix(slice.level0, slice.level1, 0.5F / static_cast<float>(steps)));
  for (int i = 1; i <= steps; ++i) {
    const viz::Color next = i < steps
                                ? color_at(mix(slice.level0, slice.level1,
                                               (static_cast<float>(i) + 0.5F) / static_cast<float>(steps)))
                                : viz::Color{};
    if (i < steps && next == color) continue;
    const float a = static_cast<float>(from) / static_cast<float>(steps),
                b = static_cast<float>(i) / static_cast<float>(steps);
    const float y0 = mix(slice.y0, slice.y1, a) + kOverlap, y1 = mix(slice.y0, slice.y1, b);
    scene.add(viz::FillPolygon{{{mix(slice.left0, slice.left1, a), y0},
                                {mix(slice.left0, slice.left1, b), y1},
                                {mix(slice.right0, slice.right1, b), y1},
                                {mix(slice.right0, slice.right1, a), y0}},
                               color});
    from = i, color = next;
  }
}

/// Strokes across what takes away from the logit, so that it differs without colour.
void hatch(viz::Segments& lines, const Slice& slice, float unit) {
  const float step = 1.25F * unit;
  for (float y = std::floor(slice.y0 / step) * step; y > slice.y1; y -= step) {
    const float t = (slice.y0 - y) / (slice.y0 - slice.y1);
    const Point left{mix(slice.left0, slice.left1, t), y}, right{mix(slice.right0, slice.right1, t), y};
    if (right.x - left.x > 1) lines.points.insert(lines.points.end(), {left, right});
  }
}

void paint_ribbons(viz::Scene& scene, const ViewContext& c, const Layout& layout,
                   const Confidence& confidence, int layers) {
  const viz::Style style = style_of(c);
  const viz::ColorScale scale = scale_of(confidence);
  viz::Segments hatching{{}, c.theme->surface, 1},
      edges{{}, c.theme->field_line.with_alpha(c.theme->dark ? 230 : 150), 0.75F},
      stems{{}, c.theme->field_line.with_alpha(c.theme->dark ? 255 : 150), 1};
  for (const Slice& slice : layout.slices) {
    if (slice.y0 <= slice.y1) continue;
    if (std::max(slice.right0 - slice.left0, slice.right1 - slice.left1) > 0.05F)
      paint_slice(scene, c, slice, scale, confidence, layers);
    if (slice.negative) hatch(hatching, slice, style.unit());
    const bool thin = std::max(slice.right0 - slice.left0, slice.right1 - slice.left1) < 1.5F;
    if (thin) {
      stems.points.insert(stems.points.end(), {{(slice.left0 + slice.right0) / 2, slice.y0},
                                               {(slice.left1 + slice.right1) / 2, slice.y1}});
    } else {
      for (const auto& [x0, x1] : {std::pair{slice.left0, slice.left1}, {slice.right0, slice.right1}})
        edges.points.insert(edges.points.end(), {{x0, slice.y0}, {x1, slice.y1}});
    }
  }
  scene.add(std::move(stems));
  scene.add(std::move(hatching));
  scene.add(std::move(edges));
}

void paint_wedges(Picture& picture, const ViewContext& c, const Poster& poster, const Layout& layout) {
  const viz::Style style = style_of(c);
  for (const Wedge& wedge : layout.wedges) {
    const viz::Color color = wedge_color(c, wedge.negative);
    viz::Segments lines{{}, c.theme->surface, 1};
    for (std::size_t i = 1; i < wedge.sides.size(); ++i) {
      const Wedge::Side &a = wedge.sides[i - 1], &b = wedge.sides[i];
      picture.scene.add(
          viz::FillPolygon{{{a.from, a.y + 1}, {b.from, b.y}, {b.to, b.y}, {a.to, a.y + 1}}, color});
      if (wedge.negative && i % 2 == 0) lines.points.insert(lines.points.end(), {{b.from, b.y}, {b.to, b.y}});
    }
    if (wedge.negative) picture.scene.add(std::move(lines));
    viz::Rect rect = wedge.rect;
    const float wider = std::max(0.F, 2 * style.unit() - rect.w);
    rect.x -= wider / 2, rect.w += wider;
    picture.regions.push_back(
        {.role = kMlp, .id = wedge.column * poster.graph.layers + wedge.layer, .rect = rect});
  }
}

/// The rectangles around the parts of a line: its turns, and its runs between them.
std::vector<viz::Rect> boxes_of(const std::vector<Point>& line, float reach) {
  constexpr float kRun = 12;
  std::vector<viz::Rect> boxes;
  bool after_run = true;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Point a = line[i - 1], b = line[i];
    const viz::Rect box{std::min(a.x, b.x) - reach, std::min(a.y, b.y) - reach,
                        std::abs(a.x - b.x) + 2 * reach, std::abs(a.y - b.y) + 2 * reach};
    const bool run = std::abs(a.x - b.x) > kRun;
    if (run || after_run) {
      boxes.push_back(box);
    } else {
      viz::Rect& last = boxes.back();
      const float right = std::max(last.right(), box.right()), bottom = std::max(last.bottom(), box.bottom());
      last.x = std::min(last.x, box.x), last.y = std::min(last.y, box.y);
      last.w = right - last.x, last.h = bottom - last.y;
    }
    after_run = run;
  }
  return boxes;
}

void add_regions(Picture& picture, const ViewContext& c, const Strand& strand) {
  const viz::Rect page{0, 0, c.width, c.height};
  for (const auto& line : strand.lines)
    for (const viz::Rect& box : boxes_of(line, std::max(strand.width / 2, 3.F)))
      if (page.encloses(box))
        picture.regions.push_back({.role = strand.edge < 0 ? kRest : kEdge,
                                   .id = strand.edge < 0 ? strand.layer : strand.edge,
                                   .rect = box});
}

/// A gap in the ribbons that a strand crosses, so that it is seen to lead past them.
void paint_casing(viz::Scene& scene, const ViewContext& c, const Strand& strand) {
  for (const auto& line : strand.lines) {
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (std::abs(line[i].x - line[i - 1].x) < 12 || line[i].y != line[i - 1].y) continue;
      const float y = line[i].y, half = strand.width / 2 + 1.25F;
      const float x0 = std::min(line[i].x, line[i - 1].x), x1 = std::max(line[i].x, line[i - 1].x);
      scene.add(viz::FillRect{{x0, y - half, x1 - x0, 2 * half}, c.theme->surface});
    }
  }
}

/// Where a strand leaves or joins a ribbon, its colour fades into the ribbon's.
void paint_fades(viz::Scene& scene, const Strand& strand, viz::Color color, float unit) {
  if (strand.width < 0.5F * unit) return;
  constexpr int kSteps = 8;
  // Whole pixels, so that no lines show between the steps.
  const float step = std::ceil(std::clamp(strand.width, 1.5F * unit, 5 * unit) / kSteps);
  for (std::size_t end = 0; end < strand.ends.size(); ++end) {
    const float x = strand.ends[end].x, y = std::round(strand.ends[end].y);
    for (int i = 0; i < kSteps; ++i) {
      const float below = i == 0 ? 1 : 0;  // the first lies under the strand's end
      const float top =
          end == 0 ? y + static_cast<float>(i) * step - below : y - static_cast<float>(i + 1) * step;
      scene.add(
          viz::FillRect{{x - strand.width / 2, top, strand.width, step + below},
                        color.with_alpha(static_cast<std::uint8_t>(225 * (kSteps - i) / (kSteps + 1)))});
    }
  }
}

void paint_labels(Picture& picture, const ViewContext& c, const Layout& layout) {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  for (const Label& label : layout.labels) {
    const bool column = label.of == Label::Of::token && label.column >= 0;
    const bool strong = column || label.of == Label::Of::mlp || label.of == Label::Of::edge;
    const viz::Color color = strong ? c.theme->text : c.theme->text_muted;
    const auto face = column ? viz::FontStyle::medium : viz::FontStyle::regular;
    const float room = label.room > 0 ? label.room : 1e9F;
    if (label.angle != 0) {
      const float y = label.rect.bottom();
      viz::add_label(scene, style, label.text, {label.at.x, y}, style.small(), color, face, viz::Align::left,
                     room, label.angle);
    } else {
      viz::add_label(scene, style, label.text, label.at, style.small(), color, face, label.align, room);
    }
    if (label.of == Label::Of::token) {
      viz::Rect rect = label.rect;
      if (label.index == c.selection.key)
        scene.add(viz::StrokeRect{rect.inset(-1), c.theme->accent, 1.5F, style.unit() / 2});
      rect = {std::max(0.F, rect.x), rect.y, std::min(rect.w, c.width - rect.x),
              std::min(rect.h, c.height - rect.y)};
      picture.regions.push_back({.role = kToken, .id = label.index, .rect = rect});
    }
  }
}

constexpr float kBarGap = 1.5F;  // units between a bar and its words

/// Where the target's ribbon ends; null: it has no stretch.
const Slice* end_of(const Layout& layout, int target) {
  const Slice* end = nullptr;
  for (const Slice& slice : layout.slices)
    if (slice.column == target) end = &slice;
  return end;
}

viz::FontStyle face_of(const GuessBar& bar) {
  return bar.chosen ? viz::FontStyle::bold : viz::FontStyle::regular;
}

float words_width(const GuessBar& bar, const viz::Style& style) {
  return style.width(bar.label, style.small(), face_of(bar)) +
         style.width("  " + percent(bar.probability), style.small()) + kBarGap * style.unit() +
         0.5F;  // for rounding
}

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

double Confidence::at(int column, int layer) const {
  const std::vector<double>& all = of == RibbonColor::token ? lens->of_token : lens->of_top;
  return all[static_cast<std::size_t>(rows[column]) * static_cast<std::size_t>(lens->layers + 1) +
             static_cast<std::size_t>(layer)];
}

Confidence confidence_of(const FlowLens* lens, RibbonColor of, const Graph& graph) {
  Confidence confidence{lens, of, {}, 1, 0};
  if (lens == nullptr) return confidence;
  double most = 0;
  for (int column = 0; column < std::ssize(graph.columns); ++column) {
    const auto row = std::ranges::find(lens->positions, graph.columns[column].position);
    confidence.rows.push_back(static_cast<int>(row - lens->positions.begin()));
    for (int layer = 0; layer <= lens->layers; ++layer) {
      const double p = confidence.at(column, layer);
      if (!std::isfinite(p)) continue;
      confidence.most = std::max(confidence.most, p);
      if (graph.columns[column].position == graph.target) most = std::max(most, p);
    }
  }
  // A token that is far behind the best guess is pale.
  confidence.of = RibbonColor::top;
  const double best = confidence.at(graph.column_of(graph.target), lens->layers);
  confidence.of = of;
  if (std::isfinite(best)) most = std::max(most, best);
  for (const double end : {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0}) {
    confidence.high = end;
    if (most <= end) break;
  }
  return confidence;
}

viz::ColorScale scale_of(const Confidence& confidence) {
  viz::ColorScale scale = viz::linear_scale(confidence.high);
  scale.values_above = confidence.most > confidence.high;
  return scale;
}

viz::Color edge_color(const ViewContext& c, bool negative) {
  return viz::sign_color(*c.theme, negative ? -1 : 1);
}
viz::Color rest_color(const ViewContext& c) {
  return c.theme->field_line;
}
viz::Color wedge_color(const ViewContext& c, bool negative) {
  return viz::blended(c.theme->surface, edge_color(c, negative).with_alpha(110));
}

void paint_strand(viz::Scene& scene, const ViewContext& c, const Strand& strand, viz::Color color) {
  const float u = style_of(c).unit();
  const bool thin = strand.width < 0.75F * u;
  for (const auto& line : strand.lines) {
    viz::Polyline stroke{line, color, strand.width};
    if (strand.negative && thin) stroke.dashes = {1.25F * u, 0.75F * u};
    scene.add(std::move(stroke));
    if (strand.negative && !thin)
      scene.add(viz::Polyline{line, c.theme->surface, std::max(1.F, 0.25F * strand.width), {1.25F * u, u}});
  }
  for (const auto& taper : strand.tapers) {
    if (!strand.negative) {
      scene.add(viz::FillPolygon{taper, color});
      continue;
    }
    const viz::Point base{(taper[0].x + taper[2].x) / 2, (taper[0].y + taper[2].y) / 2};
    scene.add(viz::Polyline{{base, taper[1]}, color, strand.width, {1.25F * u, 0.75F * u}});
  }
}

void paint_flow(Picture& picture, const ViewContext& c, const Poster& poster, const Layout& layout,
                const Confidence& confidence) {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  const int layers = poster.graph.layers;
  for (const float y : layout.levels)
    scene.add_line({layout.plot.x, style.snapped(y)}, {layout.rest.right(), style.snapped(y)},
                   c.theme->line.with_alpha(150), 0.75F);
  for (int column = 0; column < std::ssize(layout.columns); ++column) {
    const viz::Rect& rect = layout.columns[column];
    const float reach = std::max(0.F, 2 * style.unit() - rect.w / 2);
    for (int layer = 0; layer < layers; ++layer)
      picture.regions.push_back({.role = kStream,
                                 .id = column * (layers + 1) + layer,
                                 .rect = {rect.x - reach, layout.levels[layer + 1], rect.w + 2 * reach,
                                          layout.levels[layer] - layout.levels[layer + 1]}});
  }
  paint_ribbons(scene, c, layout, confidence, layers);
  paint_wedges(picture, c, poster, layout);
  for (const Slice& slice : layout.rest_slices) {
    if (slice.right0 - slice.left0 < 0.2F || slice.y0 <= slice.y1) continue;
    scene.add(viz::FillRect{{slice.left0, slice.y1, slice.right0 - slice.left0, slice.y0 - slice.y1},
                            rest_color(c)});
  }
  for (const Strand& strand : layout.strands)
    if (strand.edge >= 0) paint_casing(scene, c, strand);
  for (const Label& label : layout.labels)
    if (label.of == Label::Of::edge) scene.add(viz::FillRect{label.rect, c.theme->surface.with_alpha(200)});
  for (const Strand& strand : layout.strands) {
    const viz::Color color = strand.edge < 0 ? rest_color(c) : edge_color(c, strand.negative);
    paint_fades(scene, strand, color, style.unit());
    paint_strand(scene, c, strand, color);
    add_regions(picture, c, strand);
  }
  paint_labels(picture, c, layout);
}

void drop_covered_regions(std::vector<viz::Region>& regions) {
  constexpr int kSteps = 9;
  std::vector<bool> covered(regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const viz::Rect& rect = regions[i].rect;
    bool seen = false;
    for (int step = 0; step < kSteps * kSteps && !seen; ++step) {
      const Point at{rect.x + rect.w * (static_cast<float>(step % kSteps) + 0.51F) / kSteps,
                     rect.y + rect.h * (static_cast<float>(step / kSteps) + 0.51F) / kSteps};
      seen = std::none_of(regions.begin() + static_cast<std::ptrdiff_t>(i) + 1, regions.end(),
                          [&](const viz::Region& later) { return later.rect.contains(at); });
    }
    covered[i] = !seen || rect.w <= 0 || rect.h <= 0;
  }
  std::size_t i = 0;
  std::erase_if(regions, [&](const viz::Region&) { return covered[i++]; });
}

float guesses_height(const ViewContext& c, int bars) {
  const viz::Style style = style_of(c);
  return static_cast<float>(bars) * style.line(style.small()) + 2 * style.unit();
}

double scale_of_bars(const ViewContext& c, const Layout& layout, const Graph& graph,
                     const std::vector<GuessBar>& bars) {
  const viz::Style style = style_of(c);
  double scale = std::numeric_limits<double>::infinity();
  const Slice* end = end_of(layout, graph.column_of(graph.target));
  if (end == nullptr) return scale;
  const float room = layout.plot.right() - end->left1;
  const float longest = std::min(0.45F * room, 9 * style.font_size);
  for (const GuessBar& bar : bars)
    if (bar.probability > 0)
      scale = std::min(scale, static_cast<double>(std::min(
                                  longest, std::max(2 * style.unit(), room - words_width(bar, style)))) /
                                  bar.probability);
  return scale;
}

void paint_guesses(Picture& picture, const ViewContext& c, const Layout& layout, int target,
                   const std::vector<GuessBar>& bars, double scale, const Confidence& confidence) {
  if (bars.empty()) return;
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small());
  const Slice* end = end_of(layout, target);
  if (end == nullptr) return;
  // The ribbon ends in an arrow towards the guesses.
  const float middle = (end->left1 + end->right1) / 2, half = (end->right1 - end->left1) / 2;
  const viz::Color color =
      confidence.lens ? scale_of(confidence).color(*c.theme, confidence.at(target, confidence.lens->layers))
                      : rest_color(c);
  const float tip = std::clamp(0.35F * half, u, 2.5F * u);
  picture.scene.add(viz::FillPolygon{
      {{end->left1, end->y1 + 0.4F}, {middle, end->y1 - tip}, {end->right1, end->y1 + 0.4F}}, color});
  const float x = end->left1, right = layout.plot.right(), gap = kBarGap * u;
  float y = layout.end - guesses_height(c, static_cast<int>(bars.size())) + line / 2;
  for (const GuessBar& bar : bars) {
    const float length = bar.probability > 0 ? std::max(1.F, static_cast<float>(bar.probability * scale)) : 1;
    const viz::Rect rect{x, y - 0.3F * line, length, 0.6F * line};
    picture.scene.add(viz::FillRect{rect, bar.chosen ? c.theme->text : c.theme->bar, 1});
    if (bar.chosen)
      picture.scene.add(
          viz::FillPolygon{{{x - 2.5F * u, y - u}, {x - u, y}, {x - 2.5F * u, y + u}}, c.theme->text});
    const std::string number = percent(bar.probability);
    const float number_w = style.width("  " + number, style.small()), at = x + length + gap;
    const auto face = face_of(bar);
    if (right - at < words_width(bar, style) - gap) picture.whole = false;
    const float room = std::max(0.F, right - at - number_w);
    viz::add_label(picture.scene, style, bar.label, {at, y}, style.small(), c.theme->text, face,
                   viz::Align::left, room);
    const float used = std::min(room, style.width(bar.label, style.small(), face));
    viz::add_muted(picture.scene, style, number, {at + used + 1.5F * u, y});
    picture.regions.push_back({.role = kGuess, .id = bar.id, .rect = {x, y - line / 2, right - x, line}});
    y += line;
  }
}

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
