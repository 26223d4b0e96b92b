#include "app/window/screen.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {

namespace {

void set_up_with(viz::TextureBackend& textures) {
  viz::compat::claim_null_renderer(ImGui::GetIO());
  viz::compat::make_font_texture(ImGui::GetIO(), textures);
}

}  // namespace

void MemoryScreen::set_up() {
  set_up_with(textures_);
}
void MemoryScreen::end_frame(const ImDrawData& data) {
  viz::compat::serve_textures(data, textures_);
}

void NullScreen::set_up() {
  set_up_with(*this);
}
void NullScreen::end_frame(const ImDrawData& data) {
  viz::compat::serve_textures(data, *this);
}

}  // namespace headscope::app
