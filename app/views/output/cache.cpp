#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"

namespace headscope::app::cache {

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
  std::vector<std::uint8_t> blank;  ///< for each pass and position: it is not yet in the prompt
  std::size_t bytes_a_token = 0;    ///< bytes of a token's keys and values in all layers
  int computed = 0;                 ///< positions
  int without_cache = 0;            ///< the same if each pass computes all
  int length() const { return passes.back().length(); }
};

Passes passes_of(const ViewContext& c, const Continuations& drawn) {
  const model::Run& run = *c.run->run;
  Passes p;
  p.passes.push_back({0, run.length()});  // starts with an empty cache
  p.names.emplace_back("prompt");
  p.labels.assign(c.run->tokens.labels.begin(), c.run->tokens.labels.begin() + run.length());
  if (!drawn.texts.empty())
    for (const DrawnToken& token : drawn.texts.front()) {
      p.labels.push_back(label_of(c, token.id));
      p.names.push_back(p.labels.back());
      p.passes.push_back({token.kept, token.computed});
    }
  for (const Pass& pass : p.passes) p.computed += pass.computed, p.without_cache += pass.length();
  p.bytes_a_token = 2 * sizeof(float) * static_cast<std::size_t>(run.config.n_layer * run.config.n_embd);
  for (const Pass& pass : p.passes)
    for (int i = 0; i < p.length(); ++i) p.blank.push_back(i < pass.length() ? 0 : 1);
  return p;
}

std::string bytes_words(std::size_t bytes) {
  constexpr double kMiB = 1024 * 1024;
  const auto n = static_cast<double>(bytes);
  return n < kMiB ? viz::number(n / 1024, 3) + " KiB" : viz::number(n / kMiB, 3) + " MiB";
}

std::vector<std::string> notes_of(const ViewContext& c, const Passes& p) {
  const model::Config& config = c.config();
  return {"Keys and values of one position: 2 × " + counted(config.n_layer, "layer") + " × " +
              counted(config.n_head, "head") + " × " + std::to_string(config.n_embd / config.n_head) +
              " float32 = " + bytes_words(p.bytes_a_token) + "; of all " + grouped(p.length()) + ": " +
              bytes_words(p.bytes_a_token * static_cast<std::size_t>(p.length())) + ".",
          "Computed with the cache: " + counted(p.computed, "position") +
              ". Without it, recomputing all in every pass: " + grouped(p.without_cache) + ".",
          p.length() < config.n_ctx ? "" : "The context of " + grouped(config.n_ctx) + " tokens is full."};
}

std::string pass_words(const Pass& pass) {
  return grouped(pass.computed) + " computed" + (pass.kept > 0 ? ", " + grouped(pass.kept) + " kept" : "");
}

/// The colour of keys or values that a pass computes or reads.
viz::Color color_of(const viz::Theme& theme, bool values, bool kept) {
  const viz::Color color = values ? theme.value : theme.key;
  return kept ? viz::blended(theme.surface, color.with_alpha(90)) : color;
}

/// A row for each pass, named by its token and what it did, a column for each position.
std::unique_ptr<Grid> grid_of(const ViewContext& c, const Passes& p) {
  auto grid = std::make_unique<Grid>(c, kCell, std::vector<float>(p.blank.size()), p.names, p.labels);
  viz::Heatmap& map = grid->map;
  map.cells.masked = p.blank, map.cells.hatched = false;
  map.show_scale = map.cell_values = map.centered = false;
  map.rows.title = "pass", map.rows.numbered = true;
  map.cols.title = "position";
  map.stretch = 0, grid->cell = viz::Point{2, 3};
  grid->refers_to = [&p, length = c.run->run->length()](int pass, int position) {
    return Ref{.query = position < length ? position : -1, .other = pass * p.length() + position};
  };
  grid->over = [&p](Picture& picture, const ViewContext& now, const viz::Region& region) {
    const viz::Style style = style_of(now);
    for (int i = 0; i < std::ssize(p.passes); ++i) {
      const Pass& pass = p.passes[i];
      const viz::Rect first = region.cell_rect(i, 0);
      const float half = std::max(1.F, first.h / 2), kept = static_cast<float>(pass.kept) * first.w,
                  all = static_cast<float>(pass.length()) * first.w;
      const auto add = [&](float x, float w, bool values, bool is_kept) {
        picture.scene.add(viz::FillRect{{first.x + x, first.y + (values ? half : 0), w, half - 1},
                                        color_of(*now.theme, values, is_kept)});
      };
      for (const bool values : {false, true})
        add(0, kept, values, true), add(kept, all - kept, values, false);
      for (float x = first.x + first.w; first.w > 8 && x < first.x + all - 1; x += first.w)
        picture.scene.add_line({x, first.y}, {x, first.bottom()}, now.theme->surface);
      const viz::Color ground = color_of(*now.theme, false, pass.kept > 0);
      const std::string words = pass_words(pass);
      const viz::Rect behind{first.x + 1, first.y + half / 2 - style.small() / 2,
                             style.width(words, style.small()) + 2 * style.unit(), style.small()};
      const bool inside = behind.w <= (pass.kept > 0 ? kept : all);
      const float left = inside ? first.x : first.x + all;
      if (half < style.small() || left + behind.w > now.width - margin(now)) continue;
      if (inside) picture.scene.add(viz::FillRect{behind, ground});  // over the lines between cells
      viz::add_label(picture.scene, style, words, {left + style.unit(), behind.center().y}, style.small(),
                     inside ? text_on(now, ground) : now.theme->text);
    }
  };
  return grid;
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
  result.fact("positions computed", passes.computed);
  result.fact("positions computed without a cache", passes.without_cache);
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  // Greedy: the cache does not depend on which tokens are drawn.
  const auto drawn =
      it.need(ContinuationsOf{.texts = 1, .tokens = c.options[kAhead], .temperature = 0, .read_last = true});
  if (!drawn) return;
  const Passes& passes = it.keep(passes_of(c, *drawn));
  it.title = "Key-value cache";
  it.subtitle = "one pass per new token; greedy";
  it.table = [&] { return table(passes); };
  it.place_facts = [&passes](Facts& facts, const Ref& ref) {
    const int row = ref.other / passes.length(), col = ref.other % passes.length();
    const Pass& pass = passes.passes[row];
    if (ref.query < 0) facts.say("position " + std::to_string(col) + " “" + passes.labels[col] + "”");
    facts.say(col < pass.kept       ? "kept: this pass read its keys and values"
              : col < pass.length() ? "computed by this pass"
                                    : "not yet in the prompt");
    facts.tip("pass “" + passes.names[row] + "”: " + pass_words(pass));
  };
  it.body = rows(boxes(grid_of(c, passes),
                       swatches({{"keys computed", color_of(*c.theme, false, false)},
                                 {"keys kept", color_of(*c.theme, false, true)},
                                 {"values computed", color_of(*c.theme, true, false)},
                                 {"values kept", color_of(*c.theme, true, true)}}),
                       notes(notes_of(c, passes))));
}

View view() {
  View view = make_view("cache", "Cache", declare,
                        "which keys and values each pass computes and which it reads from the cache");
  view.options = {&kAhead};
  view.caption.query = false;
  view.landmarks = {{.name = "prompt pass", .role = kCell, .row = always<0>}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::cache
