// Typed text: characters, words, rows, commands and steps; and the editor, with events in and a picture out.
#include "app/text/text_edit.h"

#include "app/text/prompt_editor.h"
#include "tests/support/matchers.h"
#include "tests/viz/text_boxes.h"
#include "viz/text/utf8.h"

namespace headscope::app::text_edit_test {
namespace {

using namespace std::string_literals;
using viz::testing::texts;

const std::string kFamily = "👨‍👩‍👧";  // three people joined by zero-width joiners
const std::string kFlag = "🇩🇪";
const std::string kAccented = "e\u0301";  // a letter and a combining mark
const std::string kBroken = "\xE2\x80";   // two bytes of three

/// Pieces of random texts: bugs tend to occur at their boundaries.
const std::vector<std::string>& pieces() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found{" ", "\0"s, kAccented, kFamily, kFlag, kBroken, "word ", "  "};
    std::istringstream words(
        "a Z9 é \xFF \x80 你好 「 」 - ’ \u200D \u0301 각 \xF0\x9F x-y 🙂 \xC3 \xA9");
    for (std::string word; std::getline(words, word, ' ');) found.push_back(word);
    for (const char* white : {"\n", "\r\n", "\r", "\t", "abc def ghi jkl mno"}) found.emplace_back(white);
    return found;
  }();
  return all;
}

template <class Random>
std::string random_text(Random& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += pieces()[random() % pieces().size()];
  return text;
}

/// Ten pixels per character, including marks and joiners.
viz::TextLayout monospaced(std::string_view line) {
  viz::TextLayout layout;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = viz::decode_utf8(line, at).length;
    layout.clusters.push_back({at, at + length, layout.width, 10});
    layout.width += 10;
    at += length;
  }
  return layout;
}

TextState state_of(std::string text, std::size_t cursor) {
  TextState state = make_text_state(std::move(text));
  state.cursor = state.anchor = cursor;
  return state;
}

/// All boundaries, found by scanning from the start: slow, but without looking back.
std::vector<std::size_t> boundaries(std::string_view text) {
  std::vector<std::size_t> all = {0};
  while (all.back() < text.size()) all.push_back(next_grapheme(text, all.back()));
  return all;
}

std::vector<std::string> graphemes(const std::string& text) {
  std::vector<std::string> parts;
  const std::vector<std::size_t> all = boundaries(text);
  for (std::size_t i = 1; i < all.size(); ++i) parts.push_back(text.substr(all[i - 1], all[i] - all[i - 1]));
  return parts;
}

std::vector<std::string> wrapped(const std::string& text, float width) {
  std::vector<std::string> rows;
  for (const EditRow& row : wrap(text, monospaced, width))
    rows.push_back(text.substr(row.start, row.end - row.start));
  return rows;
}

// --- boundaries ---

TEST(Graphemes, BytesThatAreNoTextStandAlone) {
  EXPECT_THAT(graphemes(kBroken + "a\xFF"), ElementsAre("\xE2", "\x80", "a", "\xFF"));
  EXPECT_THAT(graphemes("\xC0\xAF"), ElementsAre("\xC0", "\xAF"));              // overlong
  EXPECT_THAT(graphemes("\xED\xA0\x80"), ElementsAre("\xED", "\xA0", "\x80"));  // a surrogate
  EXPECT_THAT(graphemes("e\xCC"), ElementsAre("e", "\xCC"));                    // half a combining mark
}

TEST(Graphemes, LookingBackFindsWhatReadingOnFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_text(random, 12);
    const std::vector<std::size_t> all = boundaries(text);
    for (std::size_t at = 1; at <= text.size(); ++at) {
      const auto here = std::ranges::lower_bound(all, at);
      ASSERT_EQ(previous_grapheme(text, at), *std::prev(here))
          << ::testing::PrintToString(text) << " at " << at;
      const std::size_t floor = *here == at ? at : *std::prev(here);
      ASSERT_EQ(grapheme_floor(text, at), floor) << ::testing::PrintToString(text) << " at " << at;
    }
  }
}

