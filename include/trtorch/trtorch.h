// The spelling before torch_tensorrt and torchtrt, as thin wrappers over torchtrt/torchtrt.h. New code uses that one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "torchtrt/torchtrt.h"
#include "trtorch/ptq.h"

namespace trtorch {

namespace logging = torchtrt::logging;
using torchtrt::dump_build_info;
using torchtrt::EngineCapability;
using torchtrt::get_build_info;
using torchtrt::set_device;

struct ExtraInfo {
  using DataType = torchtrt::DataType;
  using Device = torchtrt::Device;
  using EngineCapability = torchtrt::EngineCapability;

  // A static shape, or minimum, optimum and maximum.
  struct InputRange {
    std::vector<int64_t> min, opt, max;

    using Sizes = std::initializer_list<int64_t>;
    InputRange(Sizes opt) : InputRange(std::vector<int64_t>(opt)) {}  // NOLINT(google-explicit-constructor)
    InputRange(Sizes min, Sizes opt, Sizes max)
        : InputRange(std::vector<int64_t>(min), std::vector<int64_t>(opt), std::vector<int64_t>(max)) {}
    InputRange(std::vector<int64_t> opt) : min(opt), opt(opt), max(opt) {}  // NOLINT(google-explicit-constructor)
    InputRange(c10::ArrayRef<int64_t> opt) : InputRange(opt.vec()) {}       // NOLINT(google-explicit-constructor)
    InputRange(std::vector<int64_t> min, std::vector<int64_t> opt, std::vector<int64_t> max)
        : min(std::move(min)), opt(std::move(opt)), max(std::move(max)) {}
    InputRange(c10::ArrayRef<int64_t> min, c10::ArrayRef<int64_t> opt, c10::ArrayRef<int64_t> max)
        : InputRange(min.vec(), opt.vec(), max.vec()) {}
  };

  ExtraInfo(std::vector<InputRange> input_ranges)  // NOLINT(google-explicit-constructor)
      : input_ranges(std::move(input_ranges)) {}
  ExtraInfo(const std::vector<std::vector<int64_t>>& fixed_sizes)  // NOLINT(google-explicit-constructor)
      : input_ranges(fixed_sizes.begin(), fixed_sizes.end()) {}
  ExtraInfo(const std::vector<c10::ArrayRef<int64_t>>& fixed_sizes)  // NOLINT(google-explicit-constructor)
      : input_ranges(fixed_sizes.begin(), fixed_sizes.end()) {}

  std::vector<InputRange> input_ranges;
  DataType op_precision = DataType::kFloat;  // inputs and weights have it; kChar: float ones, and a calibrator
  bool disable_tf32 = false;
  bool refit = false;
  bool debug = false;
  bool truncate_long_and_double = false;
  bool strict_types = false;
  Device device;
  EngineCapability capability = EngineCapability::kSTANDARD;
  uint64_t num_min_timing_iters = 2;
  uint64_t num_avg_timing_iters = 1;
  uint64_t workspace_size = 0;
  uint64_t max_batch_size = 0;
  std::shared_ptr<const ptq::Calibrator> ptq_calibrator;
};

namespace detail {
inline torchtrt::ts::CompileSpec specOf(const ExtraInfo& info) {
  std::vector<torchtrt::Input> inputs;
  for (const ExtraInfo::InputRange& range : info.input_ranges) {
    inputs.emplace_back(range.min, range.opt, range.max);
  }
  torchtrt::ts::CompileSpec spec(std::move(inputs));
  // The default says nothing about inputs that are not floating, and int8 is not what they are given in.
  const bool is_cast =
      info.op_precision != ExtraInfo::DataType::kFloat && info.op_precision != ExtraInfo::DataType::kChar;
  spec.op_precision = is_cast ? info.op_precision : ExtraInfo::DataType();
  spec.enabled_precisions = {info.op_precision};
  spec.ptq_calibrator = info.ptq_calibrator;
  spec.disable_tf32 = info.disable_tf32;
  spec.refit = info.refit;
  spec.debug = info.debug;
  spec.truncate_long_and_double = info.truncate_long_and_double;
  spec.device = info.device;
  spec.capability = info.capability;
  spec.num_avg_timing_iters = info.num_avg_timing_iters;
  spec.workspace_size = info.workspace_size;
  return spec;
}
}  // namespace detail

inline bool CheckMethodOperatorSupport(const torch::jit::Module& module, std::string method_name) {
  return torchtrt::ts::check_method_operator_support(module, std::move(method_name));
}

inline torch::jit::Module CompileGraph(const torch::jit::Module& module, const ExtraInfo& info) {
  return torchtrt::ts::compile(module, detail::specOf(info));
}

inline std::string ConvertGraphToTRTEngine(const torch::jit::Module& module, std::string method_name,
                                           const ExtraInfo& info) {
  return torchtrt::ts::convert_method_to_trt_engine(module, std::move(method_name), detail::specOf(info));
}

}  // namespace trtorch
