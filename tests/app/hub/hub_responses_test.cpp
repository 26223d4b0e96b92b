#include "app/hub/hub_responses.h"

#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::app::hub_responses_test {
namespace {

const HubModel kModel{"a/b", "main"};
constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

std::string listing(const std::string& sha, const std::string& siblings) {
  return "{\"sha\":\"" + sha + "\",\"siblings\":" + siblings + "}";
}

TEST(HubAnswers, AListNamesACommitAndFiles) {
  const Listing list =
      parse_listing(listing(kCommit, R"([{"rfilename":"config.json"},{"rfilename":"x/y"},{}, 3])"), kModel);
  EXPECT_EQ(list.commit, kCommit);
  EXPECT_THAT(list.files, ElementsAre("config.json", "x/y"));
  for (const std::string& wrong :
       {std::string("<html>"), std::string("[]"), std::string("{}"), listing("../..", "[]"),
        listing("main", "[]"), listing(kCommit, "{}"), "{\"sha\":\"" + std::string(kCommit) + "\"}"})
    EXPECT_TRUE(is_sentence(message_of<HubError>([&] { parse_listing(wrong, kModel); }))) << wrong;
}

TEST(HubAnswers, AListOfAnotherCommitThanThePinnedOneIsRefused) {
  const std::string list = listing(kCommit, "[]"), other(40, 'a');
  EXPECT_EQ(parse_listing(list, {"a/b", kCommit}).commit, kCommit);
  const std::string said = message_of<HubError>([&] { parse_listing(list, {"a/b", other}); });
  EXPECT_TRUE(is_sentence(said)) << said;
  EXPECT_THAT(said, AllOf(HasSubstr(kCommit), HasSubstr(other)));
}

Listing files(std::set<std::string> names) {
  return {kCommit, std::move(names)};
}

TEST(HubAnswers, OnlyWhatAModelIsLoadedFromIsChosen) {
  const ChosenFiles chosen = choose_files(
      files({"config.json", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
             "added_tokens.json", "special_tokens_map.json", "model.safetensors", "pytorch_model.bin",
             "README.md", "model.safetensors.index.json", "onnx/model.onnx", "generation_config.json"}),
      kModel);
  EXPECT_THAT(chosen.tokenizer,
              UnorderedElementsAre("vocab.json", "merges.txt", "tokenizer.json", "added_tokens.json",
                                   "special_tokens_map.json", "tokenizer_config.json"));
  EXPECT_EQ(chosen.weights, "model.safetensors");
  EXPECT_FALSE(chosen.sharded);
  EXPECT_THAT(chosen.absent, IsEmpty());
}

TEST(HubAnswers, WeightsAreChosenInTheOrderOfHuggingFace) {
  const std::vector<std::string> order{"model.safetensors", "model.safetensors.index.json",
                                       "pytorch_model.bin", "pytorch_model.bin.index.json"};
  std::set<std::string> names{"config.json", "tokenizer.json"};
  for (std::size_t i = order.size(); i-- > 0;) {
    names.insert(order[i]);
    const ChosenFiles chosen = choose_files(files(names), kModel);
    EXPECT_EQ(chosen.weights, order[i]);
    EXPECT_EQ(chosen.sharded, i % 2 == 1);
    EXPECT_THAT(chosen.absent, IsSupersetOf(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i)));
    EXPECT_THAT(chosen.absent, Not(Contains(order[i])));
  }
}

TEST(HubAnswers, WhatIsMissingIsSaid) {
  const auto said = [](std::set<std::string> names) {
    std::string message = message_of<HubError>([&] { choose_files(files(names), kModel); });
    EXPECT_TRUE(is_sentence(message)) << message;
    return message;
  };
  EXPECT_THAT(said({"vocab.json", "model.safetensors"}), HasSubstr("config.json"));
  EXPECT_THAT(said({"config.json", "tokenizer.json"}), HasSubstr("found neither"));
  EXPECT_THAT(said({"config.json", "tokenizer.json", "tf_model.h5", "flax_model.msgpack", "README.md"}),
              HasSubstr(R"(found only "flax_model.msgpack", "tf_model.h5")"));
  EXPECT_THAT(said({"adapter_config.json", "adapter_model.safetensors"}), HasSubstr("merge it first"));
}

