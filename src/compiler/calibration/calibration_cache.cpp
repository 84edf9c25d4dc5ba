#include "compiler/calibration/calibration_cache.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/logging.h"
#include "base/safe_file.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

namespace {

std::optional<std::string> contentOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) {
    text << in.rdbuf();
  }
  return in && !in.bad() && !text.bad() ? std::optional(text.str()) : std::nullopt;
}

// Calibrating may take minutes, so what can never be written is refused before.
void rejectWhatIsNoFile(const std::string& file) {
  const std::error_code problem = checkReplaceable(file);
  if (problem == std::errc::is_a_directory || problem == std::errc::invalid_argument) {
    throw CompileError(ErrorCode::kOutput, "the calibration cache " + file + " is a folder or a device", {},
                       "name a file, which is replaced as a whole");
  }
}

// True where ranges are taken in the same way.
bool isAlike(const quantization::Cache& a, const quantization::Cache& b) {
  const bool same_limit = a.method != quantization::Method::kPercentile || a.percentile == b.percentile;
  return a.method == b.method && same_limit && a.symmetric == b.symmetric;
}

}  // namespace

quantization::Method methodOf(ptq::CalibrationAlgo algo) {
  switch (algo) {
    case ptq::CalibrationAlgo::kMINMAX_CALIBRATION:
      return quantization::Method::kMinMax;
    case ptq::CalibrationAlgo::kLEGACY_CALIBRATION:
      return quantization::Method::kPercentile;
    case ptq::CalibrationAlgo::kENTROPY_CALIBRATION:
    case ptq::CalibrationAlgo::kENTROPY_CALIBRATION_2:
      break;
  }
  return quantization::Method::kEntropy;
}

CalibrationCache::CalibrationCache(const ptq::Calibrator& calibrator) : file_(calibrator.cache_file) {
  const quantization::Cache asked{methodOf(calibrator.algo), calibrator.percentile, calibrator.symmetric, {}};
  cache_ = asked;
  if (!file_.empty() && calibrator.batches) {
    rejectWhatIsNoFile(file_);
  }
  if (!calibrator.use_cache) {
    return;
  }
  const std::optional<std::string> content = contentOf(file_);
  if (!content) {
    if (!calibrator.batches) {
      throw CompileError(ErrorCode::kInvalidOption, "the calibration cache " + file_ + " cannot be read", {},
                         "compile once with batches and this cache file, which writes it");
    }
    return;
  }
  try {
    cache_ = quantization::parseCache(*content);
  } catch (const CompileError& error) {
    throw CompileError(ErrorCode::kInvalidOption, "the calibration cache " + file_ + ": " + error.message(), {},
                       "remove the file, or name another one");
  }
  if (!isAlike(cache_, asked) && calibrator.batches) {
    TORCHTRT_LOG(kWARNING, "the calibration cache " << file_ << " was written by another method, and is not used");
    cache_ = asked;
    return;
  }
  is_written_ = true;
}

const quantization::Ranges* CalibrationCache::find(const std::string& key) const {
  const auto found = cache_.networks.find(key);
  return found == cache_.networks.end() ? nullptr : &found->second;
}

void CalibrationCache::add(const std::string& key, quantization::Ranges ranges) {
  cache_.networks.insert_or_assign(key, std::move(ranges));
  is_written_ = false;
}

void CalibrationCache::write() const {
  if (file_.empty() || is_written_) {
    return;
  }
  if (const std::error_code problem = replaceFile(file_, quantization::print(cache_))) {
    throw CompileError(ErrorCode::kOutput,
                       "the calibration cache " + file_ + " cannot be written: " + problem.message(), {},
                       "name another file, or none");
  }
}

}  // namespace torchtrt::compiler
