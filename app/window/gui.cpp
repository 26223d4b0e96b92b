#include "app/window/gui.h"

#include <cfloat>
#include <utility>

#include "app/window/look.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {
namespace {

namespace compat = viz::compat;

/// Keys passed on to Dear ImGui: those that move the focus and press the focused item. Only Space presses
/// buttons.
constexpr std::pair<Key, ImGuiKey> kKeys[] = {
    {Key::left, ImGuiKey_LeftArrow}, {Key::right, ImGuiKey_RightArrow}, {Key::up, ImGuiKey_UpArrow},
    {Key::down, ImGuiKey_DownArrow}, {Key::page_up, ImGuiKey_PageUp},   {Key::page_down, ImGuiKey_PageDown},
    {Key::home, ImGuiKey_Home},      {Key::end, ImGuiKey_End},          {Key::enter, ImGuiKey_Space},
    {Key::space, ImGuiKey_Space},    {Key::escape, ImGuiKey_Escape},
};

void tell_key(ImGuiIO& io, const KeyDown& event, bool down) {
  for (const auto& [key, known] : kKeys)
    if (key == event.key) compat::add_key(io, known, down);
}

void tell(ImGuiIO& io, const Event& event) {
  if (const auto* e = std::get_if<MouseMove>(&event)) compat::add_mouse_position(io, {e->at.x, e->at.y});
  if (const auto* e = std::get_if<MouseDown>(&event)) compat::add_mouse_button(io, e->button, true);
  if (const auto* e = std::get_if<MouseUp>(&event)) compat::add_mouse_button(io, e->button, false);
  if (const auto* e = std::get_if<MouseWheel>(&event)) compat::add_mouse_wheel(io, e->dx, e->dy);
  if (const auto* e = std::get_if<KeyDown>(&event)) tell_key(io, *e, true);
}

}  // namespace

void MemoryScreen::set_up() {
  compat::claim_null_renderer(ImGui::GetIO());
  compat::make_font_texture(ImGui::GetIO(), textures_);
}
void MemoryScreen::end_frame(const ImDrawData& data) {
  compat::serve_textures(data, textures_);
}

Gui::Gui(std::shared_ptr<const viz::Fonts> fonts, Screen& screen)
    : fonts_(std::move(fonts)), screen_(screen), context_(nullptr, ImGui::DestroyContext) {}

Gui::~Gui() {
  if (!player_) return;
  make_current();
  player_.reset();
  screen_.tear_down();
}

void Gui::make_current() const {
  ImGui::SetCurrentContext(context_.get());
}

void Gui::set_up() {
  context_.reset(ImGui::CreateContext());
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the program saves its own settings
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.MouseDoubleClickTime = -1;  // the window system detects double clicks
  compat::map_keys(io);
  screen_.set_up();
  player_ = std::make_unique<viz::ImguiPlayer>(fonts_, screen_.textures());
}

void Gui::frame(const WindowFrame& frame, const Event* event, bool dark, float font_size,
                const std::function<void(viz::ImguiPlayer&)>& build) {
  if (!player_) set_up();
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {frame.width, frame.height};
  io.DisplayFramebufferScale = {frame.device_scale, frame.device_scale};
  io.DeltaTime = 1.0F / 60;  // fixed: nothing here depends on the clock
  if (event) {
    tell(io, *event);
  } else if (!frame.pointer) {
    // A dragged item stays where it is when the mouse leaves the window.
    if (!ImGui::IsAnyMouseDown()) compat::add_mouse_position(io, {-FLT_MAX, -FLT_MAX});
  } else {
    compat::add_mouse_position(io, {frame.pointer->x, frame.pointer->y});
  }
  apply_look(dark, font_size);
  screen_.begin_frame();
  ImGui::NewFrame();
  player_->begin_frame(frame.device_scale);
  build(*player_);
  ImGui::Render();
  screen_.end_frame(*ImGui::GetDrawData());
  if (const auto* key = event ? std::get_if<KeyDown>(event) : nullptr) tell_key(io, *key, false);
}

}  // namespace headscope::app
