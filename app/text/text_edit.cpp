#include "app/text/text_edit.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

namespace headscope::app {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Whether a change belongs to the last one, next to which it is: typing a word, holding a key down.
bool extends_last(const TextState& state, ByteRange range, std::string_view bytes, TextChange::Kind kind) {
  const TextChange& last = state.last_change;
  if (last.kind != kind || kind == TextChange::Kind::other) return false;
  if (range.begin != last.place.end) return kind == TextChange::Kind::erased && range.end == last.place.begin;
  const bool is_word = kind == TextChange::Kind::typed && !is_space(bytes.front());
  return !is_word || !is_space(state.text[range.begin - 1]);  // else a new word
}

void place(TextState& state, std::size_t byte, bool extend = false) {
  state.cursor = std::min(byte, state.text.size());
  if (!extend) state.anchor = state.cursor;
  state.upstream = false;
  state.preferred_x.reset();
}

/// Replaces `range` by `bytes` and moves the cursor after them. Every edit goes through here.
void replace(TextState& state, ByteRange range, std::string_view bytes, TextChange::Kind kind) {
  if (range.empty() && bytes.empty()) return;
  state.extends_change = extends_last(state, range, bytes, kind);
  state.text.replace(range.begin, range.size(), bytes);
  state.last_change = {kind, {range.begin, range.begin + bytes.size()}};
  place(state, state.last_change.place.end);
}

std::size_t moved(const TextState& state, Motion motion) {
  if (motion == Motion::word_left) return previous_word(state.text, state.cursor);
  if (motion == Motion::word_right) return next_word(state.text, state.cursor);
  if (motion == Motion::left) return previous_grapheme(state.text, state.cursor);
  return next_grapheme(state.text, grapheme_floor(state.text, state.cursor));
}

ByteRange unit_at(const TextState& state, Unit unit, std::size_t at) {
  if (unit == Unit::word) return word_at(state.text, at);
  if (unit == Unit::paragraph) return paragraph_at(state.text, at);
  at = grapheme_floor(state.text, at);
  return {at, at};
}

/// One overload for each command.
struct Applier {
  TextState& state;

  void operator()(const Insert& insert) const {
    const bool typed = insert.typed && !insert.bytes.empty();
    replace(state, state.selection(), insert.bytes,
            typed ? TextChange::Kind::typed : TextChange::Kind::other);
  }

  void operator()(const Erase& erase) const {
    if (!state.selection().empty()) return replace(state, state.selection(), "", TextChange::Kind::other);
    const std::size_t to = moved(state, erase.motion);
    replace(state, {std::min(state.cursor, to), std::max(state.cursor, to)}, "", TextChange::Kind::erased);
  }

  void operator()(const Move& move) const {
    state.last_change = {};
    const ByteRange selection = state.selection();
    if (!move.extend && !selection.empty() && move.motion == Motion::left)
      return place(state, selection.begin);
    if (!move.extend && !selection.empty() && move.motion == Motion::right)
      return place(state, selection.end);
    place(state, moved(state, move.motion), move.extend);
  }

  void operator()(const MoveTo& move) const {
    state.last_change = {};
    place(state, move.byte, move.extend);
    state.upstream = move.upstream;
    state.preferred_x = move.preferred_x;
  }

  void operator()(const Select& select) const {
    state.last_change = {};
    const ByteRange from = unit_at(state, select.unit, select.from);
    const ByteRange to = unit_at(state, select.unit, select.to);
    const bool forward = select.from <= select.to;
    place(state, forward ? to.end : to.begin);
    state.anchor = forward ? from.begin : from.end;
    state.upstream = select.upstream;
  }

  void operator()(const Append& append) const {
    replace(state, {state.text.size(), state.text.size()}, append.bytes,
            append.join ? TextChange::Kind::appended : TextChange::Kind::other);
  }

  void operator()(const Replace& a) const {
    if (a.text == state.text) return place(state, state.text.size());
    replace(state, {0, state.text.size()}, a.text, TextChange::Kind::other);
  }
};

}  // namespace

ByteRange TextState::selection() const {
  return {std::min(cursor, anchor), std::max(cursor, anchor)};
}

std::string_view TextState::selected() const {
  const ByteRange range = selection();
  return std::string_view(text).substr(range.begin, range.size());
}

TextState make_text_state(std::string text) {
  TextState state;
  state.text = std::move(text);
  state.cursor = state.anchor = state.text.size();
  return state;
}

TextState apply(TextState state, const TextCommand& command) {
  state.cursor = std::min(state.cursor, state.text.size());
  state.anchor = std::min(state.anchor, state.text.size());
  std::visit(Applier{state}, command);
  return state;
}

ChangedText changed_text(std::string_view before, std::string_view now) {
  const auto same = [](auto&& a, auto&& b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  };
  const std::size_t front = grapheme_floor(before, same(before, now));
  const auto reversed = [&](std::string_view text) { return text.substr(front) | std::views::reverse; };
  std::size_t back = same(reversed(before), reversed(now));
  while (back > 0 && grapheme_floor(before, before.size() - back) != before.size() - back) --back;
  return {front, before.substr(front, before.size() - back - front),
          now.substr(front, now.size() - back - front)};
}

MoveTo row_motion(const TextState& state, EditMetrics& metrics, RowMotion motion, bool extend) {
  const std::vector<EditRow>& rows = metrics.rows(state.text);
  const std::size_t here = row_of(rows, state.cursor, state.upstream);
  const EditRow& row = rows[here];
  if (motion == RowMotion::row_start) return {row.start, extend, false, std::nullopt};
  if (motion == RowMotion::row_end) return {row.end, extend, !row.hard, std::nullopt};

  const bool up = motion == RowMotion::up || motion == RowMotion::page_up;
  const bool page = motion == RowMotion::page_up || motion == RowMotion::page_down;
  const std::size_t last = rows.size() - 1;
  if (up && here == 0) return {0, extend, false, std::nullopt};
  if (!up && here == last) return {state.text.size(), extend, false, std::nullopt};

  const std::size_t step = page ? std::max<std::size_t>(metrics.page_rows(), 1) : 1;
  const EditRow& target = rows[up ? here - std::min(step, here) : std::min(here + step, last)];
  const float x =
      state.preferred_x ? *state.preferred_x : stop_of(metrics.stops(state.text, row), state.cursor).x;
  const CaretStop stop = nearest_stop(metrics.stops(state.text, target), x);
  return {stop.byte, extend, stop.byte == target.end && !target.hard, x};
}

}  // namespace headscope::app
