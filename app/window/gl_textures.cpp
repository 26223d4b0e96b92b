#include "app/window/gl_textures.h"

#include "app/window/gl.h"

namespace headscope::app {

GlTextures::~GlTextures() {
  for (const auto& [id, name] : live_) glDeleteTextures(1, &name);
}

std::uint64_t GlTextures::create(const viz::Bitmap& bitmap, bool nearest) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  const GLint filter = nearest ? GL_NEAREST : GL_LINEAR;
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, bitmap.width, bitmap.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
               bitmap.pixels.data());
  live_[name] = name;
  return name;
}

void GlTextures::update(std::uint64_t texture, const viz::Bitmap& bitmap, int first_row, int rows) {
  const auto found = live_.find(texture);
  if (found == live_.end()) return;
  glBindTexture(GL_TEXTURE_2D, found->second);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  const auto* from = bitmap.pixels.data() + static_cast<std::ptrdiff_t>(first_row) * bitmap.width;
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, first_row, bitmap.width, rows, GL_RGBA, GL_UNSIGNED_BYTE, from);
}

void GlTextures::destroy(std::uint64_t texture) {
  const auto found = live_.find(texture);
  if (found == live_.end()) return;
  glDeleteTextures(1, &found->second);
  live_.erase(found);
}

std::string gl_description() {
  const auto text = [](GLenum name) {
    const auto* bytes = reinterpret_cast<const char*>(glGetString(name));
    return std::string(bytes ? bytes : "unnamed");
  };
  return text(GL_RENDERER) + ", OpenGL " + text(GL_VERSION);
}

void gl_clear(int width, int height, viz::Color color) {
  glViewport(0, 0, width, height);
  const auto channel = [](std::uint8_t c) { return static_cast<float>(c) / 255.0F; };
  glClearColor(channel(color.r), channel(color.g), channel(color.b), 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

}  // namespace headscope::app
