#include "app/text/text_edit.h"

#include <utf8proc.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

/// Tolerance for rounding errors in differences of positions.
constexpr float kSlack = 0.01f;

/// How a grapheme wraps.
enum class Kind { letter, space, hyphen, dash, wide, wide_opening, wide_closing };

Kind kind_at(std::string_view text, std::size_t at, Kind before) {
  const char c = text[at];
  if (c == ' ' || c == '\t') return Kind::space;
  if (c == '-') return before == Kind::letter ? Kind::hyphen : Kind::dash;  // as in " -5" and "--"
  if (is_ascii(c)) return Kind::letter;
  const viz::Decoded character = viz::decode_utf8(text, at);
  const auto code = static_cast<utf8proc_int32_t>(character.code);
  if (!character.valid || utf8proc_charwidth(code) != 2) return Kind::letter;
  const utf8proc_category_t category = utf8proc_category(code);
  if (category == UTF8PROC_CATEGORY_PS || category == UTF8PROC_CATEGORY_PI) return Kind::wide_opening;
  const bool closes = category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF ||
                      category == UTF8PROC_CATEGORY_PO;
  return closes ? Kind::wide_closing : Kind::wide;
}

bool may_break_between(Kind a, Kind b) {
  if (b == Kind::space || b == Kind::wide_closing) return false;
  if (a == Kind::space) return true;
  if (a == Kind::hyphen) return b == Kind::letter;
  if (a == Kind::wide_opening) return false;
  return a == Kind::wide || a == Kind::wide_closing || b == Kind::wide || b == Kind::wide_opening;
}

/// The positions of the caret in one row, or in one line before it is wrapped.
std::vector<CaretStop> stops_of(std::string_view text, const EditRow& row, const LineLayout& layout) {
  const viz::TextLayout line = layout(text.substr(row.start, row.end - row.start));
  std::vector<CaretStop> stops;
  stops.reserve(line.clusters.size() + 1);
  auto cluster = line.clusters.begin();
  for (std::size_t at = row.start; at < row.end; at = next_grapheme(text, at)) {
    cluster = std::find_if(cluster, line.clusters.end(),
                           [&](const viz::Cluster& c) { return c.start >= at - row.start; });
    stops.push_back({at, cluster == line.clusters.end() ? line.width : cluster->x});
  }
  stops.push_back({row.end, line.width});
  return stops;
}

/// Adds the rows of one line.
void wrap_line(std::string_view text, const EditRow& line, const LineLayout& layout, float width,
               std::vector<EditRow>& rows) {
  const std::vector<CaretStop> stops = stops_of(text, line, layout);
  const std::size_t last = stops.size() - 1;
  std::size_t start = 0;        // the row's first stop
  std::size_t opportunity = 0;  // the last stop where the row can end
  Kind before = Kind::letter;
  for (std::size_t i = 0; i < last && width > 0; ++i) {
    const Kind kind = kind_at(text, stops[i].byte, before);
    if (i > start && may_break_between(before, kind)) opportunity = i;
    before = kind;
    if (i == start || stops[i + 1].x - stops[start].x <= width + kSlack) continue;
    const std::size_t end = kind == Kind::space ? i + 1 : opportunity > start ? opportunity : i;
    if (end == last) break;  // the space overhangs the edge
    rows.push_back({stops[start].byte, stops[end].byte, false});
    start = opportunity = end;
    i = end - 1;
    before = Kind::letter;
  }
  rows.push_back({stops[start].byte, line.end, true});
}

}  // namespace

std::vector<EditRow> wrap(std::string_view text, const LineLayout& layout, float width) {
  std::vector<EditRow> rows;
  for (std::size_t start = 0;;) {
    const std::size_t feed = std::min(text.find('\n', start), text.size());
    const bool has_return = feed < text.size() && feed > start && text[feed - 1] == '\r';
    wrap_line(text, {start, has_return ? feed - 1 : feed, true}, layout, width, rows);
    if (feed == text.size()) return rows;
    start = feed + 1;
  }
}

std::size_t row_of(const std::vector<EditRow>& rows, std::size_t byte, bool upstream) {
  const auto after = std::ranges::upper_bound(rows, byte, {}, &EditRow::start);
  const auto row = after == rows.begin() ? 0 : static_cast<std::size_t>(after - rows.begin()) - 1;
  const bool wrapped_here = row > 0 && rows[row].start == byte && !rows[row - 1].hard;
  return upstream && wrapped_here ? row - 1 : row;
}

EditMetrics::EditMetrics(LineLayout layout, float width, std::size_t page_rows)
    : line_(std::move(layout)), width_(width), page_rows_(page_rows) {}

void EditMetrics::use(std::shared_ptr<const viz::Fonts> fonts, float font_size, float width,
                      std::size_t page_rows, bool single_line) {
  page_rows_ = page_rows;
  if (std::tie(fonts, font_size, width, single_line) == std::tie(fonts_, font_size_, width_, single_line_))
    return;
  line_ = [=](std::string_view line) { return fonts->layout(line, viz::FontStyle::regular, font_size); };
  fonts_ = std::move(fonts), font_size_ = font_size;
  width_ = width, single_line_ = single_line;
  stale_ = true;
}

const std::vector<EditRow>& EditMetrics::rows(std::string_view text) {
  if (!stale_ && text == text_) return rows_;
  rows_ = single_line_ ? std::vector<EditRow>{{0, text.size(), true}} : wrap(text, line_, width_);
  stops_.clear();
  text_ = text;
  stale_ = false;
  return rows_;
}

const std::vector<CaretStop>& EditMetrics::stops(std::string_view text, const EditRow& row) {
  const auto [found, is_new] = stops_.try_emplace(row.start);
  if (is_new) found->second = stops_of(text, row, line_);
  return found->second;
}

/// The last stop whose place is not beyond `at`, else the first stop.
template <class At>
static CaretStop last_stop(const std::vector<CaretStop>& stops, At at, At CaretStop::*place) {
  const auto after = std::ranges::upper_bound(stops, at, {}, place);
  return after == stops.begin() ? stops.front() : *std::prev(after);
}

CaretStop stop_under(const std::vector<CaretStop>& stops, float x) {
  return last_stop(stops, x, &CaretStop::x);
}

CaretStop stop_of(const std::vector<CaretStop>& stops, std::size_t byte) {
  return last_stop(stops, byte, &CaretStop::byte);
}

CaretStop nearest_stop(const std::vector<CaretStop>& stops, float x) {
  const auto after = std::ranges::upper_bound(stops, x, {}, &CaretStop::x);
  const CaretStop left = last_stop(stops, x, &CaretStop::x);
  return after == stops.end() || x - left.x < after->x - x ? left : *after;
}

}  // namespace headscope::app
