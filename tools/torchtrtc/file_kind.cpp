#include "file_kind.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <caffe2/serialize/inline_container.h>

#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

struct KindInfo {
  FileKind kind;
  const char* what;  // behind "is"
  const char* advice;
};

constexpr const char* kCopyAgain = "copy it again, or save it again, and compare the sizes";
constexpr const char* kSaveModule = "script or trace the module in Python and save that with torch.jit.save";

constexpr std::array kKinds = {
    KindInfo{FileKind::kMissing, "no file", "see whether the path is right, from the folder that you are in"},
    KindInfo{FileKind::kFolder, "a folder", "name a file in it"},
    KindInfo{FileKind::kDevice, "no regular file", "name a file"},
    KindInfo{FileKind::kEmpty, "empty", kCopyAgain},
    KindInfo{FileKind::kTorchScript, "a TorchScript module",
             "compile it, with --save-engine for an engine, or use it as the module that it is"},
    KindInfo{FileKind::kEngine, "an engine that --save-engine wrote",
             "torchtrtc ENGINE MODULE --embed-engine makes a module of it, torchtrtc inspect shows it"},
    KindInfo{FileKind::kTensorRTEngine, "an engine of NVIDIA's TensorRT",
             "compile the TorchScript module that it was made of with torchtrtc"},
    KindInfo{FileKind::kCheckpoint, "a checkpoint of torch.save (weights, no program)", kSaveModule},
    KindInfo{FileKind::kExportedProgram, "an exported program of torch.export",
             "torchtrtc FILE COMPILED makes a module of it"},
    KindInfo{FileKind::kSafetensors, "a file of safetensors (weights, no program)", kSaveModule},
    KindInfo{FileKind::kOtherArchive, "a zip archive of other things", kSaveModule},
    KindInfo{FileKind::kCutArchive, "an archive that lost its end", kCopyAgain},
    KindInfo{FileKind::kText, "text", kSaveModule},
    KindInfo{FileKind::kOther, "something else, or damaged", kSaveModule},
};

const KindInfo& infoOf(FileKind kind) {
  return *std::find_if(kKinds.begin(), kKinds.end(), [kind](const KindInfo& info) { return info.kind == kind; });
}

// Returns the kind of archive; the reader takes no more than its directory from the file.
FileKind kindOfArchive(const std::string& path) {
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    const bool is_module = reader.hasRecord("constants.pkl");
    const bool is_program = reader.hasRecord("archive_format");
    const bool is_checkpoint = reader.hasRecord("data.pkl");
    return is_module       ? FileKind::kTorchScript
           : is_program    ? FileKind::kExportedProgram
           : is_checkpoint ? FileKind::kCheckpoint
                           : FileKind::kOtherArchive;
  } catch (const std::exception& error) {
    const bool has_no_end = std::strstr(error.what(), "central directory") != nullptr;
    return has_no_end ? FileKind::kCutArchive : FileKind::kOtherArchive;
  }
}

bool isTextByte(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= ' ' || (value >= '\t' && value <= '\r');
}

FileKind kindOfContent(const std::string& path, std::string_view start) {
  const auto begins = [start](std::string_view with) { return start.starts_with(with); };
  if (start.empty()) {
    return FileKind::kEmpty;
  }
  if (begins("PK\x03\x04")) {
    return kindOfArchive(path);
  }
  if (begins("TTRTPLAN")) {
    return FileKind::kEngine;
  }
  if (begins("ftrt") || begins("ptrt")) {
    return FileKind::kTensorRTEngine;
  }
  if (begins("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.")) {  // the form before 1.6
    return FileKind::kCheckpoint;
  }
  if (start.substr(std::min<size_t>(8, start.size())).starts_with("{\"")) {  // behind the length of what begins so
    return FileKind::kSafetensors;
  }
  return std::all_of(start.begin(), start.end(), isTextByte) ? FileKind::kText : FileKind::kOther;
}

}  // namespace

FileKind kindOf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return FileKind::kMissing;
  }
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return std::filesystem::is_directory(path, ignored) ? FileKind::kFolder : FileKind::kDevice;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw CompileError(ErrorCode::kInvalidModule, "cannot read \"" + path + "\": " + std::strerror(errno), {},
                       "see who may read it");
  }
  std::array<char, 512> start{};
  in.read(start.data(), start.size());
  return kindOfContent(path, {start.data(), static_cast<size_t>(in.gcount())});
}

std::string described(FileKind kind) {
  return infoOf(kind).what;
}

void rejectFile(const std::string& path, const std::string& expected) {
  const FileKind kind = kindOf(path);
  const std::string what =
      kind == FileKind::kMissing ? "there is no file \"" + path + "\"" : "\"" + path + "\" is " + described(kind);
  throw CompileError(ErrorCode::kInvalidModule, what + ", expected " + expected, {}, infoOf(kind).advice);
}

}  // namespace torchtrtc
