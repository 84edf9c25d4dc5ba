#include "compiler/calibration/calibration_runs.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checkpoint.h"
#include "base/logging.h"
#include "compiler/checking/watch.h"
#include "compiler/inputs/dtype_inference.h"
#include "compiler/inputs/typed_value.h"
#include "compiler/module/placing.h"
#include "compiler/module/plain_run.h"
#include "partitioning/observation.h"
#include "runtime/dtypes.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;

constexpr size_t kMostCalls = 100;  // of one engine in a forward; a loop's further ones are left out

// Returns the raised text of an error of the interpreter, which also tells its place. It is the innermost one if one
// interpreter runs in another for an engine.
std::string reasonOf(const std::exception& error) {
  constexpr std::string_view kRaised = "\nRuntimeError: ";
  const std::string text = error.what();
  const size_t raised = text.rfind(kRaised);
  const size_t begin = raised == std::string::npos ? 0 : raised + kRaised.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<Watched> watchedForward(const PlainMethod& method, std::vector<IValue> arguments) {
  Watch watch(kMostCalls, Watch::Keeping::kCopies);
  watch.beginForward();
  method(std::move(arguments));
  return watch.watched();
}

void tell(const std::vector<Watched>& watched, const EngineCall& call) {
  for (const Watched& each : watched) {
    for (const std::vector<at::Tensor>& inputs : each.inputs) {
      checkpoint();
      call(*each.engine, inputs);
    }
  }
}

std::vector<IValue> argumentsOf(ptq::Calibrator::Arguments batch, const CalibrationRuns& runs) {
  batch.resize(std::min(batch.size(), runs.arguments));
  return placed(asArguments(std::move(batch), runs.schema, runs.precision), runs.device);
}

// Returns the method, of a copy of the module if methods may write to it.
PlainMethod runnable(const CalibrationRuns& runs) {
  return {runs.has_state ? runs.module.deepcopy() : runs.module, runs.method};
}

[[noreturn]] void rejectNone() {
  throw CompileError(ErrorCode::kInvalidInputSpec, "the calibrator gives no batch", {},
                     "give a data loader with batches; an iterator that was gone through has none left, a list or a "
                     "DataLoader can be gone through again");
}

[[noreturn]] void rejectFirst(const CalibrationRuns& runs, const std::string& why) {
  throw CompileError(ErrorCode::kInvalidInputSpec,
                     "the first calibration batch does not fit " + runs.method + ": " + why, {},
                     "give batches with the method's arguments in order, a tuple or list where there are several, in "
                     "shapes that the inputs allow: " +
                         c10::str(runs.schema));
}

}  // namespace

CalibrationRuns calibrationRuns(const Task& task, const torch::jit::Module& module) {
  const auto& [source, lowered, spec, precision, target] = task;
  const bool is_flat = spec.graph_inputs.input_signature.isNone();
  const size_t arguments = lowered.schema.arguments().size();
  return {.module = module,
          .method = source.method,
          .schema = lowered.schema,
          .arguments = is_flat ? std::min(arguments, spec.graph_inputs.inputs.size()) : arguments,
          .precision = precision,
          .has_state = lowered.has_self,
          .device = target.device};
}

std::vector<IValue> asArguments(std::vector<IValue> values, const c10::FunctionSchema& schema, DataType precision) {
  for (size_t i = 0; i < std::min(values.size(), schema.arguments().size()); ++i) {
    values[i] = asType(values[i], schema.arguments()[i].type()).value_or(values[i]);
  }
  if (precision != DataType::kUnknown) {
    for (IValue& value : values) {
      if (value.isTensor() && value.toTensor().is_floating_point()) {
        value = value.toTensor().to(runtime::scalarTypeOf(dtypeOf(precision)));
      }
    }
  }
  return values;
}

void Progress::at(const std::function<std::string()>& where) {
  checkpoint();
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::seconds(2)) {
    return;
  }
  last_ = now;
  if (logging::getReportableLevel() >= logging::kWARNING) {
    std::cerr << logging::getPrefix() + where() + "\n";
  }
}

void runBatches(const ptq::Calibrator& calibrator, const CalibrationRuns& runs, const EngineCall& call) {
  const PlainMethod method = runnable(runs);
  const ptq::Calibrator::NextBatch next = calibrator.batches();
  const at::NoGradGuard no_grad;
  const partitioning::KeepRandomState keep_random_state;
  Progress progress;
  size_t fitting = 0;
  size_t others = 0;
  std::string reason;
  while (auto batch = next()) {
    try {
      tell(watchedForward(method, argumentsOf(std::move(*batch), runs)), call);
      ++fitting;
    } catch (const InternalError&) {
      throw;
    } catch (const std::exception& error) {
      if (fitting == 0) {
        rejectFirst(runs, reasonOf(error));
      }
      reason = others++ == 0 ? reasonOf(error) : reason;
    }
    progress.at([&] { return "calibration: " + std::to_string(fitting + others) + " batches so far"; });
  }
  if (fitting == 0) {
    rejectNone();
  }
  if (others > 0) {
    TORCHTRT_LOG(kWARNING, others << " of " << fitting + others
                                  << " calibration batches do not fit and are left out: " << reason);
  }
}

void runOnce(const CalibrationRuns& runs, const std::vector<IValue>& arguments, const EngineCall& call) {
  const at::NoGradGuard no_grad;
  const partitioning::KeepRandomState keep_random_state;
  const auto copied = [&arguments] {
    std::vector<IValue> copies;
    std::transform(arguments.begin(), arguments.end(), std::back_inserter(copies),
                   [](const IValue& argument) { return argument.deepcopy(); });
    return copies;
  };
  const auto watched_behind = [&](int earlier_calls) {
    const PlainMethod method = runnable(runs);
    for (int i = 0; i < earlier_calls; ++i) {
      method(copied());
    }
    return watchedForward(method, copied());
  };
  std::vector<Watched> watched;
  try {
    watched = watched_behind(runs.earlier_calls);
  } catch (const std::exception&) {
    if (runs.earlier_calls == 0) {
      throw;
    }
    watched = watched_behind(0);  // what the module keeps may be full after one call
  }
  tell(watched, call);
}

}  // namespace torchtrt::compiler
