#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"
#include "tests/bench/rotating_weights.h"

/// What other libraries take on this machine for the products that a pass consists of: the yardstick that one
/// can check oneself. Both work in float32.
namespace headscope::bench {

/// y [rows, out] = x [rows, in] * W [in, out].
struct ProductShape {
  int rows = 0, in = 0, out = 0;
  bool transposed = false;  ///< for the peers W lies as [out, in], as the unembedding does in a model's files

  double flops() const { return 2.0 * rows * in * out; }
  std::size_t values() const { return static_cast<std::size_t>(in) * static_cast<std::size_t>(out); }
  bool operator==(const ProductShape&) const = default;
};

/// x [rows, in] and y [rows, out] in the memory that a pass has them in; x and bias [out] hold some numbers.
class Operands {
 public:
  explicit Operands(const ProductShape& shape);

  model::ConstFloatRows x() const { return x_; }
  model::FloatRows y() const { return y_; }
  std::span<const float> bias() const { return bias_; }

 private:
  model::Buffer memory_;
  model::FloatRows x_, y_;
  std::vector<float> bias_;
};

/// Our own product, as a pass has it: with bias in a block, without in the unembedding.
void own_product(const Operands& operands, const model::PanelMatrix& w, const ProductShape& shape,
                 model::Workers& workers);

/// Eigen's product, its columns shared out to the threads by hand: faster than sharing them out itself.
void eigen_product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
                   model::Workers& workers, model::FloatRows y);

/// OpenBLAS, where it is installed; found when the program runs, so that nothing needs it to be built.
class OpenBlas {
 public:
  static constexpr const char* kLibrary = "libopenblas.so.0";

  /// Nothing when there is no such library or it is another one. It stays loaded, for its threads may be
  /// running still. Sets OPENBLAS_CORETYPE, unless it is set, on processors with AVX-512: release 0.3.21
  /// takes some that are newer than itself for processors of 2004. Not to be called beside threads that read
  /// the environment.
  static std::optional<OpenBlas> find(int threads, const char* library = kLibrary);

  /// With its release and the processor it takes this one for, as in "OpenBLAS 0.3.21 (SkylakeX)".
  const std::string& name() const { return name_; }

  void product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
               model::FloatRows y) const;

 private:
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                         const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
  using Sgemv = void (*)(int order, int transpose, int m, int n, float alpha, const float* a, int lda,
                         const float* x, int incx, float beta, float* y, int incy);
  Sgemm sgemm_ = nullptr;
  Sgemv sgemv_ = nullptr;
  std::string name_;
};

/// Sleeps until no thread of this process is at work, at most two seconds. OpenBLAS's wait for more in a
/// loop, for 0.1 s and longer, which takes a processor from whatever is measured next.
void wait_until_idle();

/// Medians in seconds.
struct PeerTimes {
  double eigen = 0;
  std::optional<double> openblas;  ///< none where it is not installed

  double fastest() const { return openblas ? std::min(eigen, *openblas) : eigen; }
};

/// Measures products with weights from memory.
class PeerProducts {
 public:
  /// `largest`: the most values a matrix will have.
  PeerProducts(std::size_t largest, model::Workers& workers, const char* openblas = OpenBlas::kLibrary);

  PeerTimes measure(const ProductShape& shape);

  /// Those that are measured. Eigen's with what it was compiled for: a portable build's is no match.
  std::vector<std::string> names() const;

  RotatingWeights& weights() { return weights_; }

 private:
  model::Workers& workers_;
  std::optional<OpenBlas> openblas_;
  RotatingWeights weights_;
};

/// `size` numbers in [-1, 1), always the same.
std::vector<float> some_activations(std::size_t size);

}  // namespace headscope::bench
