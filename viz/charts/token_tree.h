#pragma once
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A word in a tree of texts.
struct TreeNode {
  int parent = -1;  ///< index of a node before this one; -1: the root, which comes first and alone
  std::string label;
  std::string number;  ///< muted, left of the word
  Color fill{0, 0, 0, 0};
  Color outline{0, 0, 0, 0};  ///< invisible: none
  Color text;
  Color line;            ///< colour of the connector from its parent
  float line_width = 1;  ///< logical pixels
};

/// Texts with common beginnings, from left to right. Children keep the given order, the first one in the line
/// of its parent.
struct TokenTree {
  std::vector<TreeNode> nodes;
  float widest = 1e9F;      ///< maximum width of a word; wider ones are truncated
  bool only_whole = false;  ///< words that would be cut are left out
  int role = 0;             ///< role of the regions; their ids are indices of nodes
};

/// The layout, relative to the root's corner.
struct TreeLayout {
  std::vector<int> rows;    ///< [nodes]
  std::vector<Rect> boxes;  ///< [nodes], of the words
  /// [nodes], where the connector from the parent ends, the same for all of its children.
  std::vector<float> starts;
  float width = 0, height = 0;  ///< width of the whole tree
  int row_count = 0;
};

float tree_row_height(const Style& style);
TreeLayout lay_out_tree(const TokenTree& tree, const Style& style);

/// Draws the part of the tree inside `area`, with the root's corner at `origin`.
void paint_tree(Picture& picture, const TokenTree& tree, const TreeLayout& layout, Point origin, Rect area,
                const Style& style);

}  // namespace headscope::viz
