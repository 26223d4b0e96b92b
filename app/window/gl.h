#pragma once

// OpenGL 1.2: what the textures need. Dear ImGui's backend finds the rest by itself.
#ifdef _WIN32  // else its header includes <windows.h>
#define APIENTRY __stdcall
#define WINGDIAPI __declspec(dllimport)
#endif
#include <GL/gl.h>
#include <GL/glext.h>
