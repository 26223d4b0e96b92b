#include "app/window/surfaceless_gl.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>

#include "app/window/gl_textures.h"

namespace headscope::app {
namespace {

/// Null if the library lacks the function.
template <class Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

SurfacelessGl surfaceless_gl() {
  // Never closed: drivers start threads and register exit handlers.
  void* egl = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!egl) return {{}, "libEGL.so.1 is not installed"};
  const auto address = function_of<decltype(eglGetProcAddress)>(egl, "eglGetProcAddress");
  const auto initialize = function_of<decltype(eglInitialize)>(egl, "eglInitialize");
  const auto terminate = function_of<decltype(eglTerminate)>(egl, "eglTerminate");
  const auto bind = function_of<decltype(eglBindAPI)>(egl, "eglBindAPI");
  const auto choose = function_of<decltype(eglChooseConfig)>(egl, "eglChooseConfig");
  const auto create = function_of<decltype(eglCreateContext)>(egl, "eglCreateContext");
  const auto make_current = function_of<decltype(eglMakeCurrent)>(egl, "eglMakeCurrent");
  const auto destroy = function_of<decltype(eglDestroyContext)>(egl, "eglDestroyContext");
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
