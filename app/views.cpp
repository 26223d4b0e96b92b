#include <algorithm>
#include <array>
#include <cmath>

#include "app/view.h"
#include "app/views/common.h"

namespace headscope::app {
namespace {

constexpr std::size_t kPromptBytesInCaption = 60;

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The prompt for a caption: shortened between characters, spaces as they are, line ends and other oddities
/// made visible.
std::string quoted_prompt(const PromptRun& run) {
  std::string text = run.prompt.text;
  if (!run.prompt.ids.empty()) text = run.model->tokenizer->decode(run.prompt.ids);
  if (run.tokens.was_empty) return "the empty prompt";
  bool cut = false;
  if (text.size() > kPromptBytesInCaption) {
    std::size_t end = kPromptBytesInCaption;
    while (end > 0 && end + 4 > kPromptBytesInCaption && is_continuation(text[end])) --end;
    text.resize(end);
    cut = true;
  }
  std::string shown;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t space = std::min(text.find(' ', start), text.size());
    shown += viz::visible(std::string_view(text).substr(start, space - start));
    if (space == text.size()) break;
    shown += ' ';
    start = space + 1;
  }
  return "“" + shown + (cut ? "…" : "") + "”";
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string tsv_cell(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

template <class Cell>
std::string joined(const Table& table, char between, const char* line_end, Cell cell) {
  std::string text;
  auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += between;
      text += cell(row[i]);
    }
    text += line_end;
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

std::vector<View> make_views() {
  return {heatmap_view(), scores_view(), query_view(), positions_view(),
          heads_view(),   tokens_view(), next_view()};
}

std::vector<std::string> caption_lines(const std::string& words, float width, const ViewContext& c) {
  const viz::Style style = style_of(c);
  return viz::wrap(style, words, style.small(), viz::FontStyle::regular, width - 2 * margin(c));
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

std::span<const View> views() {
  static const std::vector<View> all = make_views();
  return all;
}

const View* find_view(std::string_view id) {
  const auto all = views();
  const auto found = std::find_if(all.begin(), all.end(), [&](const View& view) { return view.id == id; });
  return found == all.end() ? nullptr : &*found;
}

Selection clamped(Selection selection, const PromptRun& run) {
  const model::Config& config = run.run->config;
  const int last = run.run->length() - 1;
  selection.layer = std::clamp(selection.layer, 0, config.n_layer - 1);
  selection.head = std::clamp(selection.head, 0, config.n_head - 1);
  selection.query = selection.query < 0 ? last : std::min(selection.query, last);
  return selection;
}

std::string caption(const View& view, const ViewContext& c) {
  if (!c.run || !c.run->run) return std::string(view.title);
  std::string text = c.run->model->name;
  if (view.caption.prompt) text += " · " + quoted_prompt(*c.run);
  if (view.caption.head) text += " · " + head_name(c.selection.layer, c.selection.head);
  if (view.caption.query) {
    text += " · query " + std::to_string(c.selection.query) + " “" +
            c.run->tokens.labels[static_cast<std::size_t>(c.selection.query)] + "”";
  }
  return text;
}

float caption_height(const std::string& words, float width, const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto lines = static_cast<float>(caption_lines(words, width, c).size());
  return std::ceil(lines * style.line(style.small()) + margin(c));
}

Picture with_caption(Picture picture, const std::string& words, const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  const float line = style.line(style.small());
  float middle = scene.height + line / 2;
  std::string said;
  for (const std::string& text : caption_lines(words, scene.width, c)) {
    viz::add_label(scene, style, text, {margin(c), middle}, style.small(), c.theme->text_muted);
    middle += line;
    said += text;
  }
  if (without_spaces(said) != without_spaces(words)) picture.whole = false;  // a word had to be cut
  scene.height += caption_height(words, scene.width, c);
  return picture;
}

std::string to_csv(const Table& table) {
  return joined(table, ',', "\r\n", csv_cell);
}
std::string to_tsv(const Table& table) {
  return joined(table, '\t', "\n", tsv_cell);
}

}  // namespace headscope::app
