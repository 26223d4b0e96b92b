#include "tests/app/window/window_fixture.h"
#include "app/run/edits/edit_text.h"

namespace headscope::app {

unsigned HandsTest::keyboard_id(const Core& core) {
  if (core.widgets().keyboard_item != 0) return core.widgets().keyboard_item;
  for (const PlacedField& field : core.window().fields)
    if (field.field == core.widgets().field && field.layer == core.window().layer) return field.id;
  return 0;
}
std::string HandsTest::keyboard_at(const Core& core) {
  const unsigned id = keyboard_id(core);
  for (const WindowItem& item : core.window().items)
    if (item.id == id && item.id != 0) return item.label;
  return "";
}

std::vector<std::string> HandsTest::stops(const Core& core) {
  std::vector<std::string> labels;
  int group = -1;
  for (const WindowItem& item : core.window().items)
    if (item.layer == core.window().layer && item.enabled && item.id != 0)
      if (std::exchange(group, item.group) != item.group) labels.push_back(item.label);
  return labels;
}

bool HandsTest::tab_to(Core& core, std::string_view label, Modifiers modifiers) {
  for (std::size_t i = 0; i <= core.window().items.size(); ++i) {
    if (keyboard_at(core) == label) return true;
    const auto& items = core.window().items;
    const auto at = std::ranges::find(items, keyboard_id(core), &WindowItem::id);
    const auto to = std::ranges::find_if(items, [&](const WindowItem& item) {
      return item.label == label && item.layer == core.window().layer && item.enabled;
    });
    const bool in_group = at != items.end() && to != items.end() && at->group == to->group;
    if (in_group && core.widgets().menu == Menu::none) {
      press_and_draw(core, at < to ? Key::down : Key::up);
    } else {
      press_and_draw(core, Key::tab, modifiers);
    }
  }
  return false;
}
bool HandsTest::tab_and_press(Core& core, std::string_view label, Key key) {
  if (!tab_to(core, label)) return false;
  press_and_draw(core, key);
  return true;
}
void HandsTest::press_and_draw(Core& core, Key key, Modifiers modifiers) {
  press(core, key, modifiers);
  core.draw(frame_);
}
void HandsTest::type_and_draw(Core& core, std::string_view text) {
  type(core, text);
  core.draw(frame_);
}

void HandsTest::open_menu(Core& core, std::string_view picture_id, int id, int row, int col) {
  click(core, cell(picture(core.window(), picture_id), id, row, col), 1, 1);
  core.draw(frame_);
}
void HandsTest::click_line(Core& core, std::string_view beginning) {
  for (const WindowItem& line : core.window().items)
    if (line.layer > 0 && line.label.starts_with(beginning)) return click(core, line.rect.center());
}

void HandsTest::drop(Core& core, const std::filesystem::path& path) {
  const std::string said = core.state().message.text;
  const auto prompts = core.state().prompts;
  const std::size_t steps = core.state().history.before.size();
  core.handle(FilesDropped{{path}});
  wait_until(core, [&] {
    return core.state().prompts != prompts || core.state().message.text != said ||
           core.state().history.before.size() != steps;
  });
  shown(core);
}

std::vector<std::string> HandsTest::active(const Core& core) {
  std::vector<std::string> texts;
  for (const model::Edit& edit : core.state().edits.active()) texts.push_back(edit_text(edit));
  return texts;
}

std::vector<std::string> HandsTest::labels(const Core& core, int layer) {
  std::vector<std::string> found;
  for (const WindowItem& item : core.window().items)
    if (item.layer == layer) found.push_back(item.label);
  return found;
}

}  // namespace headscope::app
