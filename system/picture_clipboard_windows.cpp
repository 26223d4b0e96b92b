#include <windows.h>

// These need it.
#include <wincodec.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "system/picture_clipboard.h"
#include "system/windows_calls.h"

namespace headscope::system {
namespace {

struct Release {
  void operator()(IUnknown* object) const { object->Release(); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Release>;

/// Memory that the clipboard can take over, with `bytes` in it. Null if there is none.
HGLOBAL clipboard_memory(const void* bytes, std::size_t size) {
  const HGLOBAL memory = ::GlobalAlloc(GMEM_MOVEABLE, size);
  void* const place = memory ? ::GlobalLock(memory) : nullptr;
  if (!place) return nullptr;
  std::memcpy(place, bytes, size);
  ::GlobalUnlock(memory);
  return memory;
}

/// What IWICBitmapSource gives, from the first row on, 4 bytes a pixel (B, G, R, A).
struct Pixels {
  UINT width = 0, height = 0;
  std::vector<BYTE> bytes;
};

/// The pixels of a PNG; no bytes if the system cannot read it.
Pixels decoded(std::string_view png) {
  IWICImagingFactory* factory_made = nullptr;
  if (FAILED(::CoCreateInstance(CLSID_WICImagingFactory, nullptr, CLSCTX_INPROC_SERVER,
                                IID_IWICImagingFactory, reinterpret_cast<void**>(&factory_made))))
    return {};
  const Owned<IWICImagingFactory> factory(factory_made);
  IWICStream* stream_made = nullptr;
  if (FAILED(factory->CreateStream(&stream_made))) return {};
  const Owned<IWICStream> stream(stream_made);
  if (FAILED(stream->InitializeFromMemory(reinterpret_cast<BYTE*>(const_cast<char*>(png.data())),
                                          static_cast<DWORD>(png.size()))))
    return {};
  IWICBitmapDecoder* decoder_made = nullptr;
  if (FAILED(factory->CreateDecoderFromStream(stream.get(), nullptr, WICDecodeMetadataCacheOnDemand,
                                              &decoder_made)))
    return {};
  const Owned<IWICBitmapDecoder> decoder(decoder_made);
  IWICBitmapFrameDecode* frame_made = nullptr;
  if (FAILED(decoder->GetFrame(0, &frame_made))) return {};
  const Owned<IWICBitmapFrameDecode> frame(frame_made);
  IWICFormatConverter* converter_made = nullptr;
  if (FAILED(factory->CreateFormatConverter(&converter_made))) return {};
  const Owned<IWICFormatConverter> converter(converter_made);
  if (FAILED(converter->Initialize(frame.get(), GUID_WICPixelFormat32bppBGRA, WICBitmapDitherTypeNone,
                                   nullptr, 0, WICBitmapPaletteTypeCustom)))
    return {};
  Pixels pixels;
  if (FAILED(converter->GetSize(&pixels.width, &pixels.height))) return {};
  const UINT row = 4 * pixels.width;
  pixels.bytes.resize(std::size_t{row} * pixels.height);
  if (FAILED(
          converter->CopyPixels(nullptr, row, static_cast<UINT>(pixels.bytes.size()), pixels.bytes.data())))
    return {};
  return pixels;
}

/// A device-independent bitmap, version 5, whose rows go upwards.
std::vector<BYTE> bitmap_of(const Pixels& pixels) {
  BITMAPV5HEADER header{};
  header.bV5Size = sizeof header;
  header.bV5Width = static_cast<LONG>(pixels.width);
  header.bV5Height = static_cast<LONG>(pixels.height);
  header.bV5Planes = 1;
  header.bV5BitCount = 32;
  header.bV5Compression = BI_BITFIELDS;
  header.bV5SizeImage = static_cast<DWORD>(pixels.bytes.size());
  header.bV5RedMask = 0x00ff0000;
  header.bV5GreenMask = 0x0000ff00;
  header.bV5BlueMask = 0x000000ff;
  header.bV5AlphaMask = 0xff000000;
  constexpr DWORD kSrgb = 0x73524742;  // LCS_sRGB, which is a character constant
  header.bV5CSType = kSrgb;
  header.bV5Intent = LCS_GM_IMAGES;
  std::vector<BYTE> bitmap(sizeof header + pixels.bytes.size());
  std::memcpy(bitmap.data(), &header, sizeof header);
  const std::size_t row = std::size_t{4} * pixels.width;
  for (std::size_t y = 0; y < pixels.height; ++y)
    std::memcpy(bitmap.data() + sizeof header + y * row, pixels.bytes.data() + (pixels.height - 1 - y) * row,
                row);
  return bitmap;
}

/// Opens the clipboard, which another program may have open for a moment.
bool open_clipboard(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!::OpenClipboard(nullptr)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool put(UINT format, const void* bytes, std::size_t size) {
  const HGLOBAL memory = clipboard_memory(bytes, size);
  if (memory && ::SetClipboardData(format, memory)) return true;
  if (memory) ::GlobalFree(memory);
  return false;
}

}  // namespace

std::optional<PictureClipboard> picture_clipboard(const Environment& /*environment*/) {
  return PictureClipboard{};
}

std::string_view no_picture_clipboard() {
  return "Windows has no clipboard for this program.";
}

std::string copy_picture(const PictureClipboard& /*clipboard*/, std::string_view png,
                         std::chrono::milliseconds patience) {
  // Programs take the PNG, which is exact, or the bitmap, which all of them know.
  const HRESULT started = ::CoInitializeEx(nullptr, COINIT_MULTITHREADED);
  const Pixels pixels = decoded(png);
  if (SUCCEEDED(started)) ::CoUninitialize();
  if (!open_clipboard(patience)) return "The picture was not copied: another program uses the clipboard.";
  ::EmptyClipboard();
  bool copied = put(::RegisterClipboardFormatW(L"PNG"), png.data(), png.size());
  if (!pixels.bytes.empty()) {
    const std::vector<BYTE> bitmap = bitmap_of(pixels);
    copied = put(CF_DIBV5, bitmap.data(), bitmap.size()) && copied;
  }
  ::CloseClipboard();
  return copied ? std::string() : "The picture was not copied: not enough memory.";
}

}  // namespace headscope::system
