#include "app/window/gl_screen.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "app/window/gl.h"

namespace headscope::app {
namespace {

struct Pixels {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< from the top left
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
};

/// The device pixels that a rectangle of the frame touches.
Pixels pixels_of(const viz::Rect& rect, const ImDrawData& frame, int width, int height) {
  const auto first = [](float at, float scale, int most) {
    return std::clamp(static_cast<int>(std::floor(at * scale)), 0, most);
  };
  const auto end = [](float at, float scale, int most) {
    return std::clamp(static_cast<int>(std::ceil(at * scale)), 0, most);
  };
  const ImVec2 scale = frame.FramebufferScale;
  return {first(rect.x, scale.x, width), first(rect.y, scale.y, height), end(rect.right(), scale.x, width),
          end(rect.bottom(), scale.y, height)};
}

/// Draws only a part of the frame, by giving the backend a display of that size.
void draw_part(ImDrawData frame, const Pixels& part) {
  frame.DisplayPos = {frame.DisplayPos.x + static_cast<float>(part.x0) / frame.FramebufferScale.x,
                      frame.DisplayPos.y + static_cast<float>(part.y0) / frame.FramebufferScale.y};
  constexpr float kNotLess = 0.25F;  // the backend truncates size times scale to whole pixels
  frame.DisplaySize = {(static_cast<float>(part.width()) + kNotLess) / frame.FramebufferScale.x,
                       (static_cast<float>(part.height()) + kNotLess) / frame.FramebufferScale.y};
  ImGui_ImplOpenGL3_RenderDrawData(&frame);
}

void copy(unsigned from, unsigned to, int width, int height, int x, int y) {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
  glBlitFramebuffer(0, 0, width, height, x, y, x + width, y + height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

}  // namespace

GlPicture::~GlPicture() {
  if (framebuffer_ == 0) return;
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteRenderbuffers(1, &pixels_);
}

bool GlPicture::resize(int width, int height) {
  if (framebuffer_ != 0 && width == width_ && height == height_) return true;
  if (framebuffer_ == 0) {
    glGenFramebuffers(1, &framebuffer_);
    glGenRenderbuffers(1, &pixels_);
  }
  width_ = width, height_ = height;
  glBindRenderbuffer(GL_RENDERBUFFER, pixels_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels_);
  return false;
}

void GlScreen::set_up() {
  if (!ImGui_ImplOpenGL3_Init("#version 330 core"))
    throw std::runtime_error("OpenGL 3.3 could not be set up.");
  whole_.emplace();
  part_.emplace();
}

void GlScreen::tear_down() {
  part_.reset();
  whole_.reset();
  ImGui_ImplOpenGL3_Shutdown();
}

void GlScreen::begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
}

void GlScreen::show(int width, int height, viz::Color clear, const std::optional<viz::Rect>& only) {
  GLint target = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
  const auto screen = static_cast<unsigned>(target);
  ImDrawData* frame = ImGui::GetDrawData();
  const bool known = whole_->resize(width, height);
  if (only && known && frame) {
    const Pixels part = pixels_of(*only, *frame, width, height);
    if (part.width() > 0 && part.height() > 0) {
      part_->resize(part.width(), part.height());
      glBindFramebuffer(GL_FRAMEBUFFER, part_->framebuffer());
      gl_clear(part.width(), part.height(), clear);
      draw_part(*frame, part);
      copy(part_->framebuffer(), whole_->framebuffer(), part.width(), part.height(), part.x0,
           height - part.y1);
    }
  } else {
    glBindFramebuffer(GL_FRAMEBUFFER, whole_->framebuffer());
    gl_clear(width, height, clear);
    if (frame) ImGui_ImplOpenGL3_RenderDrawData(frame);
  }
  copy(whole_->framebuffer(), screen, width, height, 0, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, screen);
}

bool GlScreen::lost() const {
  return glGetGraphicsResetStatus() != GL_NO_ERROR;
}

}  // namespace headscope::app
