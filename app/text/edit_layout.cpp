#include "app/text/edit_layout.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "app/text/text_boundaries.h"
#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

/// The maximum length of a wrapped row in bytes, however narrow its characters are.
constexpr std::size_t kLongestRow = 8192;
/// Whether a grapheme ends at a byte can depend on the character that begins there.
constexpr std::size_t kLookahead = 4;
/// Tolerance for rounding errors in sums of advances.
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
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PI:
      return Kind::wide_opening;
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Kind::wide_closing;
    default:
      return Kind::wide;
  }
}

bool may_break_between(Kind a, Kind b) {
  if (b == Kind::space || b == Kind::wide_closing) return false;
  if (a == Kind::space) return true;
  if (a == Kind::hyphen) return b == Kind::letter;
  if (a == Kind::wide_opening) return false;
  return a == Kind::wide || a == Kind::wide_closing || b == Kind::wide || b == Kind::wide_opening;
}

/// Length of the line break at `at`; 0: none.
std::size_t line_break_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if (text[at] == '\n') return 1;
  return text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 0;
}

float advance_of(std::string_view text, std::size_t begin, std::size_t end, Advances& advances) {
  float sum = 0;
  while (begin < end) {
    const std::size_t length = is_ascii(text[begin]) ? 1 : viz::decode_utf8(text, begin).length;
    sum += advances(text.substr(begin, length));
    begin += length;
  }
  return sum;
}

/// The row that starts at `start`. Independent of the text before it.
EditRow row_from(std::string_view text, std::size_t start, Advances& advances, float width) {
  const auto row = [&](std::size_t end, std::size_t read, bool hard) {
    return EditRow{start, end, read + kLookahead, hard};
  };
  float x = 0;
  std::size_t opportunity = start;  // the last place where the row can end
  Kind before = Kind::letter;
  for (std::size_t at = start;;) {
    if (at == text.size() || line_break_at(text, at) > 0) return row(at, at, true);
    const std::size_t end = next_grapheme(text, at);
    const Kind kind = kind_at(text, at, before);
    if (at > start && may_break_between(before, kind)) opportunity = at;
    x += advance_of(text, at, end, advances);
    if (width > 0 && at > start && (x > width + kSlack || end - start > kLongestRow)) {
      if (kind != Kind::space) return row(opportunity > start ? opportunity : at, end, false);
      return row(end, end,
                 end == text.size() || line_break_at(text, end) > 0);  // the space overhangs the edge
    }
    before = kind;
    at = end;
  }
}

std::optional<std::size_t> start_after(std::string_view text, const EditRow& row) {
  if (!row.hard) return row.end;
  const std::size_t length = line_break_at(text, row.end);
  return length > 0 ? std::optional(row.end + length) : std::nullopt;
}

/// Length of the common prefix of two texts.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  constexpr std::size_t kBlock = 4096;
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n + kBlock <= most && std::memcmp(a.data() + n, b.data() + n, kBlock) == 0) n += kBlock;
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

/// Length of the common suffix of two texts, at most `most`.
std::size_t common_suffix(std::string_view a, std::string_view b, std::size_t most) {
  constexpr std::size_t kBlock = 4096;
  const char* a_end = a.data() + a.size();
  const char* b_end = b.data() + b.size();
  std::size_t n = 0;
  while (n + kBlock <= most && std::memcmp(a_end - n - kBlock, b_end - n - kBlock, kBlock) == 0) n += kBlock;
  while (n < most && *(a_end - n - 1) == *(b_end - n - 1)) ++n;
  return n;
}

LineLayout no_layout() {
  return [](std::string_view) { return viz::TextLayout{}; };
}

}  // namespace

Advances::Advances(LineLayout layout) : layout_(std::move(layout)) {
  ascii_.fill(std::numeric_limits<float>::quiet_NaN());
}

float Advances::operator()(std::string_view character) {
  if (is_ascii(character[0])) {
    float& advance = ascii_[character[0]];
    if (std::isnan(advance)) advance = layout_(character).width;
    return advance;
  }
  constexpr std::uint32_t kBytes = 0x110000;  // codes of invalid bytes start here, above all code points
  const viz::Decoded c = viz::decode_utf8(character, 0);
  const auto [entry, is_new] = others_.try_emplace(c.valid ? std::uint32_t{c.code} : kBytes + c.code, 0.0f);
  if (is_new) entry->second = layout_(character).width;
  return entry->second;
}