TEST(Graphemes, AHeapOfMarksIsCut) {
  std::string text = "e";
  for (int i = 0; i < 1000; ++i) text += "\u0301";
  EXPECT_EQ(next_grapheme(text, 0), 1 + 2 * (kLongestGrapheme - 1));
  const std::vector<std::size_t> all = boundaries(text);
  EXPECT_EQ(previous_grapheme(text, text.size()), all[all.size() - 2]);
}

TEST(Words, MotionsStopAtEndsAndStarts) {
  const std::string text = "The robot's  arm, 你好\nöffnet";
  // The apostrophe is part of its word, the comma is a word.
  const std::vector<std::size_t> ends{0, 3, 11, 16, 17, 24, text.size()};
  for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_EQ(next_word(text, ends[i - 1]), ends[i]);
  EXPECT_EQ(previous_word(text, text.size()), 25u);
  EXPECT_EQ(previous_word(text, 25), 18u);
  EXPECT_EQ(previous_word(text, 18), 16u);
  EXPECT_EQ(previous_word(text, 13), 4u);
  EXPECT_EQ(previous_word(text, 0), 0u);
  EXPECT_EQ(next_word("", 0), 0u);
}

TEST(Words, ADoubleClickTakesARun) {
  const std::string text = "ab  cd..\nn" + kBroken;
  EXPECT_EQ(word_at(text, 1), (ByteRange{0, 2}));
  EXPECT_EQ(word_at(text, 3), (ByteRange{2, 4}));
  EXPECT_EQ(word_at(text, 4), (ByteRange{4, 6}));
  EXPECT_EQ(word_at(text, 8), (ByteRange{6, 8}));  // at the end of a line: its last run
  EXPECT_EQ(word_at(text, 12), (ByteRange{9, 12}));
  EXPECT_EQ(word_at("\n\n", 1), (ByteRange{1, 2}));
  EXPECT_EQ(word_at("", 0), (ByteRange{0, 0}));
  EXPECT_EQ(word_at("x" + kAccented + "y", 2), (ByteRange{0, 5}));
}

// --- wrapping ---

TEST(Wrap, BreaksAtSpacesOfWhichOneMayHang) {
  EXPECT_THAT(wrapped("aaa bbb ccc", 70), ElementsAre("aaa bbb ", "ccc"));
  EXPECT_THAT(wrapped("aaa bbb ccc", 60), ElementsAre("aaa ", "bbb ", "ccc"));
  EXPECT_THAT(wrapped("aaa bbb", 30), ElementsAre("aaa ", "bbb"));
  EXPECT_THAT(wrapped("aaa ", 30), ElementsAre("aaa "));  // nothing follows that needs a row
  EXPECT_THAT(wrapped("aaa \nb", 30), ElementsAre("aaa ", "b"));
  EXPECT_THAT(wrapped("aaa     b", 30), ElementsAre("aaa ", "    ", "b"));
}

TEST(Wrap, BreaksLongWordsBetweenGraphemes) {
  EXPECT_THAT(wrapped("abcdefgh", 30), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("x" + kFamily + kFamily, 60), ElementsAre("x" + kFamily, kFamily));
  EXPECT_THAT(wrapped(kFamily + "y", 20), ElementsAre(kFamily, "y"));  // wider than a row, but not split
  EXPECT_THAT(wrapped("ab", 1), ElementsAre("a", "b"));
}

TEST(Wrap, BreaksAtHyphensAndBesideIdeographs) {
  EXPECT_THAT(wrapped("half-life", 60), ElementsAre("half-", "life"));
  EXPECT_THAT(wrapped("a --flag", 60), ElementsAre("a ", "--flag"));
  EXPECT_THAT(wrapped("ab你好吗", 40), ElementsAre("ab你好", "吗"));
  EXPECT_THAT(wrapped("你好吗。", 30), ElementsAre("你好", "吗。"));  // no row starts with a full stop
  EXPECT_THAT(wrapped("你好「吗", 30), ElementsAre("你好", "「吗"));  // no row ends with a bracket
}

