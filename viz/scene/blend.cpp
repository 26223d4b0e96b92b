#include "viz/scene/blend.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "viz/scene/item_parts.h"

namespace headscope::viz {
namespace {

constexpr std::size_t kMostItems = 20'000;
constexpr std::size_t kMostPixels = 1'300'000;
constexpr std::size_t kKinds = std::variant_size_v<Item>;
constexpr int kNone = -1;

template <class T>
concept HasColor = requires(T t) {
  t.color;
};

float mix(float a, float b, float t) {
  return a + (b - a) * t;
}
Point mix(Point a, Point b, float t) {
  return {mix(a.x, b.x, t), mix(a.y, b.y, t)};
}
Rect mix(const Rect& a, const Rect& b, float t) {
  return {mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.w, b.w, t), mix(a.h, b.h, t)};
}

std::uint64_t hash(std::uint64_t seed, std::uint64_t word) {
  seed = (seed * 0xff51afd7ed558ccd + word + 1) * 0x9e3779b97f4a7c15;
  return seed ^ (seed >> 32);
}
std::uint64_t hash(std::uint64_t seed, Point p) {
  const auto bits = [](float v) { return std::uint64_t{std::bit_cast<std::uint32_t>(v + 0.F)}; };
  return hash(seed, bits(p.x) << 32 | bits(p.y));
}

/// Where an item begins, as a number.
struct PlaceOf {
  template <HasRect T>
  std::uint64_t operator()(const T& item) const {
    return hash(1, Point{item.rect.x, item.rect.y});
  }
  template <HasPoints T>
  std::uint64_t operator()(const T& item) const {
    std::uint64_t place = item.points.size();
    for (const Point p : item.points) place = hash(place, p);
    return place;
  }
  std::uint64_t operator()(const Image& image) const {
    const std::uint64_t size = hash(static_cast<std::uint64_t>(image.bitmap->width),
                                    static_cast<std::uint64_t>(image.bitmap->height));
    return hash(size, Point{image.dest.x, image.dest.y});
  }
  std::uint64_t operator()(const GlyphRun& run) const {
    return hash(std::hash<std::string_view>()(run.text), run.origin);
  }
  std::uint64_t operator()(const PopClip&) const { return 0; }
};

/// What else tells which item it is, as a number: where a rectangle ends, such as a bar to the left of its
/// axis; what an image shows. Nothing for other items.
struct OtherPlaceOf {
  template <HasRect T>
  std::optional<std::uint64_t> operator()(const T& item) const {
    constexpr float kEighths = 8;  // of a pixel: an edge that is the sum of two lengths is not exact
    return hash(1, Point{std::round(item.rect.right() * kEighths), std::round(item.rect.y * kEighths)});
  }
  std::optional<std::uint64_t> operator()(const Image& image) const {
    return image.content_id != 0 ? std::optional(hash(2, image.content_id)) : std::nullopt;
  }
  template <class T>
  std::optional<std::uint64_t> operator()(const T&) const {
    return std::nullopt;
  }
};

/// Whether all points keep their x, or all their y.
bool along_one_axis(std::span<const Point> a, std::span<const Point> b) {
  const auto same = [](float v, float w) { return v == w || (std::isnan(v) && std::isnan(w)); };
  bool x = true, y = true;
  for (std::size_t i = 0; i < a.size() && (x || y); ++i)
    x = x && same(a[i].x, b[i].x), y = y && same(a[i].y, b[i].y);
  return x || y;
}

/// Whether an item can become another one of its kind.
template <class T>
bool can_become(const T& a, const T& b) {
  if constexpr (HasPoints<T>) return a.points.size() == b.points.size() && along_one_axis(a.points, b.points);
  if constexpr (std::same_as<T, Image>)
    return a.bitmap->width == b.bitmap->width && a.bitmap->height == b.bitmap->height;
  return true;
}
bool can_become(const Item& a, const Item& b) {
  return std::visit([&b]<class T>(const T& item) { return can_become(item, std::get<T>(b)); }, a);
}

/// The indices of a scene's items by kind.
std::array<std::vector<int>, kKinds> by_kind(const Scene& scene) {
  std::array<std::vector<int>, kKinds> lists;
  for (std::size_t i = 0; i < scene.items.size(); ++i)
    lists[scene.items[i].index()].push_back(static_cast<int>(i));
  return lists;
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}
/// Whether a text names what stands next to it: a word, or a name such as "L5H1".
bool is_name(std::string_view text) {
  const char first = text.empty() ? '0' : text.front();
  return !has_digit(text) || (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

std::vector<const GlyphRun*> names_in(const Scene& scene) {
  std::vector<const GlyphRun*> names;
  for (const Item& item : scene.items)
    if (const auto* run = std::get_if<GlyphRun>(&item); run && is_name(run->text)) names.push_back(run);
  return names;
}

/// Whether two texts are at about the same place: their pictures may be laid out a little differently.
bool is_near(const GlyphRun& a, const GlyphRun& b) {
  return std::abs(a.origin.y - b.origin.y) <= 0.5F * b.size && std::abs(a.origin.x - b.origin.x) <= b.size;
}

/// Whether names are where they were, so that what stands next to them is still about the same things. If a
/// list is in another order, a bar on its way between two rows would belong to neither, and texts on their
/// way would be printed over others. One name may move, such as a mark, and two may become other ones, such
/// as a title and the unit of a scale.
bool same_frame(const Scene& from, const Scene& to) {
  constexpr int kMostMoved = 1, kMostChanged = 2;
  std::vector<const GlyphRun*> before = names_in(from);
  const std::vector<const GlyphRun*> after = names_in(to);
  std::unordered_map<std::string_view, const GlyphRun*> once_before, once_after;  // null: more than once
  const auto count = [](auto& once, const GlyphRun* run) {
    const auto [at, added] = once.try_emplace(run->text, run);
    if (!added) at->second = nullptr;
  };
  for (const GlyphRun* run : before) count(once_before, run);
  for (const GlyphRun* run : after) count(once_after, run);
  const auto y_of = [](const GlyphRun* run) { return run->origin.y; };
  std::ranges::sort(before, {}, y_of);
  int moved = 0, changed = 0;
  for (const GlyphRun* run : after) {
    const auto same = once_before.find(run->text);
    const bool known = same != once_before.end() && same->second && once_after.at(run->text);
    if (known && !is_near(*same->second, *run)) {
      ++moved, ++changed;
    } else if (!known && !has_digit(run->text)) {
      bool replaces = false;
      for (auto other = std::ranges::lower_bound(before, run->origin.y - 0.5F * run->size, {}, y_of);
           other != before.end() && (*other)->origin.y <= run->origin.y + 0.5F * run->size; ++other) {
        if (!is_near(**other, *run)) continue;
        replaces = (*other)->text != run->text;
        if (!replaces) break;
      }
      changed += replaces ? 1 : 0;
    }
  }
  return moved <= kMostMoved && changed <= kMostChanged;
}

/// Which items of two scenes correspond: for each item its partner's index, or kNone.
struct Partners {
  std::vector<int> of_from, of_to;
  bool shapes = false;  ///< some shapes or images correspond

  Partners(const Scene& from, const Scene& to)
      : of_from(from.items.size(), kNone), of_to(to.items.size(), kNone) {
    const auto ours = by_kind(from), theirs = by_kind(to);
    for (std::size_t kind = 0; kind < kKinds; ++kind) pair_up(from, to, ours[kind], theirs[kind]);
  }

 private:
  void join(const Scene& from, int a, int b) {
    of_from[a] = b;
    of_to[b] = a;
    const Item& item = from.items[a];
    shapes |= !std::holds_alternative<GlyphRun>(item) && !std::holds_alternative<PushClip>(item) &&
              !std::holds_alternative<PopClip>(item);
  }

  /// Items of one kind.
  void pair_up(const Scene& from, const Scene& to, const std::vector<int>& ours,
               const std::vector<int>& theirs) {
    if (ours.empty() || theirs.empty()) return;
    pair_by<PlaceOf>(from, to, ours, theirs);
    pair_by<OtherPlaceOf>(from, to, ours, theirs);
    std::vector<int> left, right;
    std::ranges::copy_if(ours, std::back_inserter(left), [&](int i) { return of_from[i] == kNone; });
    std::ranges::copy_if(theirs, std::back_inserter(right), [&](int i) { return of_to[i] == kNone; });
    if (std::holds_alternative<GlyphRun>(from.items[ours[0]])) {
      pair_near_texts(from, to, left, right);
      pair_unique_words(from, to, left, right);
    } else if (left.size() == right.size()) {
      for (std::size_t i = 0; i < left.size(); ++i)
        if (can_become(from.items[left[i]], to.items[right[i]])) join(from, left[i], right[i]);
    }
  }

  /// The remaining items with equal keys, in order.
  template <class Key>
  void pair_by(const Scene& from, const Scene& to, const std::vector<int>& ours,
               const std::vector<int>& theirs) {
    using Keyed = std::pair<std::uint64_t, int>;
    const auto keyed = [](const Scene& scene, const std::vector<int>& list,
                          const std::vector<int>& partners) {
      std::vector<Keyed> keys;
      keys.reserve(list.size());
      for (const int i : list) {
        if (partners[i] != kNone) continue;
        const std::optional<std::uint64_t> key = std::visit(Key(), scene.items[i]);
        if (key) keys.emplace_back(*key, i);
      }
      std::ranges::sort(keys);
      return keys;
    };
    const std::vector<Keyed> a = keyed(from, ours, of_from), b = keyed(to, theirs, of_to);
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i].first == b[j].first) {
        join(from, a[i++].second, b[j++].second);
      } else {
        ++(a[i].first < b[j].first ? i : j);
      }
    }
  }

