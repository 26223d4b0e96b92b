#include "app/views/parts/parts.h"

// Boxes with boxes in them: what each gets of the room, and which are left out.
namespace headscope::app {

namespace {

/// Sizes between `low` and `high`, as equal as these allow, that add up to `room` or to all of `high`.
std::vector<float> levelled(std::span<const float> low, std::span<const float> high, float room) {
  const auto sizes = [&](float level) {
    std::vector<float> made;
    for (std::size_t i = 0; i < low.size(); ++i)
      made.push_back(std::clamp(level, low[i], std::max(low[i], high[i])));
    return made;
  };
  const auto sum = [](const std::vector<float>& all) {
    float total = 0;
    for (const float one : all) total += one;
    return total;
  };
  float below = 0, above = std::max(0.F, room);
  if (sum(sizes(above)) <= room) return sizes(above);
  constexpr int kSteps = 24;  // to less than a thousandth of a pixel
  for (int i = 0; i < kSteps; ++i) {
    const float middle = (below + above) / 2;
    (sum(sizes(middle)) > room ? above : below) = middle;
  }
  return sizes(below);
}

/// What each of these gets of `room`, which is at least what all of them need: first enough, then what is
/// good. Of too little height small wishes are granted first, so that a long list leaves the lines above it
/// whole; widths shrink in proportion.
std::vector<float> shares(std::span<const Wish> wishes, float room, bool heights) {
  std::vector<float> least, enough, good, most;
  float wanted = 0, needed = 0, sufficient = 0;
  for (const Wish& wish : wishes) {
    least.push_back(wish.least), enough.push_back(std::max(wish.least, wish.enough));
    good.push_back(std::max(enough.back(), wish.good)), most.push_back(wish.most);
    wanted += good.back(), sufficient += enough.back(), needed += wish.least;
  }
  if (wanted <= room) return levelled(good, most, room);
  if (sufficient <= room)
    least = enough, needed = sufficient;
  else
    good = enough, wanted = sufficient;
  if (heights) return levelled(least, good, room);
  const float part = wanted > needed ? std::max(0.F, room - needed) / (wanted - needed) : 0;
  for (std::size_t i = 0; i < least.size(); ++i) least[i] += part * (good[i] - least[i]);
  return least;
}

/// Boxes next to each other if they may be and more of them is seen so, else below each other.
class Stack final : public Box {
 public:
  Stack(bool may_be_beside, std::vector<BoxPtr> boxes)
      : may_be_beside_(may_be_beside), boxes_(std::move(boxes)) {
    std::erase(boxes_, nullptr);
  }

  Wish width(const ViewContext& c) const override {
    Wish all{0, 0, 0};
    for (const BoxPtr& box : boxes_) {
      const Wish one = box->width(c);
      all.least = std::max(all.least, box->name.empty() ? one.least : 0);
      all.good = may_be_beside_ ? all.good + one.good : std::max(all.good, one.good);
      all.most = may_be_beside_ ? all.most + one.most : std::max(all.most, one.most);
      all.enough = std::max(all.enough, one.enough);
    }
    if (may_be_beside_) all.good += gaps(c, boxes_.size(), false);
    return all;
  }

  Wish height(const ViewContext& c, float width) const override {
    const bool down = !may_be_beside_ || is_narrow(c, width, boxes_);
    const std::vector<float> widths = down ? std::vector<float>() : widths_in(c, width, boxes_);
    Wish all{0, 0, 0};
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const Wish one = boxes_[i]->height(c, down ? width : widths[i]);
      const float least = boxes_[i]->name.empty() ? one.least : 0;
      const auto add = [down](float& sum, float part) { sum = down ? sum + part : std::max(sum, part); };
      add(all.least, least), add(all.enough, std::max(one.least, one.enough));
      add(all.good, one.good), add(all.most, one.most);
    }
    if (down) {
      const auto needed = std::ranges::count_if(boxes_, [](const BoxPtr& box) { return box->name.empty(); });
      all.least += gaps(c, needed, true), all.enough += gaps(c, boxes_.size(), true);
      all.good += gaps(c, boxes_.size(), true);
    }
    return all;
  }