std::vector<std::string> shards(std::string_view index, const Listing& list) {
  return shards_of(index, "model.safetensors.index.json", list, kModel);
}

TEST(HubAnswers, AnIndexNamesFilesOfTheRepositoryAlone) {
  const Listing list =
      files({"m-1.safetensors", "m-2.safetensors", "x/y.safetensors", ".z.safetensors", "m.bin"});
  EXPECT_THAT(
      shards(R"({"weight_map":{"a":"m-2.safetensors","b":"m-1.safetensors","c":"m-2.safetensors"}})", list),
      ElementsAre("m-1.safetensors", "m-2.safetensors"));
  EXPECT_THAT(shards_of(R"({"weight_map":{"a":"m.bin"}})", "pytorch_model.bin.index.json", list, kModel),
              ElementsAre("m.bin"));
  for (const char* wrong :
       {"", "[]", "{}", R"({"weight_map":{}})", R"({"weight_map":{"a":3}})", R"({"weight_map":{"a":""}})",
        R"({"weight_map":{"a":"../m-1.safetensors"}})", R"({"weight_map":{"a":"x/y.safetensors"}})",
        R"({"weight_map":{"a":".z.safetensors"}})", R"({"weight_map":{"a":"m.bin"}})",
        R"({"weight_map":{"a":"m-3.safetensors"}})"})
    EXPECT_TRUE(is_sentence(message_of<HubError>([&] { shards(wrong, list); }))) << wrong;
}

TEST(HubAnswers, AShardsNameIsFitForAFileAndATerminal) {
  for (const std::string name : {"m-1.safetensors", "A_b.0-c.safetensors"})
    EXPECT_THAT(shards(R"({"weight_map":{"a":")" + name + R"("}})", files({name})), ElementsAre(name));
  for (const std::string name : {"m\x1b[2J.safetensors", "m\x7f.safetensors", "m\xc2\x9b.safetensors",
                                 "m\n.safetensors", ".safetensors"}) {
    std::string escaped;
    for (const char c : name) escaped += c == '\x1b' ? "\\u001b" : c == '\n' ? "\\n" : std::string(1, c);
    const std::string said =
        message_of<HubError>([&] { shards(R"({"weight_map":{"a":")" + escaped + R"("}})", files({name})); });
    EXPECT_TRUE(is_sentence(said)) << said;
    EXPECT_TRUE(std::ranges::all_of(said, [](char c) { return c >= 0x20 && c < 0x7f; })) << said;
  }
}

TEST(HubAnswers, AFileIsNamedByItsHash) {
  const std::string sha256(64, 'a'), sha1(40, 'b');
  const auto facts = [](std::map<std::string, std::string> headers) {
    return file_facts({200, std::move(headers)});
  };
  EXPECT_EQ(facts({{"etag", "\"" + sha1 + "\""}, {"content-length", "665"}}), (FileFacts{sha1, 665}));
  EXPECT_EQ(facts({{"etag", "W/\"" + sha1 + "\""}, {"content-length", "665"}}), (FileFacts{sha1, 665}));
  EXPECT_EQ(facts({{"etag", "\"redirect\""},
                   {"x-linked-etag", "\"" + sha256 + "\""},
                   {"x-linked-size", "7"},
                   {"content-length", "1"}}),
            (FileFacts{sha256, 7}));
  for (const std::string& etag : {std::string(), std::string("\"x\""), "\"" + sha1 + "-gzip\"",
                                  std::string("\"../../x\""), std::string(40, 'Z')})
    EXPECT_EQ(facts({{"etag", etag}, {"content-length", "5"}}), std::nullopt) << etag;
  for (const char* size : {"", "-1", "5x", " 5", "99999999999999999999", "9223372036854775807"})
    EXPECT_EQ(facts({{"etag", sha1}, {"content-length", size}}), std::nullopt) << size;
  EXPECT_EQ(facts({{"etag", sha1}}), std::nullopt);
}