  /// Of the remaining texts, those on one line that begin within an em of each other, such as the numbers of
  /// a cell.
  void pair_near_texts(const Scene& from, const Scene& to, std::vector<int>& left, std::vector<int>& right) {
    constexpr float kSameLine = 0.5F;
    const auto run = [](const Scene& scene, int i) -> const GlyphRun& {
      return std::get<GlyphRun>(scene.items[i]);
    };
    const auto in_reading_order = [&](const Scene& scene) {
      return [&](int a, int b) {
        const Point p = run(scene, a).origin, q = run(scene, b).origin;
        return p.y != q.y ? p.y < q.y : p.x < q.x;
      };
    };
    std::ranges::sort(left, in_reading_order(from));
    std::ranges::sort(right, in_reading_order(to));
    for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      const GlyphRun &a = run(from, left[i]), &b = run(to, right[j]);
      const float down = a.origin.y - b.origin.y, along = a.origin.x - b.origin.x;
      if (std::abs(down) > kSameLine) {
        ++(down < 0 ? i : j);
      } else if (std::abs(along) > b.size) {
        ++(along < 0 ? i : j);
      } else {
        join(from, left[i++], right[j++]);
      }
    }
  }

  /// Of the remaining texts, the words that each picture has once. A number stays where it belongs: on its
  /// way to another cell or to another place of an axis it would say what is not true.
  void pair_unique_words(const Scene& from, const Scene& to, const std::vector<int>& left,
                         const std::vector<int>& right) {
    const auto once = [&](const Scene& scene, const std::vector<int>& list,
                          const std::vector<int>& partners) {
      std::unordered_map<std::string_view, int> texts;  // kNone: more than once
      for (const int i : list) {
        const std::string_view text = std::get<GlyphRun>(scene.items[i]).text;
        if (partners[i] != kNone || has_digit(text)) continue;
        const auto [at, added] = texts.try_emplace(text, i);
        if (!added) at->second = kNone;
      }
      return texts;
    };
    const auto ours = once(from, left, of_from), theirs = once(to, right, of_to);
    for (const auto& [text, i] : ours)
      if (const auto found = theirs.find(text); i != kNone && found != theirs.end() && found->second != kNone)
        join(from, i, found->second);
  }
};

