// The texts of a model repository for Triton: the model's configuration, how to serve it, a manifest for KServe. Texts
// alone: triton_command.cpp writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "triton_model.h"

namespace torchtrtc {

struct TritonOptions {
  std::string name;  // of the model and its folder
  int version = 1;
  int instances = 1;
  int64_t queue_delay = 100;  // microseconds that a request waits for others
  bool is_for_gpu = false;    // engines were made for GPUs
  std::vector<int> gpus;      // none: all
  int threads = 0;            // of a call on a CPU; 0: as the server has it
};

std::string configText(const TritonModel& model, const TritonOptions& options);   // config.pbtxt
std::string servingText(const TritonModel& model, const TritonOptions& options);  // README.md
std::string kserveText(const TritonOptions& options);                             // kserve.yaml

// The command that starts a server with the runtime loaded first.
std::string serverCommand(const std::string& repository);

}  // namespace torchtrtc
