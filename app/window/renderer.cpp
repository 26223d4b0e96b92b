#include "app/window/renderer.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "app/window/gl_textures.h"

namespace headscope::app {

struct Renderer::Impl {
  ImGuiContext* context = nullptr;
  std::optional<GlTextures> textures;
  std::optional<viz::ImguiPlayer> player;
};

Renderer::Renderer(std::shared_ptr<const viz::Fonts> fonts) : impl_(std::make_unique<Impl>()) {
  impl_->context = ImGui::CreateContext();
  ImGui::SetCurrentContext(impl_->context);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the program keeps its own settings
  io.LogFilename = nullptr;
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    ImGui::DestroyContext(impl_->context);
    throw std::runtime_error("OpenGL 3.3 could not be set up.");
  }
  impl_->textures.emplace();
  impl_->player.emplace(std::move(fonts), *impl_->textures);
}

Renderer::~Renderer() {
  ImGui::SetCurrentContext(impl_->context);
  impl_->player.reset();
  impl_->textures.reset();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(impl_->context);
}

void Renderer::draw(const viz::Scene& scene, float width, float height, float pixel_scale, float scale) {
  ImGui::SetCurrentContext(impl_->context);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {width, height};
  io.DisplayFramebufferScale = {pixel_scale, pixel_scale};
  io.DeltaTime = 1.0F / 60;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  impl_->player->begin_frame(pixel_scale);
  impl_->player->draw(*ImGui::GetBackgroundDrawList(), scene, {0, 0}, scale);
  ImGui::Render();
  gl_clear(static_cast<int>(std::lround(width * pixel_scale)),
           static_cast<int>(std::lround(height * pixel_scale)), scene.background);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace headscope::app
