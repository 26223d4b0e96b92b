#include "app/views/content.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/parts.h"

namespace headscope::app {

ViewActions choice_of(const Ref& ref, const ViewContext& c) {
  ViewActions actions;
  if (ref.head >= 0) actions.emplace_back(SelectHead{ref.layer, ref.head});
  if (ref.query >= c.run->run->length()) return {};  // a token beyond the context
  if (ref.query >= 0) actions.emplace_back(SelectQuery{ref.query});
  const int query = ref.query < 0 ? c.selection.query : ref.query;
  if (ref.key >= 0 && may_see(c, query, ref.key))
    actions.emplace_back(query == c.selection.query ? clicked_key(c, ref.key) : SelectKey{ref.key});
  return actions;
}

/// A token's name, and which one it is compared with if that is not the same.
static std::string compared_name(const ViewContext& c, const PromptTokens& tokens, int position) {
  const bool differs = c.side == Side::difference && has_own_keys(*c.run);
  const std::string there = differs ? counterpart_words(c, position) : "";
  return token_name(tokens, position) + (there.empty() ? "" : ", " + there);
}

void add_place(Facts& facts, const Ref& ref, const ViewContext& c) {
  const std::string layer = "L" + std::to_string(ref.layer);
  if (ref.neuron >= 0) {
    facts.say(layer + " neuron " + std::to_string(ref.neuron));
    add_neuron_edit(facts.commands, c, ref.layer, ref.neuron);
  } else if (ref.head >= 0) {
    const std::string name = head_name(ref.layer, ref.head);
    facts.say(name);
    if (ref.layer != c.selection.layer || ref.head != c.selection.head)
      facts.commands.push_back({"Show " + name, {SelectHead{ref.layer, ref.head}}});
    add_head_edits(facts.commands, c, ref.layer, ref.head);
  } else if (ref.layer >= 0 && ref.other < 0) {
    facts.say(layer);
  }
  if (ref.query >= 0) {
    facts.say("query " + compared_name(c, c.run->tokens, ref.query));
    if (ref.query < c.run->run->length()) facts.commands.push_back(choose_query(c, ref.query));
  }
  if (ref.key >= 0) {
    facts.say("key " + compared_name(c, key_tokens(*c.run), ref.key));
    add_choice_of_key(facts.commands, c, ref.key, ref.query < 0 ? c.selection.query : ref.query);
    if (has_own_keys(*c.run) && ref.key != ref.query) facts.commands.push_back(choose_query(c, ref.key));
    const auto [layer_of, head_of] =
        ref.head < 0 ? std::pair(c.selection.layer, c.selection.head) : std::pair(ref.layer, ref.head);
    if (ref.query >= 0) add_cell_edits(facts.commands, c, layer_of, head_of, ref.query, ref.key);
  }
  if (ref.token >= 0) {
    facts.say("“" + label_of(c, ref.token) + "”");
    add_copies_of_token(facts, c, ref.token);
  }
}

Wish Box::width(const ViewContext& c) const {
  return {12 * c.font_size, 30 * c.font_size};
}

std::optional<Ref> RoleBox::ref_at(const Picture& picture, const viz::Hit& hit) const {
  const viz::Region& region = region_of(picture, hit);
  return region.role == role_ ? std::optional(ref_of(region, hit.row, hit.col)) : std::nullopt;
}

void RoleBox::frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const {
  const auto add = [&](const viz::Rect& rect) {
    scene.add(viz::StrokeRect{rect.inset(-0.5F), c.theme->text, 1.5F, 1});
  };
  for (const viz::Region& region : picture.regions) {
    if (region.role != role_) continue;
    const auto is_framed = [&](int row, int col) { return ref_of(region, row, col) == ref; };
    const int first_row = static_cast<int>(region.first_row), first_col = static_cast<int>(region.first_col),
              rows = std::min(region.row_count, static_cast<int>(std::ceil(region.first_row + region.rows))),
              cols = std::min(region.col_count, static_cast<int>(std::ceil(region.first_col + region.cols)));
    if (is_framed(first_row, first_col) && is_framed(rows - 1, cols - 1)) {
      add(region.rect);
      continue;
    }
    for (int row = first_row; row < rows; ++row) {
      for (int col = first_col; col < cols; ++col) {
        if (!is_framed(row, col)) continue;
        viz::Rect run = region.cell_rect(row, col);  // one frame around a whole piece
        while (col + 1 < cols && is_framed(row, col + 1)) ++col;
        run.w = region.cell_rect(row, col).right() - run.x;
        add(run);
      }
    }
  }
}

void RoleBox::add_facts(Facts& facts, const ViewContext& c, const Picture& picture,
                        const viz::Hit& hit) const {
  const viz::Region& region = region_of(picture, hit);
  if (region.role == role_) say(facts, c, region, hit.row, hit.col);
}

// ---- layout ----

namespace {

/// The sizes between `low` and `high` that add up to `room`, or to all that is wanted, as equal as these
/// limits allow.
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