TEST(Wrap, KeepsLineBreaks) {
  EXPECT_THAT(wrapped("", 50), ElementsAre(""));
  EXPECT_THAT(wrapped("\n", 50), ElementsAre("", ""));
  EXPECT_THAT(wrapped("a\n\r\nb\r\n", 50), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(wrapped("a\rb", 50), ElementsAre("a\rb"));
  EXPECT_THAT(wrapped("as wide as it may be\nhere", 0), ElementsAre("as wide as it may be", "here"));
}

TEST(Wrap, RowsHoldEveryByteOnce) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const std::string text = random_text(random, 60);
    std::size_t at = 0;
    for (const EditRow& row : wrap(text, monospaced, 20 + static_cast<float>(random() % 200))) {
      ASSERT_EQ(row.start, at);
      ASSERT_EQ(grapheme_floor(text, row.start), row.start);
      at = row.end;
      const std::string_view rest = std::string_view(text).substr(at);
      if (row.hard) at += rest.starts_with("\r\n") ? 2 : rest.starts_with("\n") ? 1 : 0;
    }
    ASSERT_EQ(at, text.size());
  }
}

// --- commands ---

TEST(Rows, UpAndDownKeepTheirColumn) {
  EditMetrics metrics(monospaced, 0);
  TextState state = state_of("abcdef\nx\nabcdef", 5);
  const auto go = [&](RowMotion motion, bool extend = false) {
    state = apply(std::move(state), row_motion(state, metrics, motion, extend));
    return state.cursor;
  };
  EXPECT_EQ(go(RowMotion::down), 8u);
  EXPECT_EQ(go(RowMotion::down), 14u);  // the column before the short row
  EXPECT_EQ(go(RowMotion::down), 15u);  // beyond the last row: the end
  EXPECT_EQ(go(RowMotion::up), 8u);
  EXPECT_EQ(go(RowMotion::row_start), 7u);
  EXPECT_EQ(go(RowMotion::up), 0u);
  EXPECT_EQ(go(RowMotion::row_end, true), 6u);
  EXPECT_EQ(state.selected(), "abcdef");
}

TEST(Rows, EndOfAWrappedRowStaysInIt) {
  EditMetrics metrics(monospaced, 30);
  TextState state = state_of("aaa bbb", 1);
  state = apply(std::move(state), row_motion(state, metrics, RowMotion::row_end, false));
  EXPECT_EQ(state.cursor, 4u);
  EXPECT_TRUE(state.upstream);
  state = apply(std::move(state), row_motion(state, metrics, RowMotion::row_start, false));
  EXPECT_EQ(state.cursor, 0u);
  state = apply(std::move(state), row_motion(state, metrics, RowMotion::down, false));
  EXPECT_EQ(state.cursor, 4u);
  EXPECT_FALSE(state.upstream);
}

// --- steps ---

/// The texts at the ends of the steps that commands make, the last one first.
template <class... Command>
std::vector<std::string> steps(TextState state, Command... commands) {
  std::vector<std::string> texts{state.text};
  const auto add = [&](const TextCommand& command) {
    state = apply(std::move(state), command);
    if (state.text == texts.back()) return;
    if (state.extends_change) texts.pop_back();
    texts.push_back(state.text);
  };
  (add(std::move(commands)), ...);
  return texts;
}

Insert letter(char c) {
  return {std::string(1, c), true};
}

TEST(Steps, AreWordsHeldKeysAndRunsOfTokens) {
  EXPECT_THAT(steps({}, letter('a'), letter('b'), letter(' '), letter('\n'), letter('c')),
              ElementsAre("", "ab \n", "ab \nc"));
  EXPECT_THAT(steps({}, letter('a'), Insert{"PASTE"}, letter('b'), letter('c')),
              ElementsAre("", "a", "aPASTE", "aPASTEbc"));
  EXPECT_THAT(steps({}, letter('a'), Move{Motion::left}, letter('b')), ElementsAre("", "a", "ba"));
  const Erase back{Motion::left}, ahead{Motion::right};
  EXPECT_THAT(steps(make_text_state("abc" + kFamily), back, back, back), ElementsAre("abc" + kFamily, "a"));
  EXPECT_THAT(steps(state_of("abcd", 1), ahead, ahead), ElementsAre("abcd", "ad"));
  EXPECT_THAT(steps({}, letter('x'), Append{" a", true}, Append{" b", true}, Append{"!"}),
              ElementsAre("", "x", "x a b", "x a b!"));
}

