#include <windows.h>

// These need it.
#include <wincodec.h>
#include <wrl/client.h>

#include <cstring>
#include <thread>
#include <vector>

#include "system/picture_clipboard.h"

namespace headscope::system {
namespace {

using Microsoft::WRL::ComPtr;

/// The picture in a PNG as a device-independent bitmap, version 5, whose rows go upwards; empty if the system
/// cannot read it.
std::vector<BYTE> bitmap_of(std::string_view png) {
  ComPtr<IWICImagingFactory> factory;
  ComPtr<IWICStream> stream;
  ComPtr<IWICBitmapDecoder> decoder;
  ComPtr<IWICBitmapFrameDecode> frame;
  ComPtr<IWICFormatConverter> converter;
  auto* const data = reinterpret_cast<BYTE*>(const_cast<char*>(png.data()));
  UINT width = 0, height = 0;
  if (FAILED(::CoCreateInstance(CLSID_WICImagingFactory, nullptr, CLSCTX_INPROC_SERVER,
                                IID_IWICImagingFactory, &factory)) ||
      FAILED(factory->CreateStream(&stream)) ||
      FAILED(stream->InitializeFromMemory(data, static_cast<DWORD>(png.size()))) ||
      FAILED(factory->CreateDecoderFromStream(stream.Get(), nullptr, WICDecodeMetadataCacheOnDemand,
                                              &decoder)) ||
      FAILED(decoder->GetFrame(0, &frame)) || FAILED(factory->CreateFormatConverter(&converter)) ||
      FAILED(converter->Initialize(frame.Get(), GUID_WICPixelFormat32bppBGRA, WICBitmapDitherTypeNone,
                                   nullptr, 0, WICBitmapPaletteTypeCustom)) ||
      FAILED(converter->GetSize(&width, &height)))
    return {};
  const UINT row = 4 * width;
  BITMAPV5HEADER header{};
  header.bV5Size = sizeof header;
  header.bV5Width = static_cast<LONG>(width);
  header.bV5Height = static_cast<LONG>(height);
  header.bV5Planes = 1;
  header.bV5BitCount = 32;
  header.bV5Compression = BI_BITFIELDS;
  header.bV5SizeImage = row * height;
  header.bV5RedMask = 0x00ff0000;
  header.bV5GreenMask = 0x0000ff00;
  header.bV5BlueMask = 0x000000ff;
  header.bV5AlphaMask = 0xff000000;
  header.bV5CSType = 0x73524742;  // LCS_sRGB, which is a character constant
  header.bV5Intent = LCS_GM_IMAGES;
  std::vector<BYTE> bitmap(sizeof header + std::size_t{row} * height);
  std::memcpy(bitmap.data(), &header, sizeof header);
  for (UINT y = 0; y < height; ++y) {
    const WICRect place{0, static_cast<INT>(height - 1 - y), static_cast<INT>(width), 1};
    if (FAILED(converter->CopyPixels(&place, row, row, bitmap.data() + sizeof header + std::size_t{row} * y)))
      return {};
  }
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

/// Puts a copy of the bytes into the open clipboard. Returns false if there is no memory for it.
bool put(UINT format, const void* bytes, std::size_t size) {
  const HGLOBAL memory = ::GlobalAlloc(GMEM_MOVEABLE, size);
  if (void* const place = memory ? ::GlobalLock(memory) : nullptr) {
    std::memcpy(place, bytes, size);
    ::GlobalUnlock(memory);
    if (::SetClipboardData(format, memory)) return true;
  }
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
  const std::vector<BYTE> bitmap = bitmap_of(png);
  if (SUCCEEDED(started)) ::CoUninitialize();
  if (!open_clipboard(patience)) return "The picture was not copied: another program uses the clipboard.";
  ::EmptyClipboard();
  bool copied = put(::RegisterClipboardFormatW(L"PNG"), png.data(), png.size());
  if (!bitmap.empty()) copied = put(CF_DIBV5, bitmap.data(), bitmap.size()) && copied;
  ::CloseClipboard();
  return copied ? std::string() : "The picture was not copied: not enough memory.";
}

}  // namespace headscope::system
