#include "compiler/checks.h"

#include <algorithm>

#include "base/logging.h"
#include "compiler/calibration/weight_precision.h"
#include "compiler/inputs/dtype_inference.h"
#include "compiler/module/precision_pins.h"
#include "compiler/module/source.h"
#include "compiler/rejections.h"
#include "partitioning/user_choice.h"
#include "runtime/dtypes.h"
#include "runtime/weight_set.h"
#include "torchtrt/error.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

namespace {

constexpr double kMostTuningSeconds = 24 * 3600;

struct Explained {
  bool given;
  const char* name;
  const char* why;
};

void explain(const ts::CompileSpec& spec, const DeviceTarget& target) {
  const ts::CompileSpec plain(std::vector<Input>{});
  const Explained options[] = {
      {spec.truncate_long_and_double, "truncate_long_and_double",
       "64-bit types are computed exactly, nothing is truncated"},
      {spec.disable_tf32 && target.engineType() == at::kCPU, "disable_tf32", "a CPU has no TF32"},
      {spec.weight_precision.empty() && (spec.group_size != plain.group_size || spec.weight_zero_points),
       "group_size or weight_zero_points", "weight_precision is not given"},
      {spec.sparse_weights, "sparse_weights", "weights are kept dense"},
      {spec.batch_invariant && !spec.timing_cache.empty(), "timing_cache",
       "with batch_invariant, kernels are chosen without regard to their speed at one batch"},
      {spec.debug, "debug", "every engine keeps names and source lines"},
      {spec.allow_shape_tensors, "allow_shape_tensors", "shapes are symbolic expressions and need no permission"},
      {spec.capability != plain.capability, "capability", "there is one kind of engine"},
      {spec.num_avg_timing_iters != plain.num_avg_timing_iters, "num_avg_timing_iters",
       "with a timing_cache, kernels are timed until noise is out"},
      {spec.workspace_size != plain.workspace_size, "workspace_size",
       "the workspace is as large as the shapes ask for"},
      {spec.dla_sram_size != plain.dla_sram_size, "dla_sram_size", "there is no DLA"},
      {spec.dla_local_dram_size != plain.dla_local_dram_size, "dla_local_dram_size", "there is no DLA"},
      {spec.dla_global_dram_size != plain.dla_global_dram_size, "dla_global_dram_size", "there is no DLA"},
  };
  for (const Explained& option : options) {
    if (option.given) {
      TORCHTRT_LOG(kINFO, "option " << option.name << " is accepted and has no effect: " << option.why);
    }
  }
}

void checkPrecisions(const ts::CompileSpec& spec) {
  for (const DataType precision : spec.enabled_precisions) {
    switch (precision) {
      case DataType::kFloat:
      case DataType::kHalf:
      case DataType::kBFloat16:
      case DataType::kDouble:
      case DataType::kChar:
        break;
      default:
        rejectOption(c10::str("enabled_precisions holds ", precision), "use float, half, bfloat16, double or int8");
    }
  }
  switch (spec.op_precision) {
    case DataType::kUnknown:
    case DataType::kFloat:
    case DataType::kHalf:
    case DataType::kBFloat16:
    case DataType::kDouble:
      break;
    default:
      rejectOption(c10::str("op_precision is ", spec.op_precision), "use float, half, bfloat16 or double");
  }
}

void checkCalibration(const ts::CompileSpec& spec) {
  const bool has_int8 = spec.enabled_precisions.count(DataType::kChar) != 0;
  const ptq::Calibrator* calibrator = spec.ptq_calibrator.get();
  const bool has_use = has_int8 || (spec.accuracy_target && !spec.weight_precision.empty());
  if (calibrator != nullptr && !has_use) {
    rejectOption("a calibrator is given and int8 is not among enabled_precisions",
                 "add int8 to enabled_precisions, or leave the calibrator out");
  }
  if (calibrator != nullptr && !calibrator->batches && calibrator->cache_file.empty()) {
    rejectOption("the calibrator has neither batches nor a cache file", "give it one of them");
  }
  if (calibrator != nullptr && calibrator->use_cache && calibrator->cache_file.empty()) {
    rejectOption("the calibrator is to use a cache and names no file", "give cache_file, or leave use_cache out");
  }
  if (calibrator != nullptr && !(calibrator->percentile > 50 && calibrator->percentile <= 100)) {
    rejectOption(c10::str("the calibrator's percentile is ", calibrator->percentile),
                 "give percent between 50 and 100, such as 99.99");
  }
  if (spec.accuracy_target) {
    if (!(*spec.accuracy_target > 0 && *spec.accuracy_target < 1)) {
      rejectOption(c10::str("accuracy_target is ", *spec.accuracy_target),
                   "give the relative error that int8 may cost, between 0 and 1, such as 0.02");
    }
    if (calibrator == nullptr || !calibrator->batches) {
      rejectOption("accuracy_target is given and there are no calibration batches to measure on",
                   "give a calibrator with batches, or leave accuracy_target out");
    }
  }
  if (has_int8 && calibrator == nullptr) {
    TORCHTRT_LOG(kWARNING,
                 "int8 is enabled and no calibrator is given: nothing is quantized, and what the module quantizes "
                 "itself computes as it says; give a calibrator to have engines compute in int8");
  }
}

// A warning alone: the results are right, in engines where PyTorch was wanted.
void checkUserChoice(const ts::CompileSpec& spec, const torch::jit::Module* module) {
  const partitioning::UserChoice choice{{spec.torch_executed_ops.begin(), spec.torch_executed_ops.end()},
                                        spec.torch_executed_modules};
  for (const std::string& name : partitioning::namesOfNothing(choice, module)) {
    TORCHTRT_LOG(kWARNING,
                 "\"" << name << "\" is to stay in PyTorch and names "
                      << (choice.torch_executed_ops.count(name) != 0
                              ? "no operator; give names such as aten::relu in torch_executed_ops"
                              : "no module; give classes or paths such as layer1.0 in torch_executed_modules"));
  }
}

// They stay as they are, and what is around them was left to PyTorch before, or comes from another module.
void tellOfEngines(const torch::jit::Module& module) {
  if (!runtime::enginesIn(module).empty()) {
    TORCHTRT_LOG(kWARNING,
                 "the module holds engines: it, or a module inside of it, is compiled already; these engines stay as "
                 "they are, to have others compile the module that they were made of");
  }
}

// Permission to compute in a reduced precision, which is taken where weights or inputs are of it.
void tellOfUnusedPrecisions(const ts::CompileSpec& spec, const torch::jit::Module& module) {
  if (weightPrecision(spec) != DataType::kUnknown || spec.enabled_precisions.count(DataType::kFloat) != 0) {
    return;
  }
  const std::vector<at::Tensor> weights = tensorsOf(module);
  for (const DataType reduced : {DataType::kHalf, DataType::kBFloat16}) {
    const at::ScalarType type = runtime::scalarTypeOf(dtypeOf(reduced));
    const bool is_used = std::any_of(weights.begin(), weights.end(),
                                     [type](const at::Tensor& each) { return each.scalar_type() == type; });
    if (spec.enabled_precisions.count(reduced) != 0 && !is_used) {
      TORCHTRT_LOG(kWARNING, "enabled_precisions holds "
                                 << reduced << ", and neither weights nor inputs are of it: engines "
                                 << "compute in the dtypes that the module has; set op_precision to have them cast");
    }
  }
}

}  // namespace

