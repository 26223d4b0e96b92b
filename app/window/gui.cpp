#include "app/window/gui.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "app/recipe/recipe.h"
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

/// Sets colours and sizes of Dear ImGui's widgets. The only place that styles them; text is painted by Ui.
void apply_look(bool dark, float font_size) {
  const viz::Theme& theme = theme_of(dark);
  const float u = font_size / kDefaultFontSize;
  viz::compat::set_font_size(font_size);
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowPadding = {0, 0};  // panes and popups place their own content
  style.FramePadding = {8 * u, 4 * u};
  style.ItemSpacing = {0, 0};
  style.ItemInnerSpacing = {0, 0};
  style.ScrollbarSize = std::round(12 * u);
  style.GrabMinSize = std::round(18 * u);
  style.WindowMinSize = {1, 1};
  style.WindowRounding = style.PopupRounding = std::round(10 * u);
  style.ChildRounding = std::round(8 * u);
  style.FrameRounding = style.GrabRounding = std::round(6 * u);
  style.ScrollbarRounding = std::round(6 * u);
  style.WindowBorderSize = 0;
  style.ChildBorderSize = style.PopupBorderSize = std::max(1.0F, std::round(u));

  std::ranges::fill(style.Colors, ImVec4());  // buttons, rows and sliders are painted
  const auto set = [&](ImGuiCol which, viz::Color c) {
    style.Colors[which] = ImGui::ColorConvertU32ToFloat4(IM_COL32(c.r, c.g, c.b, c.a));
  };
  set(ImGuiCol_WindowBg, theme.window);
  set(ImGuiCol_ChildBg, theme.surface);
  set(ImGuiCol_PopupBg, theme.surface);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_ScrollbarGrab, theme.text_muted.with_alpha(110));
  set(ImGuiCol_ScrollbarGrabHovered, theme.text_muted.with_alpha(170));
  set(ImGuiCol_ScrollbarGrabActive, theme.text_muted.with_alpha(220));
  set(ImGuiCol_ModalWindowDimBg, {0, 0, 0, 90});
}

}  // namespace

const viz::Theme& theme_of(bool dark) {
  static const viz::Theme kLight = viz::light_theme();
  static const viz::Theme kDark = viz::dark_theme();
  return dark ? kDark : kLight;
}

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