EditLayout wrap(std::string_view text, Advances& advances, float width) {
  EditLayout layout;
  std::optional<std::size_t> start = 0;
  while (start) {
    layout.rows.push_back(row_from(text, *start, advances, width));
    start = start_after(text, layout.rows.back());
  }
  return layout;
}

EditLayout rewrap(EditLayout layout, std::string_view old_text, std::string_view text, Advances& advances,
                  float width) {
  const std::size_t prefix = common_prefix(old_text, text);
  const std::size_t suffix = common_suffix(old_text, text, std::min(old_text.size(), text.size()) - prefix);
  const std::size_t shift = text.size() - old_text.size();  // wraps around if the text became shorter
  std::vector<EditRow>& rows = layout.rows;

  // context_end never decreases from row to row.
  const auto changed =
      std::ranges::partition_point(rows, [&](const EditRow& r) { return r.context_end <= prefix; });
  auto kept = changed;  // the first old row that is reused after the edit
  std::vector<EditRow> between;
  std::optional<std::size_t> start = changed == rows.begin() ? 0 : start_after(text, *std::prev(changed));
  for (; start; start = start_after(text, between.back())) {
    if (*start >= text.size() - suffix) {
      // From here on the texts are equal. Once a row starts where an old one did, all following rows do.
      kept = std::find_if(kept, rows.end(), [&](const EditRow& r) { return r.start >= *start - shift; });
      if (kept != rows.end() && kept->start == *start - shift) break;
    }
    between.push_back(row_from(text, *start, advances, width));
  }
  if (!start) kept = rows.end();

  if (shift != 0) {
    for (auto row = kept; row != rows.end(); ++row) {
      row->start += shift;
      row->end += shift;
      row->context_end += shift;
    }
  }
  rows.insert(rows.erase(changed, kept), between.begin(), between.end());
  return layout;
}

std::size_t row_of(const EditLayout& layout, std::size_t byte, bool upstream) {
  const auto after = std::ranges::upper_bound(layout.rows, byte, {}, &EditRow::start);
  const auto row =
      after == layout.rows.begin() ? 0 : static_cast<std::size_t>(after - layout.rows.begin()) - 1;
  const bool wrapped_here = row > 0 && layout.rows[row].start == byte && !layout.rows[row - 1].hard;
  return upstream && wrapped_here ? row - 1 : row;
}

EditMetrics::EditMetrics() : EditMetrics(no_layout(), 0) {}

EditMetrics::EditMetrics(LineLayout layout, float width, std::size_t page_rows)
    : line_(std::move(layout)), advances_(line_), width_(width), page_rows_(page_rows) {}

void EditMetrics::use(std::shared_ptr<const viz::Fonts> fonts, float font_size, float width,
                      std::size_t page_rows, bool single_line) {
  page_rows_ = page_rows;
  if (fonts != fonts_ || font_size != font_size_) {
    line_ = [fonts, font_size](std::string_view line) {
      return fonts->layout(line, viz::FontStyle::regular, font_size);
    };
    advances_ = Advances(line_);
    fonts_ = std::move(fonts);
    font_size_ = font_size;
    stale_ = true;
  }
  if (width != width_ || single_line != single_line_) {
    width_ = width;
    single_line_ = single_line;
    stale_ = true;
  }
}

const EditLayout& EditMetrics::layout(std::string_view text) {
  if (!stale_ && text == text_) return layout_;
  if (single_line_) {
    layout_.rows = {{0, text.size(), text.size() + kLookahead, true}};
  } else {
    layout_ =
        stale_ ? wrap(text, advances_, width_) : rewrap(std::move(layout_), text_, text, advances_, width_);
  }
  text_ = text;
  stale_ = false;
  return layout_;
}

std::vector<CaretStop> EditMetrics::stops(std::string_view text, const EditRow& row) const {
  const viz::TextLayout line = line_(text.substr(row.start, row.end - row.start));
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

namespace {

/// The last stop whose place is not beyond `at`, else the first stop.
template <class At>
CaretStop last_stop(const std::vector<CaretStop>& stops, At at, At CaretStop::*place) {
  const auto after = std::ranges::upper_bound(stops, at, {}, place);
  return after == stops.begin() ? stops.front() : *std::prev(after);
}

}  // namespace

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
