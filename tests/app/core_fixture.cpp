#include "tests/app/core_fixture.h"
#include "tests/support/source_folders.h"

namespace headscope::app {

std::filesystem::path CoreTest::bundled_folder() {
  return headscope::testing::source_dir() / "assets/models/tales";
}

CoreOptions CoreTest::options(std::optional<std::string> prompt) {
  CoreOptions o;
  o.window.model = bundled_folder();
  if (prompt) o.window.prompt = Prompt{*prompt, {}, false};
  o.settings.all_controls = true;  // so that each can be pressed
  o.fonts = fonts_;
  o.wake = [] { woken_.release(); };
  o.screen = &screen_;
  o.start_folder = folder_.path();
  o.get_clipboard = [this] { return clipboard_; };
  o.set_clipboard = [this](const std::string& text) { clipboard_ = text; };
  return o;
}

const WindowPicture& CoreTest::shown(Core& core, float width, float height) {
  core.settle();
  WindowFrame frame;
  frame.width = width;
  frame.height = height;
  return core.draw(frame);
}

const PlacedPicture& CoreTest::picture(const WindowPicture& window, std::string_view id) {
  for (const PlacedPicture& placed : window.pictures)
    if (placed.view->id == id) return placed;
  throw std::logic_error("no such picture");
}

viz::Point CoreTest::cell(const PlacedPicture& placed, int id, int row, int col) {
  for (const viz::Region& region : placed.picture->regions) {
    if (region.id != id) continue;
    const viz::Point p = region.cell_rect(row, col).center();
    return {placed.where.x + p.x, placed.where.y + p.y};
  }
  throw std::logic_error("no such region");
}

void CoreTest::click(Core& core, viz::Point at, int clicks, int button) {
  core.handle(MouseDown{at, button, clicks, {}});
  core.handle(MouseUp{at, button});
}
void CoreTest::click_and_show(Core& core, viz::Point at, int clicks, int button) {
  click(core, at, clicks, button);
  shown(core);
}

const WindowItem* CoreTest::find_item(const Core& core, std::string_view label, int n) {
  for (const WindowItem& item : core.window().items)
    if (item.label == label && n-- == 0) return &item;
  return nullptr;
}
viz::Point CoreTest::item(const Core& core, std::string_view label, int n) {
  const WindowItem* found = find_item(core, label, n);
  if (found == nullptr) throw std::logic_error("no item " + std::string(label));
  return found->rect.center();
}
void CoreTest::click_item(Core& core, std::string_view label, int n, int clicks) {
  click(core, item(core, label, n), clicks);
  core.draw({});
}
void CoreTest::click_and_show(Core& core, std::string_view label, int n, int clicks) {
  click_item(core, label, n, clicks);
  shown(core);
}

void CoreTest::press(Core& core, Key key, Modifiers modifiers) {
  core.handle(KeyDown{key, modifiers});
}
void CoreTest::press_and_show(Core& core, Key key, Modifiers modifiers) {
  press(core, key, modifiers);
  shown(core);
}
void CoreTest::type_and_show(Core& core, std::string_view text) {
  type(core, text);
  shown(core);
}

void CoreTest::drag(Core& core, viz::Point from, viz::Point to, int button) {
  constexpr int kSteps = 4;
  core.handle(MouseDown{from, button, 1, {}});
  for (int i = 1; i <= kSteps; ++i) {
    const float part = static_cast<float>(i) / kSteps;
    core.handle(MouseMove{{from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)}});
    core.draw({});
  }
  core.handle(MouseUp{to, button});
}

const OptionSpec& CoreTest::option(std::string_view name) {
  for (const View& view : views())
    for (const OptionSpec* option : view.options)
      if (option->name == name) return *option;
  throw std::logic_error("no such option");
}

bool CoreTest::says(const Core& core, std::string_view words) {
  const auto in = [&](const viz::Scene& scene) {
    return std::ranges::any_of(scene.items, [&](const viz::Item& item) {
      const auto* text = std::get_if<viz::GlyphRun>(&item);
      return text != nullptr && text->text.find(words) != std::string::npos;
    });
  };
  const WindowPicture& window = core.window();
  return std::ranges::any_of(window.scenes, in) ||
         std::ranges::any_of(window.pictures, [&](const PlacedPicture& p) { return in(p.picture->scene); });
}

std::string CoreTest::long_prompt() {
  std::string text;
  while (text.size() < 6000) text += "The wolf came to the door of the little house. ";
  return text;
}

void CoreTest::generate(Core& core, int tokens) {
  core.apply(Generate{true});
  while (core.state().generation.running && core.state().generation.token_count < tokens) {
    core.draw({});
    while (!core.take_results()) woken_.try_acquire_for(kLongestTimer);
  }
  core.apply(Generate{false});
}

}  // namespace headscope::app
