#pragma once

namespace headscope::system {

/// A library that is looked for while the program runs. It stays open: drivers start threads and register
/// exit handlers.
class SharedLibrary {
 public:
  /// Opens a library; on failure `operator bool` is false.
  static SharedLibrary open(const char* name);
  /// The same, but only if something else has opened it before.
  static SharedLibrary if_open(const char* name);

  explicit operator bool() const { return library_ != nullptr; }

  /// Null if there is no library or it lacks the function.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  explicit SharedLibrary(void* library) : library_(library) {}
  void* address(const char* name) const;

  void* library_;
};

}  // namespace headscope::system
