#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/views/parts/frame.h"
#include "app/views/view.h"
#include "viz/scene/scale.h"

// What a view shows, computed once for a run, a side, a selection and options: words, and boxes with data.
// The picture keeps it, so that drawing again, hovering, clicking and scrolling compute nothing, and none of
// them finds other numbers than those that are drawn.
namespace headscope::app {

/// What a mark is about; what it is not about is -1.
struct Ref {
  int layer = -1;
  int head = -1;
  int query = -1;   ///< position
  int key = -1;     ///< position, of the query or else of the selected one
  int neuron = -1;  ///< of the layer's MLP
  int token = -1;   ///< id
  int other = -1;   ///< what has none of these names: a number that the view gives it, which also names it
  bool operator==(const Ref&) const = default;
};

/// Selects the places that a mark is about.
ViewActions choice_of(const Ref& ref, const ViewContext& context);
/// Says them, "L5 H1", "query 8 “·it”", and adds the usual commands: selecting, edits, copying a token, for a
/// query and a key how their weight is computed.
void add_place(Facts& facts, const Ref& ref, const ViewContext& context);

/// What a box wants for its width or its height, in logical pixels. With less than `least` it cannot be
/// drawn; with less than `enough` numbers or labels are missing that tell the most; at `good` nothing is
/// missing; with more than `most` it gains nothing.
struct Wish {
  float least = 0;
  float good = 0;
  float most = std::numeric_limits<float>::infinity();
  float enough = 0;
};

/// A place in a picture, where the mouse is.
struct Spot {
  const Picture& picture;
  const viz::Hit& hit;
  const viz::Region& region;  ///< that was hit
  viz::Rect cell() const { return region.cell_rect(hit.row, hit.col); }
};

/// A part of a picture: data and how it is shown.
class Box {
 public:
  Box() = default;
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  virtual ~Box() = default;

  /// What it is called where it is left out for want of room: "the list". Empty: it never is.
  std::string name;
  int worth = 0;  ///< of boxes with a name that of least worth is left out first

  virtual Wish width(const ViewContext& context) const;
  virtual Wish height(const ViewContext& context, float width) const = 0;
  /// Places it; false: there is no room.
  [[nodiscard]] virtual bool place(const ViewContext&, viz::Rect area) {
    area_ = area;
    return true;
  }
  /// Draws it where it was placed last.
  virtual void paint(Picture& picture, const ViewContext& context) const = 0;
  /// What is not seen of it where it was placed: "keys 3 to 12 of 40". Empty: nothing.
  virtual std::string note() const { return {}; }

  // Of a picture that it was drawn in; what concerns other boxes' regions is passed over.
  /// What the place is about: from it follow its words, its commands, and the frames around all that is about
  /// the same. Nothing: the region is another box's.
  virtual std::optional<Ref> ref_at(const Spot&) const { return std::nullopt; }
  /// Frames what is about this.
  virtual void frame(viz::Scene&, const ViewContext&, const Picture&, const Ref&) const {}
  /// What is said there besides: its numbers.
  virtual void add_facts(Facts&, const ViewContext&, const Spot&) const {}
  virtual std::optional<ViewActions> on(const ViewContext&, const Spot*, const Gesture&) const {
    return std::nullopt;
  }
  /// Adds to a click's actions what keeps the clicked place under the mouse, or brings it into view.
  virtual void settle(ViewActions&, const ViewContext&, const Spot&) const {}
  virtual void add_scrolls(std::vector<Scroll>&, const ViewContext&, const Picture&) const {}

 protected:
  viz::Rect area_;  ///< where it was placed last
};
using BoxPtr = std::unique_ptr<Box>;

/// A box whose regions have one role, and whose cells are about something.
class RoleBox : public Box {
 public:
  explicit RoleBox(int role) : role_(role) {}
  std::optional<Ref> ref_at(const Spot& at) const override;
  /// Frames cells, or the whole region where all of it is about this.
  void frame(viz::Scene&, const ViewContext&, const Picture&, const Ref&) const override;
  void add_facts(Facts& facts, const ViewContext& context, const Spot& at) const override;

 protected:
  /// What a cell is about; an empty Ref: nothing.
  virtual Ref ref_of(const viz::Region& region, int row, int col) const = 0;
  /// Says what there is to say of it besides.
  virtual void say(Facts&, const ViewContext&, const viz::Region&, int /*row*/, int /*col*/) const {}

