#include "app/cli/commands/pending_hash.h"

#include "app/run/sources/weights_hash.h"

namespace headscope::app {
namespace {

std::future<std::string> begin_hash(const std::filesystem::path& folder, int threads,
                                    const std::stop_token& stop) {
  // Given as an lvalue: where no thread starts, libstdc++ defers what it has already moved from.
  const auto hash = [folder, stop] { return weights_hash(folder, stop); };
  return std::async(threads == 1 ? std::launch::deferred : std::launch::async | std::launch::deferred, hash);
}

}  // namespace

PendingHash::PendingHash(std::filesystem::path folder, int threads)
    : folder_(std::move(folder)), hash_(begin_hash(folder_, threads, stop_.get_token()).share()) {}

}  // namespace headscope::app
