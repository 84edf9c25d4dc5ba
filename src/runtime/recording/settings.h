// The wishes of the environment for the record of calls: TORCHTRT_RECORD and the variables beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::runtime::recording {

struct Settings {
  // Of every engine: the first calls, or every n-th. Of the process: those that fail, or the first that fails or
  // disagrees with PyTorch, for which PyTorch computes every call once more.
  enum class Calls : uint8_t { kFirst, kEvery, kFailing, kWrong };

  std::string folder;
  Calls calls = Calls::kFirst;
  uint64_t number = 1;  // of kFirst and kEvery
  uint64_t most_records = 100;
  uint64_t most_bytes = uint64_t{1} << 30;  // of the folder
  bool is_redacted = false;                 // shapes, dtypes and statistics of tensors alone
};

// TORCHTRT_RECORD=DIR, TORCHTRT_RECORD_CALLS=first:N|every:N|failing|wrong, TORCHTRT_RECORD_MOST=RECORDS,
// TORCHTRT_RECORD_MEGABYTES=N, TORCHTRT_RECORD_REDACT=1. `folder` stands in for the first; without both there is
// nothing. Throws EngineError (kInvalidOption).
TORCHTRT_API std::optional<Settings> settingsFromEnvironment(const std::string& folder = "");

}  // namespace torchtrt::runtime::recording