bool same_pixels(const Image& a, const Image& b) {
  return a.bitmap == b.bitmap || (a.content_id != 0 && a.content_id == b.content_id);
}

/// The number of pixels that have to be mixed or faded.
std::size_t pixels_to_mix(const Scene& from, const Scene& to, const Partners& partners) {
  std::size_t pixels = 0;
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    const auto* image = std::get_if<Image>(&from.items[i]);
    const int partner = partners.of_from[i];
    if (image && (partner == kNone || !same_pixels(*image, std::get<Image>(to.items[partner]))))
      pixels += image->bitmap->pixels.size();
  }
  for (std::size_t i = 0; i < to.items.size(); ++i) {
    const auto* image = std::get_if<Image>(&to.items[i]);
    if (image && partners.of_to[i] == kNone) pixels += image->bitmap->pixels.size();
  }
  return pixels;
}

std::uint8_t rounded(float channel) {
  return static_cast<std::uint8_t>(channel + 0.5F);
}
Color faded(Color c, float opacity) {
  return c.with_alpha(rounded(static_cast<float>(c.a) * opacity));
}

/// A share of 256, so that pixels can be mixed as integers.
int share_of(float t) {
  return static_cast<int>(std::lround(t * 256));
}
std::uint8_t mix(std::uint8_t a, std::uint8_t b, int share) {
  return static_cast<std::uint8_t>((a * (256 - share) + b * share + 128) >> 8);
}

