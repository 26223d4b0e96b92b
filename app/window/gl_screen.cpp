#include "app/window/gl_screen.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <stdexcept>

namespace headscope::app {

void GlScreen::set_up() {
  gl_ = Gl(find_);
  if (!ImGui_ImplOpenGL3_Init("#version 330 core"))
    throw std::runtime_error("OpenGL 3.3 could not be set up.");
}

void GlScreen::tear_down() {
  ImGui_ImplOpenGL3_Shutdown();
}

void GlScreen::begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
}

void GlScreen::show(int width, int height, viz::Color clear) {
  gl_clear(gl_, width, height, clear);
  if (ImDrawData* frame = ImGui::GetDrawData()) ImGui_ImplOpenGL3_RenderDrawData(frame);
}

}  // namespace headscope::app