  bool place(const ViewContext& c, viz::Rect area) override {
    placed_.clear(), left_out_.clear();
    for (const BoxPtr& box : boxes_) placed_.push_back({box.get(), {}});
    while (!placed_.empty()) {
      if (place_all(c, area)) return true;
      const auto goes = std::ranges::min_element(placed_, {}, [](const Placed& one) {
        return one.box->name.empty() ? std::numeric_limits<int>::max() : one.box->worth;
      });
      if (goes->box->name.empty()) return false;
      left_out_.insert(left_out_.begin(), goes->box->name);
      placed_.erase(goes);
    }
    return boxes_.empty();
  }

  void paint(Picture& picture, const ViewContext& c) const override {
    if (!left_out_.empty() && !c.in_pane) picture.whole = false;
    for (const Placed& one : placed_) one.box->paint(picture, c);
  }

  std::string note() const override {
    std::string all;
    const auto add = [&all](const std::string& words) {
      if (!words.empty() && !all.ends_with(words)) all += (all.empty() ? "" : "; ") + words;
    };
    for (const Placed& one : placed_) add(one.box->note());
    for (const std::string& one : left_out_) add("no room for " + one);
    return all;
  }

  std::optional<Ref> ref_at(const Spot& at) const override {
    for (const Placed& one : placed_)
      if (const auto ref = one.box->ref_at(at)) return ref;
    return std::nullopt;
  }
  void frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const override {
    for (const Placed& one : placed_) one.box->frame(scene, c, picture, ref);
  }
  void add_facts(Facts& facts, const ViewContext& c, const Spot& at) const override {
    for (const Placed& one : placed_) one.box->add_facts(facts, c, at);
  }
  std::optional<ViewActions> on(const ViewContext& c, const Spot* at, const Gesture& gesture) const override {
    const bool wheel = gesture.kind == Gesture::Kind::wheel;  // the box under the mouse has it first
    for (const bool under_mouse : {true, false})
      for (const Placed& one : placed_)
        if (under_mouse == (!wheel || one.area.contains(gesture.at)))
          if (auto actions = one.box->on(c, at, gesture)) return actions;
    return std::nullopt;
  }
  void settle(ViewActions& actions, const ViewContext& c, const Spot& at) const override {
    for (const Placed& one : placed_) one.box->settle(actions, c, at);
  }
  void add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c,
                   const Picture& picture) const override {
    for (const Placed& one : placed_) one.box->add_scrolls(scrolls, c, picture);
  }

 private:
  struct Placed {
    Box* box = nullptr;
    viz::Rect area;
    Box* operator->() const { return box; }
  };
  /// Areas for the boxes, and how much of them is missing there, or empty; none: they do not fit.
  struct Division {
    std::vector<viz::Rect> areas;
    float loss = std::numeric_limits<float>::infinity();
  };

  static float gaps(const ViewContext& c, std::size_t count, bool down) {
    const float unit = std::max(1.F, std::round(c.font_size / 14 * 4));
    return (down ? 2.F : 6.F) * unit * static_cast<float>(count > 0 ? count - 1 : 0);
  }
  template <class Boxes>
  static bool is_narrow(const ViewContext& c, float width, const Boxes& some) {
    float least = gaps(c, some.size(), false);
    for (const auto& box : some) least += box->width(c).least;
    constexpr float kRoomy = 1.2F;  // what just fits next to each other is read better below each other
    return kRoomy * least > width;
  }
  template <class Boxes>
  static std::vector<float> widths_in(const ViewContext& c, float width, const Boxes& some) {
    std::vector<Wish> wishes;
    for (const auto& box : some) wishes.push_back(box->width(c));
    return shares(wishes, width - gaps(c, some.size(), false), false);
  }

