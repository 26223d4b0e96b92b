#include "app/text/prompt_editor.h"

#include "tests/support/matchers.h"

namespace headscope::app::prompt_editor_test {
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
  void text(const std::string& typed) { command(Insert{typed, true}); }
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
    return metrics.rows(state.text).size();
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

TEST_F(PromptEditor, TypesAnyBytesAndAsksForUndo) {
  text("Hi ");
  text(kFamily);
  key(Key::enter);
  text("\xE2\x80");
  EXPECT_EQ(state.text, "Hi " + kFamily + "\n\xE2\x80");
  key(Key::backspace);
  EXPECT_EQ(state.text, "Hi " + kFamily + "\n\xE2");
  key(Key::z, true);
  key(Key::z, true, true);
  key(Key::y, true);
  EXPECT_THAT(requests, ElementsAre(EditorRequest::undo, EditorRequest::redo, EditorRequest::redo));
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
  look.scroll = scroll_by_wheel(state, metrics, look, -5);
  EXPECT_EQ(look.scroll, lowest);
  key(Key::home, true);
  EXPECT_EQ(look.scroll, 0);
  EXPECT_GT(scroll_by_wheel(state, metrics, look, -1), 0);
  look.scroll = 1e9F;
  EXPECT_EQ(clamped_scroll(state, metrics, look), lowest);
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
  EXPECT_TRUE(texts(scene())[0].ends_with("as some are.png"));
  EXPECT_LT(texts(scene())[0].size(), state.text.size()) << "what is out of sight is not drawn";
}

}  // namespace
}  // namespace headscope::app::prompt_editor_test