  std::optional<Ref> ref_at(const Picture& picture, const viz::Hit& hit) const override {
    for (const Placed& one : placed_)
      if (const auto ref = one.box->ref_at(picture, hit)) return ref;
    return std::nullopt;
  }
  void frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const override {
    for (const Placed& one : placed_) one.box->frame(scene, c, picture, ref);
  }
  void add_facts(Facts& facts, const ViewContext& c, const Picture& picture,
                 const viz::Hit& hit) const override {
    for (const Placed& one : placed_) one.box->add_facts(facts, c, picture, hit);
  }
  std::optional<ViewActions> on(const ViewContext& c, const Picture& picture, const viz::Hit* hit,
                                const Gesture& gesture) const override {
    const bool wheel = gesture.kind == Gesture::Kind::wheel;  // the box under the mouse has it first
    for (const bool under_mouse : {true, false})
      for (const Placed& one : placed_)
        if (under_mouse == (!wheel || one.area.contains(gesture.at)))
          if (auto actions = one.box->on(c, picture, hit, gesture)) return actions;
    return std::nullopt;
  }
  void settle(ViewActions& actions, const ViewContext& c, const Picture& picture,
              const viz::Hit& hit) const override {
    for (const Placed& one : placed_) one.box->settle(actions, c, picture, hit);
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
    const std::vector<float> sizes = shares(wishes, room, down);
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
// ---- content ----

std::string Content::why_missing(const Question& question) const {
  if (!c.run) return c.no_run;
  const std::string failure = c.failure(question);
  return failure.empty() ? kComputing : failure;
}

bool Content::lacks_counterpart() {
  if (c.side != Side::difference || !c.run || compared_query(c) >= 0) return false;
  message = token_name(c.run->tokens, c.selection.query) + " has " + no_counterpart_words(c);
  return true;
}

const Content* content_of(const Picture& picture) {
  const auto* content = static_cast<const Content*>(picture.content.get());
  return content != nullptr && content->shows() ? content : nullptr;
}

/// The page with a title, or without.
static ViewContext page_of(const Content& content, ViewContext c) {
  c.titled = c.titled && (content.titled_in_pane || !c.in_pane);
  return c;
}

Picture drawn(const std::shared_ptr<Content>& content, const ViewContext& context) {
  const ViewContext c = page_of(*content, context);
  if (!content->shows()) {
    Picture words = message(c, content->message.empty() ? c.no_run : content->message);
    words.content = content;
    return words;
  }
  if (!content->body->place(c, below_title(c))) return too_small(c);
  Picture picture = blank(c);
  picture.content = content;
  const std::string note = content->body->note();
  paint_title(picture, c, content->title + (content->says_difference ? "" : difference_suffix(c)),
              content->subtitle + (note.empty() || content->subtitle.empty() ? "" : "; ") + note);
  content->body->paint(picture, c);
  return picture;
}

static std::shared_ptr<Content> content_in(const ViewContext& c, const View& view) {
  auto content = std::make_shared<Content>(c);
  if (c.prompts == nullptr && needs_list(view, c.options))
    content->message = no_list_words(c);
  else
    view.declare(*content);
  if (!c.run && content->message.empty()) content->message = c.no_run;
  if (c.run && c.side == Side::difference)
    content->subtitle = difference_words(c, view) +
                        (content->same ? ": " + no_difference_words(c, view) : "") +
                        (content->subtitle.empty() ? "" : "; ") + content->subtitle;
  content->c.answers = nullptr;
  return content;
}

Picture View::build(const ViewContext& c) const {
  return app::drawn(content_in(c, *this), c);
}

Picture View::drawn(const ViewContext& c, const std::shared_ptr<void>& content) const {
  if (!content || !draws_again) return build(c);
  auto again = std::static_pointer_cast<Content>(content);
  again->c.options = c.options;  // those that only drawing and menus read may be others
  return app::drawn(again, c);
}

/// What a place is about; nothing: it is about nothing that has a name.
static std::optional<Ref> place_at(const Content& content, const Picture& picture, const viz::Hit& hit) {
  const auto ref = content.body->ref_at(picture, hit);
  return ref == Ref() ? std::nullopt : ref;
}

Facts View::facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) const {
  Facts facts;
  const Content* content = content_of(picture);
  if (content == nullptr) return facts;
  if (const auto ref = place_at(*content, picture, hit)) {
    content->body->frame(facts.overlay, content->c, picture, *ref);
    add_place(facts, *ref, content->c);
    if (content->place_facts) content->place_facts(facts, *ref);
  }
  content->body->add_facts(facts, content->c, picture, hit);
  if (content->facts) content->facts(facts, c, picture, hit);
  return facts;
}

Table View::table(const ViewContext& c) const {
  const auto content = content_in(c, *this);
  content->c.answers = c.answers;
  return content->table ? content->table() : Table();
}

ViewActions View::on(const ViewContext& c, const Picture& picture, const viz::Hit* hit,
                     const Gesture& gesture) const {
  if (!c.run) return {};
  const Content* content = content_of(picture);
  // A drag goes on while its edits are computed.
  const bool points = gesture.kind == Gesture::Kind::click || gesture.kind == Gesture::Kind::double_click;
  if (content != nullptr && points && content->c.run != c.run) return {};  // its places are another run's
  if (content != nullptr) {
    if (content->on)
      if (auto actions = content->on(c, picture, hit, gesture)) return *std::move(actions);
    if (auto actions = content->body->on(c, picture, hit, gesture)) return *std::move(actions);
    const bool clicks = gesture.kind == Gesture::Kind::click && hit != nullptr;
    if (const auto ref = clicks ? place_at(*content, picture, *hit) : std::nullopt) {
      ViewActions actions = content->choose ? content->choose(c, *ref) : choice_of(*ref, c);
      content->body->settle(actions, c, picture, *hit);
      return actions;
    }
  }
  return keys_along_prompt(c, gesture);
}

std::vector<Scroll> View::scrolls(const ViewContext& c, const Picture& picture) const {
  std::vector<Scroll> scrolls;
  const Content* content = content_of(picture);
  if (content == nullptr) return scrolls;
  if (content->scrolls) scrolls = content->scrolls(c, picture);
  content->body->add_scrolls(scrolls, c, picture);
  return scrolls;
}

PageWish page_wish(const Content* content, const ViewContext& context) {
  if (content == nullptr || !content->shows())
    return {.width = {}, .height = {0, 0.7F * context.width, 0.7F * context.width}};
  const ViewContext c = page_of(*content, context);
  const viz::Rect area = below_title(c);
  const auto with = [](float around, const Wish& wish) {
    return Wish{around + wish.least, around + wish.good, around + wish.most};
  };
  return {.width = with(c.width - area.w, content->body->width(c)),
          .height = with(area.y + margin(c) + 1, content->body->height(c, area.w))};
}

float View::whole_height(const ViewContext& context) const {
  return page_wish(content_in(context, *this).get(), context).height.good;
}

View make_view(std::string_view id, std::string_view title, void (*declare)(Content&),
               std::string_view help) {
  View view;
  view.id = id, view.title = title, view.help = help;
  view.declare = declare;
  return view;
}

}  // namespace headscope::app