  int role_;
};

/// Boxes below each other. Each gets what it needs, then what is good, then more, or is left out.
BoxPtr rows(std::vector<BoxPtr> boxes);
/// Next to each other or below each other, where more of them is seen.
BoxPtr beside(std::vector<BoxPtr> boxes);
template <class... Boxes>
std::vector<BoxPtr> boxes(Boxes... some) {
  std::vector<BoxPtr> all;
  (all.push_back(std::move(some)), ...);
  return all;
}
/// A box that may be left out.
template <class B>
std::unique_ptr<B> may_be_left_out(std::unique_ptr<B> box, std::string name, int worth = 1) {
  box->name = std::move(name), box->worth = worth;
  return box;
}

/// Small, muted lines, wrapped, under a title if there is one; those without room are left out. Those that
/// are not needed have room in a pane only once all other boxes have what is good.
BoxPtr notes(std::vector<std::string> lines, std::string title = {}, bool needed = true);
BoxPtr remarks(std::vector<std::string> lines);  ///< notes that are not needed
/// A scale of colours with its title; `indent`: of its left end. Null: none.
BoxPtr legend(viz::ColorScale scale, std::string title, float (*indent)(const ViewContext&) = nullptr);
/// What a look stands for: a filled or framed patch, a line, a scale, or none of these: only words.
struct Swatch {
  std::string words;
  viz::Color fill{0, 0, 0, 0}, outline{0, 0, 0, 0};
  float line = 0;
  std::vector<float> dashes = {};
  std::optional<viz::ColorScale> scale = {};
};
/// Such looks next to each other, in as many lines as they need. Null: there are none.
BoxPtr swatches(std::vector<Swatch> looks);
/// The same of looks that depend on how other boxes were placed, on a page at least so high, in ems.
BoxPtr swatches(std::function<std::vector<Swatch>(const ViewContext&)> looks, float least_height = 0);
/// Drawn by a function, in an area of the size that it got. Wishes are in ems.
using Paint = std::function<void(Picture&, const ViewContext&, viz::Rect)>;
/// What the cells of its regions are about; see RoleBox.
struct DrawnPlaces {
  int role = -1;  ///< -1: they are about nothing
  std::function<Ref(const viz::Region&, int row, int col)> refers_to = {};
  /// Frames what is about this, if not cells. Null: cells are framed.
  std::function<void(viz::Scene&, const ViewContext&, const Picture&, const Ref&)> frame = {};
  /// Lays out what is drawn in an area; false: there is no room. Null: there is.
  std::function<bool(const ViewContext&, viz::Rect)> place = {};
};
BoxPtr custom(Wish width, std::function<Wish(float width)> height, Paint paint, DrawnPlaces places = {});
BoxPtr custom(Wish width, Wish height, Paint paint, DrawnPlaces places = {});

/// What a gesture means, with the place under the mouse; nothing: it has no meaning of its own.
using OnGesture = std::function<std::optional<ViewActions>(const ViewContext&, const Spot*, const Gesture&)>;

/// What a view shows.
class Content {
 public:
  explicit Content(const ViewContext& context) : c(context) {}

  ViewContext c;  ///< what it was made for; its answers are there while the view makes it, and its table
  std::string message;           ///< in place of a picture; empty with a body
  std::string title;             ///< on the difference side the frame adds that
  std::string subtitle;          ///< the same: it says before it what is subtracted
  bool same = false;             ///< all differences are 0
  bool says_difference = false;  ///< the title says so itself
  bool titled_in_pane = true;    ///< false: its pane says what it is
  BoxPtr body;
  /// The numbers, all digits. Null: it has none.
  std::function<Table()> table;
  /// What is said of a place, and done there, in addition; of an item, all of it.
  std::function<void(Facts&, const Ref&)> place_facts;
  /// What a click on a place does; null: it selects what the place is about.
  std::function<ViewActions(const ViewContext&, const Ref&)> choose;
  /// Facts in addition to those of the boxes.
  std::function<void(Facts&, const ViewContext&, const Spot&)> facts;
  OnGesture on;  ///< before the boxes

  bool shows() const { return message.empty() && body != nullptr; }
  /// Scroll positions besides those of the boxes.
  std::function<std::vector<Scroll>(const ViewContext&, const Picture&)> scrolls;

  /// The answer to a question. Null: there is none yet, and `message` says why.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> need(const Q& question) {
    return need_on(c.side, question);
  }
  /// The same on a given side.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> need_on(Side side, const Q& question) {
    auto answer = c.ask_on(side, question);
    const Question asked = question;
    if (!answer || !c.run) message = why_missing(side == Side::baseline ? asked.on_baseline() : asked);
    return c.run ? answer : nullptr;
  }
  /// The same; nothing: it is not known yet which question to ask.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> need(const std::optional<Q>& question) {
    if (question) return need(*question);
    message = c.run ? kComputing : c.no_run;
    return nullptr;
  }
  /// Why a question has no answer: "computing…", or what failed.
  std::string why_missing(const Question& question) const;
  /// The selected query has no counterpart on the difference side, and `message` says so.
  bool lacks_counterpart();
  /// Keeps a value as long as the content: what boxes and functions refer to.
  template <class T>
  const T& keep(T value) {
    auto kept = std::make_shared<const T>(std::move(value));
    kept_.push_back(kept);
    return *kept;
  }

 private:
  std::vector<std::shared_ptr<const void>> kept_;
};

/// Makes a view from its id, title, content and help.
View make_view(std::string_view id, std::string_view title, void (*declare)(Content&), std::string_view help);

/// The same content on another page.
Picture drawn(const std::shared_ptr<Content>& content, const ViewContext& context);
/// The content that a picture of such a view was drawn from; null: it shows a message.
const Content* content_of(const Picture& picture);
/// What content, or a message, wants of a page: its width, and its height at the context's width.
struct PageWish {
  Wish width, height;
};
PageWish page_wish(const Content* content, const ViewContext& context);

}  // namespace headscope::app
