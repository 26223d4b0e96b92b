#include "system/opened_files.h"

#include <objc/message.h>
#include <objc/runtime.h>

#include <utility>

namespace headscope::system {
namespace {

// Static, since a method of Objective-C has no other way to it.
std::function<void(const std::filesystem::path&)> opener;

/// Sends a message of Objective-C.
template <class Result, class... Arguments>
Result send(id to, const char* message, Arguments... arguments) {
  return reinterpret_cast<Result (*)(id, SEL, Arguments...)>(&objc_msgSend)(to, ::sel_registerName(message),
                                                                            arguments...);
}

/// application:openFiles:, with an NSArray of NSString.
void open_files(id /*self*/, SEL /*message*/, id /*application*/, id files) {
  const auto count = send<unsigned long>(files, "count");
  for (unsigned long i = 0; i < count; ++i)
    opener(send<const char*>(send<id>(files, "objectAtIndex:", i), "fileSystemRepresentation"));
}

}  // namespace

void on_opened_files(const char* delegate, std::function<void(const std::filesystem::path&)> open) {
  opener = std::move(open);
  if (const Class own = ::objc_getClass(delegate))
    ::class_addMethod(own, ::sel_registerName("application:openFiles:"), reinterpret_cast<IMP>(&open_files),
                      "v@:@@");
}

}  // namespace headscope::system
