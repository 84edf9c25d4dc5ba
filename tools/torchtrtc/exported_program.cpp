#include "exported_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "input_spec.h"
#include "torchtrt/error.h"

extern char** environ;

namespace torchtrtc {
namespace {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

constexpr const char* kInPython = "compile it in Python: torchtrt.compile(torch.export.load(path), ...)";
constexpr int kChannel = 3;
constexpr int kNoPackage = 127;
constexpr const char* kCode =
    "import sys\n"
    "sys.path[:] = [place for place in sys.path if place]\n"  // not the working directory: a file of it may be
                                                              // anybody's
    "try:\n"
    "    from torchtrt._exported import command\n"
    "except ModuleNotFoundError:\n"
    "    sys.exit(127)\n"
    "command.main()\n";

void refuseOthers(const CompileOptions& options) {
  const std::array refused = {
      std::pair("--precision", !options.pins.empty()),
      std::pair("--torch-executed-mod", !options.torch_executed_modules.empty()),
      std::pair("--calibration-data", !options.calibration_data.empty()),
      std::pair("--calibration-cache-file", !options.calibration_cache.empty()),
      std::pair("--accuracy-target", options.accuracy_target.has_value()),
      std::pair("--weight-precision", !options.weight_precision.empty()),
      std::pair("--tune", options.tune),
      std::pair("--save-engine", options.save_engine),
      std::pair("--custom-converters", !options.custom_converters.empty()),
      std::pair("--plugins", !options.plugins.empty()),
      std::pair("--check-method-support", !options.check_method.empty()),
      std::pair("--stop-after", !options.stop_after.empty()),
  };
  for (const auto& [name, is_given] : refused) {
    if (is_given) {
      throw CompileError(ErrorCode::kInvalidOption,
                         std::string(name) + " is for TorchScript modules, and \"" + options.input +
                             "\" is an exported program of torch.export",
                         {}, kInPython);
    }
  }
}

std::string listed(const std::vector<int64_t>& sizes) {
  std::ostringstream text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    text << (i == 0 ? "" : ",") << sizes[i];
  }
  return text.str();
}

std::string nameOf(torch_tensorrt::DataType dtype) {
  std::ostringstream text;
  text << dtype;
  return text.str();
}

class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {}

  void add(const char* name, const std::string& value) {
    if (!value.empty()) {
      words_.push_back(std::string(name) + "=" + value);  // a value may begin with a dash
    }
  }
  void add(const char* name, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      add(name, value);
    }
  }
  void addIf(bool is_given, const char* name) {
    if (is_given) {
      words_.emplace_back(name);
    }
  }
  std::vector<char*> pointers() {
    std::vector<char*> pointers;
    std::transform(words_.begin(), words_.end(), std::back_inserter(pointers),
                   [](std::string& word) { return word.data(); });
    pointers.push_back(nullptr);
    return pointers;
  }

 private:
  std::vector<std::string> words_;
};

Arguments argumentsFor(const std::string& python, const CompileOptions& options) {
  Arguments arguments({python, "-c", kCode, options.input});
  for (const std::string& text : options.specs) {
    const torch_tensorrt::Input input = parseInputSpec(text);
    arguments.add("--input", nameOf(input.dtype) + ";" + listed(input.min_shape) + ";" + listed(input.opt_shape) + ";" +
                                 listed(input.max_shape));
  }
  for (const std::string& text : options.precisions) {
    arguments.add("--enable-precision", nameOf(parseDataType(text, "--enable-precision")));
  }
  if (!options.op_precision.empty()) {
    arguments.add("--op-precision", nameOf(parseDataType(options.op_precision, "--op-precision")));
  }
  const bool has_number = options.device_type.find(':') == std::string::npos && options.gpu_id != 0;
  arguments.add("--device", options.device_type + (has_number ? ":" + std::to_string(options.gpu_id) : ""));
  arguments.add("--target", options.target);
  arguments.add("--torch-executed-op", options.torch_executed_ops);
  arguments.add("--custom-torch-ops", options.custom_ops);
  arguments.add("--timing-cache", options.timing_cache);
  arguments.add("--min-block-size", options.min_block_size ? std::to_string(*options.min_block_size) : "");
  arguments.addIf(options.full_compilation, "--require-full-compilation");
  arguments.addIf(options.batch_invariant, "--batch-invariant");
  arguments.addIf(options.no_threshold_check, "--no-threshold-check");
  arguments.addIf(options.explain, "--explain");
  arguments.add("--channel", std::to_string(kChannel));
  arguments.add("--level", options.verbose       ? "Debug"
                           : options.info        ? "Info"
                           : options.no_warnings ? "Error"
                                                 : "Warning");
  return arguments;
}

// Starts Python with a pipe as file kChannel, and reads that to its end.
class Child {
 public:
  explicit Child(std::vector<char*> arguments) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      problem_ = errno;
      return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kChannel);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // libraries print there
    problem_ = posix_spawnp(&process_, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (problem_ == 0) {
      std::vector<char> piece(size_t{1} << 20);
      for (ssize_t bytes = 0; (bytes = read(ends[0], piece.data(), piece.size())) != 0;) {
        if (bytes > 0) {
          output_.append(piece.data(), static_cast<size_t>(bytes));
        } else if (errno != EINTR) {
          break;
        }
      }
      while (waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
      }
    }
    close(ends[0]);
  }

  int problem() const {  // of starting it, as in errno
    return problem_;
  }
  int status() const {  // as waitpid has it
    return status_;
  }
  std::string takeOutput() {
    return std::move(output_);
  }

 private:
  int problem_ = 0;
  pid_t process_ = 0;
  int status_ = 0;
  std::string output_;
};

[[noreturn]] void refuse(const CompileOptions& options, const std::string& why) {
  throw CompileError(ErrorCode::kInvalidModule,
                     "\"" + options.input + "\" is an exported program, which Python compiles, and " + why, {},
                     "name a Python that has torchtrt in TORCHTRT_PYTHON, or " + std::string(kInPython));
}

}  // namespace

std::string compileExportedProgram(const CompileOptions& options) {
  refuseOthers(options);
  const char* const named = std::getenv("TORCHTRT_PYTHON");
  const std::string python = named != nullptr && *named != '\0' ? named : "python3";
  Child child(argumentsFor(python, options).pointers());
  if (child.problem() != 0) {
    refuse(options, "\"" + python + "\" cannot be run: " + std::strerror(child.problem()));
  }
  if (!WIFEXITED(child.status())) {
    refuse(options, "\"" + python + "\" ended by signal " + std::to_string(WTERMSIG(child.status())));
  }
  const int status = WEXITSTATUS(child.status());
  if (status == kNoPackage) {
    refuse(options, "\"" + python + "\" has no torchtrt");
  }
  if (status != 0) {
    std::exit(status);
  }
  return child.takeOutput();
}

}  // namespace torchtrtc
