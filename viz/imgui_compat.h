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

/// How many textures are pushed.
inline int texture_depth(const ImDrawList& list) {
#if IMGUI_VERSION_NUM >= 19200
  return list._TextureStack.Size;
#else
  return list._TextureIdStack.Size;
#endif
}

/// How textures are sampled from here on in a list. From 1.92.8 on the renderer brings a sampler, linear
/// unless it is told otherwise, that rules over what a texture says of itself; before, each texture is
/// sampled as it was made.
inline void sample_nearest(ImDrawList& list, bool nearest) {
#if IMGUI_VERSION_NUM >= 19280
  const ImGuiPlatformIO& renderer = ImGui::GetPlatformIO();
  const ImDrawCallback set =
      nearest ? renderer.DrawCallback_SetSamplerNearest : renderer.DrawCallback_SetSamplerLinear;
  if (set != nullptr) list.AddCallback(set);  // null: a renderer with no samplers of its own
#else
  static_cast<void>(list);
  static_cast<void>(nearest);
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

}  // namespace headscope::viz::compat
