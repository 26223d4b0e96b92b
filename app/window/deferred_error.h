#pragma once
#include <exception>
#include <utility>

namespace headscope::app {

/// Keeps what callbacks throw until it can be thrown on: no exception may pass through the frames of a C
/// library that calls back.
class DeferredError {
 public:
  /// Calls it. Of several that throw the first is kept.
  template <class Callback>
  void run(const Callback& callback) noexcept {
    try {
      callback();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }
  /// Throws what was kept, if anything was.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
};

}  // namespace headscope::app
