#pragma once
#include "app/window/gui.h"
#include "viz/players/imgui_compat.h"

namespace headscope::testing {

/// Frames that are never shown: textures are dropped.
class NullScreen final : public app::Screen, private viz::TextureBackend {
 public:
  void set_up() override {
    viz::compat::claim_null_renderer(ImGui::GetIO());
    viz::compat::make_font_texture(ImGui::GetIO(), *this);
  }
  void end_frame(const ImDrawData& data) override { viz::compat::serve_textures(data, *this); }
  viz::TextureBackend& textures() override { return *this; }

 private:
  std::uint64_t create(const viz::Bitmap&, bool) override { return ++last_; }
  void update(std::uint64_t, const viz::Bitmap&, int, int) override {}
  void destroy(std::uint64_t) override {}
  std::uint64_t last_ = 0;
};

}  // namespace headscope::testing
