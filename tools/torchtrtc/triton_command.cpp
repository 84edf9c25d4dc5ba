// torchtrtc triton: puts a module into a model repository that Triton's PyTorch backend serves.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "call_options.h"
#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "runtime/device_info.h"
#include "runtime/weight_set.h"
#include "torchtrt/error.h"
#include "triton_config.h"
#include "triton_model.h"

namespace torchtrtc {
namespace {

namespace fs = std::filesystem;
using torchtrt::CompileError;
using torchtrt::ErrorCode;

struct TritonCommand {
  std::string file, repository;
  TritonOptions options;
  TritonQuestion question;
  int largest = -1;  // batch; -1: the end of the range
  bool force = false;
  Libraries libraries;
};

// A file of the repository: its content, or the file that is copied.
struct Entry {
  fs::path path;
  std::string text;
  fs::path source = {};
};

bool hasContent(std::istream& file, std::istream& content) {
  std::vector<char> left(1 << 20), right(left.size());
  while (true) {
    file.read(left.data(), static_cast<std::streamsize>(left.size()));
    content.read(right.data(), static_cast<std::streamsize>(right.size()));
    if (file.gcount() != content.gcount() || !std::equal(left.begin(), left.begin() + file.gcount(), right.begin())) {
      return false;
    }
    if (file.gcount() == 0) {
      return true;
    }
  }
}

bool isThereAlready(const Entry& entry) {
  std::ifstream file(entry.path, std::ios::binary);
  if (!file) {
    return false;
  }
  if (entry.source.empty()) {
    std::istringstream content(entry.text);
    return hasContent(file, content);
  }
  std::ifstream content(entry.source, std::ios::binary);
  return hasContent(file, content);
}

void write(const Entry& entry) {
  std::error_code problem;
  fs::create_directories(entry.path.parent_path(), problem);
  if (problem) {
    throw CompileError(ErrorCode::kOutput,
                       "cannot make the folder \"" + entry.path.parent_path().string() + "\": " + problem.message(), {},
                       "name a repository that you may write to");
  }
  replaceFile(entry.path.string(), [&entry](const torchtrt::FileSink& sink) {
    if (entry.source.empty()) {
      sink(entry.text.data(), entry.text.size());
      return;
    }
    std::ifstream from(entry.source, std::ios::binary);
    std::vector<char> piece(1 << 20);
    while (from.read(piece.data(), static_cast<std::streamsize>(piece.size())), from.gcount() > 0) {
      sink(piece.data(), static_cast<size_t>(from.gcount()));
    }
    if (from.bad()) {
      throw CompileError(ErrorCode::kInvalidModule, "cannot read \"" + entry.source.string() + "\" to its end");
    }
  });
  std::cerr << "wrote " << entry.path.string() << "\n";
}

void writeAll(std::vector<Entry> entries, bool force) {
  std::erase_if(entries, isThereAlready);
  for (const Entry& entry : entries) {
    if (fs::exists(entry.path) && !force) {
      throw CompileError(ErrorCode::kOutput, "\"" + entry.path.string() + "\" is there already, with another content",
                         {}, "give --force to replace it, another --name, or for another model.pt the next --version");
    }
  }
  for (const Entry& entry : entries) {
    write(entry);
  }
}

// Triton takes folders for models, and the name is in texts of three languages.
std::string checkedName(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), is_plain)) {
    throw CompileError(ErrorCode::kInvalidOption, "\"" + name + "\" is no name for a model", {},
                       "give --name with letters, digits, \"_\", \"-\" and \".\"");
  }
  return name;
}

void checkDevice(const TritonCommand& command) {
  const bool is_for_gpu = command.options.is_for_gpu;
  if (!command.options.gpus.empty() && !is_for_gpu) {
    throw CompileError(ErrorCode::kInvalidOption,
                       "--gpu is given, and \"" + command.file + "\" has no engine that was made for a GPU", {},
                       "compile it with --device-type=gpu or --target, or leave out --gpu to serve it on the CPU");
  }
  if (command.options.threads > 0 && is_for_gpu) {
    throw CompileError(ErrorCode::kInvalidOption,
                       "--threads is given, and the engines of \"" + command.file + "\" run on a GPU", {},
                       "leave it out: it is for calls on the CPU");
  }
}

