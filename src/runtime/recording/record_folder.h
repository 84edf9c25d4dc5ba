// The folder of records. Threads and processes add to it at once: a record has its final name when it is complete. The
// bounds hold for the folder, whoever wrote into it. The module of an engine is written once for a process; later
// records link to that file.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/recording/record.h"
#include "runtime/recording/settings.h"

namespace torchtrt::runtime::recording {

class RecordFolder {
 public:
  explicit RecordFolder(const Settings& settings);

  // Returns the path of the new record; nothing if it would break a bound. Throws CompileError (kOutput) and what
  // PyTorch throws.
  std::optional<std::string> add(const Record& record);

 private:
  struct Use {
    uint64_t records = 0, bytes = 0;
  };
  Use use() const;
  bool isFull(const Use& use) const;
  // A record's files in a folder that has no final name yet.
  void write(const Record& record, const std::string& folder);
  std::optional<std::string> moduleOf(const c10::intrusive_ptr<Engine>& engine);
  void remember(const c10::intrusive_ptr<Engine>& engine, const std::string& path);

  Settings settings_;
  std::mutex mutex_;  // never waited for: a process that is forked meanwhile has it locked for ever
  std::vector<std::pair<c10::weak_intrusive_ptr<Engine>, std::string>> modules_;  // files by engine
};

}  // namespace torchtrt::runtime::recording
