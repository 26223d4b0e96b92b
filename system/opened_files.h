#pragma once
#include <filesystem>
#include <functional>

namespace headscope::system {

/// Calls `open` with each file that the desktop gives the running program, as macOS does with files that are
/// double-clicked; other systems start programs with them as arguments. `delegate` is the class, in
/// Objective-C, of the toolkit's application delegate. Call it before the toolkit starts; `open` is called
/// while the toolkit waits for events, and must not throw.
void on_opened_files(const char* delegate, std::function<void(const std::filesystem::path&)> open);

}  // namespace headscope::system
