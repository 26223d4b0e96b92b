#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace cache {

enum Role { kCell };  // a row for each pass, a column for each position

struct Pass {
  int kept = 0;      ///< positions whose keys and values it found in the cache
  int computed = 0;  ///< positions after these, whose keys and values it added
  int length() const { return kept + computed; }
};

struct Passes {
  std::vector<Pass> passes;         ///< the first one is the run's own
  std::vector<std::string> names;   ///< names of the passes: the token that was added
  std::vector<std::string> labels;  ///< labels of all positions
  std::size_t bytes_a_token = 0;    ///< bytes of a token's keys and values in all layers
  bool full = false;                ///< n_ctx is reached
  int length() const { return passes.back().length(); }
};

Passes passes_of(const ViewContext& c, const Continuations& drawn) {
  const model::Run& run = *c.run->run;
  Passes p;
  p.passes.push_back({0, run.length()});  // starts with an empty cache
  p.names.emplace_back("prompt");
  p.labels.assign(c.run->tokens.labels.begin(), c.run->tokens.labels.begin() + run.length());
  if (!drawn.texts.empty()) {
    for (const DrawnToken& token : drawn.texts.front()) {
      p.labels.push_back(label_of(c, token.id));
      p.names.push_back(p.labels.back());
      p.passes.push_back({token.kept, token.computed});
    }
  }
  const model::Config& config = run.config;
  p.bytes_a_token =
      2 * sizeof(float) * static_cast<std::size_t>(config.n_layer) * static_cast<std::size_t>(config.n_embd);
  p.full = p.length() >= config.n_ctx;
  return p;
}

std::string bytes_words(std::size_t bytes) {
  const auto n = static_cast<double>(bytes);
  if (n < 1024) return std::to_string(bytes) + " bytes";
  return n < 1024 * 1024 ? viz::number(n / 1024, 3) + " KiB" : viz::number(n / 1024 / 1024, 3) + " MiB";
}

/// Positions that would be computed without a cache: all of them in every pass.
int without_cache(const Passes& p) {
  return std::accumulate(p.passes.begin(), p.passes.end(), 0,
                         [](int sum, const Pass& pass) { return sum + pass.length(); });
}
int with_cache(const Passes& p) {
  return std::accumulate(p.passes.begin(), p.passes.end(), 0,
                         [](int sum, const Pass& pass) { return sum + pass.computed; });
}

std::vector<std::string> notes_of(const ViewContext& c, const Passes& p) {
  const model::Config& config = c.run->run->config;
  std::vector<std::string> notes{
      "Keys and values of one position: 2 × " + counted(config.n_layer, "layer") + " × " +
          counted(config.n_head, "head") + " × " + std::to_string(config.n_embd / config.n_head) +
          " float32 = " + bytes_words(p.bytes_a_token) + "; of " +
          (p.length() == 1 ? std::string("one position ") : "all " + grouped(p.length()) + " positions ") +
          bytes_words(p.bytes_a_token * static_cast<std::size_t>(p.length())) + ".",
      "Computed with the cache: " + grouped(with_cache(p)) +
          " positions. Without it, recomputing all in every pass: " + grouped(without_cache(p)) + "."};
  if (p.full) notes.push_back("The context of " + grouped(config.n_ctx) + " tokens is full.");
  return notes;
}

std::string pass_words(const Pass& pass) {
  return grouped(pass.computed) + " computed" + (pass.kept > 0 ? ", " + grouped(pass.kept) + " kept" : "");
}

/// Keys above values, in their colours; paler if cached.
constexpr std::uint8_t kPale = 70;
void paint_cells(viz::Scene& scene, const ViewContext& c, const viz::Rect& rect, std::uint8_t alpha) {
  if (rect.w <= 0) return;
  scene.add(viz::FillRect{{rect.x, rect.y, rect.w, rect.h / 2}, c.theme->key.with_alpha(alpha)});
  scene.add(
      viz::FillRect{{rect.x, rect.y + rect.h / 2, rect.w, rect.h / 2}, c.theme->value.with_alpha(alpha)});
}

/// A row for each pass, named by its token, a column for each position; right of a row what it computed.
void paint_passes(Picture& picture, const ViewContext& c, const Passes& p, viz::Rect area) {
  const viz::Style style = style_of(c);
  const viz::AxisLabels rows{.labels = p.names, .title = "pass", .color = c.theme->text_muted},
      columns{.labels = p.labels, .title = "position", .color = c.theme->text_muted};
  const auto count = static_cast<float>(p.passes.size()), length = static_cast<float>(p.length());
  const viz::LabelRoom left = viz::row_label_room(rows, style.font_size, 0.25F * area.w, style);
  float words = 0;
  for (const Pass& pass : p.passes)
    words = std::max(words, style.width(pass_words(pass), style.small()) + 3 * style.unit());
  if (area.w - left.size - words < 12 * style.font_size) words = 0;
  constexpr float kWidest = 4, kHighest = 3;  // ems, of a cell
  const float cell = std::min(kWidest * style.font_size, (area.w - left.size - words) / length);
  const viz::LabelRoom top =
      viz::column_label_room(columns, cell, std::min(7 * style.font_size, 0.3F * area.h), style);
  const float row = std::min(kHighest * style.font_size, (area.h - top.size) / count);
  if (row < 2 || cell <= 0) return;
  const viz::Region grid =
      viz::Region::grid(kCell, 0, {area.x + left.size, area.y + top.size, cell * length, row * count},
                        static_cast<int>(p.passes.size()), p.length());
  const float between = row >= 8 ? 2.F : row >= 4 ? 1.F : 0.F;
  for (int i = 0; i < std::ssize(p.passes); ++i) {
    const Pass& pass = p.passes[i];
    const viz::Rect first = grid.cell_rect(i, 0);
    const float kept = static_cast<float>(pass.kept) * cell, all = static_cast<float>(pass.length()) * cell;
    const float h = row - between;
    paint_cells(picture.scene, c, {first.x, first.y, kept, h}, kPale);
    paint_cells(picture.scene, c, {first.x + kept, first.y, all - kept, h}, 255);
    viz::Segments lines{{}, c.theme->surface, 1};
    for (int column = 1; column < pass.length() && cell >= 5; ++column) {
      const float x = grid.cell_rect(i, column).x;
      lines.points.insert(lines.points.end(), {{x, first.y}, {x, first.y + h}});
    }
    if (!lines.points.empty()) picture.scene.add(std::move(lines));
    if (words > 0 && row >= style.line(style.small()) - 3)
      paint_note(picture, c, pass_words(pass), {grid.rect.right() + 2 * style.unit(), first.y + h / 2});
  }
  viz::paint_row_labels(picture.scene, rows, left, grid, style);
  viz::paint_column_labels(picture.scene, columns, top, grid, c.width - 2, style);
  picture.regions.push_back(grid);
}