/// The same, of colours of different opacity.
Color mix_transparent(Color a, Color b, int share) {
  const std::uint8_t alpha = mix(a.a, b.a, share);
  if (a.a == 0) return b.with_alpha(alpha);
  if (b.a == 0) return a.with_alpha(alpha);
  const int left = a.a * (256 - share), right = b.a * share, sum = left + right;
  const auto channel = [&](std::uint8_t v, std::uint8_t w) {
    return static_cast<std::uint8_t>((v * left + w * right + sum / 2) / sum);
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), alpha};
}

/// Mixes pixels in blocks, which have one opacity almost everywhere and are then mixed byte by byte.
std::shared_ptr<const Bitmap> mix(const Bitmap& from, const Bitmap& to, int share) {
  static_assert(sizeof(Color) == 4);
  constexpr std::size_t kBlock = 64;
  const auto mixed = std::make_shared<Bitmap>(Bitmap{from.width, from.height, {}});
  mixed->pixels.resize(from.pixels.size());
  for (std::size_t begin = 0; begin < from.pixels.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, from.pixels.size() - begin);
    const Color *a = from.pixels.data() + begin, *b = to.pixels.data() + begin;
    Color* out = mixed->pixels.data() + begin;
    int differ = 0, any_from = 0, any_to = 0;
    for (std::size_t i = 0; i < count; ++i) differ |= a[i].a ^ b[i].a, any_from |= a[i].a, any_to |= b[i].a;
    if (differ == 0) {
      const auto *x = &a->r, *y = &b->r;
      auto* z = &out->r;
      for (std::size_t i = 0; i < 4 * count; ++i) z[i] = mix(x[i], y[i], share);
    } else if (any_from == 0 || any_to == 0) {  // as masked cells
      const Color* seen = any_to == 0 ? a : b;
      const int opacity = any_to == 0 ? 256 - share : share;
      for (std::size_t i = 0; i < count; ++i)
        out[i] = seen[i].with_alpha(static_cast<std::uint8_t>((seen[i].a * opacity + 128) >> 8));
    } else {
      for (std::size_t i = 0; i < count; ++i) out[i] = mix_transparent(a[i], b[i], share);
    }
  }
  return mixed;
}

Image mix(const Image& from, const Image& to, float t) {
  Image image = to;
  image.dest = mix(from.dest, to.dest, t);
  if (same_pixels(from, to)) return image;
  const int share = share_of(t);
  if (share == 0) image.bitmap = from.bitmap, image.content_id = from.content_id;
  if (share == 0 || share == 256) return image;
  image.bitmap = mix(*from.bitmap, *to.bitmap, share);
  const bool known = from.content_id != 0 && to.content_id != 0;
  image.content_id =
      known ? hash(hash(from.content_id, to.content_id), static_cast<std::uint64_t>(share)) : 0;
  return image;
}

/// Whether both are the same glyphs, drawn the same way.
bool same_text(const GlyphRun& a, const GlyphRun& b) {
  return a.text == b.text && a.size == b.size && a.angle == b.angle && a.glyphs == b.glyphs;
}

GlyphRun mix(const GlyphRun& from, const GlyphRun& to, float t) {
  GlyphRun run = to;
  if (t < 0.5F) run.color = from.color;  // halfway between two colours it might have that of what is under it
  if (same_text(from, to)) run.origin = mix(from.origin, to.origin, t);
  return run;
}

template <class T>
T mix(const T& from, const T& to, float t) {
  T item = to;
  if constexpr (HasColor<T>) item.color = blend(from.color, to.color, t);
  if constexpr (HasRect<T>) item.rect = mix(from.rect, to.rect, t);
  if constexpr (HasPoints<T>)
    for (std::size_t i = 0; i < item.points.size(); ++i)
      item.points[i] = mix(from.points[i], to.points[i], t);
  if constexpr (requires { item.width = 1.F; }) item.width = mix(from.width, to.width, t);
  if constexpr (requires { item.radius = 1.F; }) item.radius = mix(from.radius, to.radius, t);
  return item;
}

Item mix(const Item& from, const Item& to, float t) {
  return std::visit([&from, t]<class T>(const T& item) -> Item { return mix(std::get<T>(from), item, t); },
                    to);
}

/// An item that only one picture has, at an opacity; nothing where it is invisible. Text of the new picture
/// is opaque from the start.
std::optional<Item> faded(const Item& item, float opacity) {
  return std::visit(
      [opacity]<class T>(T one) -> std::optional<Item> {
        if constexpr (HasColor<T> && !std::same_as<T, GlyphRun>) {
          one.color = faded(one.color, opacity);
          if (one.color.a == 0) return std::nullopt;
        }
        if constexpr (std::same_as<T, Image>) {
          const int share = share_of(opacity);
          if (share == 0) return std::nullopt;
          if (share == 256) return one;
          one.bitmap =
              mix(Bitmap::filled(one.bitmap->width, one.bitmap->height, {0, 0, 0, 0}), *one.bitmap, share);
          if (one.content_id != 0) one.content_id = hash(one.content_id, static_cast<std::uint64_t>(share));
        }
        return one;
      },
      item);
}

