#include "compile_options.h"

#include "command_line.h"
#include "commands.h"

namespace torchtrtc {
namespace {

void addVerbosity(CLI::App& app, CompileOptions& o) {
  app.add_flag("-v,--verbose", o.verbose, "Say everything (debug)");
  app.add_flag("-i,--info", o.info, "Say what is being done");
  app.add_flag("--i", o.info)->group("");  // the reference system's spelling: taken, not shown
  app.add_flag("-w,--warnings", o.no_warnings, "Do not show warnings");
}

void addPrecision(CLI::App& app, CompileOptions& o) {
  constexpr const char* kGroup = "Precision";
  app.add_option("--op-precision", o.op_precision, "Cast the module to it, as module.half() does: f16, bf16")
      ->option_text("DTYPE")
      ->group(kGroup);
  addRepeatable(app, "--precision", o.pins, "MODULES=DTYPE",
                "Pin modules to a dtype, such as 'encoder.layer.0.*=fp32'; the last that covers a module holds")
      ->group(kGroup);
  addRepeatable(app, "-p,--enable-precision", o.precisions, "DTYPE",
                "What engines may use: f32, f16, bf16, or i8 with ranges")
      ->group(kGroup);
  app.add_option("--calibration-data", o.calibration_data,
                 "Batches to calibrate int8 with: a list that torch.save wrote, of tensors or tuples of arguments")
      ->option_text("FILE")
      ->group(kGroup);
  app.add_option("--calibration-cache-file", o.calibration_cache,
                 "Ranges for int8: read, or with --calibration-data written")
      ->option_text("FILE")
      ->group(kGroup);
  app.add_option("--weight-precision", o.weight_precision,
                 "Engines keep the weights of matrix multiplications as integers of 8 or 4 bits, and compute in float")
      ->option_text("int8|int4")
      ->group(kGroup);
  app.add_option("--group-size", o.group_size, "Weights that share a scale, a multiple of 8 from 32 to 128")
      ->option_text("NUMBER")
      ->group(kGroup);
  app.add_flag("--weight-zero-points", o.weight_zero_points, "Groups of weights have zero points, too")->group(kGroup);
  app.add_option("--accuracy-target", o.accuracy_target,
                 "Relative error that int8 may cost an engine's outputs, such as 0.02; what costs more stays in float")
      ->option_text("NUMBER")
      ->group(kGroup);
}

void addSteering(CLI::App& app, CompileOptions& o) {
  constexpr const char* kGroup = "What runs in engines";
  app.add_flag("--require-full-compilation", o.full_compilation, "Fail unless everything becomes an engine")
      ->group(kGroup);
  addRepeatable(app, "--teo,--torch-executed-op", o.torch_executed_ops, "OPERATOR", "Operator to keep in PyTorch")
      ->group(kGroup);
  addRepeatable(app, "--tem,--torch-executed-mod", o.torch_executed_modules, "MODULE", "Module to keep in PyTorch")
      ->group(kGroup);
  app.add_option("--mbs,--min-block-size", o.min_block_size,
                 "Operators an engine must hold; without it, what an engine saves decides")
      ->check(atLeast(0))
      ->option_text("NUMBER")
      ->group(kGroup);
  app.add_flag("--tune", o.tune, "Time engines on random inputs; leave to PyTorch what is slower in them")
      ->group(kGroup);
  app.add_option("--timing-cache", o.timing_cache, "The fastest kernels by machine: read, and with --tune added to")
      ->option_text("FILE")
      ->group(kGroup);
  app.add_option("--tuning-seconds", o.tuning_seconds, "Longest time to time kernels for")
      ->option_text("NUMBER")
      ->capture_default_str()
      ->group(kGroup);
}

void addMethods(CLI::App& app, CompileOptions& o) {
  app.add_flag("--batch-invariant", o.batch_invariant, "Each sample of a batch gets the bits that it has alone")
      ->group("What runs in engines");
  app.add_flag("--drop-methods", o.drop_methods, "Leave out the module's other methods, and what only they read")
      ->group("What runs in engines");
}

void addFiles(CLI::App& app, CompileOptions& o) {
  constexpr const char* kGroup = "Engines as files, libraries";
  app.add_flag("--save-engine", o.save_engine, "Write the engine alone instead of a module")->group(kGroup);
  app.add_flag("--embed-engine", o.embed_engine, "INPUT is such an engine; OUTPUT becomes a module that runs it")
      ->group(kGroup);
  addRepeatable(app, kCustomOps, o.custom_ops, "FILE", "Library with operators that the module uses")->group(kGroup);
  addRepeatable(app, "--custom-converters", o.custom_converters, "FILE", "Library with converters")->group(kGroup);
  addRepeatable(app, "--plugins", o.plugins, "FILE", "Library with plugins")->group(kGroup);
}

void addInsight(CLI::App& app, CompileOptions& o) {
  constexpr const char* kGroup = "Checks, and what happens inside";
  app.add_option("--check-method-support", o.check_method,
                 "Say whether this method's operators are supported, then stop")
      ->option_text("METHOD")
      ->group(kGroup);
  app.add_flag("--explain", o.explain, "List every node, where it went and why, and the phases with their times")
      ->group(kGroup);
  app.add_flag("--no-threshold-check", o.no_threshold_check, "Do not compare results with PyTorch's")->group(kGroup);
  app.add_option("--atol", o.atol, "What that comparison allows, absolute")
      ->option_text("NUMBER")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--rtol", o.rtol, "What it allows of the largest value")
      ->option_text("NUMBER")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("-d,--device,--device-type", o.device_type,
                 "Where engines run: cpu, cuda, cuda:1 (default: where the module's parameters are)")
      ->option_text("DEVICE")
      ->group(kGroup);
  app.add_option("--gpu-id", o.gpu_id, "The GPU of -d gpu")
      ->option_text("NUMBER")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--target", o.target,
                 "Architecture of a GPU (sm_90) to compile for, machine code included; it need not be in this machine")
      ->option_text("NAME")
      ->group(kGroup);
  app.add_option("--dump", o.dump,
                 "Write graphs, partitions, networks, plans and schedules; with :REGEX also what such passes made")
      ->option_text("FOLDER[:REGEX]")
      ->group(kGroup);
  app.add_option(
         "--stop-after", o.stop_after,
         "End behind this phase and write no module: lowering, partitioning, conversion, optimization, building "
         "or loading; --dump has what was made")
      ->option_text("PHASE")
      ->group(kGroup);
  app.add_option("--dump-network,--dump-after", o.old_dump, "Replaced by --dump")->group("");
  addRepeatable(app, "--disable-pass", o.disabled_passes, "PASS", "Pass of the optimizer to leave out: docs/passes.md")
      ->group(kGroup);
}

// Adds options of the reference system that engines on the CPU have no use for.
void addWithoutEffect(CLI::App& app, CompileOptions& o) {
  constexpr const char* kGroup = "Of the reference system, without effect on the CPU";
  const auto flag = [&](const char* names, bool& value, const char* meaning) {
    app.add_flag(names, value, meaning)->group(kGroup);
  };
  const auto number = [&](const char* name, auto& value, const char* meaning) {
    app.add_option(name, value, meaning)->option_text("NUMBER")->capture_default_str()->group(kGroup);
  };
  app.add_option("--engine-capability", o.engine_capability, "CPU engines are standard")
      ->check(oneOf({"standard", "safety", "dla_standalone"}))
      ->option_text("standard|safety|dla_standalone")
      ->group(kGroup);
  flag("--build-debuggable-engine", o.debuggable, "Every engine keeps names and source lines");
  flag("--disable-tf32", o.disable_tf32, "Engines of GPUs never round float32 to TF32");
  flag("--sparse-weights", o.sparse_weights, "Engines use dense weights");
  flag("--truncate,--truncate-long-double,--truncate-64bit", o.truncate, "64-bit dtypes are computed exactly");
  flag("--allow-shape-tensors", o.allow_shape_tensors, "Shapes are symbolic always");
  flag("--allow-gpu-fallback", o.allow_gpu_fallback, "For DLA engines");
  number("--dla-core", o.dla_core, "With -d dla");
  number("--num-avg-timing-iters", o.timing_iterations, "Timing takes its own number of runs");
  number("--workspace-size", o.workspace_size, "Bytes; engines take what they need");
  number("--dla-sram-size", o.dla_sram, "Bytes, with -d dla");
  number("--dla-local-dram-size", o.dla_local_dram, "Bytes, with -d dla");
  number("--dla-global-dram-size", o.dla_global_dram, "Bytes, with -d dla");
}

}  // namespace

void addCompileOptions(CLI::App& app, CompileOptions& options) {
  app.add_option("INPUT", options.input,
                 "TorchScript module, or program of torch.export (with --embed-engine: a serialized engine)");
  app.add_option("OUTPUT", options.output, "File to write; replaced only when complete");
  app.add_option("SPECS", options.specs, "One per input: (d,...) or [(min);(opt);(max)], then @dtype and %format");
  addVerbosity(app, options);
  addPrecision(app, options);
  addSteering(app, options);
  addMethods(app, options);
  addFiles(app, options);
  addInsight(app, options);
  addWithoutEffect(app, options);
}

}  // namespace torchtrtc