/// What the colours stand for, as far as there is room.
void paint_legend(Picture& picture, const ViewContext& c, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), y = area.center().y;
  float x = area.x;
  for (const auto& [words, color] : {std::pair{"keys computed", c.theme->key},
                                     {"values computed", c.theme->value},
                                     {"keys kept", c.theme->key.with_alpha(kPale)},
                                     {"values kept", c.theme->value.with_alpha(kPale)}}) {
    const float width = 5 * u + style.width(words, style.small());
    if (x + width > area.right()) return;
    picture.scene.add(viz::FillRect{{x, y - 1.25F * u, 3 * u, 2.5F * u}, color});
    paint_note(picture, c, words, {x + 4 * u, y});
    x += width + 3 * u;
  }
}

Table table(const Passes& passes) {
  Table result{key_column("pass"), note_column("token"), "kept", "computed",
               Column("keys and values", "bytes")};
  for (std::size_t i = 0; i < passes.passes.size(); ++i) {
    const Pass& pass = passes.passes[i];
    add_row(result, i, passes.names[i], pass.kept, pass.computed,
            passes.bytes_a_token * static_cast<std::size_t>(pass.length()));
  }
  result.about("keys and values of a position", passes.bytes_a_token, "bytes");
  result.fact("positions computed", with_cache(passes));
  result.fact("positions computed without a cache", without_cache(passes));
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  // Greedy: the cache does not depend on which tokens are drawn.
  const auto drawn =
      it.need(ContinuationsOf{.texts = 1, .tokens = c.options[kAhead], .temperature = 0, .read_last = true});
  if (!drawn) return;
  const Passes& passes = it.keep(passes_of(c, *drawn));
  it.title = "Key-value cache", it.says_difference = true;
  it.subtitle = "one pass per new token; greedy";
  it.table = [&] { return table(passes); };
  it.facts = [&passes](Facts& facts, const ViewContext& now, const Picture& picture, const viz::Hit& hit) {
    if (region_of(picture, hit).role != kCell) return;
    const Pass& pass = passes.passes[hit.row];
    facts.overlay.add(
        viz::StrokeRect{region_of(picture, hit).cell_rect(hit.row, hit.col), now.theme->text, 1});
    facts.say("position " + std::to_string(hit.col) + " “" + passes.labels[hit.col] + "”");
    facts.say(hit.col < pass.kept       ? "kept: this pass read its keys and values"
              : hit.col < pass.length() ? "computed by this pass"
                                        : "not yet in the prompt");
    facts.say("pass “" + passes.names[hit.row] + "”: " + pass_words(pass), Fact::Location::tooltip);
  };
  it.on = [](const ViewContext& now, const Picture&, const viz::Hit* hit, const Gesture& gesture) {
    const bool chooses =
        gesture.kind == Gesture::Kind::click && hit != nullptr && hit->col < now.run->run->length();
    return chooses ? std::optional(ViewActions{SelectQuery{hit->col}}) : std::nullopt;
  };
  const auto count = static_cast<float>(passes.passes.size()), length = static_cast<float>(passes.length());
  const auto height = [=](float width) {
    const float row = std::clamp(0.7F * width / length, 1.2F, 3.F);
    return Wish{4 + 0.3F * count, 6 + row * count, 7 + 3 * count};
  };
  it.body = rows(boxes(custom({12, 60}, height,
                              [&passes](Picture& picture, const ViewContext& now, viz::Rect area) {
                                paint_passes(picture, now, passes, area);
                              }),
                       custom({0, 30}, {1.2F, 1.2F, 1.2F}, paint_legend), notes(notes_of(c, passes))));
}

}  // namespace cache

View cache_view() {
  using namespace cache;
  View view =
      make_view(Group::output, "cache", "Cache",
                "which keys and values each pass computes and which it reads from the cache", declare);
  view.options = {&kAhead};
  view.caption = {true, false, false};
  view.landmarks = {landmark("grid", kCell), {"prompt pass", [](const ViewContext&, const Picture& p) {
                                                return around_cells(p, kCell, 0, -1);
                                              }}};
  return view;
}

}  // namespace headscope::app
