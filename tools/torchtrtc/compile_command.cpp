// torchtrtc INPUT OUTPUT SPECS...: the reference system's compile command, with its arguments and their meaning.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <system_error>

#include <torch/csrc/jit/serialization/export.h>

#include "calibration_data.h"
#include "commands.h"
#include "comparison.h"
#include "compile_options.h"
#include "compiler/reports/summary.h"
#include "compiler/stop_after.h"
#include "engines.h"
#include "exported_program.h"
#include "file_kind.h"
#include "files.h"
#include "input_spec.h"
#include "messages.h"
#include "random_inputs.h"
#include "rows.h"
#include "torch_tensorrt/torch_tensorrt.h"
#include "torchtrt/plugin.h"
#include "torchtrt/torchtrt.h"

namespace torchtrtc {
namespace {

namespace ts = torch_tensorrt::ts;
using torchtrt::CompileError;
using torchtrt::ErrorCode;

torch_tensorrt::Device device(const CompileOptions& options) {
  using Type = torch_tensorrt::Device::DeviceType;
  static const std::map<std::string, Type> kTypes = {
      {"", Type::kAUTO}, {"cpu", Type::kCPU}, {"gpu", Type::kGPU}, {"cuda", Type::kGPU}, {"dla", Type::kDLA}};
  const size_t colon = options.device_type.find(':');
  const auto type = kTypes.find(options.device_type.substr(0, colon));
  const std::string number = colon == std::string::npos ? "" : options.device_type.substr(colon + 1);
  const bool is_number = !number.empty() && number.size() < 4 &&
                         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (type == kTypes.end() || (colon != std::string::npos && !is_number)) {
    throw CompileError(ErrorCode::kInvalidOption, "there is no device \"" + options.device_type + "\"", {},
                       "use \"cpu\" or \"cuda:0\"");
  }
  torch_tensorrt::Device result;
  result.device_type = type->second;
  result.gpu_id = is_number ? std::stoi(number) : options.gpu_id;
  result.dla_core = options.dla_core;
  result.allow_gpu_fallback = options.allow_gpu_fallback;
  return result;
}

// "encoder.layer.0.*=fp32"
torchtrt::PrecisionPin parsePin(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    throw CompileError(ErrorCode::kInvalidOption, "--precision \"" + text + "\" is no pattern and dtype", {},
                       "use MODULES=DTYPE, such as 'encoder.layer.0.*=fp32'");
  }
  return {text.substr(0, equals), parseDataType(text.substr(equals + 1), "--precision")};
}

ts::CompileSpec compileSpec(const CompileOptions& options) {
  std::vector<torch_tensorrt::Input> inputs;
  for (const std::string& text : options.specs) {
    inputs.push_back(parseInputSpec(text));
  }
  ts::CompileSpec spec(std::move(inputs));
  if (!options.precisions.empty()) {
    spec.enabled_precisions.clear();
    for (const std::string& text : options.precisions) {
      spec.enabled_precisions.insert(parseDataType(text, "--enable-precision"));
    }
  }
  if (!options.op_precision.empty()) {
    spec.op_precision = parseDataType(options.op_precision, "--op-precision");
  }
  for (const std::string& text : options.pins) {
    spec.precision.push_back(parsePin(text));
  }
  using Capability = torch_tensorrt::EngineCapability;
  spec.capability = options.engine_capability == "safety"           ? Capability::kSAFETY
                    : options.engine_capability == "dla_standalone" ? Capability::kDLA_STANDALONE
                                                                    : Capability::kSTANDARD;
  spec.device = device(options);
  spec.target = options.target;
  spec.debug = options.debuggable;
  spec.require_full_compilation = options.full_compilation;
  spec.disable_tf32 = options.disable_tf32;
  spec.sparse_weights = options.sparse_weights;
  spec.truncate_long_and_double = options.truncate;
  spec.allow_shape_tensors = options.allow_shape_tensors;
  if (options.min_block_size) {
    spec.min_block_size = *options.min_block_size;
  }
  spec.num_avg_timing_iters = options.timing_iterations;
  spec.workspace_size = options.workspace_size;
  spec.dla_sram_size = options.dla_sram;
  spec.dla_local_dram_size = options.dla_local_dram;
  spec.dla_global_dram_size = options.dla_global_dram;
  spec.torch_executed_ops = options.torch_executed_ops;
  spec.torch_executed_modules = options.torch_executed_modules;
  // A cache says nothing if int8 is not asked for, as in the reference system.
  const bool has_int8 = spec.enabled_precisions.count(torchtrt::DataType::kChar) != 0;
  spec.ptq_calibrator = calibrator(options.calibration_data, has_int8 ? options.calibration_cache : "");
  spec.accuracy_target = options.accuracy_target;
  spec.weight_precision = options.weight_precision;
  spec.group_size = options.group_size;
  spec.weight_zero_points = options.weight_zero_points;
  spec.watcher = isatty(STDERR_FILENO) == 1 ? torchtrt::progressLine() : nullptr;
  spec.timing_cache = options.timing_cache;
  spec.tuning_seconds = options.tuning_seconds;
  spec.keep_methods = !options.drop_methods;
  spec.batch_invariant = options.batch_invariant;
  spec.check_results = !options.no_threshold_check;
  if (options.tune) {
    spec.tune = true;
    spec.sample_inputs = randomInputs(spec.graph_inputs.inputs);
  }
  return spec;
}

void setVerbosity(const CompileOptions& options) {
  using torchtrt::logging::Level;
  if (static_cast<int>(options.verbose) + static_cast<int>(options.info) + static_cast<int>(options.no_warnings) > 1) {
    throw CompileError(ErrorCode::kInvalidOption, "more than one of --verbose, --info and --warnings", {},
                       "give at most one of them");
  }
  torchtrt::logging::set_is_colored_output_on(true);
  torchtrt::logging::set_reportable_log_level(options.verbose       ? Level::kDEBUG
                                              : options.info        ? Level::kINFO
                                              : options.no_warnings ? Level::kERROR
                                                                    : Level::kWARNING);
}

// The part of the report that compile() has not told: with --info it told all.
void tellReport(const torchtrt::Report& report, bool explain) {
  if (torchtrt::logging::get_reportable_log_level() >= torchtrt::logging::Level::kINFO) {
    return;
  }
  if (explain) {
    const std::string text = report.toText();
    std::cerr << text.substr(text.find('\n') + 1);  // the first line is the summary, which follows
  }
  tellSummary(report);
}

void saveModule(const std::string& path, const torch::jit::Module& module) {
  replaceFile(path, [&module](const torchtrt::FileSink& sink) { torch::jit::ExportModule(module, sink); });
  tellWritten(path);
}

// The optimizer's switches are in the environment, where engines built deep inside the compiler find them.
void setOptimizerSwitches(const CompileOptions& options) {
  const auto set = [](const char* name, const std::string& value) {
    if (!value.empty()) {
      setenv(name, value.c_str(), 1);
    }
  };
  std::string disabled;
  for (const std::string& pass : options.disabled_passes) {
    disabled += (disabled.empty() ? "" : ",") + pass;
  }
  set("TORCHTRT_DISABLE_PASSES", disabled);
  set("TORCHTRT_DUMP", options.dump);
}

void checkTogether(const CompileOptions& options) {
  if (options.save_engine && options.embed_engine) {
    throw CompileError(ErrorCode::kInvalidOption, "--save-engine and --embed-engine contradict each other", {},
                       "the one makes an engine of a module, the other a module of an engine: drop one of the two");
  }
  if (!options.old_dump.empty()) {
    throw CompileError(ErrorCode::kInvalidOption, "--dump-network and --dump-after are one option now", {},
                       "give --dump FOLDER, or --dump FOLDER:REGEX for passes, too");
  }
  if (!options.stop_after.empty() && options.dump.empty()) {
    throw CompileError(ErrorCode::kInvalidOption, "--stop-after without --dump would write nothing", {},
                       "give --dump FOLDER, where the texts of all phases go");
  }
}

// A compile that ends early, for its texts.
void compileUpTo(const CompileOptions& options) {
  const torchtrt::compiler::StopAfter scope(options.stop_after);
  const torch::jit::Module module = loadModule(options.input);
  try {
    ts::compile(module, compileSpec(options));
  } catch (const torchtrt::compiler::Stopped&) {
  }
  std::cerr << "stopped after " << options.stop_after << "; the texts are in "
            << options.dump.substr(0, options.dump.find(':')) << "\n";
}

void checkOutput(const CompileOptions& options) {
  if (options.output.empty()) {
    throw CompileError(ErrorCode::kInvalidOption, "no output file was given", {},
                       "call torchtrtc INPUT OUTPUT SPECS...");
  }
  checkTarget(options.output);
  std::error_code one_is_missing;
  if (std::filesystem::equivalent(options.input, options.output, one_is_missing)) {
    throw CompileError(ErrorCode::kInvalidOption,
                       "the file to write, \"" + options.output + "\", is the one to compile", {},
                       "name another: the module could not be compiled again without the original");
  }
}

void compileProgram(const CompileOptions& options) {
  checkOutput(options);
  const std::string compiled = compileExportedProgram(options);
  replaceFile(options.output, compiled);
  tellWritten(options.output);
}

void compile(const CompileOptions& options) {
  setVerbosity(options);
  checkTogether(options);
  setOptimizerSwitches(options);
  if (!options.embed_engine && kindOf(options.input) == FileKind::kExportedProgram) {
    compileProgram(options);
    return;
  }
  for (const std::string& library : options.plugins) {
    torchtrt::plugin::loadLibrary(library);
  }
  openLibraries(options.custom_ops, kCustomOps);
  openLibraries(options.custom_converters, "--custom-converters");
  if (!options.check_method.empty()) {
    const bool supported = ts::check_method_operator_support(loadModule(options.input), options.check_method);
    std::cerr << "the method " << options.check_method << (supported ? " is supported\n" : " is not supported\n");
    if (!supported) {
      throw CompileError(ErrorCode::kUnsupportedOperator, "the operators named above have no converter");
    }
    return;
  }
  if (!options.stop_after.empty()) {
    compileUpTo(options);
    return;
  }
  checkOutput(options);
  if (options.embed_engine) {
    withEngine(options.input, [&](const std::string& engine) {
      saveModule(options.output, ts::embed_engine_in_new_module(engine, device(options)));
    });
    return;
  }
  const torch::jit::Module module = loadModule(options.input);
  const ts::CompileSpec spec = compileSpec(options);
  if (options.save_engine) {
    const std::string engine = ts::convert_method_to_trt_engine(module, "forward", spec);
    replaceFile(options.output, engine);
    tellWritten(options.output);
    return;
  }
  torchtrt::Report report;
  const torchtrt::compiler::OwnSummary own_summary;
  const torch::jit::Module compiled = ts::compile(module, spec, &report);
  tellReport(report, options.explain);
  const bool only_float = spec.precision.empty() && spec.weight_precision.empty() &&
                          spec.enabled_precisions.size() == 1 &&
                          *spec.enabled_precisions.begin() == torchtrt::DataType::kFloat;
  if (only_float && !options.no_threshold_check) {
    compareWithOriginal(module, compiled, randomInputs(spec.graph_inputs.inputs), {options.atol, options.rtol});
  }
  saveModule(options.output, compiled);
}

// A misspelt command would be taken for the file to compile.
void checkCommand(const CLI::App& app, const std::string& word) {
  if (word.find_first_of("./") != std::string::npos || std::filesystem::exists(word)) {
    return;
  }
  std::string commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  }
  throw CompileError(ErrorCode::kInvalidOption, "there is no command and no file \"" + word + "\"", {},
                     "commands: " + commands + "; or the file to compile");
}

// Arguments of a compile in front of a command would be read, and mean nothing.
void checkAlone(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  if (commands.empty()) {
    return;
  }
  const std::string& command = commands.front()->get_name();
  const auto given =
      app.get_options([](const CLI::Option* option) { return option->count() != 0 && !option->check_lname("color"); });
  if (!given.empty()) {
    throw CompileError(ErrorCode::kInvalidOption,
                       given.front()->get_name() + " is for compiling, and stands in front of the command " + command,
                       {}, "leave it out; torchtrtc " + command + " --help lists what that takes");
  }
}

}  // namespace

void addCompileCommand(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  addCompileOptions(app, *options);
  CLI::App* self = &app;
  app.parse_complete_callback([self] { checkAlone(*self); });
  app.final_callback([self, options] {
    if (!self->get_subcommands().empty()) {
      return;
    }
    if (options->input.empty()) {
      throw CLI::CallForHelp();
    }
    checkCommand(*self, options->input);
    compile(*options);
  });
}

}  // namespace torchtrtc
