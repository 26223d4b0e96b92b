// Fetching weights in parts, from a hub that disconnects or a server that is not the hub.
#include "tests/app/hub/fetch_fixture.h"

namespace headscope::app::fetch_resumed_test {
namespace {

TEST_F(HubFetch, GoesOnWhereverTheConnectionBroke) {
  const std::size_t size = weights().size();
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, size / 2, size - 1}) {
    SCOPED_TRACE(at);
    hub_.forget_requests();
    once_from_store([&](WebReply& reply) { reply.cut_content = at; });
    expect_fetched();
    EXPECT_THAT(ranges_at_store(), Contains(at == 0 ? "" : "bytes=" + std::to_string(at) + "-"));
  }
}

TEST_F(HubFetch, GivesUpWhenItAlwaysBreaksAndGoesOnTheNextTime) {
  from_store([](WebReply& reply) { reply.cut_content = 1000; });
  EXPECT_THAT(refused(), HasSubstr("tried 5 times"));
  EXPECT_EQ(waits_.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(waits_));
  expect_part_kept(5000);
  EXPECT_FALSE(fs::exists(snapshot() / "model.safetensors"));
  EXPECT_FALSE(fs::exists(snapshot() / "config.json")) << "nobody takes it for a model";
  EXPECT_FALSE(fs::exists(folder() / "refs/main"));

  expect_whole_again();
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=5000-"));
}

TEST_F(HubFetch, GoesOnAsLongAsSomethingNewComes) {
  hub_.files["model.safetensors"] = std::string(std::size_t{10} << 20, 'w');
  from_store([](WebReply& reply) { reply.cut_content = std::size_t{1} << 20; });
  expect_whole(fetch());
  EXPECT_GT(waits_.size(), 5U) << "more attempts than without anything new";
}

TEST_F(HubFetch, WhatIsThereAndWrongIsNoProgress) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  hub_.files["model.safetensors"] = std::string(10 * kStep, 'w');
  from_store([&](WebReply& reply) { reply.cut_content = kStep; });
  for (const fs::path& wrong : {blob("model.safetensors"), part()}) {
    SCOPED_TRACE(wrong);
    fs::remove_all(folder());
    cache_.write(wrong, std::string(10 * kStep, 'x'));
    std::vector<std::uint64_t> done;
    options_.progress = [&](const FetchProgress& progress) {
      if (progress.waiting.find("retrying") != std::string::npos) done.push_back(progress.done);
    };
    expect_whole(fetch());
    ASSERT_EQ(done.size(), 9U);
    EXPECT_EQ(done.front(), kStep);
  }
}

TEST_F(HubFetch, WhatCameBeforeIsNothingNew) {
  hub_.files["model.safetensors"] = std::string(std::size_t{3} << 20, 'w');
  hub_.answer_first({}, [&](const WebRequest&) {
    return WebReply{.body = weights(), .cut_content = std::size_t{2} << 20};
  });
  options_.cancelled = [&] { return waits_.size() > 20; };
  EXPECT_THAT(refused(), HasSubstr("tried 5 times"));
  EXPECT_EQ(hub_.store_server().requests().size(), 5U);
}

TEST_F(HubFetch, WhatCameFromTheStartIsResumed) {
  leave_part();
  hub_.answer_first({}, [&](const WebRequest& request) -> std::optional<WebReply> {
    switch (hub_.store_server().requests().size()) {
      case 1:
        return WebReply{.body = weights()};
      case 2:
        return WebReply{.body = weights(), .cut_content = 50'000};
      default:
        return FakeHub::content(request, weights());
    }
  });
  expect_whole(fetch());
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=777-", "", "bytes=50000-"));
}

TEST_F(HubFetch, AWrongPartIsNotTaken) {
  for (const char* range : {"bytes 0-9/10", "bytes 778-999/1000", "", "bytes */5"}) {
    SCOPED_TRACE(range);
    once_from_store([&](WebReply& reply) { reply.headers = {{"Content-Range", range}}; });
    expect_fetched(weights().substr(0, 777));
  }
}

TEST_F(HubFetch, APageOfSomebodyBetweenIsNotTakenForTheFile) {
  const std::string page = "<html>Please log in to this network</html>";
  for (const WebReply& reply :
       {WebReply{.body = page},
        WebReply{.raw = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n" + page}}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{777}}) {
      hub_.forget_requests();
      once_from_store([&](WebReply& right) { right = reply; });
      expect_fetched(weights().substr(0, bytes));
      EXPECT_THAT(ranges_at_store(), AllOf(SizeIs(2), Each(bytes == 0 ? "" : "bytes=777-")))
          << "what was there is kept";
    }
    leave_part();
    hub_.answer_first({}, [&](const WebRequest&) { return reply; });
    EXPECT_THAT(refused(), HasSubstr("tried 5 times"));
    expect_part_kept();
  }
}

TEST_F(HubFetch, AWrongPartAloneCostsNothing) {
  const std::size_t size = weights().size();
  for (const WebReply& wrong :
       {WebReply{.status = 416},
        WebReply{.status = 206, .headers = {{"Content-Range", "bytes 0-9/10"}}, .body = "0123456789"}}) {
    leave_part();
    hub_.answer_first({}, [&](const WebRequest& request) {
      return request.header("range").empty() ? WebReply{.status = 503} : wrong;
    });
    refused();
    EXPECT_THAT(ranges_at_store(), Contains(""));
    expect_part_kept();
    hub_.answer_first({}, [&](const WebRequest&) { return wrong; });
    refused();
    expect_part_kept();
  }
  leave_part(size - 1);
  expect_whole_again();
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=" + std::to_string(size - 1) + "-"));
}

TEST_F(HubFetch, ALeftoverOfSomethingElseIsThrownAway) {
  for (const std::size_t size : {std::size_t{50}, weights().size(), weights().size() + 9}) {
    SCOPED_TRACE(size);
    expect_fetched(std::string(size, 'x'));
  }
}

TEST_F(HubFetch, AWrongHashIsRefusedAndNothingStays) {
  from_store([](WebReply& reply) { reply.body[1000] = static_cast<char>(reply.body[1000] ^ 1); });
  EXPECT_THAT(refused(), HasSubstr("hash"));
  EXPECT_FALSE(fs::exists(blob("model.safetensors")));
  EXPECT_FALSE(fs::exists(snapshot() / "model.safetensors"));
  EXPECT_EQ(hub_.store_server().requests().size(), 1U) << "what came in one go comes so again";
}

TEST_F(HubFetch, MoreThanWasPromisedIsNotWritten) {
  from_store([&](WebReply& reply) {
    reply = {.raw = "HTTP/1.1 200 OK\r\n\r\n" + weights() + std::string(100'000, 'x')};
  });
  EXPECT_THAT(refused(), HasSubstr("sent more than"));
  EXPECT_FALSE(fs::exists(blob("model.safetensors")));
}

}  // namespace
}  // namespace headscope::app::fetch_resumed_test