  bool place_all(const ViewContext& c, const viz::Rect& area) {
    std::vector<Division> ways{divided(true, c, area)};
    if (may_be_beside_) {
      ways.push_back(divided(false, c, area));
      const bool is_whole = area.h + 1 >= height(c, area.w).good;  // as high as it was asked to be
      if (is_whole && !is_narrow(c, area.w, placed_))
        ways.back().loss = -std::numeric_limits<float>::infinity();
    }
    std::ranges::stable_sort(ways, {}, &Division::loss);
    return std::ranges::any_of(ways, [&](const Division& way) { return place_in(way, c); });
  }
  bool place_in(const Division& way, const ViewContext& c) {
    for (std::size_t i = 0; i < way.areas.size(); ++i) {
      placed_[i].area = way.areas[i];
      if (!placed_[i]->place(c, way.areas[i])) return false;
    }
    return !way.areas.empty();
  }

  /// The area divided among the boxes, downwards or across.
  Division divided(bool down, const ViewContext& c, const viz::Rect& area) const {
    constexpr float kSnapped = 0.5F;
    const float gap = gaps(c, 2, down);
    const float room = (down ? area.h : area.w) - gaps(c, placed_.size(), down);
    std::vector<Wish> wishes;
    float least = 0;
    for (const Placed& one : placed_) {
      wishes.push_back(down ? one.box->height(c, area.w) : one.box->width(c));
      least += wishes.back().least;
    }
    if (least > room + kSnapped) return {};
    std::vector<float> sizes = shares(wishes, room, down);
    if (!down && wishes.size() > 1) {
      for (std::size_t i = 0; i < wishes.size(); ++i) {
        const float useful = useful_width(*placed_[i].box, c, wishes[i].least, sizes[i], area.h);
        if (useful < sizes[i]) wishes[i].good = wishes[i].most = useful;
      }
      sizes = shares(wishes, room, down);
    }
    constexpr float kRoomyIsRead = 0.3F;  // what has room next to each other is compared at a glance
    Division made{{}, down || is_narrow(c, area.w, placed_) ? 0 : -kRoomyIsRead};
    float at = down ? area.y : area.x;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const float whole = std::floor(sizes[i] + kSnapped),
                  size = down ? whole : std::min(whole, area.right() - at);
      const viz::Rect place =
          down ? viz::Rect{area.x, at, area.w, size} : viz::Rect{at, area.y, size, area.h};
      made.areas.push_back(place);
      at += size + gap;
      const Wish wide = placed_[i]->width(c), high = placed_[i]->height(c, place.w);
      made.loss += missing(wide, place.w) + missing(high, place.h);
      const float used = std::min(place.w, std::max(wide.most, wide.good)) *
                         std::min(place.h, std::max(high.most, high.good));
      made.loss -= used / std::max(1.F, area.w * area.h);
    }
    return made;
  }
  /// Up to which width a box gains something, at most `wide`: what grows in both directions, such as squares,
  /// cannot be higher than its place.
  static float useful_width(const Box& box, const ViewContext& c, float least, float wide, float height) {
    const auto is_too_high = [&](float width) { return box.height(c, width).most > height; };
    if (!is_too_high(wide) || is_too_high(least)) return wide;
    constexpr int kSteps = 8;
    constexpr float kRoomy = 1.15F;  // wishes are estimates
    for (int i = 0; i < kSteps; ++i) {
      const float middle = (least + wide) / 2;
      (is_too_high(middle) ? wide : least) = middle;
    }
    return kRoomy * wide;
  }
  /// The part of a wish that is not granted; what tells the most counts more.
  static float missing(const Wish& wish, float size) {
    const auto part = [size](float wanted) { return wanted > size ? 1 - size / wanted : 0; };
    return part(wish.good) + 2 * part(wish.enough);
  }

  bool may_be_beside_;
  std::vector<BoxPtr> boxes_;
  std::vector<Placed> placed_;
  std::vector<std::string> left_out_;
};

}  // namespace

BoxPtr rows(std::vector<BoxPtr> boxes) {
  return std::make_unique<Stack>(false, std::move(boxes));
}
BoxPtr beside(std::vector<BoxPtr> boxes) {
  return std::make_unique<Stack>(true, std::move(boxes));
}

}  // namespace headscope::app
