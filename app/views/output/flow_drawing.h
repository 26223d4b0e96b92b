#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/views/output/flow_graph.h"
#include "app/views/output/layered.h"

// The picture of a flow: tokens from left to right, layers from below, a ribbon for the stream of each token,
// and strands from ribbon to ribbon for the edges. Widths are parts of the logit.
namespace headscope::app::flow_picture {

/// A bar of the next token.
struct GuessBar {
  int id = 0;
  std::string label;
  double probability = 0;
  bool chosen = false;
};

struct Input {
  Graph graph;
  std::vector<std::string> tokens;      ///< labels of positions
  std::vector<std::string> edges = {};  ///< labels of the graph's edges
  bool names_all = true;  ///< without room for the labels of all edges to the target it does not fit
  std::vector<GuessBar> bars = {};  ///< best first; empty: not known yet
  double longest_bar = 0;           ///< its probability
};

enum Role { kDrawing, kToken, kGuess };

/// What can be pointed at; a stream or an MLP is about a layer and, as `other`, a position.
struct Item : layered::Shape {
  enum class Kind { stream, mlp, rest, edge };
  Kind kind = Kind::stream;
  int column = 0, layer = 0, edge = -1;
};

/// The colour of a column's ribbon; `level`: layers passed, with fractions inside a layer.
using ColorAt = std::function<viz::Color(int column, float level)>;

/// Of an MLP that adds, or with a negative sign takes away.
viz::Color mlp_color(const viz::Theme& theme, double sign);

class Drawing {
 public:
  /// In an area, with the largest scale with which it fits, or with a given one.
  Drawing(Input input, viz::Rect area, const ViewContext& context, std::optional<double> scale = {});

  bool fits() const { return fits_; }
  bool whole() const { return whole_; }    ///< whether every label has room
  double scale() const { return scale_; }  ///< logical pixels for a logit of 1
  const Graph& graph() const { return in_.graph; }

  void paint(Picture& picture, const ViewContext& context, const ColorAt& color) const;
  const Item* at(viz::Point point) const;  ///< null: nothing is there

 private:
  /// A part of the horizontal axis: a token, or several without a ribbon.
  struct Stop {
    int first = 0, count = 1, column = -1;
    float x = 0;  ///< middle
  };
  struct Lane {
    int edge = 0;
    float width = 0, y = 0;
    bool labelled = false;
  };
  struct Layer {
    std::vector<Lane> lanes;
    float widest = 0;  ///< of what its MLPs add to the ribbons or take from them
    float bottom = 0, top = 0, mlp_bottom = 0, mlp_top = 0;
  };
  /// A ribbon at one height; `base`: in an MLP, where its right side was before.
  struct Point {
    float y = 0, left = 0, right = 0, level = 0;
    bool negative = false;
    std::optional<float> base = {};
  };
  /// Where an edge leaves a ribbon and where it joins one.
  struct Ends {
    viz::Point key, query;
  };
  struct Label {
    std::string text;
    viz::Point at;
    viz::Align align = viz::Align::left;
    bool strong = true;
    viz::FontStyle face = viz::FontStyle::regular;
    int token = -1;  ///< position that it names
    bool upright = false;
    viz::Rect rect = {};
  };

  bool try_scale(bool tight, bool drops_labels);
  bool place_layers(bool tight, bool drops_labels);
  void trace(int column, float middle);
  bool place_columns(bool gaps);
  void add_items();
  bool add(Label label);
  void add_labels();
  void label_sources();
  void paint_ribbon(viz::Scene& scene, const ViewContext& context, int column, const ColorAt& color) const;
  void paint_labels(Picture& picture, const ViewContext& context) const;
  void paint_bars(Picture& picture, const ViewContext& context, const ColorAt& color) const;

  float px(double value) const { return static_cast<float>(std::abs(value) * scale_); }
  float text_width(const std::string& text, viz::FontStyle face = viz::FontStyle::regular) const;

  Input in_;
  viz::Rect area_;
  viz::Style style_;
  float u_ = 4, line_ = 16;
  bool fits_ = false, whole_ = true, upright_ = false;
  double scale_ = 0;
  int target_ = 0;
  float turn_ = 0, below_ = 0, above_ = 0, end_ = 0, left_ = 0, rest_left_ = 0, rest_right_ = 0, right_ = 0;
  std::vector<Stop> stops_;
  std::vector<Layer> layers_;
  std::vector<std::vector<Point>> ribbons_;
  std::vector<Ends> ends_;
  std::vector<Item> items_;
  std::vector<viz::Rect> columns_, rest_;
  std::vector<Label> labels_;
};

}  // namespace headscope::app::flow_picture