// `is_for_gpu` becomes true if an engine was made for a GPU. Only a load for no device tells that: one for the CPU
// makes it an engine of the CPU, where zeros for it are.
torch::jit::Module loadedOnCpu(const std::string& path, bool& is_for_gpu) {
  torch::jit::Module module = loadModule(path, kAnyModule, /*device=*/"");
  bool is_on_gpu = false;
  for (const auto& [name, engine] : torchtrt::runtime::enginesIn(module)) {
    is_for_gpu = is_for_gpu || torchtrt::runtime::isForGpu(engine->deviceInfo());
    is_on_gpu = is_on_gpu || !engine->device().is_cpu();
  }
  return is_on_gpu ? loadModule(path, kAnyModule, "cpu") : module;
}

void writeRepository(TritonCommand command) {
  openLibraries(command.libraries);
  TritonOptions& options = command.options;
  options.name = checkedName(options.name.empty() ? fs::path(command.file).stem().string() : options.name);
  torch::jit::Module module = loadedOnCpu(command.file, options.is_for_gpu);
  module.eval();
  command.question.command = "torchtrtc triton " + command.file + " " + command.repository;
  if (command.largest >= 0) {
    command.question.largest = command.largest;
  }
  checkDevice(command);
  const TritonModel model = describeForTriton(module, command.question);
  const fs::path folder = fs::path(command.repository) / options.name;
  // The configuration comes last: a server that watches the repository finds the rest there.
  writeAll({{folder / std::to_string(options.version) / "model.pt", "", command.file},
            {folder / "README.md", servingText(model, options)},
            {folder / "kserve.yaml", kserveText(options)},
            {folder / "config.pbtxt", configText(model, options)}},
           command.force);
  if (!model.batch) {
    std::cerr << "requests run alone: " << model.unbatched << "\n";
  }
  std::cout << "serve it with the runtime loaded first, as " << (folder / "README.md").string() << " describes:\n  "
            << serverCommand(command.repository) << "\n";
}

}  // namespace

void addTritonCommand(CLI::App& app) {
  auto* sub = app.add_subcommand("triton", "Put a module into a model repository that Triton's PyTorch backend serves");
  auto command = std::make_shared<TritonCommand>();
  TritonOptions& options = command->options;
  sub->group("Commands");
  sub->add_option("FILE", command->file, "Compiled module")->required();
  sub->add_option("REPOSITORY", command->repository, "Folder of models; it is made if there is none")->required();
  sub->add_option("--name", options.name, "Name of the model (default: the file's, without its ending)")
      ->option_text("NAME");
  const auto number = [sub](const std::string& name, auto& value, int least, const std::string& meaning) {
    return sub->add_option(name, value, meaning)->option_text("NUMBER")->check(atLeast(least));
  };
  number("--version", options.version, 1, "Version of the model, which is the name of model.pt's folder")
      ->capture_default_str();
  number("--instances", options.instances, 1, "Batches that run at the same time, for each GPU or on the CPU")
      ->capture_default_str();
  number("--max-batch-size", command->largest, 0,
         "Most requests that run together; 0: none do (default: the largest batch that engines take)");
  number("--max-queue-delay-us", options.queue_delay, 0, "Microseconds that a request waits for others")
      ->capture_default_str();
  number("--threads", options.threads, 1, "Threads of a call on the CPU (default: as the server sets them)");
  sub->add_option("--gpu", options.gpus,
                  "GPU that instances run on, of engines that were made for GPUs (default: all GPUs; repeatable)")
      ->allow_extra_args(false)
      ->option_text("NUMBER")
      ->check(atLeast(0));
  addRepeatable(*sub, "--shape", command->question.shapes, "SPEC",
                "Range of an argument, in place of its engines'; one for each argument");
  sub->add_flag("--force", command->force, "Replace files of the repository that have another content");
  addLibraryOptions(*sub, command->libraries);
  sub->callback([command] { writeRepository(*command); });
}

}  // namespace torchtrtc
