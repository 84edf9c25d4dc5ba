// The calibrator of --calibration-data and --calibration-cache-file.
#pragma once

#include <memory>
#include <string>

#include "torchtrt/ptq.h"

namespace torchtrtc {

// Null where neither is named. Batches: a file that torch.save wrote, with a list or tuple of tensors, each the
// argument of a call, or of tuples or lists of arguments; their ranges go to the cache. Without batches they are read
// from it. Throws CompileError for a file that cannot be read or holds something else.
std::shared_ptr<torchtrt::ptq::Calibrator> calibrator(const std::string& data, const std::string& cache);

}  // namespace torchtrtc
