// torchtrtc replay: recorded calls of engines, run again.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "call_options.h"
#include "command_line.h"
#include "commands.h"
#include "compiler/checking/replay.h"
#include "file_kind.h"
#include "files.h"
#include "runtime/recording/record.h"
#include "runtime/recording/recorder.h"
#include "runtime/weight_set.h"
#include "saved_values.h"
#include "torchtrt/error.h"
#include "waiting.h"

namespace torchtrtc {
namespace {

namespace fs = std::filesystem;
namespace recording = torchtrt::runtime::recording;
using torchtrt::CompileError;
using torchtrt::ErrorCode;
using torchtrt::compiler::RecordedCall;

constexpr const char* kAdvice = "name a folder that TORCHTRT_RECORD wrote, or one record in it";

struct ReplayOptions {
  std::string folder;
  CallOptions call;
};

bool isRecord(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / recording::kSummaryFile, ignored);
}

// The folder itself or those in it, in the order of their names, which begin with the time.
std::vector<fs::path> recordsIn(const std::string& folder) {
  if (kindOf(folder) != FileKind::kFolder) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "\"" + folder + "\" is " + described(kindOf(folder)) + ", expected a folder of records", {},
                       kAdvice);
  }
  if (isRecord(folder)) {
    return {folder};
  }
  std::vector<fs::path> records;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    const bool is_draft = entry.path().filename().string().starts_with('.');
    if (!is_draft && isRecord(entry.path())) {
      records.push_back(entry.path());
    }
  }
  if (records.empty()) {
    throw CompileError(ErrorCode::kInvalidModule, "there is no record in \"" + folder + "\"", {}, kAdvice);
  }
  std::sort(records.begin(), records.end());
  return records;
}

std::vector<at::Tensor> tensorsOf(const fs::path& file) {
  const torch::jit::IValue saved = readSaved(file.string(), "the record's file", "copy the record again, all of it");
  std::vector<at::Tensor> tensors;
  for (const torch::jit::IValue& value : isSequence(saved) ? elementsOf(saved) : std::vector{saved}) {
    if (!value.isTensor()) {
      throw CompileError(ErrorCode::kInvalidModule,
                         "\"" + file.string() + "\" holds a " + value.tagKind() + ", expected tensors alone", {},
                         "copy the record again, all of it");
    }
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

void checkCount(size_t count, size_t expected, const fs::path& file) {
  if (count != expected) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "\"" + file.string() + "\" holds " + std::to_string(count) + " tensors, expected " +
                           std::to_string(expected) + " for the engine of the record",
                       {}, "copy the record again, all of it");
  }
}

RecordedCall recordedCall(const fs::path& record, const std::string& device) {
  const fs::path file = record / recording::kModuleFile;
  if (!fs::exists(file)) {
    throw CompileError(
        ErrorCode::kInvalidModule,
        "record \"" + record.string() + "\" has no module: it was redacted, so that nothing can run", {},
        "record the call without TORCHTRT_RECORD_REDACT, or read its " + std::string(recording::kSummaryFile));
  }
  RecordedCall call;
  const auto engines = torchtrt::runtime::enginesIn(loadModule(file.string(), "the module of a record", device));
  if (engines.size() != 1) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "\"" + file.string() + "\" has " + std::to_string(engines.size()) + " engines, expected one", {},
                       kAdvice);
  }
  const fs::path folder = record.has_filename() ? record : record.parent_path();
  call.name = fs::absolute(folder).lexically_normal().filename().string();
  call.engine = engines.front().second;
  call.inputs = tensorsOf(record / recording::kInputsFile);
  if (fs::exists(record / recording::kErrorFile)) {
    call.error = readFile((record / recording::kErrorFile).string());
  } else {
    call.outputs = tensorsOf(record / recording::kOutputsFile);
    checkCount(call.outputs.size(), call.engine->engine().outputs().size(), record / recording::kOutputsFile);
  }
  checkCount(call.inputs.size(), call.engine->engine().inputs().size(), record / recording::kInputsFile);
  return call;
}

void replay(const ReplayOptions& options) {
  const recording::Pause not_recorded;
  prepare(options.call);
  std::vector<torchtrt::compiler::Replay> replays;
  {
    const Waiting waiting("replaying");
    for (const fs::path& record : recordsIn(options.folder)) {
      replays.push_back(torchtrt::compiler::replay(recordedCall(record, options.call.device)));
    }
  }
  std::cout << torchtrt::compiler::toText(replays);
  if (!std::all_of(replays.begin(), replays.end(), [](const auto& replay) { return replay.isRight(); })) {
    throw std::runtime_error(torchtrt::compiler::verdictOf(replays));
  }
}

}  // namespace

void addReplayCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "replay", "Run recorded calls again; compare with the record and with PyTorch, and name the layer that is wrong");
  auto options = std::make_shared<ReplayOptions>();
  options->call.device = "";
  command->group("Commands");
  command->add_option("FOLDER", options->folder, "Folder that TORCHTRT_RECORD named, or one record in it")->required();
  command->add_option("--device", options->call.device, "Where the calls run (default: where they ran): cpu, cuda:1")
      ->option_text("DEVICE");
  command->add_option("--threads", options->call.threads, "Threads of a call (default: as PyTorch sets them)")
      ->option_text("NUMBER")
      ->check(atLeast(1));
  addSwitches(*command, options->call.switches);
  addLibraryOptions(*command, options->call.libraries);
  command->callback([options] { replay(*options); });
}

}  // namespace torchtrtc
