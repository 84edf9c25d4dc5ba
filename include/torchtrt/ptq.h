// Post-training quantization: calibrators, which say what the tensors of a module reach on real data. Give one as
// CompileSpec::ptq_calibrator with kChar among enabled_precisions.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::ptq {

// The rule that takes a range from the values that a tensor held.
enum class CalibrationAlgo : int8_t {
  kENTROPY_CALIBRATION,    // clipped where the histogram loses the least information
  kENTROPY_CALIBRATION_2,  // the same
  kLEGACY_CALIBRATION,     // clipped at a percentile
  kMINMAX_CALIBRATION      // all of it
};

// The source of a compile's calibration: batches, a cache of ranges, or both.
struct TORCHTRT_API Calibrator {
  using Arguments = std::vector<torch::jit::IValue>;
  using NextBatch = std::function<std::optional<Arguments>()>;

  CalibrationAlgo algo = CalibrationAlgo::kMINMAX_CALIBRATION;
  double percentile = 99.99;  // kLEGACY_CALIBRATION: how much of the values lies within, in percent
  bool symmetric = false;     // activations: as many steps below zero as above
  // Begins a pass over the batches. The returned function gives the arguments of the next call of the method, and
  // nothing after the last. Arguments behind those that Inputs are given for, such as labels, are left out. Empty:
  // there is the cache alone.
  std::function<NextBatch()> batches;
  // A text of ranges. They are written there, or with use_cache read instead of calibrating, where it has them.
  std::string cache_file;
  bool use_cache = false;
};

namespace detail {

template <typename T, typename = void>
struct IsPointer : std::false_type {};
template <typename T>
struct IsPointer<T, std::void_t<decltype(*std::declval<T&>())>> : std::true_type {};

template <typename Loader>
decltype(auto) rangeOf(Loader& loader) {
  if constexpr (IsPointer<Loader>::value) {  // torch::data::make_data_loader gives a std::unique_ptr
    return (*loader);
  } else {
    return (loader);
  }
}

template <typename Batch, typename = void>
struct HoldsArguments : std::false_type {};
template <typename Batch>
struct HoldsArguments<Batch, std::void_t<decltype(Calibrator::Arguments(std::begin(std::declval<const Batch&>()),
                                                                        std::end(std::declval<const Batch&>())))>>
    : std::true_type {};

template <typename Batch, typename = void>
struct HasData : std::false_type {};
template <typename Batch>
struct HasData<Batch, std::void_t<decltype(std::declval<const Batch&>().data)>> : std::true_type {};

// The arguments of a call, out of a Tensor, a vector of Tensors or values, or an Example, whose data they are.
template <typename Batch>
Calibrator::Arguments argumentsOf(const Batch& batch) {
  if constexpr (std::is_convertible_v<const Batch&, at::Tensor>) {
    return {at::Tensor(batch)};
  } else if constexpr (HoldsArguments<Batch>::value) {
    return Calibrator::Arguments(std::begin(batch), std::end(batch));
  } else {
    static_assert(HasData<Batch>::value,
                  "a calibration batch is a Tensor, a vector of Tensors, or an Example: map the data set with "
                  "torch::data::transforms::Stack<>()");
    return argumentsOf(batch.data);
  }
}

template <typename Loader>
class Pass {
 public:
  explicit Pass(std::shared_ptr<Loader> loader)
      : loader_(std::move(loader)), next_(rangeOf(*loader_).begin()), end_(rangeOf(*loader_).end()) {}

  std::optional<Calibrator::Arguments> operator()() {
    if (next_ == end_) {
      return std::nullopt;
    }
    Calibrator::Arguments arguments = argumentsOf(*next_);
    ++next_;
    return arguments;
  }

 private:
  std::shared_ptr<Loader> loader_;
  decltype(rangeOf(std::declval<Loader&>()).begin()) next_;
  decltype(rangeOf(std::declval<Loader&>()).end()) end_;
};

}  // namespace detail

// Takes the result of torch::data::make_data_loader, or any range of batches, which it keeps: a Tensor, a vector of
// Tensors (one per argument), or an Example, whose data is taken.
template <typename Loader>
std::shared_ptr<Calibrator> make_int8_calibrator(Loader loader, std::string cache_file = "", bool use_cache = false,
                                                 CalibrationAlgo algo = CalibrationAlgo::kMINMAX_CALIBRATION) {
  auto calibrator = std::make_shared<Calibrator>();
  calibrator->algo = algo;
  calibrator->cache_file = std::move(cache_file);
  calibrator->use_cache = use_cache;
  calibrator->batches = [held = std::make_shared<Loader>(std::move(loader))]() -> Calibrator::NextBatch {
    auto pass = std::make_shared<detail::Pass<Loader>>(held);
    return [pass] { return (*pass)(); };
  };
  return calibrator;
}

// Uses the ranges that an earlier compile wrote.
inline std::shared_ptr<Calibrator> make_int8_cache_calibrator(
    std::string cache_file, CalibrationAlgo algo = CalibrationAlgo::kMINMAX_CALIBRATION) {
  auto calibrator = std::make_shared<Calibrator>();
  calibrator->algo = algo;
  calibrator->cache_file = std::move(cache_file);
  calibrator->use_cache = true;
  return calibrator;
}

// The reference system's spelling, with the method as a type:
// make_int8_calibrator<nvinfer1::IInt8MinMaxCalibrator>(...). nvinfer1.h has the types, each of which names its method
// as kAlgo.
template <typename Method, typename Loader, CalibrationAlgo kAlgo = Method::kAlgo>
std::shared_ptr<Calibrator> make_int8_calibrator(Loader loader, std::string cache_file = "", bool use_cache = false) {
  return make_int8_calibrator(std::move(loader), std::move(cache_file), use_cache, kAlgo);
}

template <typename Method, CalibrationAlgo kAlgo = Method::kAlgo>
std::shared_ptr<Calibrator> make_int8_cache_calibrator(std::string cache_file) {
  return make_int8_cache_calibrator(std::move(cache_file), kAlgo);
}

}  // namespace torchtrt::ptq
