#pragma once
#include <sys/resource.h>

#include <csignal>

namespace headscope::testing {

/// Limits a resource of this process during its lifetime. Writing beyond the largest size of a file fails,
/// and does not end it.
class ResourceLimit {
 public:
  using Resource = decltype(RLIMIT_FSIZE);

  ResourceLimit(Resource resource, rlim_t most)
      : resource_(resource), handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(resource, &before_);
    const rlimit limit{most, before_.rlim_max};
    ::setrlimit(resource, &limit);
  }
  ~ResourceLimit() {
    ::setrlimit(resource_, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  Resource resource_;
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace headscope::testing
