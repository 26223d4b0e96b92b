// Models from the hub: the menu, the progress line, and the offer at the first start.
#include <atomic>

#include "model/files/error.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::fetching_test {
namespace {

namespace fs = std::filesystem;

/// A hub controlled by the test.
struct Hub {
  std::atomic<bool> ends = false;  ///< the fetch ends, successfully or not
  fs::path folder;
  std::string problem;
  FetchProgress progress{.file = "model.safetensors", .done = 123'400'000, .total = 548'105'171};
};

class FetchingTest : public HandsTest {
 protected:
  FetchingTest() {
    hub_->folder = folder_.path() / "fetched";
    fs::copy(bundled_folder(), hub_->folder);
  }

  CoreOptions with_hub() {
    CoreOptions o = options();
    o.examples_model = bundled_folder();
    o.settings_file = folder_.path() / "settings.json";
    o.find_models = [] { return std::vector<DiscoveredModel>{{"tales (bundled)", bundled_folder()}}; };
    o.fetch = [hub = hub_](const HubModel&, const FetchOptions& how) {
      how.progress(hub->progress);
      while (!hub->ends) {
        if (how.cancelled()) throw model::Stopped();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (!hub->problem.empty()) throw HubError(hub->problem);
      return hub->folder;
    };
    return o;
  }

  static void wait_for_models(Core& core) {
    wait_until(core, [&] { return !core.state().models.empty(); });
  }
  static void wait_for_end(Core& core) {
    wait_until(core, [&] { return !core.state().fetching.model; });
  }

  static inline fs::path here_;
  std::shared_ptr<Hub> hub_ = std::make_shared<Hub>();
};

TEST_F(FetchingTest, TheMenuFetchesAndTheModelOpensWhenItIsThere) {
  CoreFixture core(with_hub());
  click_item(core, "Model");
  EXPECT_TRUE(says(core, "On the Hugging Face hub"));
  EXPECT_TRUE(says(core, "1.52 GB"));
  click_item(core, "openai-community/gpt2-medium");
  ASSERT_TRUE(core.state().fetching.model);
  EXPECT_EQ(core.state().fetching.model->repository, "openai-community/gpt2-medium");
  wait_until(core, [&] { return core.state().fetching.progress.total > 0; });
  EXPECT_TRUE(says(core, "Fetching openai-community/gpt2-medium"));
  EXPECT_TRUE(says(core, "123 MB of 548 MB  22 %"));
  type(core, "!");
  EXPECT_THAT(prompt(core), HasSubstr("!")) << "one works on meanwhile";
  hub_->ends = true;
  wait_for_end(core);
  shown(core);
  EXPECT_EQ(core.snapshot().model->folder, hub_->folder);
  EXPECT_FALSE(find_item(core, "Cancel fetching"));
}

TEST_F(FetchingTest, OneAtATime) {
  CoreFixture core(with_hub());
  core.apply(FetchModel{{"a/b"}});
  core.apply(FetchModel{{"c/d"}});
  EXPECT_EQ(core.state().fetching.model->repository, "a/b");
  click_item(core, "Model");
  EXPECT_FALSE(find_item(core, "distilbert/distilgpt2")->enabled);
}

TEST_F(FetchingTest, CancelledTheModelStaysAndAnotherCanBeFetched) {
  CoreFixture core(with_hub());
  core.apply(FetchModel{{"a/b"}});
  core.draw(frame_);
  click_item(core, "Cancel fetching");
  wait_for_end(core);
  EXPECT_TRUE(says(core, "Fetching was cancelled."));
  EXPECT_EQ(core.state().model, bundled_folder());
  hub_->ends = true;
  core.apply(FetchModel{{"a/b"}});
  wait_for_end(core);
  EXPECT_EQ(core.state().model, hub_->folder);
}

TEST_F(FetchingTest, AFailureIsSaidAndTheModelStays) {
  hub_->problem = "hub.example cannot answer now (503); tried 5 times";
  hub_->ends = true;
  CoreFixture core(with_hub());
  core.apply(FetchModel{{"a/b"}});
  wait_for_end(core);
  EXPECT_TRUE(says(core, hub_->problem));
  EXPECT_TRUE(core.state().message.is_error);
  EXPECT_EQ(core.state().model, bundled_folder());
}

TEST_F(FetchingTest, ALargerModelIsOfferedUntilItIsDismissed) {
  {
    CoreFixture core(with_hub());
    EXPECT_TRUE(says(core, "a miniature GPT-2"));
    EXPECT_TRUE(find_item(core, "Fetch GPT-2"));
    click_item(core, "Close the offer");
    EXPECT_FALSE(says(core, "a miniature GPT-2"));
  }
  CoreOptions again = with_hub();
  again.settings = load_settings(again.settings_file);
  CoreFixture core(std::move(again));
  EXPECT_FALSE(says(core, "a miniature GPT-2")) << "for good";
}

TEST_F(FetchingTest, WhatIsOfferedMayBeHere) {
  CoreOptions o = with_hub();
  here_ = hub_->folder;
  o.find_models = [] { return std::vector<DiscoveredModel>{{"openai-community/gpt2", here_}}; };
  CoreFixture core(std::move(o));
  wait_for_models(core);
  click_and_show(core, "Open GPT-2");
  EXPECT_EQ(core.snapshot().model->folder, hub_->folder);
}

TEST_F(FetchingTest, WithoutAHubNothingIsOffered) {
  CoreOptions o = with_hub();
  o.fetch = nullptr;
  CoreFixture core(std::move(o));
  EXPECT_FALSE(says(core, "a miniature GPT-2"));
  click_item(core, "Model");
  EXPECT_FALSE(says(core, "On the Hugging Face hub"));
  core.apply(FetchModel{{"a/b"}});
  EXPECT_FALSE(core.state().fetching.model);
}

}  // namespace
}  // namespace headscope::app::fetching_test
