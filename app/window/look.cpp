#include "app/window/look.h"

#include <algorithm>
#include <cmath>

#include "app/recipe/recipe.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {
namespace {

ImVec4 to_imgui(viz::Color c) {
  return ImGui::ColorConvertU32ToFloat4(IM_COL32(c.r, c.g, c.b, c.a));
}

}  // namespace

const viz::Theme& theme_of(bool dark) {
  static const viz::Theme kLight = viz::light_theme();
  static const viz::Theme kDark = viz::dark_theme();
  return dark ? kDark : kLight;
}

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

  // Each button sets its own colours; rows and sliders are painted.
  const viz::Color none = theme.surface.with_alpha(0);
  const auto set = [&](ImGuiCol which, viz::Color color) { style.Colors[which] = to_imgui(color); };
  for (ImVec4& color : style.Colors) color = to_imgui(none);
  set(ImGuiCol_WindowBg, theme.window);
  set(ImGuiCol_PopupBg, theme.surface);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_ScrollbarGrab, theme.text_muted.with_alpha(110));
  set(ImGuiCol_ScrollbarGrabHovered, theme.text_muted.with_alpha(170));
  set(ImGuiCol_ScrollbarGrabActive, theme.text_muted.with_alpha(220));
  set(ImGuiCol_NavHighlight, theme.accent);
  set(ImGuiCol_ModalWindowDimBg, {0, 0, 0, 90});
}

}  // namespace headscope::app
