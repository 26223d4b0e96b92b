#pragma once
#include <atomic>

#include "app/hub/fetch.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/error.h"
#include "system/file.h"
#include "system/machine.h"
#include "tests/app/hub/fake_hub.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::app {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Checks that a file of a snapshot is a blob: a relative link, as Hugging Face's library writes it, or on
/// Windows another name of the same file, since links take a right there.
inline void expect_leads_to(const std::filesystem::path& file, const std::filesystem::path& target) {
  if (system::is_windows()) {
    EXPECT_TRUE(std::filesystem::equivalent(file, file.parent_path() / target)) << file;
  } else {
    EXPECT_EQ(std::filesystem::read_symlink(file), target);
  }
}

/// Fetches from a hub on the loopback.
class HubFetch : public ::testing::Test {
 protected:
  HubFetch() {
    set_variable("no_proxy", "127.0.0.1,localhost");
    options_.wait = [this](milliseconds time) { waits_.push_back(time); };
  }

  fs::path fetch(const std::string& revision = "main") {
    return fetch_model({FakeHub::kName, revision}, settings_, options_);
  }
  /// Fetches into a cache that is empty except for `left`, a part of the weights from an earlier fetch.
  void expect_fetched(const std::string& left = "") {
    const TemporaryFolder cache;
    if (!left.empty()) cache.write(cache.path() / fs::relative(part(), cache_.path()), left);
    const fs::path snapshot = fetch_model({FakeHub::kName}, hub_.settings(cache.path()), options_);
    EXPECT_EQ(bytes_of_file(snapshot / "model.safetensors"), weights());
  }
  /// The error of a fetch.
  std::string refused() {
    const std::string message = message_of<std::runtime_error>([&] { fetch(); });
    EXPECT_TRUE(is_sentence(message)) << message;
    EXPECT_THAT(message, Not(HasSubstr("hf_secret")));
    return message;
  }
  fs::path folder() const { return cache_.path() / "models--some-org--tiny-gpt2"; }
  fs::path snapshot() const { return folder() / "snapshots" / hub_.commit; }
  fs::path blob(const std::string& file) const { return folder() / "blobs" / digest(file); }
  fs::path lock(const std::string& file) const {
    return cache_.path() / ".locks" / folder().filename() / (digest(file) + ".lock");
  }
  std::string digest(const std::string& file) const { return FakeHub::digest(file, hub_.files.at(file)); }
  /// The names in a folder below the model's.
  std::set<std::string> names(const fs::path& below) const {
    std::set<std::string> found;
    if (fs::exists(folder() / below))
      for (const auto& entry : fs::directory_iterator(folder() / below))
        found.insert(entry.path().filename().string());
    return found;
  }
  /// Checks that everything was fetched correctly and nothing is left over.
  void expect_whole(const fs::path& fetched) const {
    EXPECT_EQ(fetched, snapshot());
    EXPECT_EQ(cached_model(cache_.path(), {FakeHub::kName, hub_.commit}), fetched);
    for (const auto& entry : fs::directory_iterator(fetched)) {
      const std::string file = entry.path().filename().string();
      ASSERT_TRUE(hub_.files.contains(file)) << file;
      EXPECT_EQ(bytes_of_file(entry.path()), hub_.files.at(file)) << file;
      expect_leads_to(entry.path(), "../../blobs/" + digest(file));
    }
    for (const std::string& blob : names("blobs")) EXPECT_FALSE(blob.ends_with(".incomplete")) << blob;
  }
  const std::string& weights() const { return hub_.files.at("model.safetensors"); }
  /// Applies `change` to the responses with the content of large files: to all, or to the first one.
  void from_store(const std::function<void(WebReply&)>& change, bool once = false) {
    hub_.answer_first({},
                      [this, change, once, done = std::make_shared<std::atomic<bool>>(false)](
                          const WebRequest& request) -> std::optional<WebReply> {
                        if (once && done->exchange(true)) return std::nullopt;
                        WebReply reply = FakeHub::content(request, weights());
                        change(reply);
                        return reply;
                      });
  }
  /// Sets the response to hub requests whose target has that ending.
  void answer(const std::string& ending, const WebReply& reply) {
    hub_.answer_first([=](const WebRequest& request) -> std::optional<WebReply> {
      if (!request.target.ends_with(ending)) return std::nullopt;
      return reply;
    });
  }
  void answer_all(const WebReply& reply) { answer("", reply); }
  /// Checks that the next fetch succeeds after a failure.
  void expect_whole_again() {
    hub_.answer_first({});
    hub_.forget_requests();
    expect_whole(fetch());
  }
  /// A part of the weights from an earlier fetch, and a check that it is unchanged.
  void leave_part(std::size_t bytes = 777) { cache_.write(part(), weights().substr(0, bytes)); }
  void expect_part_kept(std::size_t bytes = 777) const {
    EXPECT_EQ(bytes_of_file(part()), weights().substr(0, bytes));
  }
  fs::path part() const { return blob("model.safetensors").string() + ".incomplete"; }
  std::vector<std::string> ranges_at_store() const {
    std::vector<std::string> ranges;
    for (const WebRequest& request : hub_.store_server().requests())
      ranges.push_back(request.header("range"));
    return ranges;
  }

  FakeHub hub_;
  TemporaryFolder cache_;
  HubSettings settings_ = hub_.settings(cache_.path());
  FetchOptions options_;
  std::vector<milliseconds> waits_;
};

}  // namespace headscope::app
