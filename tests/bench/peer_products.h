#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"
#include "tests/bench/rotating_weights.h"

/// The times of other libraries on this machine for the matrix products of a pass: a yardstick that anyone
/// can check. Both libraries compute in float32.
namespace headscope::bench {

/// y [rows, out] = x [rows, in] * W [in, out].
struct ProductShape {
  int rows = 0, in = 0, out = 0;
  bool transposed = false;  ///< the peers get W as [out, in], like the unembedding in a model's files

  double flops() const { return 2.0 * rows * in * out; }
  std::size_t values() const { return static_cast<std::size_t>(in) * static_cast<std::size_t>(out); }
  bool operator==(const ProductShape&) const = default;
};

/// x [rows, in] and y [rows, out] in the memory layout of a pass; x and bias [out] hold arbitrary numbers.
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

/// Our own product as in a pass: with bias in a block, without in the unembedding.
void own_product(const Operands& operands, const model::PanelMatrix& w, const ProductShape& shape,
                 model::Workers& workers);

/// Eigen's product with the columns divided among the threads by hand, which is faster than Eigen's own
/// division.
void eigen_product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
                   model::Workers& workers, model::FloatRows y);

/// OpenBLAS, if installed. Found at run time, so that the build does not need it.
class OpenBlas {
 public:
  static constexpr const char* kLibrary = "libopenblas.so.0";

  /// Nothing if the library is missing or is not OpenBLAS. It stays loaded, because its threads may still be
  /// running. On processors with AVX-512, sets OPENBLAS_CORETYPE unless it is set, because release 0.3.21
  /// takes some newer processors for those of 2004. Do not call while other threads read the environment.
  static std::optional<OpenBlas> find(int threads, const char* library = kLibrary);

  /// The name with the release and the detected processor, such as "OpenBLAS 0.3.21 (SkylakeX)".
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

/// Sleeps until no thread of this process is busy, for at most two seconds. OpenBLAS's threads wait for work
/// in a busy loop of 0.1 s or more, which takes a processor from the next measurement.
void wait_until_idle();

/// Medians in seconds.
struct PeerTimes {
  double eigen = 0;
  std::optional<double> openblas;  ///< nothing if not installed

  double fastest() const { return openblas ? std::min(eigen, *openblas) : eigen; }
};

/// Measures products with weights that are read from memory.
class PeerProducts {
 public:
  /// `largest`: the maximum number of values in a matrix.
  PeerProducts(std::size_t largest, model::Workers& workers, const char* openblas = OpenBlas::kLibrary);

  PeerTimes measure(const ProductShape& shape);

  /// The names of the measured libraries. Eigen's includes the instruction set it was compiled for, since a
  /// portable build's is slower.
  std::vector<std::string> names() const;

  RotatingWeights& weights() { return weights_; }

 private:
  model::Workers& workers_;
  std::optional<OpenBlas> openblas_;
  RotatingWeights weights_;
};

/// `size` reproducible numbers in [-1, 1).
std::vector<float> some_activations(std::size_t size);

}  // namespace headscope::bench
