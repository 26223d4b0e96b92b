#pragma once
#include <imgui.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "system/folders.h"
#include "viz/players/imgui_compat.h"
#include "viz/scene/scene.h"
#include "viz/text/font_files.h"

/// Windows that use all of Dear ImGui's kinds of drawing: rounded and plain frames, anti-aliased lines, text,
/// tables, menus, popups, scrolling child windows, images.
namespace headscope::viz::testing {

/// Call before the font's texture is created. The font has a fractional size, so that its letters are between
/// pixels.
inline void style_widgets() {
  const FontFiles fonts = find_font_files(system::font_folders(system::process_environment()));
  const std::string file = fonts.files.at(fonts.order[0].at(0)).string();
  ImGui::GetIO().Fonts->AddFontFromFileTTF(file.c_str(), 13.4F);
  ImGui::StyleColorsLight();
  ImGuiStyle& style = ImGui::GetStyle();
  style.FrameRounding = style.GrabRounding = 6;
  style.WindowRounding = style.ChildRounding = 8;
  style.PopupRounding = 10;
  style.FrameBorderSize = 1;
}

/// A window with a button, a slider and other inputs.
inline void controls_window() {
  bool on = true;
  int choice = 1;
  std::array<float, 3> values{0.2F, 0.5F, 0.8F};
  std::array<char, 32> text{"a prompt"};
  ImGui::SetNextWindowPos(ImVec2(8, 28));
  ImGui::SetNextWindowSize(ImVec2(300, 330));
  ImGui::Begin("Controls", nullptr, ImGuiWindowFlags_NoCollapse);
  ImGui::TextUnformatted("L5 H1  query 8 \" it\" -> key 1  0.4123");
  ImGui::Button("Run");
  ImGui::SameLine();
  ImGui::SmallButton("small");
  ImGui::SameLine();
  ImGui::Checkbox("checked", &on);
  ImGui::RadioButton("one", &choice, 0);
  ImGui::SameLine();
  ImGui::RadioButton("other", &choice, 1);
  ImGui::SliderFloat("temperature", &values[0], 0, 1);
  ImGui::SliderFloat3("three", values.data(), 0, 1);
  ImGui::InputText("text", text.data(), text.size());
  ImGui::Combo("combo", &choice, "scores\0pattern\0");
  ImGui::ProgressBar(0.4F, ImVec2(-1, 0));
  ImGui::Separator();
  ImGui::BulletText("a bullet");
  ImGui::PlotLines(
      "curve", [](void*, int i) { return std::sin(static_cast<float>(i) / 7); }, nullptr, 100, 0, nullptr, -1,
      1, ImVec2(0, 50));
  ImGui::End();
}

inline void table_window(std::uint64_t image) {
  ImGui::SetNextWindowPos(ImVec2(320, 28));
  ImGui::SetNextWindowSize(ImVec2(310, 330));
  ImGui::Begin("Table");
  if (ImGui::BeginTabBar("tabs")) {
    if (ImGui::BeginTabItem("Scores")) ImGui::EndTabItem();
    if (ImGui::BeginTabItem("Pattern")) ImGui::EndTabItem();
    ImGui::EndTabBar();
  }
  if (ImGui::BeginTable("keys", 3,
                        ImGuiTableFlags_Borders | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                            ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY,
                        ImVec2(0, 130))) {
    for (const char* title : {"key", "token", "score"}) ImGui::TableSetupColumn(title);
    ImGui::TableHeadersRow();
    for (int row = 0; row < 30; ++row) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::Text("%d", row);
      ImGui::TableNextColumn();
      ImGui::Selectable("robot", row == 2, ImGuiSelectableFlags_SpanAllColumns);
      ImGui::TableNextColumn();
      ImGui::Text("%.3f", std::cos(row));
    }
    ImGui::EndTable();
  }
  ImGui::BeginChild("scrolled", ImVec2(120, 0), true);
  for (int i = 0; i < 20; ++i) ImGui::Text("line %d of twenty that are rather long", i);
  ImGui::EndChild();
  ImGui::SameLine();
  ImGui::Image(compat::texture_id(image), ImVec2(150, 100));
  ImGui::End();
}

/// A window with rounded and plain rectangles, lines of all directions and widths, circles and a curve.
inline void drawing_window() {
  ImGui::SetNextWindowPos(ImVec2(8, 366));
  ImGui::SetNextWindowSize(ImVec2(622, 106));
  ImGui::Begin("Drawing", nullptr, ImGuiWindowFlags_NoTitleBar);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImU32 ink = IM_COL32(40, 60, 160, 255), wash = IM_COL32(200, 80, 20, 90);
  for (int i = 0; i < 12; ++i) {
    const float n = static_cast<float>(i), x = at.x + 48 * n;
    list.AddRectFilled(ImVec2(x, at.y), ImVec2(x + 36.4F, at.y + 30.3F), i % 2 != 0 ? ink : wash, n);
    list.AddRect(ImVec2(x + 4, at.y + 6), ImVec2(x + 40, at.y + 36), ink, n);
    list.AddLine(ImVec2(x, at.y + 40), ImVec2(x + 40, at.y + 40 + 3 * n), ink, 0.5F + n / 2);
    list.AddCircle(ImVec2(x + 20, at.y + 66), 4 + n, wash);
    list.AddCircleFilled(ImVec2(x + 10.3F, at.y + 70.7F), 1 + n, wash);
  }
  list.AddBezierCubic(at, ImVec2(at.x + 200, at.y + 200), ImVec2(at.x + 400, at.y - 150),
                      ImVec2(at.x + 600, at.y + 80), ink, 2);
  list.AddRectFilledMultiColor(ImVec2(at.x + 560, at.y), ImVec2(at.x + 600, at.y + 80), ink, wash,
                               IM_COL32_WHITE, IM_COL32_BLACK);
  ImGui::End();
}

/// All windows, with a menu bar and an open popup, for a display of 640 x 480. `image`: a texture's handle.
inline void draw_widgets(std::uint64_t image) {
  if (ImGui::BeginMainMenuBar()) {
    if (ImGui::BeginMenu("Model")) ImGui::EndMenu();
    if (ImGui::BeginMenu("Theme", false)) ImGui::EndMenu();
    ImGui::EndMainMenuBar();
  }
  controls_window();
  table_window(image);
  drawing_window();
  ImGui::SetNextWindowPos(ImVec2(200, 250));
  ImGui::SetNextWindowBgAlpha(0.8F);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted("a tooltip over\nboth windows");
  ImGui::EndTooltip();
}

}  // namespace headscope::viz::testing
