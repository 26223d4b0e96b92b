#include "app/cli/commands/pending_hash.h"

#include "app/run/sources/weights_hash.h"

namespace headscope::app {

PendingHash::PendingHash(std::filesystem::path folder, int threads)
    : folder_(std::move(folder)),
      hash_(std::async(threads == 1 ? std::launch::deferred : std::launch::async | std::launch::deferred,
                       [folder = folder_, stop = stop_.get_token()] { return weights_hash(folder, stop); })
                .share()) {}

}  // namespace headscope::app
