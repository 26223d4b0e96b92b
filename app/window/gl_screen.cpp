#include "app/window/gl_screen.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <stdexcept>

namespace headscope::app {

Gl::Gl(GlFinder find) {
#define HEADSCOPE_FIND(name) name = reinterpret_cast<decltype(gl##name)*>(find("gl" #name));
  HEADSCOPE_GL_FUNCTIONS(HEADSCOPE_FIND)
#undef HEADSCOPE_FIND
}

std::uint64_t GlScreen::create(const viz::Bitmap& bitmap, bool nearest) {
  GLuint name = 0;
  gl_.GenTextures(1, &name);
  gl_.BindTexture(GL_TEXTURE_2D, name);
  const GLint filter = nearest ? GL_NEAREST : GL_LINEAR;
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  gl_.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
  gl_.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, bitmap.width, bitmap.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 bitmap.pixels.data());
  return name;
}

void GlScreen::update(std::uint64_t texture, const viz::Bitmap& bitmap, int first_row, int rows) {
  gl_.BindTexture(GL_TEXTURE_2D, static_cast<GLuint>(texture));
  gl_.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
  const auto* from = bitmap.pixels.data() + static_cast<std::ptrdiff_t>(first_row) * bitmap.width;
  gl_.TexSubImage2D(GL_TEXTURE_2D, 0, 0, first_row, bitmap.width, rows, GL_RGBA, GL_UNSIGNED_BYTE, from);
}

void GlScreen::destroy(std::uint64_t texture) {
  const auto name = static_cast<GLuint>(texture);
  gl_.DeleteTextures(1, &name);
}

std::string gl_description(const Gl& gl) {
  const auto text = [&](GLenum name) {
    const auto* bytes = reinterpret_cast<const char*>(gl.GetString(name));
    return std::string(bytes ? bytes : "unnamed");
  };
  return text(GL_RENDERER) + ", OpenGL " + text(GL_VERSION);
}

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
  gl_.Viewport(0, 0, width, height);
  const auto channel = [](std::uint8_t c) { return static_cast<float>(c) / 255.0F; };
  gl_.ClearColor(channel(clear.r), channel(clear.g), channel(clear.b), 1);
  gl_.Clear(GL_COLOR_BUFFER_BIT);
  if (ImDrawData* frame = ImGui::GetDrawData()) ImGui_ImplOpenGL3_RenderDrawData(frame);
}

}  // namespace headscope::app
