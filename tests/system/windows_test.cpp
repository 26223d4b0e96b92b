// Bodies of system/ that only Windows has.

#include <windows.h>

// These need it.
#include <shellapi.h>

#include "system/atomic_file.h"
#include "system/calls.h"
#include "system/console.h"
#include "system/folders.h"
#include "system/path_text.h"
#include "system/picture_clipboard.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::windows_test {
namespace {

namespace fs = std::filesystem;

TEST(Utf16, IsUtf8InOtherUnits) {
  EXPECT_EQ(utf16("a\u00e9\U0001f600"), L"a\u00e9\U0001f600");
  EXPECT_EQ(utf8(L"a\u00e9\U0001f600"), "a\u00e9\U0001f600");
  EXPECT_EQ(utf8(L""), "");
  EXPECT_EQ(utf16(""), L"");
}

TEST(PathText, IsUtf8WhateverTheSystemsCodePage) {
  EXPECT_EQ(path_of("Zo\u00eb").native(), L"Zo\u00eb");
  EXPECT_EQ(text_of(fs::path(L"Zo\u00eb")), "Zo\u00eb");
  EXPECT_EQ(text_of(fs::path(L"a\xd800z")), "a\ufffdz");
}

TEST(FileName, HasNothingThatWindowsReadsInAnotherWay) {
  for (const char* const name : {"..\\a", "C:a", "a:stream", "a*", "a?", "a\nb", "a.", "a ", "a\"b"})
    EXPECT_FALSE(is_file_name(name)) << name;
  EXPECT_TRUE(is_file_name("a b.c"));
}

TEST(LongPath, IsWhatTheSystemTakesWhateverItsLength) {
  EXPECT_EQ(long_path("C:/a/../b"), L"\\\\?\\C:\\b");
  EXPECT_EQ(long_path(L"\\\\server\\share\\x"), L"\\\\?\\UNC\\server\\share\\x");
  EXPECT_EQ(long_path(L"\\\\?\\C:\\b"), L"\\\\?\\C:\\b");
  EXPECT_EQ(long_path("NUL"), L"\\\\.\\NUL");
  EXPECT_TRUE(long_path("relative").ends_with(L"\\relative"));
  EXPECT_TRUE(long_path("relative").starts_with(L"\\\\?\\"));
  EXPECT_EQ(long_path(""), L"");
}

TEST(Errors, HaveTheNamesThatLinuxGivesThem) {
  EXPECT_EQ(windows_error(ERROR_DISK_FULL), std::errc::no_space_on_device);
  EXPECT_EQ(windows_error(ERROR_PATH_NOT_FOUND).message(), "No such file or directory");
  EXPECT_EQ(windows_error(ERROR_SHARING_VIOLATION), std::errc::permission_denied);
  for (const DWORD gone : {ERROR_NO_DATA, ERROR_BROKEN_PIPE, ERROR_PIPE_NOT_CONNECTED})
    EXPECT_EQ(windows_error(gone), std::errc::broken_pipe) << gone;
  EXPECT_FALSE(windows_error(ERROR_BAD_FORMAT).message().empty());
}

TEST(Environment, IsUtf8) {
  ASSERT_EQ(::_wputenv_s(L"HEADSCOPE_TEST", L"Zo\u00eb"), 0);
  const Environment environment = process_environment();
  EXPECT_EQ(environment("HEADSCOPE_TEST"), "Zo\u00eb");
  ASSERT_EQ(::_wputenv_s(L"HEADSCOPE_TEST", L""), 0);
  EXPECT_EQ(environment("HEADSCOPE_TEST"), std::nullopt);
}

TEST(Folders, AreThoseOfTheEnvironmentElseInTheHomeFolder) {
  const auto given = testing::environment({{"APPDATA", "C:\\a"},
                                           {"LOCALAPPDATA", "relative"},
                                           {"USERPROFILE", "C:\\u"},
                                           {"SystemRoot", "C:\\w"}});
  EXPECT_EQ(settings_folder(given), fs::path("C:\\a"));
  EXPECT_EQ(state_folder(given), fs::path("C:\\u/AppData/Local"));
  EXPECT_EQ(home_folder(testing::environment({})), std::nullopt);
  EXPECT_THAT(font_folders(given), ElementsAre("C:\\u/AppData/Local/Microsoft/Windows/Fonts", "C:\\w/Fonts"));
}

TEST(Arguments, AreThoseOfTheCommandLine) {
  int count = 0;
  wchar_t** const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  ASSERT_TRUE(words);
  std::vector<std::string> shells;
  for (int i = 1; i < count; ++i) shells.push_back(utf8(words[i]));
  ::LocalFree(words);
  EXPECT_EQ(program_arguments(0, nullptr), shells);
}

/// What the clipboard holds in a format; empty: nothing.
std::string clipboard_bytes(UINT format) {
  std::string bytes;
  if (!::OpenClipboard(nullptr)) return bytes;
  if (const HANDLE memory = ::GetClipboardData(format)) {
    bytes.assign(static_cast<const char*>(::GlobalLock(memory)), ::GlobalSize(memory));
    ::GlobalUnlock(memory);
  }
  ::CloseClipboard();
  return bytes;
}

TEST(PictureClipboard, HoldsThePngAndItsPixels) {
  const auto clipboard = picture_clipboard(testing::environment({}));
  ASSERT_TRUE(clipboard);
  EXPECT_TRUE(clipboard->program.empty());
  // Red beside half of blue.
  constexpr unsigned char kPng[] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d,
                                    0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01,
                                    0x08, 0x06, 0x00, 0x00, 0x00, 0xf4, 0x22, 0x7f, 0x8a, 0x00, 0x00, 0x00,
                                    0x0e, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
                                    0x42, 0x0d, 0x00, 0x0f, 0x7a, 0x03, 0x7e, 0x6a, 0x81, 0x31, 0xe1, 0x00,
                                    0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  const std::string png(reinterpret_cast<const char*>(kPng), sizeof kPng);
  ASSERT_EQ(copy_picture(*clipboard, png), "");
  EXPECT_THAT(clipboard_bytes(::RegisterClipboardFormatW(L"PNG")), StartsWith(png));
  const std::string bitmap = clipboard_bytes(CF_DIBV5);
  BITMAPV5HEADER header{};
  ASSERT_GE(bitmap.size(), sizeof header + 8);
  std::memcpy(&header, bitmap.data(), sizeof header);
  EXPECT_EQ(header.bV5Width, 2);
  EXPECT_EQ(header.bV5Height, 1);
  EXPECT_EQ(bitmap.substr(sizeof header, 8), std::string("\x00\x00\xff\xff\xff\x00\x00\x80", 8));
}

TEST(AtomicFile, IsDeletedIfItsHandleIsClosedBeforeItIsWhole) {
  const TemporaryFolder folder;
  const fs::path name = folder.path() / "x";
  {
    const File file(name, Open::create);
    ASSERT_TRUE(delete_when_closed(file, true));
  }
  EXPECT_FALSE(fs::exists(name));
  const File kept(name, Open::create);
  ASSERT_TRUE(delete_when_closed(kept, true));
  ASSERT_TRUE(delete_when_closed(kept, false));
  rename_open_file(kept, folder.path() / "y");
  EXPECT_TRUE(fs::exists(folder.path() / "y"));
}

TEST(AtomicFile, DoesNotReplaceAWriteProtectedFile) {
  const TemporaryFolder folder;
  const fs::path goal = folder.write("goal", "old");
  ASSERT_TRUE(::SetFileAttributesW(goal.c_str(), FILE_ATTRIBUTE_READONLY));
  EXPECT_THAT([&] { write_file_atomically(goal, "new"); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("Permission denied")));
  ASSERT_TRUE(::SetFileAttributesW(goal.c_str(), FILE_ATTRIBUTE_NORMAL));
  EXPECT_EQ(bytes_of_file(goal), "old");
}

}  // namespace
}  // namespace headscope::system::windows_test
