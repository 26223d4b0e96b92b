#pragma once
#include <imgui.h>

#include <cstdint>

/// Every difference between the versions of Dear ImGui that headscope builds with: Debian 12's 1.86 up
/// to 1.92.
namespace headscope::viz::compat {

/// ImTextureID is a void* up to 1.91 and an integer since.
inline ImTextureID texture_id(std::uint64_t handle) {
#if IMGUI_VERSION_NUM >= 19131
  return static_cast<ImTextureID>(handle);
#else
  return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(handle));
#endif
}

/// The handle of a draw command's texture.
inline std::uint64_t texture_handle(const ImDrawCmd& command) {
#if IMGUI_VERSION_NUM >= 19131
  return static_cast<std::uint64_t>(command.GetTexID());
#else
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(command.GetTexID()));
#endif
}

inline void push_texture(ImDrawList& list, std::uint64_t handle) {
#if IMGUI_VERSION_NUM >= 19200
  list.PushTexture(texture_id(handle));
#else
  list.PushTextureID(texture_id(handle));
#endif
}

inline void pop_texture(ImDrawList& list) {
#if IMGUI_VERSION_NUM >= 19200
  list.PopTexture();
#else
  list.PopTextureID();
#endif
}

/// What a renderer without a display has to promise: meshes above 65,536 vertices, and from 1.92 on textures
/// made on demand.
inline void claim_null_renderer(ImGuiIO& io) {
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
#if IMGUI_VERSION_NUM >= 19200
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
}

/// Until 1.92 the font atlas has to be built by hand where no backend does it.
inline void build_fonts(ImGuiIO& io) {
#if IMGUI_VERSION_NUM >= 19200
  static_cast<void>(io);
#else
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
#endif
}

// ---- Input. Before 1.87 there is no queue of events: what is set here holds from the next frame on, so that
// a test gives one event a frame.

inline void add_mouse_pos(ImGuiIO& io, float x, float y) {
#if IMGUI_VERSION_NUM >= 18700
  io.AddMousePosEvent(x, y);
#else
  io.MousePos = ImVec2(x, y);
#endif
}

inline void add_mouse_button(ImGuiIO& io, int button, bool down) {
#if IMGUI_VERSION_NUM >= 18700
  io.AddMouseButtonEvent(button, down);
#else
  io.MouseDown[button] = down;
#endif
}

inline void add_mouse_wheel(ImGuiIO& io, float x, float y) {
#if IMGUI_VERSION_NUM >= 18700
  io.AddMouseWheelEvent(x, y);
#else
  io.MouseWheelH += x;
  io.MouseWheel += y;
#endif
}

/// The keys that ImGui's own widgets react to, in all versions.
inline void add_key(ImGuiIO& io, ImGuiKey key, bool down) {
#if IMGUI_VERSION_NUM >= 18700
  io.AddKeyEvent(key, down);
#else
  if (io.KeyMap[key] < 0) io.KeyMap[key] = key;  // a backend's own numbers where there is one
  io.KeysDown[io.KeyMap[key]] = down;
#endif
}

inline void add_modifiers(ImGuiIO& io, bool ctrl, bool shift, bool alt) {
#if IMGUI_VERSION_NUM >= 18700
  io.AddKeyEvent(ImGuiMod_Ctrl, ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
#else
  io.KeyCtrl = ctrl;
  io.KeyShift = shift;
  io.KeyAlt = alt;
#endif
}

inline void add_text(ImGuiIO& io, const char* utf8) {
  io.AddInputCharactersUTF8(utf8);
}

}  // namespace headscope::viz::compat
