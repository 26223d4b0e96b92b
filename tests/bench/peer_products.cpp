#include "tests/bench/peer_products.h"

#include <dlfcn.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sstream>
#include <thread>

#include "app/cli/stopwatch.h"
#include "model/kernels/eigen_maps.h"
#include "model/kernels/product.h"

namespace headscope::bench {
namespace {

/// The name and release from OpenBLAS's configuration, "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string first_two_words(const char* text) {
  std::istringstream words(text);
  std::string first, second;
  words >> first >> second;
  return first + " " + second;
}

template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

void help_openblas_to_know_the_processor() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    ::setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  }
#endif
}

}  // namespace

Operands::Operands(const ProductShape& shape) : bias_(some_activations(static_cast<std::size_t>(shape.out))) {
  const auto rows = static_cast<std::size_t>(shape.rows);
  const std::vector<float> x = some_activations(rows * static_cast<std::size_t>(shape.in));
  const std::size_t results = rows * static_cast<std::size_t>(shape.out);
  float* memory = memory_.reserve(x.size() + results);
  x_ = {memory, shape.rows, shape.in, shape.in};
  y_ = {memory + x.size(), shape.rows, shape.out, shape.out};
  std::ranges::copy(x, x_.data);
  std::fill_n(y_.data, results, 0.0F);
}

void own_product(const Operands& operands, const model::PanelMatrix& w, const ProductShape& shape,
                 model::Workers& workers) {
  if (shape.transposed) {
    model::product_with_columns(operands.x(), w, 0, workers, operands.y());
  } else {
    model::linear(operands.x(), {w, operands.bias()}, workers, operands.y());
  }
}

void eigen_product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
                   model::Workers& workers, model::FloatRows y) {
  using model::map;
  const int width = x.rows == 1 ? 384 : 192;  // the fastest of those tried
  workers.parallel_for((shape.out + width - 1) / width, [&](int block, float*) {
    const int col = block * width, cols = std::min(width, shape.out - col);
    if (shape.transposed) {
      const model::ConstFloatRows w{weights, shape.out, shape.in, shape.in};
      map(y.middle_cols(col, cols)).noalias() = map(x) * map(w.middle_rows(col, cols)).transpose();
    } else {
      const model::ConstFloatRows w{weights, shape.in, shape.out, shape.out};
      map(y.middle_cols(col, cols)).noalias() = map(x) * map(w.middle_cols(col, cols));
    }
  });
}

std::optional<OpenBlas> OpenBlas::find(int threads, const char* library) {
  help_openblas_to_know_the_processor();
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  OpenBlas found;
  found.sgemm_ = symbol<Sgemm>(handle, "cblas_sgemm");
  found.sgemv_ = symbol<Sgemv>(handle, "cblas_sgemv");
  const auto set_threads = symbol<void (*)(int)>(handle, "openblas_set_num_threads");
  if (found.sgemm_ == nullptr || found.sgemv_ == nullptr || set_threads == nullptr) return std::nullopt;
  set_threads(threads);
  const auto config = symbol<char* (*)()>(handle, "openblas_get_config");
  const auto core = symbol<char* (*)()>(handle, "openblas_get_corename");
  found.name_ = config != nullptr ? first_two_words(config()) : "OpenBLAS";
  if (core != nullptr) found.name_ += " (" + std::string(core()) + ")";
  return found;
}

void OpenBlas::product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
                       model::FloatRows y) const {
  constexpr int kRowMajor = 101, kAsItIs = 111, kTransposed = 112;  // cblas.h
  const int w_rows = shape.transposed ? shape.out : shape.in,
            w_cols = shape.transposed ? shape.in : shape.out;
  if (shape.rows == 1) {  // several times faster than sgemm for one row
    sgemv_(kRowMajor, shape.transposed ? kAsItIs : kTransposed, w_rows, w_cols, 1, weights, w_cols, x.data, 1,
           0, y.data, 1);
    return;
  }
  sgemm_(kRowMajor, kAsItIs, shape.transposed ? kTransposed : kAsItIs, shape.rows, shape.out, shape.in, 1,
         x.data, static_cast<int>(x.stride), weights, w_cols, 0, y.data, static_cast<int>(y.stride));
}

void wait_until_idle() {
  using std::chrono::milliseconds;
  constexpr milliseconds kLook{10}, kLongest{2000};
  constexpr std::clock_t kIdle = CLOCKS_PER_SEC / 1000;  // processor time within kLook
  for (milliseconds waited{0}; waited < kLongest; waited += kLook) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(kLook);
    if (std::clock() - before < kIdle) return;
  }
}

PeerProducts::PeerProducts(std::size_t largest, model::Workers& workers, const char* openblas)
    : workers_(workers),
      openblas_(OpenBlas::find(workers.threads(), openblas)),
      weights_(largest * sizeof(float)) {}

PeerTimes PeerProducts::measure(const ProductShape& shape) {
  const Operands operands(shape);
  const auto next = [&] {
    return reinterpret_cast<const float*>(weights_.next(shape.values() * sizeof(float)));
  };
  PeerTimes times;
  times.eigen =
      app::median_seconds([&] { eigen_product(operands.x(), next(), shape, workers_, operands.y()); });
  if (openblas_) {
    times.openblas =
        app::median_seconds([&] { openblas_->product(operands.x(), next(), shape, operands.y()); });
    wait_until_idle();
  }
  return times;
}

std::vector<std::string> PeerProducts::names() const {
  const std::string instructions = Eigen::SimdInstructionSetsInUse();  // "AVX512, FMA, AVX2, ..."
  std::vector<std::string> names = {
      "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
      std::to_string(EIGEN_MINOR_VERSION) + " (" + instructions.substr(0, instructions.find(',')) + ")"};
  if (openblas_) names.push_back(openblas_->name());
  return names;
}

std::vector<float> some_activations(std::size_t size) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(size);
  std::ranges::generate(values, [&] { return uniform(generator); });
  return values;
}

}  // namespace headscope::bench
