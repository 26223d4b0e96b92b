#pragma once
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "viz/players/texture_backend.h"

/// Handles all differences between the supported versions of Dear ImGui: Debian 12's 1.86 to 1.92.
namespace headscope::viz::compat {

/// ImTextureID is a void* up to 1.91, and an integer from then on.
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

/// The number of pushed textures.
inline int texture_depth(const ImDrawList& list) {
#if IMGUI_VERSION_NUM >= 19200
  return list._TextureStack.Size;
#else
  return list._TextureIdStack.Size;
#endif
}

/// Sets how textures are sampled from here on in a draw list. From 1.92.8 on, the renderer has a sampler,
/// linear by default, that overrides the textures' own settings; before, each texture is sampled according to
/// its settings.
inline void sample_nearest([[maybe_unused]] ImDrawList& list, [[maybe_unused]] bool nearest) {
#if IMGUI_VERSION_NUM >= 19280
  const ImGuiPlatformIO& renderer = ImGui::GetPlatformIO();
  const ImDrawCallback set =
      nearest ? renderer.DrawCallback_SetSamplerNearest : renderer.DrawCallback_SetSamplerLinear;
  if (set != nullptr) list.AddCallback(set);  // null: a renderer with no samplers of its own
#endif
}

/// Claims the capabilities that a renderer without a display needs: meshes of more than 65,536 vertices and,
/// from 1.92 on, textures created on demand.
inline void claim_null_renderer(ImGuiIO& io) {
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
#if IMGUI_VERSION_NUM >= 19200
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
}

/// Up to 1.91, the program must create the font atlas' texture: before the first frame, and after the fonts
/// have changed. From 1.92 on, serve_textures() does this.
inline void make_font_texture([[maybe_unused]] ImGuiIO& io, [[maybe_unused]] TextureBackend& textures) {
#if IMGUI_VERSION_NUM < 19200
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  Bitmap bitmap = Bitmap::filled(width, height, {});
  std::memcpy(bitmap.pixels.data(), pixels, bitmap.pixels.size() * sizeof(Color));
  if (io.Fonts->TexID != nullptr) textures.destroy(reinterpret_cast<std::uintptr_t>(io.Fonts->TexID));
  io.Fonts->SetTexID(texture_id(textures.create(bitmap, false)));
#endif
}

/// From 1.92 on, Dear ImGui requests its textures in every frame: they are created, updated and destroyed
/// between Render() and drawing.
inline void serve_textures([[maybe_unused]] const ImDrawData& data,
                           [[maybe_unused]] TextureBackend& textures) {
#if IMGUI_VERSION_NUM >= 19200
  if (data.Textures == nullptr) return;
  for (ImTextureData* texture : *data.Textures) {
    const bool is_new = texture->Status == ImTextureStatus_WantCreate;
    if (is_new || texture->Status == ImTextureStatus_WantUpdates) {
      const int first = is_new ? 0 : texture->UpdateRect.y,
                rows = is_new ? texture->Height : texture->UpdateRect.h;
      Bitmap bitmap = Bitmap::filled(texture->Width, texture->Height, {});
      for (int i = first * bitmap.width; i < (first + rows) * bitmap.width; ++i) {
        const unsigned char* from = texture->Pixels + std::ptrdiff_t{i} * texture->BytesPerPixel;
        bitmap.pixels[i] = texture->Format == ImTextureFormat_Alpha8
                               ? Color{255, 255, 255, from[0]}
                               : Color{from[0], from[1], from[2], from[3]};
      }
      if (is_new) {
        texture->SetTexID(texture_id(textures.create(bitmap, false)));
      } else {
        textures.update(static_cast<std::uint64_t>(texture->TexID), bitmap, first, rows);
      }
      texture->SetStatus(ImTextureStatus_OK);
    } else if (texture->Status == ImTextureStatus_WantDestroy && texture->UnusedFrames > 0) {
      textures.destroy(static_cast<std::uint64_t>(texture->TexID));
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
  }
#endif
}

// --- input ---

/// Call once for a context: sets up the keys it receives.
inline void map_keys([[maybe_unused]] ImGuiIO& io) {
#if IMGUI_VERSION_NUM < 18700
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
#endif
}

inline void add_key(ImGuiIO& io, ImGuiKey key, bool down) {
#if IMGUI_VERSION_NUM < 18700
  io.KeysDown[key] = down;
#else
  io.AddKeyEvent(key, down);
#endif
}

inline void add_mouse_position(ImGuiIO& io, ImVec2 at) {
#if IMGUI_VERSION_NUM < 18700
  io.MousePos = at;
#else
  io.AddMousePosEvent(at.x, at.y);
#endif
}

inline void add_mouse_button(ImGuiIO& io, int button, bool down) {
#if IMGUI_VERSION_NUM < 18700
  io.MouseDown[button] = down;
#else
  io.AddMouseButtonEvent(button, down);
#endif
}

inline void add_mouse_wheel(ImGuiIO& io, float x, float y) {
#if IMGUI_VERSION_NUM < 18700
  io.MouseWheelH += x;
  io.MouseWheel += y;
#else
  io.AddMouseWheelEvent(x, y);
#endif
}

// --- keyboard focus ---

/// The item with the keyboard focus, while it is shown; 0: none.
inline ImGuiID keyboard_item() {
#if IMGUI_VERSION_NUM >= 19140
  const bool shown = GImGui->NavCursorVisible;
#else
  const bool shown = !GImGui->NavDisableHighlight;
#endif
  return shown ? ImGui::GetFocusID() : 0;
}

inline void show_keyboard_item(bool shown) {
#if IMGUI_VERSION_NUM >= 19140
  ImGui::SetNavCursorVisible(shown);
#else
  GImGui->NavDisableHighlight = !shown;
#endif
}

/// Moves the keyboard focus to the last submitted item, without activating it. A list scrolls to it.
inline void focus_last_item(ImGuiID id) {
  ImGui::SetFocusID(id, ImGui::GetCurrentWindow());
  if (ImGui::GetCurrentWindow()->ScrollbarY)
    ImGui::ScrollToItem(ImGuiScrollFlags_KeepVisibleEdgeY | ImGuiScrollFlags_NoScrollParent);
  show_keyboard_item(true);
}

// --- widgets ---

/// Sets the font size for frames, in logical pixels.
inline void set_font_size(float size) {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::GetStyle().FontScaleMain = size / 13;
#else
  ImGui::GetIO().FontGlobalScale = size / 13;
#endif
}

/// Begins a part of a window with items that take part in the window's keyboard navigation.
inline void begin_child(const char* name, ImVec2 size, bool border, ImGuiWindowFlags flags) {
#if IMGUI_VERSION_NUM >= 19090
  ImGui::BeginChild(name, size,
                    ImGuiChildFlags_NavFlattened | (border ? ImGuiChildFlags_Borders : ImGuiChildFlags_None),
                    flags);
#else
  ImGui::BeginChild(name, size, border, flags | ImGuiWindowFlags_NavFlattened);
#endif
}

/// A scroll bar that shows `shown` of `total`, starting at `first`. Returns the new start if it was moved.
inline std::optional<double> scroll_bar(const std::string& name, const Rect& bar, bool sideways, double first,
                                        double shown, double total) {
  constexpr double kSteps = 4096;  // parts of a step, because the widget uses integers
  const ImGuiID id = ImGui::GetID(name.c_str());
  ImGui::KeepAliveID(id);
  auto at = static_cast<ImS64>(first * kSteps);
  const ImS64 before = at;
  ImGui::ScrollbarEx(ImRect(bar.x, bar.y, bar.right(), bar.bottom()), id,
                     sideways ? ImGuiAxis_X : ImGuiAxis_Y, &at, static_cast<ImS64>(shown * kSteps),
                     static_cast<ImS64>(total * kSteps), ImDrawFlags_RoundCornersAll);
  if (at == before) return std::nullopt;
  return std::clamp(static_cast<double>(at) / kSteps, 0.0, std::max(0.0, total - shown));
}

}  // namespace headscope::viz::compat
