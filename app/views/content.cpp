#include "app/views/content.h"

#include <algorithm>
#include <cmath>

#include "app/views/output/logit_options.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

ViewActions choice_of(const Ref& ref, const ViewContext& c) {
  ViewActions actions;
  const bool is_layer = ref.layer >= 0 && ref.neuron < 0 && ref.other < 0;
  if (ref.head >= 0 || is_layer)
    actions.emplace_back(SelectHead{ref.layer, ref.head < 0 ? c.selection.head : ref.head});
  if (ref.query >= c.run->run->length()) return {};  // a token beyond the context
  if (ref.query >= 0) actions.emplace_back(SelectQuery{ref.query});
  const int query = ref.query < 0 ? c.selection.query : ref.query;
  if (ref.key >= 0 && may_see(c, query, ref.key))
    actions.emplace_back(query == c.selection.query ? clicked_key(c, ref.key) : SelectKey{ref.key});
  return actions;
}

/// A token's name, and which one it is compared with if that is not the same.
static std::string compared_name(const ViewContext& c, const PromptTokens& tokens, int position) {
  const bool differs = c.differs() && has_own_keys(*c.run);
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

std::optional<Ref> RoleBox::ref_at(const Spot& at) const {
  return at.region.role == role_ ? std::optional(ref_of(at.region, at.hit.row, at.hit.col)) : std::nullopt;
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

void RoleBox::add_facts(Facts& facts, const ViewContext& c, const Spot& at) const {
  if (at.region.role == role_) say(facts, c, at.region, at.hit.row, at.hit.col);
}

// ---- content ----

std::string Content::why_missing(const Question& question) const {
  if (!c.run) return c.no_run;
  const std::string failure = c.failure(question);
  return failure.empty() ? kComputing : failure;
}

bool Content::lacks_counterpart() {
  if (!c.differs() || !c.run || compared_query(c) >= 0) return false;
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

/// With so many lines under the title.
static Picture drawn_with(const std::shared_ptr<Content>& content, const ViewContext& c, int lines) {
  const std::string title = content->title + (c.differs() && !content->says_difference ? ": difference" : "");
  const float heading = c.titled ? heading_of(title, "", c, lines).height : 0;
  if (!content->body->place(c, below_title(c, heading))) return too_small(c);
  Picture picture = blank(c);
  picture.content = content;
  const std::string note = content->body->note();
  picture.title = title;
  picture.subtitle = content->subtitle + (note.empty() || content->subtitle.empty() ? "" : "; ") + note;
  if (c.titled) {
    const Heading words = heading_of(title, picture.subtitle, c, lines);
    if (words.is_cut) picture.cut_heading = margin(c) + heading;
    paint_heading(picture.scene, c, words);
  }
  content->body->paint(picture, c);
  return picture;
}

Picture drawn(const std::shared_ptr<Content>& content, const ViewContext& context) {
  const ViewContext c = page_of(*content, context);
  if (!content->shows()) {
    Picture words = message(c, content->message.empty() ? c.no_run : content->message);
    words.content = content;
    return words;
  }
  Picture beside = drawn_with(content, c, 0);
  const int lines = wanted_subtitle_lines(beside, c);
  if (lines == 0) return beside;
  Picture under = drawn_with(content, c, lines);
  return under.readable ? under : drawn_with(content, c, 0);  // placed again, as it is drawn
}

/// What is computed from a part that is the same may differ all the same.
static std::string no_difference_words(const View& view) {
  const bool is_result = view.group == Group::output || view.place == Place::right;
  return std::string(": no difference") + (is_result ? "" : " here; the prediction may differ");
}

static std::shared_ptr<Content> content_in(const ViewContext& c, const View& view) {
  auto content = std::make_shared<Content>(c);
  if (c.prompts == nullptr && view.needs_list(c.options))
    content->message = no_list_words(c);
  else if (content->message = refuse_tokens(view, c, true); content->message.empty())
    shows_means(view, c) ? declare_means(*content, view) : view.declare(*content);
  if (!c.run && content->message.empty()) content->message = c.no_run;
  if (c.run && c.differs())
    content->subtitle = difference_words(c, view) + (content->same ? no_difference_words(view) : "") +
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
static std::optional<Ref> place_at(const Content& content, const Spot& at) {
  const auto ref = content.body->ref_at(at);
  return ref == Ref() ? std::nullopt : ref;
}

Facts View::facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) const {
  Facts facts;
  const Content* content = content_of(picture);
  if (content == nullptr) return facts;
  const Spot at{picture, hit, picture.regions[hit.region]};
  if (const auto ref = place_at(*content, at)) {
    content->body->frame(facts.overlay, content->c, picture, *ref);
    add_place(facts, *ref, content->c);
    if (content->place_facts) content->place_facts(facts, *ref);
  }
  content->body->add_facts(facts, content->c, at);
  if (content->facts) content->facts(facts, c, at);
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
  if (content == nullptr) return keys_along_prompt(c, gesture);
  // A drag goes on while its edits are computed.
  const bool clicks = gesture.kind == Gesture::Kind::click;
  if ((clicks || gesture.kind == Gesture::Kind::double_click) && content->c.run != c.run)
    return {};  // its places are another run's
  const auto spot =
      hit != nullptr ? std::optional<Spot>({picture, *hit, picture.regions[hit->region]}) : std::nullopt;
  const Spot* const at = spot ? &*spot : nullptr;
  if (content->on)
    if (auto actions = content->on(c, at, gesture)) return *std::move(actions);
  if (auto actions = content->body->on(c, at, gesture)) return *std::move(actions);
  if (const auto ref = clicks && at != nullptr ? place_at(*content, *at) : std::nullopt) {
    ViewActions actions = content->choose ? content->choose(c, *ref) : choice_of(*ref, c);
    content->body->settle(actions, c, *at);
    return actions;
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
  const viz::Rect area = below_title(c, c.titled ? heading_of(content->title, "", c, 0).height : 0);
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
