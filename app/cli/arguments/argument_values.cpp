#include "app/cli/arguments/argument_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/ascii.h"
#include "app/recipe/recipe.h"
#include "app/views/figure_size.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using model::quote;

constexpr double kMaxPixels = 4e8;

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_only_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool looks_like_an_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return has_only_digits(text);
}

}  // namespace

void refuse(std::initializer_list<Refusal> combinations) {
  for (const auto& [is_given, why] : combinations)
    if (is_given) throw UsageError(why);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (const auto parted = halves(text, separator)) {
    parts.push_back(parted->first);
    text = parted->second;
  }
  parts.push_back(text);
  return parts;
}

std::optional<std::pair<std::string_view, std::string_view>> halves(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair{text.substr(0, at), text.substr(at + 1)};
}

int whole_number(const std::string& option, std::string_view text, int low, int high) {
  const auto value = parsed<int>(text);
  if (value && *value >= low && *value <= high) return *value;
  throw UsageError(option + " takes a whole number from " + std::to_string(low) +
                   (high < kMax ? " to " + std::to_string(high) : " up") + ", not " + quote(text));
}

double number(const std::string& option, std::string_view text, double low, double high, const char* range) {
  const auto value = parsed<double>(text);
  if (value && std::isfinite(*value) && *value >= low && *value <= high) return *value;
  throw UsageError(option + " takes a number " + range + ", not " + quote(text));
}

std::vector<int> token_ids(const std::string& option, std::string_view text) {
  std::vector<int> ids;
  if (trimmed(text, " ").empty()) return ids;
  for (std::string_view part : split(text, ',')) {
    part = trimmed(part, " ");
    const auto id = parsed<int>(part);
    if (!id && looks_like_an_integer(part))
      throw UnusableValue("the token id " + std::string(part.substr(0, 64)) +
                          " is outside every vocabulary; see " + option);
    if (!id) throw UsageError(option + " takes comma-separated token ids, e.g. 464,3290, not " + quote(part));
    ids.push_back(*id);
  }
  return ids;
}

void set_size(PictureArguments& picture, std::string_view text) {
  const auto set = [&](int width, int height, Page page) {
    picture.width = width, picture.height = height, picture.page = page;
  };
  if (text == "fit") return set(PictureArguments().width, 0, Page::trimmed);
  if (const auto size = parse_figure_size(text))
    return set(size->width, size->height, size->height > 0 ? Page::exact : Page::width);
  throw UsageError("--size takes WIDTHxHEIGHT in pixels, in, cm, mm or pt, e.g. 1000x700 or 6.5x4in, from " +
                   std::to_string(kShortestSide) + " to " + std::to_string(kLongestSide) +
                   " pixels per side, or (for plot) a width or fit, not " + quote(text));
}

void set_for_target(Arguments& given) {
  PictureArguments& picture = given.picture;
  if (picture.target == Target::screen) return;
  const Figure figure = figure_for(picture.target);
  if (!given.size_given)
    picture.width = figure.width, picture.height = figure.height, picture.page = figure.page;
  if (!given.scale_given) picture.scale = figure.scale;
  if (!given.font_size_given) picture.font_size = spec_of(picture.target).font_size;
}

void check_pixels(const PictureArguments& picture, FileFormat format) {
  const double scale = format == FileFormat::png ? static_cast<double>(picture.scale) : 1;
  const double width = picture.width * scale, height = picture.height * scale;
  if (width > kLongestSide || height > kLongestSide || width * height > kMaxPixels)
    throw UsageError("--size times --scale exceeds " + std::to_string(kLongestSide) +
                     " pixels per side or 400 million in total; choose a smaller size");
}

std::uint64_t seed_number(const std::string& option, std::string_view text) {
  if (const auto seed = parsed<std::uint64_t>(text)) return *seed;
  throw UsageError(option + " takes a whole number from 0 to 2^64 - 1, not " + quote(text));
}

GivenToken given_token(const std::string& option, const std::string& text) {
  try {
    return parse_given_token(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(option + error.what());
  }
}

std::string metric_line(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"logit", "the logit of --token"},
      {"difference", "the logit of --token minus that of --other-token"},
      {"probability", "the probability of --token, from 0 to 1"},
      {"logprob",
       "the logarithm of that probability; in bits (base 2), in JSON and gradients in nats (base e)"},
      {"loss", "the mean of -log p over the prompt's tokens from the second on; units as for logprob"},
      {"kl",
       "the divergence of all tokens' predictions: KL(run || edited run), in trace\n                "
       "KL(baseline || run); units as for logprob"}};
  const auto* const found =
      std::ranges::find(kMeanings, name, &std::pair<std::string_view, std::string_view>::first);
  std::string line = "  " + std::string(name);
  line.resize(std::max<std::size_t>(line.size(), 14), ' ');
  return line + std::string(found == std::end(kMeanings) ? "" : found->second) + "\n";
}

std::pair<int, int> pair_of(const std::string& option, const std::string& what, std::string_view text) {
  const auto parts = halves(text, '.');
  if (!parts) throw UsageError(option + " takes " + what);
  return {whole_number(option, parts->first, 0), whole_number(option, parts->second, 0)};
}

void reject_name(const std::string& option, const std::string& names, const std::string& text) {
  throw UsageError(option + " takes " + names + ", not " + quote(text));
}

Shard shard(const std::string& option, const std::string& text) {
  const auto parts = halves(text, '/');
  if (!parts) throw UsageError(option + " takes I/N, e.g. 0/4, not " + quote(text));
  constexpr int kMaxShards = 1000000;
  Shard shard;
  shard.count = whole_number(option, parts->second, 1, kMaxShards);
  shard.index = whole_number(option, parts->first, 0, kMaxShards);
  if (shard.index >= shard.count)
    throw UsageError(option + " takes I/N with I from 0 to N - 1, not " + quote(text));
  return shard;
}

}  // namespace headscope::app
