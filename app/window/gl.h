#pragma once

// OpenGL 3.3.
#ifdef _WIN32  // else its header includes <windows.h>
#define APIENTRY __stdcall
#define WINGDIAPI __declspec(dllimport)
#endif
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
