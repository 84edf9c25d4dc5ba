#include "calibration_data.h"

#include <vector>

#include "saved_values.h"
#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torch::jit::IValue;
using torchtrt::CompileError;
using torchtrt::ErrorCode;
using torchtrt::ptq::Calibrator;

constexpr const char* kOption = "--calibration-data";
constexpr const char* kAdvice =
    "write it with torch.save([batch, ...], file), a batch being a tensor or a tuple of tensors";

[[noreturn]] void reject(const std::string& file, const std::string& why) {
  throw CompileError(ErrorCode::kInvalidOption, std::string(kOption) + " " + file + " " + why, {}, kAdvice);
}

std::vector<Calibrator::Arguments> batchesOf(const std::string& file) {
  const IValue content = readSaved(file, kOption, kAdvice);
  if (!isSequence(content)) {
    reject(file, "holds a " + content.tagKind() + ", expected a list of batches");
  }
  std::vector<Calibrator::Arguments> batches;
  for (const IValue& batch : elementsOf(content)) {
    if (!batch.isTensor() && !isSequence(batch)) {
      reject(file, "holds a batch that is a " + batch.tagKind());
    }
    batches.push_back(batch.isTensor() ? Calibrator::Arguments{batch} : elementsOf(batch));
  }
  return batches;
}

}  // namespace

std::shared_ptr<Calibrator> calibrator(const std::string& data, const std::string& cache) {
  if (data.empty()) {
    return cache.empty() ? nullptr : torchtrt::ptq::make_int8_cache_calibrator(cache);
  }
  return torchtrt::ptq::make_int8_calibrator(batchesOf(data), cache);
}

}  // namespace torchtrtc
