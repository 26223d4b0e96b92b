#pragma once
#include <array>
#include <span>
#include <vector>

#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

/// The positional encoding of Vaswani et al. 2017, section 3.5, [positions, dimensions] row-major:
/// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same. It is not GPT-2's, which is
/// learned.
std::vector<float> sinusoidal_encoding(int positions, int dimensions);
/// Up to two dimensions, in ascending order, whose curves are readable over all positions: about one period
/// of the sinusoids and an eighth of one. Of the candidates, those where `learned` ([positions, dimensions]
/// row-major) is smoothest.
std::vector<int> readable_dimensions(std::span<const float> learned, int positions, int dimensions);
/// One value of the encoding.
float sinusoidal_value(int position, int dimension, int dimensions);

// Geometry of the position vectors: the model's `wpe.weight` compared with the sinusoids of Vaswani et al.
// 2017 for the same number of positions and dimensions. It depends on the model alone.

/// Base of the questions about positions.
struct PositionsQuestion {
  static constexpr bool kModelOnly = true;
  static constexpr Capability kNeeds = Capability::weights | Capability::positions_table;
  bool operator==(const PositionsQuestion&) const = default;
};

/// The cosine of each position's vector with every other's.
struct PositionCosines {
  int positions = 0;
  std::vector<float> learned;     ///< [positions, positions]; NaN for a vector of zeros
  std::vector<float> sinusoidal;  ///< the same
  viz::Matrix matrix(bool of_learned) const {
    return viz::Matrix::row_major(of_learned ? learned : sinusoidal, positions, positions);
  }
  std::size_t bytes() const { return bytes_of(learned, sinusoidal); }
};

struct CosinesOfPositions : PositionsQuestion {
  static constexpr std::string_view kName = "position cosines";
  PositionCosines compute(const PromptRun& run, const Computation<PositionCosines>& computation) const;
};

/// The positions as a path along the three directions of largest variance.
struct PositionPath {
  static constexpr int kMax = 3;
  int directions = 0;              ///< 3, or as many as the model has dimensions or positions
  std::vector<float> coordinates;  ///< relative to their mean
  std::vector<double> shares;      ///< [directions], of the whole variance
  std::size_t bytes() const { return bytes_of(coordinates, shares); }
};

struct PathOfPositions : PositionsQuestion {
  static constexpr std::string_view kName = "principal directions of positions";
  PositionPath compute(const PromptRun& run, const Computation<PositionPath>& computation) const;
};

/// How far e(t) T^k is from e(t + k): the length of the residual divided by that of the target, both over all
/// t of one k.
struct PositionShift {
  static constexpr int kMax = 128;  ///< steps
  int steps = 0;  ///< k goes from 0 to this; the lists are shorter while the answer is being computed
  std::vector<float> sinusoidal;  ///< [steps + 1], T rotates the pairs of dimensions
  std::vector<float> learned;     ///< [steps + 1], T the best linear map of all e(t) to e(t + 1)
  std::vector<float> unseen;      ///< [steps + 1], T fitted to even t alone; its error at odd t
  std::vector<float> stay;        ///< [steps + 1], with e(t) instead of e(t) T^k
  int pairs = 0;                  ///< pairs of positions that `learned` is fitted to
  std::size_t bytes() const { return bytes_of(sinusoidal, learned, unseen, stay); }
};

struct ShiftOfPositions : PositionsQuestion {
  static constexpr std::string_view kName = "position shift";
  PositionShift compute(const PromptRun& run, const Computation<PositionShift>& computation) const;
};

/// A head's queries and keys together in their first two principal components: those of a prompt, or of all
/// tokens of a list's prompts, up to a limit.
struct QueryKeySpace {
  static constexpr int kMaxTokens = 4000;  ///< of a list: more marks than this would cover each other

  struct Place {
    std::size_t prompt = 0;  ///< index in the list
    int position = 0;
    int id = 0;  ///< id of the token
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;         ///< the source of each query and key
  std::vector<float> queries, keys;  ///< [places, d_head]
  std::vector<float> coordinates;    ///< [2 places, 2]: the queries, then the keys
  std::array<double, 2> shares{};    ///< share of the total variance along each direction
  bool finite = true;                ///< false: a query or key is not finite, and there are no coordinates
  std::size_t prompts = 0;           ///< number of the list's first prompts that fit; 1 without a list
  ListProgress progress;             ///< of a list

  int length() const { return static_cast<int>(places.size()); }
  std::array<float, 2> at(bool key, int place) const {
    const int i = 2 * (place + (key ? length() : 0));
    return {coordinates[i], coordinates[i + 1]};
  }
  std::size_t bytes() const { return bytes_of(places, queries, keys, coordinates) + progress.problem.size(); }
};

struct QueryKeySpaceOf : HeadQuestion {
  static constexpr std::string_view kName = "query-key space";
  OverPrompts over = {};
  bool operator==(const QueryKeySpaceOf&) const = default;
  /// Parts cover the first prompts of the list.
  QueryKeySpace compute(const PromptRun& run, const Computation<QueryKeySpace>& computation) const;
};

}  // namespace headscope::app
