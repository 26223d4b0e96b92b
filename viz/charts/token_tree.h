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
  Color line;            ///< of the way to it from its parent
  float line_width = 1;  ///< logical pixels
};

/// Texts that begin with the same words, from left to right. Children stand in the order in which they are
/// given, the first one in the line of its parent.
struct TokenTree {
  std::vector<TreeNode> nodes;
  float widest = 1e9F;  ///< of a word, which is shortened else
  int role = 0;         ///< of the regions; their ids are indices of nodes
};

/// Where everything stands, from the root's corner on.
struct TreeLayout {
  std::vector<int> rows;        ///< [nodes]
  std::vector<Rect> boxes;      ///< [nodes], of the words
  std::vector<float> numbers;   ///< [nodes], right ends of the numbers
  std::vector<float> starts;    ///< [nodes], where the way from the parent ends, of all its children alike
  float width = 0, height = 0;  ///< of the whole tree
  int row_count = 0;
};

float tree_row_height(const Style& style);
TreeLayout lay_out_tree(const TokenTree& tree, const Style& style);

/// Paints the part of the tree that lies in `area` when the root's corner is at `origin`.
void paint_tree(Picture& picture, const TokenTree& tree, const TreeLayout& layout, Point origin, Rect area,
                const Style& style);

}  // namespace headscope::viz
