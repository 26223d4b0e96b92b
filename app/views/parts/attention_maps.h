#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/run/analyses/patterns.h"
#include "app/views/content.h"
#include "viz/charts/heatmap.h"

// Matrices of queries and keys: how they are drawn, zoomed, edited and marked.
namespace headscope::app {

/// The shown part of a matrix of queries and keys. The gestures of an `attention_matrix_view` zoom it in
/// regions whose cells are (query, key).
extern const Option<Zoom> kZoom;
/// What dragging over cells does: pan, edit the mask, or mark the shape.
enum class DragAction { off, hide, show, shape };
extern const Option<DragAction> kDragAction;
/// The cells of the searched shape: their numbers are head_number(query, key).
extern const Option<std::vector<int>> kShape;
/// The heads whose attention is shown: the selected one, or several together.
extern const Option<Heads> kOfHeads;
/// The answer to a question about the selected head, for these heads. Null: the content says why.
template <class Q>
std::shared_ptr<const AnswerOf<Q>> need_of_heads(Content& it, const Q& question) {
  const Heads heads = it.c.options[kOfHeads];
  if (heads == Heads::one) return it.need(question);
  return it.need(OverHeads<Q>{heads, heads == Heads::mean ? 0 : question.layer});
}
/// "L2 H1 (off)", "the mean of all heads", "the largest of L2's heads".
std::string name_of_heads(const ViewContext& context);
/// Facts of a table about them.
void add_facts_of_heads(Table& table, const ViewContext& context);

/// Labels of the run's tokens as an axis, the selected query emphasised where it is given.
viz::AxisLabels token_axis(const ViewContext& context, std::string_view title, viz::Color color,
                           int emphasised);
/// Labels of the keys' tokens, the selected key emphasised.
viz::AxisLabels key_axis(const ViewContext& context);
/// A view of such matrices, with their commands and menu.
View attention_matrix_view(View view);

/// A matrix of queries (rows) and keys (columns) in its colours.
struct AttentionMap {
  viz::HeatmapCells cells;
  std::string scale_title;
  std::string title = {}, note = {};  ///< above it, if there are several
  int id = 0;                         ///< of its region
};

/// One such matrix or four, as large as fit: under one crosshair, zoomed, edited and marked together.
class AttentionMaps final : public RoleBox {
 public:
  /// Cells are regions of this role.
  AttentionMaps(int role, std::vector<AttentionMap> maps) : RoleBox(role), maps_(std::move(maps)) {}

  /// Facts about a cell; with several maps at one place they are about all of them.
  std::function<void(Facts&, int query, int key)> cell_facts;
  Wish width(const ViewContext& context) const override;
  Wish height(const ViewContext& context, float width) const override;
  bool place(const ViewContext& context, viz::Rect area) override;
  void paint(Picture& picture, const ViewContext& context) const override;
  void frame(viz::Scene&, const ViewContext&, const Picture&, const Ref&) const override;
  std::optional<ViewActions> on(const ViewContext&, const Spot*, const Gesture&) const override;
  void add_scrolls(std::vector<Scroll>&, const ViewContext&, const Picture&) const override;

 private:
  /// Equal panels; labels are left of the first column of maps, and above the first row.
  struct Panels {
    int across = 1, down = 1;
    float side = 0;           ///< of a map
    float heading = 0;        ///< above it
    float foot = 0;           ///< under it, for words about pooling
    float gap = 0, lean = 0;  ///< between maps; of the last label over the upper ones
    viz::LabelRoom left, top;
  };
  Ref ref_of(const viz::Region&, int row, int col) const override { return {.query = row, .key = col}; }
  void say(Facts& facts, const ViewContext& context, const viz::Region&, int row, int col) const override;
  Panels panels_in(const ViewContext& context, viz::Rect area) const;
  Panels panels_in(const ViewContext& context, viz::Rect area, int columns) const;
  void paint_panel(Picture& picture, const ViewContext& context, const Panels& panels, int index) const;

  std::vector<AttentionMap> maps_;
};

/// What is said of a cell that is masked, or that has no difference.
std::string masked_words(const ViewContext& context, int query, int key);

}  // namespace headscope::app
