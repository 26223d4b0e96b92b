#include "app/window/screen.h"
#include "viz/imgui_compat.h"

namespace headscope::app {

void MemoryScreen::set_up() {
  viz::compat::claim_null_renderer(ImGui::GetIO());
  viz::compat::make_font_texture(ImGui::GetIO(), textures_);
}

void MemoryScreen::end_frame(const ImDrawData& data) {
  viz::compat::serve_textures(data, textures_);
}

}  // namespace headscope::app
