#pragma once

// OpenGL 3.3.
#ifdef __APPLE__
#define GL_SILENCE_DEPRECATION
#include <OpenGL/gl3.h>
extern "C" GLenum glGetGraphicsResetStatus();
#else
#ifdef _WIN32  // else its header includes <windows.h>
#define APIENTRY __stdcall
#define WINGDIAPI __declspec(dllimport)
#endif
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#endif
