#include "app/text/text_edit.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace headscope::app {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Joins the next step to the newest one if both belong to one action: typing a word, holding a key down.
bool joined(TextEdit& newest, const TextEdit& next) {
  if (newest.kind != next.kind) return false;
  switch (next.kind) {
    case TextEdit::Kind::typed:
      if (!next.removed.empty() || next.at != newest.at + newest.inserted.size()) return false;
      if (is_space(newest.inserted.back()) && !is_space(next.inserted.front())) return false;  // a new word
      break;
    case TextEdit::Kind::appended:
      if (next.at != newest.at + newest.inserted.size()) return false;
      break;
    case TextEdit::Kind::erased_back:
      if (next.at + next.removed.size() != newest.at) return false;
      newest.removed.insert(0, next.removed);
      newest.at = next.at;
      return true;
    case TextEdit::Kind::erased_forward:
      if (next.at != newest.at) return false;
      newest.removed += next.removed;
      return true;
    case TextEdit::Kind::other:
      return false;
  }
  newest.inserted += next.inserted;
  return true;
}

void remember(TextHistory& history, TextEdit edit) {
  history.undone.clear();
  const bool may_join = history.open && !history.done.empty();
  history.open = edit.kind != TextEdit::Kind::other;
  if (!may_join || !joined(history.done.back(), edit)) history.done.push_back(std::move(edit));
  const auto size = [](const TextEdit& step) { return step.removed.size() + step.inserted.size(); };
  std::size_t bytes = 0;
  for (const TextEdit& step : history.done) bytes += size(step);
  while (history.done.size() > TextHistory::kMax || bytes > TextHistory::kMaxBytes) {
    bytes -= size(history.done.front());
    history.done.pop_front();
  }
}

void place(TextState& state, std::size_t byte, bool extend = false) {
  state.cursor = std::min(byte, state.text.size());
  if (!extend) state.anchor = state.cursor;
  state.upstream = false;
  state.preferred_x.reset();
}

/// Replaces `range` by `bytes` and moves the cursor after them. Every edit goes through here.
void replace(TextState& state, ByteRange range, std::string bytes, TextEdit::Kind kind) {
  if (range.empty() && bytes.empty()) return;
  const std::size_t end = range.begin + bytes.size();
  TextEdit edit{range.begin,      state.text.substr(range.begin, range.size()),
                std::move(bytes), kind,
                state.cursor,     state.anchor};
  state.text.replace(range.begin, range.size(), edit.inserted);
  remember(state.history, std::move(edit));
  place(state, end);
}

std::size_t moved(const TextState& state, Motion motion) {
  switch (motion) {
    case Motion::left:
      return previous_grapheme(state.text, state.cursor);
    case Motion::right:
      return next_grapheme(state.text, grapheme_floor(state.text, state.cursor));
    case Motion::word_left:
      return previous_word(state.text, state.cursor);
    case Motion::word_right:
      return next_word(state.text, state.cursor);
    case Motion::text_start:
      return 0;
    case Motion::text_end:
      break;
  }
  return state.text.size();
}

ByteRange unit_at(const TextState& state, Unit unit, std::size_t at) {
  switch (unit) {
    case Unit::word:
      return word_at(state.text, at);
    case Unit::paragraph:
      return paragraph_at(state.text, at);
    case Unit::character:
      break;
  }
  at = grapheme_floor(state.text, at);
  return {at, at};
}

/// One overload for each command.
struct Applier {
  TextState& state;

  void operator()(const Insert& insert) const {
    const bool typed = insert.typed && !insert.bytes.empty();
    replace(state, state.selection(), insert.bytes, typed ? TextEdit::Kind::typed : TextEdit::Kind::other);
  }

  void operator()(const Erase& erase) const {
    if (!state.selection().empty()) return replace(state, state.selection(), "", TextEdit::Kind::other);
    const std::size_t to = moved(state, erase.motion);
    const TextEdit::Kind kind = erase.motion == Motion::left    ? TextEdit::Kind::erased_back
                                : erase.motion == Motion::right ? TextEdit::Kind::erased_forward
                                                                : TextEdit::Kind::other;
    replace(state, {std::min(state.cursor, to), std::max(state.cursor, to)}, "", kind);
  }

  void operator()(const Move& move) const {
    state.history.open = false;
    const ByteRange selection = state.selection();
    if (!move.extend && !selection.empty() && move.motion == Motion::left)
      return place(state, selection.begin);
    if (!move.extend && !selection.empty() && move.motion == Motion::right)
      return place(state, selection.end);
    place(state, moved(state, move.motion), move.extend);
  }

  void operator()(const MoveTo& move) const {
    state.history.open = false;
    place(state, move.byte, move.extend);
    state.upstream = move.upstream;
    state.preferred_x = move.preferred_x;
  }

  void operator()(const Select& select) const {
    state.history.open = false;
    const ByteRange from = unit_at(state, select.unit, select.from);
    const ByteRange to = unit_at(state, select.unit, select.to);
    const bool forward = select.from <= select.to;
    place(state, forward ? to.end : to.begin);
    state.anchor = forward ? from.begin : from.end;
    state.upstream = select.upstream;
  }

  void operator()(const SelectAll&) const {
    state.history.open = false;
    place(state, state.text.size());
    state.anchor = 0;
  }

  void operator()(const Append& append) const {
    replace(state, {state.text.size(), state.text.size()}, append.bytes,
            append.join ? TextEdit::Kind::appended : TextEdit::Kind::other);
  }

  void operator()(const Replace& a) const {
    if (a.text == state.text) return place(state, state.text.size());
    replace(state, {0, state.text.size()}, a.text, TextEdit::Kind::other);
  }

  void operator()(const Undo&) const { step(true); }
  void operator()(const Redo&) const { step(false); }

  /// Undoes the newest step of the history, or redoes the last one that was undone.
  void step(bool back) const {
    TextHistory& history = state.history;
    history.open = false;
    auto& from = back ? history.done : history.undone;
    if (from.empty()) return;
    TextEdit edit = std::move(from.back());
    from.pop_back();
    const std::string &old = back ? edit.inserted : edit.removed, &now = back ? edit.removed : edit.inserted;
    state.text.replace(edit.at, old.size(), now);
    place(state, back ? edit.cursor_before : edit.at + now.size());
    if (back) state.anchor = edit.anchor_before;
    (back ? history.undone : history.done).push_back(std::move(edit));
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

bool has_room(const TextState& state, std::size_t size) {
  return state.text.size() - state.selection().size() + size <= kMaxText;
}

TextState apply(TextState state, const TextCommand& command) {
  state.cursor = std::min(state.cursor, state.text.size());
  state.anchor = std::min(state.anchor, state.text.size());
  std::visit(Applier{state}, command);
  return state;
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
