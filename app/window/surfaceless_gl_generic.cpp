#include "app/window/surfaceless_gl.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "app/window/gl_textures.h"
#include "system/shared_library.h"

namespace headscope::app {

SurfacelessGl surfaceless_gl() {
  const auto egl = system::SharedLibrary::open("libEGL.so.1");
  if (!egl) return {{}, "libEGL.so.1 is not installed"};
  const auto address = egl.function<decltype(eglGetProcAddress)>("eglGetProcAddress");
  const auto initialize = egl.function<decltype(eglInitialize)>("eglInitialize");
  const auto terminate = egl.function<decltype(eglTerminate)>("eglTerminate");
  const auto bind = egl.function<decltype(eglBindAPI)>("eglBindAPI");
  const auto choose = egl.function<decltype(eglChooseConfig)>("eglChooseConfig");
  const auto create = egl.function<decltype(eglCreateContext)>("eglCreateContext");
  const auto make_current = egl.function<decltype(eglMakeCurrent)>("eglMakeCurrent");
  const auto destroy = egl.function<decltype(eglDestroyContext)>("eglDestroyContext");
  if (!address || !initialize || !terminate || !bind || !choose || !create || !make_current || !destroy)
    return {{}, "libEGL.so.1 is older than EGL 1.4"};
  const auto get_display =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(address("eglGetPlatformDisplayEXT"));
  const EGLDisplay display =
      get_display ? get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr) : EGL_NO_DISPLAY;
  if (display == EGL_NO_DISPLAY || !initialize(display, nullptr, nullptr))
    return {{}, "there is no driver that works without a display"};
  SurfacelessGl found;
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            3,
                            EGL_CONTEXT_MINOR_VERSION,
                            3,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  bind(EGL_OPENGL_API);
  choose(display, wanted, &config, 1, &count);
  const EGLContext context = count > 0 ? create(display, config, EGL_NO_CONTEXT, version) : EGL_NO_CONTEXT;
  if (context != EGL_NO_CONTEXT && make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
    found.renderer = gl_description();
    make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  } else {
    found.problem = "its drivers do not support OpenGL 3.3";
  }
  if (context != EGL_NO_CONTEXT) destroy(display, context);
  terminate(display);
  return found;
}

}  // namespace headscope::app
