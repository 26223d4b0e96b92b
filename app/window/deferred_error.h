#pragma once
#include <exception>
#include <utility>

namespace headscope::app {

/// Holds an exception thrown by a callback until it can be rethrown: exceptions must not cross the stack
/// frames of a C library.
class DeferredError {
 public:
  /// Calls the callback. If several throw, the first exception is kept.
  template <class Callback>
  void run(const Callback& callback) noexcept {
    try {
      callback();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }
  /// Throws the kept exception, if any.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
};

}  // namespace headscope::app