void checkRefit(const ts::CompileSpec& spec, const torch::jit::Module* module) {
  if (!spec.refit) {
    return;
  }
  if (module == nullptr) {
    rejectOption("refit is set for a graph, whose weights have no names", "compile a module, or leave refit out");
  }
  if (spec.ptq_calibrator) {
    rejectOption("refit is set and a calibrator is given: the ranges that it finds are those of these weights",
                 "drop one of the two, and calibrate again for other weights");
  }
  if (!spec.rewriters.empty()) {
    rejectOption("refit is set and rewriters are given, which no file keeps for an update of weights",
                 "drop one of the two, and compile again for other weights");
  }
}

void checkOptions(const ts::CompileSpec& spec, const DeviceTarget& target, const torch::jit::Module* module) {
  if (module != nullptr) {
    tellOfEngines(*module);
    tellOfUnusedPrecisions(spec, *module);
  }
  checkPrecisions(spec);
  checkCalibration(spec);
  checkWeightPrecision(spec, target);
  checkPins(spec, module);
  checkUserChoice(spec, module);
  if (spec.require_full_compilation && !(spec.torch_executed_ops.empty() && spec.torch_executed_modules.empty())) {
    rejectOption("require_full_compilation is set and torch_executed_ops or torch_executed_modules is not empty",
                 "drop one of the two");
  }
  if (spec.tune && spec.require_full_compilation && spec.timing_cache.empty()) {
    rejectOption(
        "tune is set, which leaves to PyTorch what is slower in engines, and require_full_compilation leaves nothing",
        "drop one of the two, or name a timing_cache to have kernels timed");
  }
  if (!(spec.tuning_seconds >= 0 && spec.tuning_seconds <= kMostTuningSeconds)) {
    rejectOption(c10::str("tuning_seconds is ", spec.tuning_seconds),
                 "give the seconds that timing may take, up to a day");
  }
  explain(spec, target);
}

void checkHooks(const ts::CompileSpec& spec, const torch::jit::Module& module, const std::string& method) {
  const c10::ClassType& type = *module.type();
  const bool has_hooks = !type.getForwardPreHooks().empty() || !type.getForwardHooks().empty();
  if (spec.require_full_compilation && has_hooks && method == "forward") {
    throw CompileError(ErrorCode::kInvalidModule,
                       "require_full_compilation is set and the module has hooks around forward, which PyTorch runs",
                       {}, "compile a module whose forward calls this one: there its hooks are in the graph");
  }
}

void checkSamples(const ts::CompileSpec& spec, const std::vector<torch::jit::IValue>& samples,
                  const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const auto needed = std::count_if(arguments.begin(), arguments.end(),
                                    [](const c10::Argument& argument) { return !argument.default_value(); });
  if (!samples.empty() && (samples.size() > arguments.size() || samples.size() < static_cast<size_t>(needed))) {
    rejectInput("the number of sample inputs does not fit: the method is " + c10::str(schema) + ", got " +
                    std::to_string(samples.size()),
                "give sample_inputs the arguments of one call, in order");
  }
  if (spec.tune && !spec.require_full_compilation && samples.empty()) {
    rejectOption("tune is set and there are no sample inputs to time engines on",
                 "give sample_inputs, or tensors as inputs");
  }
}

}  // namespace torchtrt::compiler