Rect common(const Rect& a, const Rect& b) {
  const float x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(0.F, std::min(a.right(), b.right()) - x),
          std::max(0.F, std::min(a.bottom(), b.bottom()) - y)};
}

/// An item of the old picture that fades out.
struct Leaving {
  int after = kNone;  ///< painted after this item of the new picture; kNone: first
  const Item* item = nullptr;
  std::optional<Rect> clip;  ///< that it was painted in
};

/// In the order of painting.
std::vector<Leaving> leaving_items(const Scene& from, const Partners& partners) {
  std::vector<Leaving> leaving;
  std::vector<Rect> clips;
  int after = kNone;
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    const Item& item = from.items[i];
    if (const auto* push = std::get_if<PushClip>(&item)) {
      clips.push_back(clips.empty() ? push->rect : common(push->rect, clips.back()));
    } else if (std::holds_alternative<PopClip>(item)) {
      if (!clips.empty()) clips.pop_back();
    } else if (partners.of_from[i] != kNone) {
      after = partners.of_from[i];
    } else if (!std::holds_alternative<GlyphRun>(item)) {
      leaving.push_back({after, &item, clips.empty() ? std::nullopt : std::optional(clips.back())});
    }
  }
  std::ranges::stable_sort(leaving, {}, &Leaving::after);
  return leaving;
}

}  // namespace

Color blend(Color from, Color to, float t) {
  if (!(t > 0)) return from;
  if (t >= 1 || from == to) return to;
  const float left = static_cast<float>(from.a) * (1 - t), right = static_cast<float>(to.a) * t,
              alpha = left + right;
  if (alpha <= 0) return to;
  const auto channel = [&](std::uint8_t a, std::uint8_t b) {
    return rounded((static_cast<float>(a) * left + static_cast<float>(b) * right) / alpha);
  };
  return {channel(from.r, to.r), channel(from.g, to.g), channel(from.b, to.b), rounded(alpha)};
}

namespace {

/// The partners of two scenes that can be blended; else nothing.
std::optional<Partners> partners_of(const Scene& from, const Scene& to) {
  if (from.width != to.width || from.height != to.height ||
      from.items.size() + to.items.size() > kMostItems || !same_frame(from, to))
    return std::nullopt;
  Partners partners(from, to);
  if (!partners.shapes || pixels_to_mix(from, to, partners) > kMostPixels) return std::nullopt;
  return partners;
}

}  // namespace

bool can_blend(const Scene& from, const Scene& to) {
  const bool equal = from.background == to.background && from.items == to.items;
  return !equal && partners_of(from, to);
}

Scene blend(const Scene& from, const Scene& to, float t) {
  const std::optional<Partners> found = t < 1 ? partners_of(from, to) : std::nullopt;
  if (!found) return to;
  const Partners& partners = *found;
  t = std::max(0.F, t);
  Scene scene;
  scene.width = to.width, scene.height = to.height;
  scene.background = blend(from.background, to.background, t);
  const std::vector<Leaving> leaving = leaving_items(from, partners);
  scene.items.reserve(to.items.size() + leaving.size());
  std::size_t left = 0;
  const auto add_leaving = [&](int after) {
    for (; left < leaving.size() && leaving[left].after <= after; ++left) {
      auto item = faded(*leaving[left].item, 1 - t);
      if (!item) continue;
      if (leaving[left].clip) scene.add(PushClip{*leaving[left].clip});
      scene.items.push_back(*std::move(item));
      if (leaving[left].clip) scene.add(PopClip{});
    }
  };
  add_leaving(kNone);
  int clips = 0;
  for (std::size_t i = 0; i < to.items.size(); ++i) {
    const int partner = partners.of_to[i];
    auto item = partner == kNone ? faded(to.items[i], t) : mix(from.items[partner], to.items[i], t);
    if (item) scene.items.push_back(*std::move(item));
    clips += std::holds_alternative<PushClip>(to.items[i]) ? 1 : 0;
    clips -= std::holds_alternative<PopClip>(to.items[i]) ? 1 : 0;
    if (clips <= 0) add_leaving(static_cast<int>(i));  // outside the clips of the new picture
  }
  add_leaving(static_cast<int>(to.items.size()));
  return scene;
}

}  // namespace headscope::viz
