// What opengl32.dll lacks: it has the functions of OpenGL 1.1, and the driver tells where the others are.
#include "app/window/gl.h"
#include "system/console.h"
#include "system/shared_library.h"

namespace {

using headscope::system::SharedLibrary;

/// The driver's function of a name; null: none.
template <class Function>
Function* if_in_driver(const char* name) {
  static const auto find =
      SharedLibrary::if_open("opengl32.dll").function<void*(const char*)>("wglGetProcAddress");
  return find ? reinterpret_cast<Function*>(find(name)) : nullptr;
}

/// A function that OpenGL 3.3 has, without which GLFW opens no window.
template <class Function>
Function* in_driver(const char* name) {
  auto* const found = if_in_driver<Function>(name);
  if (!found) headscope::system::end_with_message(1, {"headscope: the OpenGL driver lacks ", name, "\n"});
  return found;
}

}  // namespace

void APIENTRY glGenFramebuffers(GLsizei count, GLuint* names) {
  static auto* const call = in_driver<decltype(glGenFramebuffers)>("glGenFramebuffers");
  call(count, names);
}

void APIENTRY glDeleteFramebuffers(GLsizei count, const GLuint* names) {
  static auto* const call = in_driver<decltype(glDeleteFramebuffers)>("glDeleteFramebuffers");
  call(count, names);
}

void APIENTRY glBindFramebuffer(GLenum target, GLuint name) {
  static auto* const call = in_driver<decltype(glBindFramebuffer)>("glBindFramebuffer");
  call(target, name);
}

void APIENTRY glGenRenderbuffers(GLsizei count, GLuint* names) {
  static auto* const call = in_driver<decltype(glGenRenderbuffers)>("glGenRenderbuffers");
  call(count, names);
}

void APIENTRY glDeleteRenderbuffers(GLsizei count, const GLuint* names) {
  static auto* const call = in_driver<decltype(glDeleteRenderbuffers)>("glDeleteRenderbuffers");
  call(count, names);
}

void APIENTRY glBindRenderbuffer(GLenum target, GLuint name) {
  static auto* const call = in_driver<decltype(glBindRenderbuffer)>("glBindRenderbuffer");
  call(target, name);
}

void APIENTRY glRenderbufferStorage(GLenum target, GLenum format, GLsizei width, GLsizei height) {
  static auto* const call = in_driver<decltype(glRenderbufferStorage)>("glRenderbufferStorage");
  call(target, format, width, height);
}

void APIENTRY glFramebufferRenderbuffer(GLenum target, GLenum attachment, GLenum of, GLuint name) {
  static auto* const call = in_driver<decltype(glFramebufferRenderbuffer)>("glFramebufferRenderbuffer");
  call(target, attachment, of, name);
}

void APIENTRY glBlitFramebuffer(GLint x0, GLint y0, GLint x1, GLint y1, GLint to_x0, GLint to_y0, GLint to_x1,
                                GLint to_y1, GLbitfield mask, GLenum filter) {
  static auto* const call = in_driver<decltype(glBlitFramebuffer)>("glBlitFramebuffer");
  call(x0, y0, x1, y1, to_x0, to_y0, to_x1, to_y1, mask, filter);
}

// Of OpenGL 4.5 or an extension: contexts without it are not lost in a way that could be asked for.
GLenum APIENTRY glGetGraphicsResetStatus() {
  static auto* const call = if_in_driver<decltype(glGetGraphicsResetStatus)>("glGetGraphicsResetStatus");
  return call ? call() : GL_NO_ERROR;
}
