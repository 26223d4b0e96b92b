#include "app/text/prompt_editor.h"

#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

const std::string kFamily = "👨‍👩‍👧";

template <class T>
std::vector<T> items(const viz::Scene& scene) {
  std::vector<T> found;
  for (const viz::Item& item : scene.items)
    if (const T* one = std::get_if<T>(&item)) found.push_back(*one);
  return found;
}

std::vector<std::string> texts(const viz::Scene& scene) {
  std::vector<std::string> all;
  for (const viz::GlyphRun& run : items<viz::GlyphRun>(scene)) all.push_back(run.text);
  return all;
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
  void text(const std::string& typed) { command(typing(TextTyped{typed})); }
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
  std::size_t rows() {
    scene();
    return metrics.layout(state.text).rows.size();
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

TEST_F(PromptEditor, TypesAnyBytesAndTakesThemBack) {
  text("Hi ");
  text(kFamily);
  key(Key::enter);
  text("\xE2\x80");
  EXPECT_EQ(state.text, "Hi " + kFamily + "\n\xE2\x80");
  key(Key::backspace);
  EXPECT_EQ(state.text, "Hi " + kFamily + "\n\xE2");
  key(Key::z, true);
  EXPECT_EQ(state.text, "Hi " + kFamily + "\n\xE2\x80");
  for (int i = 0; i < 9; ++i) key(Key::z, true);
  EXPECT_EQ(state.text, "");
  for (int i = 0; i < 5; ++i) key(Key::z, true, true);
  key(Key::y, true);
  EXPECT_EQ(state.text, "Hi " + kFamily + "\n\xE2");
}

TEST_F(PromptEditor, CopiesCutsAndPastesBytesAsTheyAre) {
  const std::string bytes = "a\xFF" + kFamily + "\r\nz";
  with(bytes);
  key(Key::a, true);
  key(Key::c, true);
  EXPECT_EQ(clipboard, bytes);
  key(Key::x, true);
  EXPECT_EQ(state.text, "");
  key(Key::v, true);
  key(Key::v, true);
  EXPECT_EQ(state.text, bytes + bytes);
  key(Key::z, true);
  EXPECT_EQ(state.text, bytes);
}

TEST_F(PromptEditor, KnowsTheStandardKeys) {
  with("one two three");
  key(Key::left, true);
  EXPECT_EQ(state.cursor, 8u);
  key(Key::left, true, true);
  EXPECT_EQ(state.selected(), "two ");
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
}

TEST_F(PromptEditor, LeavesOtherKeysToTheWindow) {
  const auto nothing = [&](const KeyDown& k) {
    return std::holds_alternative<std::monostate>(key_meaning(state, metrics, look, k));
  };
  EXPECT_TRUE(nothing({Key::tab, {}}));
  EXPECT_TRUE(nothing({Key::f1, {}}));
  EXPECT_TRUE(nothing({Key::a, {}}));                    // arrives as text
  EXPECT_TRUE(nothing({Key::e, {true, false, false}}));  // Ctrl+E exports
  EXPECT_TRUE(nothing({Key::left, {false, false, true}}));
  EXPECT_TRUE(nothing({Key::c, {true, false, false}}));  // nothing is selected
  EXPECT_TRUE(nothing({Key::x, {true, false, false}}));
  EXPECT_TRUE(nothing({Key::escape, {}}));
  EXPECT_FALSE(nothing({Key::enter, {}}));
  look.single_line = true;
  EXPECT_TRUE(nothing({Key::up, {}}));
  EXPECT_TRUE(nothing({Key::enter, {}}));
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

TEST_F(PromptEditor, AClickBesideTheTextTakesTheNearestPlace) {
  with("one\ntwo");
  press({look.rect.right() - 20, point_of(0).y});
  EXPECT_EQ(state.cursor, 3u);
  press({look.rect.x, point_of(5).y});
  EXPECT_EQ(state.cursor, 4u);
  press({look.rect.right(), look.rect.bottom() + 400});
  EXPECT_EQ(state.cursor, 7u);
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

TEST_F(PromptEditor, ADoubleClickBehindAWrappedRowTakesItsLastWord) {
  std::string words;
  for (int i = 0; i < 30; ++i) words += "word" + std::to_string(i) + " ";
  with(words);
  look.scroll = 0;
  ASSERT_GT(rows(), 1u);
  const EditRow first = metrics.layout(state.text).rows[0];
  ASSERT_FALSE(first.hard);
  const viz::Point behind{look.rect.right() - 1, point_of(0).y};
  press(behind, 2);
  EXPECT_LE(state.selection().end, first.end);
  EXPECT_FALSE(state.selected().empty());
  look.scroll = 0;
  press(behind);
  EXPECT_EQ(state.cursor, first.end);
  EXPECT_TRUE(state.upstream);
  EXPECT_EQ(point_of(state.cursor).y, behind.y);
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
  look.scroll = scroll_by_wheel(state, metrics, look, -5);
  EXPECT_EQ(look.scroll, lowest);
  key(Key::home, true);
  EXPECT_EQ(look.scroll, 0);
  EXPECT_GT(scroll_by_wheel(state, metrics, look, -1), 0);
  look.scroll = 1e9F;
  EXPECT_EQ(clamped_scroll(state, metrics, look), lowest);
}

TEST_F(PromptEditor, ADragBeyondTheEdgeScrolls) {
  with("0\n1\n2\n3\n4\n5\n6\n7");
  look.scroll = 0;
  press(point_of(0));
  move({look.rect.x + 100, look.rect.bottom() + 30});
  EXPECT_GT(look.scroll, 0);
  EXPECT_GT(state.cursor, 6u);
  EXPECT_EQ(state.anchor, 0u);
}

TEST_F(PromptEditor, TheScrollBarShowsWhatPartIsInSight) {
  with("short");
  const ScrollRange all = scroll_range(state, metrics, look);
  EXPECT_EQ(all.shown, all.total);
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "line\n";
  with(lines);
  const ScrollRange part = scroll_range(state, metrics, look);
  EXPECT_EQ(part.shown, all.shown);
  EXPECT_LT(part.shown, look.rect.h);
  look.scroll = 1e9F;
  EXPECT_FLOAT_EQ(clamped_scroll(state, metrics, look), part.total - part.shown);
}

TEST_F(PromptEditor, ShowsThePlaceholderOnlyWhenEmpty) {
  EXPECT_THAT(texts(scene()), ElementsAre("Type a prompt…"));
  text("x");
  EXPECT_THAT(texts(scene()), ElementsAre("x"));
}

TEST_F(PromptEditor, DrawsRowsInsideItsFrame) {
  with("one\ntwo\xFF\n" + std::string(400, 'm'));
  look.scroll = 0;
  const viz::Scene picture = scene();
  EXPECT_THAT(texts(picture), Contains("one"));
  EXPECT_THAT(texts(picture), Contains("two<FF>"));
  const viz::Rect clip = items<viz::PushClip>(picture).at(0).rect;
  EXPECT_GE(clip.y, look.rect.y);
  EXPECT_LE(clip.bottom(), look.rect.bottom());
  for (const viz::GlyphRun& run : items<viz::GlyphRun>(picture)) {
    const float width = fonts->width(run.text, viz::FontStyle::regular, run.size);
    EXPECT_LE(run.origin.x + width, look.rect.right());
  }
}

TEST_F(PromptEditor, SelectionLiesBehindItsText) {
  with("one two\nthree");
  press(point_of(4));
  move(point_of(10));
  std::vector<viz::FillRect> marked;
  for (const viz::FillRect& fill : items<viz::FillRect>(scene()))
    if (fill.color.r == theme.accent.r && fill.color.a < 255) marked.push_back(fill);
  ASSERT_EQ(marked.size(), 2u);
  EXPECT_NEAR(marked[0].rect.x, point_of(4).x, 1);
  EXPECT_GT(marked[0].rect.right(), point_of(7).x);  // the line break is selected, too
  EXPECT_NEAR(marked[1].rect.right(), point_of(10).x, 1);
}

TEST_F(PromptEditor, CaretShowsWithFocusInTheBrightHalf) {
  text("x");
  const auto carets = [&] {
    const viz::Rect caret = caret_rect(state, metrics, look);
    return std::ranges::count(items<viz::FillRect>(scene()), caret, &viz::FillRect::rect);
  };
  EXPECT_EQ(carets(), 1);
  look.caret_visible = false;
  EXPECT_EQ(carets(), 0);
  look.caret_visible = true;
  look.focused = false;
  EXPECT_EQ(carets(), 0);
}

TEST_F(PromptEditor, TheCaretBlinksOnceASecond) {
  EXPECT_TRUE(caret_blink(0).visible);
  EXPECT_TRUE(caret_blink(0.4).visible);
  EXPECT_NEAR(caret_blink(0.4).next, 0.1, 1e-9);
  EXPECT_FALSE(caret_blink(0.6).visible);
  EXPECT_TRUE(caret_blink(1.2).visible);
  EXPECT_NEAR(caret_blink(1.2).next, 0.3, 1e-9);
  EXPECT_TRUE(caret_blink(-1).visible);
  EXPECT_FALSE(caret_blink(9.9).visible);
  EXPECT_NEAR(caret_blink(9.9).next, 0.1, 1e-9);
  EXPECT_TRUE(caret_blink(10).visible) << "nobody is at it: it stays, and nothing is drawn any more";
  EXPECT_TRUE(std::isinf(caret_blink(10.7).next));
}

TEST_F(PromptEditor, GreysWhatTheModelDoesNotRead) {
  with("one two\nthree");
  look.grey_from = 3;
  EXPECT_THAT(texts(scene()), ElementsAre("one", " two", "three"));
  const std::vector<viz::GlyphRun> runs = items<viz::GlyphRun>(scene());
  EXPECT_EQ(runs[0].color, theme.text);
  EXPECT_NE(runs[1].color, theme.text);
  EXPECT_EQ(runs[1].color, runs[2].color);
  EXPECT_NEAR(runs[1].origin.x, point_of(3).x, 1);
}

TEST_F(PromptEditor, ASingleLineMovesSideways) {
  look.single_line = true;
  look.rect.h = 30;
  with("/a/path\n/that is much longer than the field in which it is edited, as some are.png");
  EXPECT_EQ(rows(), 1u);
  EXPECT_TRUE(look.rect.contains(point_of(state.text.size())));
  EXPECT_EQ(texts(scene()).size(), 1u);
  key(Key::home);
  EXPECT_EQ(state.cursor, 0u);
  EXPECT_NEAR(point_of(0).x, items<viz::GlyphRun>(scene())[0].origin.x, 1);
  key(Key::end);
  EXPECT_EQ(state.cursor, state.text.size());
}

TEST_F(PromptEditor, HeightsAndRowsAgree) {
  with("1\n2\n3");
  EXPECT_EQ(rows(), 3u);
  look.rect.h = editor_height(*fonts, look.font_size, 3);
  ScrollRange range = scroll_range(state, metrics, look);
  EXPECT_EQ(range.shown, range.total);
  look.rect.h -= 2;
  range = scroll_range(state, metrics, look);
  EXPECT_LT(range.shown, range.total);
}

TEST_F(PromptEditor, DrawsOfAMegabyteOnlyWhatIsSeen) {
  std::string paste;
  while (paste.size() < (1u << 20)) paste += "All work and no play \xFF " + kFamily + "\n";
  clipboard = paste;
  key(Key::v, true);
  text("!");
  EXPECT_EQ(state.text, paste + "!");
  EXPECT_LE(texts(scene()).size(), 4u);
  EXPECT_THAT(texts(scene()), Contains("!"));
  key(Key::page_up);
  key(Key::home, true);
  EXPECT_THAT(texts(scene()).front(), StartsWith("All work"));
}

}  // namespace
}  // namespace headscope::app
