// Tells the kind of a file, for commands that got another one than they expected. It looks at its first bytes and, for
// a zip archive, at the names in it. Nothing in it is loaded or checked.
#pragma once

#include <string>

namespace torchtrtc {

enum class FileKind {
  kMissing,
  kFolder,
  kDevice,
  kEmpty,
  kTorchScript,
  kEngine,          // of --save-engine
  kTensorRTEngine,  // of NVIDIA's
  kCheckpoint,      // of torch.save
  kExportedProgram,
  kSafetensors,
  kOtherArchive,
  kCutArchive,
  kText,
  kOther
};

FileKind kindOf(const std::string& path);

// Describes a file of this kind: "a folder", "empty", "no file".
std::string described(FileKind kind);

// Throws CompileError(kInvalidModule): "FILE is KIND, expected EXPECTED", and what to do with such a file.
[[noreturn]] void rejectFile(const std::string& path, const std::string& expected);

}  // namespace torchtrtc
