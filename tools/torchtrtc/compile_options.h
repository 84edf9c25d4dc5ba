// Declares the options of a compile on the command line, and their spelling. compile_command.cpp knows what they mean
// to the compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace torchtrtc {

struct CompileOptions {
  std::string input, output;
  std::vector<std::string> specs, precisions, pins, torch_executed_ops, torch_executed_modules, custom_ops,
      custom_converters;
  std::vector<std::string> plugins, disabled_passes;
  std::string dump, stop_after;
  std::vector<std::string> old_dump;  // of options that --dump has replaced
  std::string device_type, target, op_precision, engine_capability = "standard", check_method, calibration_cache,
                                                 calibration_data, timing_cache;
  double tuning_seconds = 10;
  int64_t gpu_id = 0, dla_core = 0;
  uint64_t timing_iterations = 1, workspace_size = 0;
  std::optional<uint64_t> min_block_size;
  std::optional<double> accuracy_target;
  std::string weight_precision;
  uint64_t group_size = 64;
  uint64_t dla_sram = 1048576, dla_local_dram = 1073741824, dla_global_dram = 536870912;
  double atol = 1e-8, rtol = 1e-5;
  bool verbose = false, no_warnings = false, info = false, debuggable = false, allow_gpu_fallback = false;
  bool full_compilation = false, disable_tf32 = false, sparse_weights = false, embed_engine = false,
       save_engine = false;
  bool no_threshold_check = false, truncate = false, allow_shape_tensors = false, tune = false,
       weight_zero_points = false;
  bool explain = false;
  bool drop_methods = false, batch_invariant = false;
};

// INPUT, OUTPUT, SPECS and all options, in the order and groups of --help. `options` has to live as long as `app`.
void addCompileOptions(CLI::App& app, CompileOptions& options);

}  // namespace torchtrtc
