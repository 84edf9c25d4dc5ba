#include "compiler/calibration_cache.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <unistd.h>

#include "base/logging.h"
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

// Whether ranges are taken in the same way.
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
  }
}

const quantization::Ranges* CalibrationCache::find(const std::string& key) const {
  const auto found = cache_.networks.find(key);
  return found == cache_.networks.end() ? nullptr : &found->second;
}

void CalibrationCache::add(const std::string& key, quantization::Ranges ranges) {
  cache_.networks.insert_or_assign(key, std::move(ranges));
  is_changed_ = true;
}

void CalibrationCache::write() const {
  if (file_.empty() || !is_changed_) {
    return;
  }
  // Another compile may be reading or writing it.
  static std::atomic<int> count = 0;
  const std::string temporary = file_ + ".part" + std::to_string(getpid()) + "." + std::to_string(count++);
  std::ofstream out(temporary, std::ios::binary);
  out << quantization::print(cache_);
  out.close();
  if (out && std::rename(temporary.c_str(), file_.c_str()) == 0) {
    return;
  }
  const int problem = errno;
  std::remove(temporary.c_str());
  throw CompileError(ErrorCode::kOutput,
                     "the calibration cache " + file_ + " cannot be written: " + std::strerror(problem), {},
                     "name another file, or none");
}

}  // namespace torchtrt::compiler