TEST(ChangedText, IsWhatDiffersInWholeCharacters) {
  const auto change = [](const char* before, const char* now) {
    const ChangedText found = changed_text(before, now);
    return std::to_string(found.at) + " -" + std::string(found.removed) + " +" + std::string(found.inserted);
  };
  EXPECT_EQ(change("one two", "one big two"), "4 - +big ");
  EXPECT_EQ(change("aaa", "aa"), "2 -a +");
  EXPECT_EQ(change("é", "è"), "0 -é +è");
  EXPECT_EQ(change("xé", "xãé"), "1 - +ã");
}

/// The editor as used by the window: events in, commands applied, a picture out.
class PromptEditor : public ::testing::Test {
 protected:
  PromptEditor() {
    look.rect = {40, 30, 300, editor_height(*fonts, look.font_size, 3)};
    look.theme = &theme;
    look.fonts = fonts;
    look.focused = true;
  }

  void command(const TextCommand& c) {
    state = app::apply(std::move(state), c);
    look.scroll = scroll_to_caret(state, metrics, look);
  }
  void key(Key k, bool ctrl = false, bool shift = false) {
    const KeyMeaning meaning = key_meaning(state, metrics, look, {k, {ctrl, shift, false}});
    if (const auto* c = std::get_if<TextCommand>(&meaning)) return command(*c);
    const auto* request = std::get_if<EditorRequest>(&meaning);
    ASSERT_NE(request, nullptr);
    if (*request == EditorRequest::copy || *request == EditorRequest::cut) clipboard = state.selected();
    if (*request == EditorRequest::cut) command(Erase{});
    if (*request == EditorRequest::paste) command(Insert{clipboard});
    requests.push_back(*request);
  }
  void press(viz::Point at, int clicks = 1, bool shift = false) {
    drag = begin_text_drag(state, metrics, look, {at, 0, clicks, {false, shift, false}});
    move(at);
  }
  void move(viz::Point at) { command(text_drag(state, metrics, look, drag, at)); }
  /// The middle of the caret at a byte.
  viz::Point point_of(std::size_t byte) {
    TextState there = state;
    there.cursor = byte;
    return caret_rect(there, metrics, look).center();
  }
  viz::Scene scene() { return editor_scene(state, metrics, look); }
  TextState with(const std::string& all) { return state = make_text_state(all); }

  std::shared_ptr<const viz::Fonts> fonts = viz::Fonts::load();
  viz::Theme theme = viz::light_theme();
  EditorLook look;
  EditMetrics metrics;
  TextState state;
  std::string clipboard;
  TextDrag drag;
  std::vector<EditorRequest> requests;
};

TEST_F(PromptEditor, KnowsTheStandardKeys) {
  with("one two three");
  key(Key::left, true);
  EXPECT_EQ(state.cursor, 8u);
  key(Key::left, true, true);
  EXPECT_EQ(state.selected(), "two ");
  key(Key::right);
  EXPECT_EQ(state.cursor, 8u) << "the end of what was selected";
  key(Key::home);
  EXPECT_EQ(state.cursor, 0u);
  key(Key::right, true);
  EXPECT_EQ(state.cursor, 3u);
  key(Key::end, false, true);
  EXPECT_EQ(state.selected(), " two three");
  key(Key::home, true);
  key(Key::del, true);
  EXPECT_EQ(state.text, " two three");
  key(Key::del);
  EXPECT_EQ(state.text, "two three");
  key(Key::end, true);
  key(Key::backspace, true);
  EXPECT_EQ(state.text, "two ");
  key(Key::right, false, true);
  EXPECT_EQ(state.cursor, 4u);
  key(Key{'z'}, true);
  key(Key{'z'}, true, true);
  key(Key{'y'}, true);
  EXPECT_THAT(requests, ElementsAre(EditorRequest::undo, EditorRequest::redo, EditorRequest::redo));
}