TEST(HubAnswers, AHashAndASizeAreOfTheSameThing) {
  const std::string sha256(64, 'a'), sha1(40, 'b');
  const auto facts = [](std::map<std::string, std::string> headers) {
    return file_facts({200, std::move(headers)});
  };
  EXPECT_EQ(facts({{"x-linked-etag", sha256}, {"content-length", "5"}}), std::nullopt);
  EXPECT_EQ(facts({{"etag", sha1}, {"x-linked-size", "7"}}), std::nullopt);
  EXPECT_EQ(facts({{"x-linked-etag", sha256}, {"etag", sha1}, {"content-length", "5"}}),
            (FileFacts{sha1, 5}));
  EXPECT_EQ(facts({{"x-linked-size", "7"}, {"etag", sha1}, {"content-length", "5"}}), (FileFacts{sha1, 5}));
}

TEST(HubAnswers, AnAnswerMayBeTheFile) {
  const auto may = [](std::map<std::string, std::string> headers) {
    return may_be_complete({200, std::move(headers)}, 100);
  };
  EXPECT_TRUE(may({}));
  EXPECT_TRUE(may({{"content-length", "100"}, {"content-type", "binary/octet-stream"}}));
  EXPECT_TRUE(may({{"content-type", "text/plain; charset=utf-8"}}));
  for (const char* length : {"99", "101", "", "x"}) EXPECT_FALSE(may({{"content-length", length}})) << length;
  for (const char* type : {"text/html", "Text/HTML; charset=utf-8"})
    EXPECT_FALSE(may({{"content-type", type}})) << type;
}

TEST(HubAnswers, APartSaysWhereItBegins) {
  const auto start = [](const std::string& range) {
    return range_start({206, {{"content-range", range}}}, 100);
  };
  EXPECT_EQ(start("bytes 40-99/100"), 40);
  EXPECT_EQ(start("bytes 0-99/100"), 0);
  for (const char* wrong : {"bytes 40-99/101", "bytes 40-99/*", "bytes 101-102/100", "items 40-99/100",
                            "bytes -", "bytes 4", "bytes */100", ""})
    EXPECT_EQ(start(wrong), std::nullopt) << wrong;
  EXPECT_EQ(range_start({206, {}}, 100), std::nullopt);
}

TEST(HubAnswers, OnlyWhatMayPassIsWorthAnotherAttempt) {
  for (const int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_retryable(status)) << status;
  for (const int status : {200, 301, 400, 401, 403, 404, 501}) EXPECT_FALSE(is_retryable(status)) << status;
}

TEST(HubAnswers, ARefusalIsOneSentence) {
  const Url hub = *parse_url("https://hub.example");
  const auto said = [&](int status, const std::string& code, bool token,
                        const std::string& url = "https://hub.example/a/b") {
    HttpResponse answer{status, {}, url};
    if (!code.empty()) answer.headers["x-error-code"] = code;
    return status_error(answer, {"a/b", "v2"}, hub, "model.safetensors", token);
  };
  for (const int status : {204, 400, 401, 402, 403, 404, 410, 429, 500})
    for (const char* url : {"https://hub.example/x", "https://store.example/x"})
      EXPECT_TRUE(is_sentence(said(status, "x\ny", false, url))) << status;
  for (const char* url : {"https://store.example/x", "https://hub.example:444/x", "http://hub.example/x"})
    for (const char* code : {"", "GatedRepo"})
      EXPECT_THAT(said(403, code, true, url),
                  AllOf(HasSubstr("403"), HasSubstr("hub.example"), Not(HasSubstr("gated"))))
          << url;
}

}  // namespace
}  // namespace headscope::app::hub_responses_test