TEST_F(PromptEditor, AClickPutsTheCaretWhereItIsDrawn) {
  with("A robot must obey " + kFamily + " é\xFF\n\nits orders, all of them, and so this line is wrapped");
  look.scroll = 0;
  for (std::size_t at = 0; at < state.text.size(); at = next_grapheme(state.text, at)) {
    look.scroll = 0;
    const viz::Point point = point_of(at);
    press(point);
    EXPECT_EQ(state.cursor, at);
    EXPECT_TRUE(state.selected().empty());
  }
}

TEST_F(PromptEditor, DragsSelect) {
  with("one two three");
  press(point_of(2));
  move(point_of(9));
  EXPECT_EQ(state.selected(), "e two t");
  move(point_of(0));
  EXPECT_EQ(state.selected(), "on");
  EXPECT_EQ(state.cursor, 0u);
  press(point_of(5), 1, true);  // with Shift the anchor stays
  EXPECT_EQ(state.selected(), "e t");
}

TEST_F(PromptEditor, DoubleAndTripleClicksSelectWordsAndLines) {
  with("one two\nthree four");
  const viz::Point last_letter{point_of(7).x - 2,
                               point_of(6).y};  // nearer to the end of the word than to its last letter
  press(last_letter, 2);
  EXPECT_EQ(state.selected(), "two");
  move(point_of(10));
  EXPECT_EQ(state.selected(), "two\nthree");
  move({point_of(1).x, point_of(1).y});
  EXPECT_EQ(state.selected(), "one two");
  EXPECT_EQ(state.cursor, 0u);
  press(point_of(12), 3);
  EXPECT_EQ(state.selected(), "three four");
  press(point_of(2), 3);
  EXPECT_EQ(state.selected(), "one two\n");
  press(point_of(2), 4);  // starts again
  EXPECT_EQ(state.selected(), "");
}

TEST_F(PromptEditor, ScrollsToTheCaretAndNoFarther) {
  EXPECT_EQ(look.scroll, 0);
  for (int i = 0; i < 20; ++i) key(Key::enter);
  const viz::Rect inside = look.rect.inset(2);
  EXPECT_TRUE(inside.contains(caret_rect(state, metrics, look).center()));
  EXPECT_GT(look.scroll, 0);
  const float lowest = look.scroll;
  key(Key::up);
  EXPECT_EQ(look.scroll, lowest);  // still visible
  key(Key::home, true);
  EXPECT_EQ(look.scroll, 0);
  look.scroll = 1e9F;
  EXPECT_EQ(editor_extent(state, metrics, look).scroll, lowest);
}

TEST_F(PromptEditor, ASingleLineMovesSideways) {
  look.single_line = true;
  look.rect.h = 30;
  with("/a/path\n/that is much longer than the field in which it is edited, as some are.png");
  scene();
  EXPECT_EQ(metrics.rows(state.text).size(), 1u);
  EXPECT_TRUE(look.rect.contains(point_of(state.text.size())));
  EXPECT_EQ(texts(scene()).size(), 1u);
  key(Key::home);
  EXPECT_EQ(state.cursor, 0u);
  EXPECT_NEAR(point_of(0).x, viz::testing::items_of<viz::GlyphRun>(scene())[0].origin.x, 1);
  key(Key::end);
  EXPECT_EQ(state.cursor, state.text.size());
  EXPECT_TRUE(texts(scene())[0].ends_with("as some are.png"));
  EXPECT_LT(texts(scene())[0].size(), state.text.size()) << "what is out of sight is not drawn";
}

}  // namespace
}  // namespace headscope::app::text_edit_test
