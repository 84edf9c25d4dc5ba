#include "runtime/recording/record_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <set>
#include <system_error>

#include "torchtrt/error.h"

namespace torchtrt::runtime::recording {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDraft = ".draft-";

[[noreturn]] void throwUnwritable(const std::string& path, int problem) {
  throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + std::strerror(problem), {},
                     "let TORCHTRT_RECORD name a folder that may be written to, on a disk with room");
}

// A folder that only its owner may read, which goes with its files unless it got its final name.
class Draft {
 public:
  explicit Draft(const std::string& parent) : path_(parent + "/" + kDraft + "XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      throwUnwritable(parent, errno);
    }
  }
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const std::string& path() const {
    return path_;
  }
  // The six characters that no other draft of the folder has now.
  std::string mark() const {
    return path_.substr(path_.size() - 6);
  }

 private:
  std::string path_;
};

// Held while the folder is counted and a record gets its name, by threads and processes. Short: nothing is written.
class Lock {
 public:
  explicit Lock(const std::string& folder)
      : file_(open((folder + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (file_ < 0) {
      throwUnwritable(folder, errno);
    }
    while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() {
    close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

// "20261128-174503-4711-a8Xk2P": time, process, and the draft's mark.
std::string finalName(const Draft& draft) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S-", &parts);
  return text.data() + std::to_string(getpid()) + "-" + draft.mark();
}

// A process that was killed leaves its draft.
bool isAbandoned(const struct stat& state) {
  constexpr std::time_t kHour = 3600;
  return std::time(nullptr) - state.st_mtime > kHour;
}

uint64_t bytesOf(const std::vector<at::Tensor>& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), uint64_t{0},
                         [](uint64_t sum, const at::Tensor& tensor) { return sum + tensor.nbytes(); });
}

}  // namespace

RecordFolder::RecordFolder(const Settings& settings) : settings_(settings) {
  settings_.folder = fs::absolute(settings_.folder).string();  // the process may go to another folder
}

RecordFolder::Use RecordFolder::use() const {
  Use use;
  std::set<std::pair<dev_t, ino_t>> counted;  // a file may have several names
  for (const fs::directory_entry& entry : fs::directory_iterator(settings_.folder)) {
    const bool is_draft = entry.path().filename().string().starts_with(kDraft);
    struct stat state {};
    if (lstat(entry.path().c_str(), &state) != 0 || !S_ISDIR(state.st_mode)) {
      continue;
    }
    std::error_code gone;
    if (is_draft && isAbandoned(state)) {
      fs::remove_all(entry.path(), gone);
      continue;
    }
    use.records += is_draft || !fs::exists(entry.path() / kSummaryFile, gone) ? 0 : 1;
    for (const fs::directory_entry& file : fs::directory_iterator(entry.path(), gone)) {
      if (lstat(file.path().c_str(), &state) == 0 && counted.emplace(state.st_dev, state.st_ino).second) {
        use.bytes += static_cast<uint64_t>(state.st_size);
      }
    }
  }
  return use;
}

bool RecordFolder::isFull(const Use& use) const {
  return use.records >= settings_.most_records || use.bytes > settings_.most_bytes;
}

std::optional<std::string> RecordFolder::moduleOf(const c10::intrusive_ptr<Engine>& engine) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    return std::nullopt;
  }
  const auto found =
      std::find_if(modules_.begin(), modules_.end(), [&](const auto& module) { return module.first.lock() == engine; });
  return found == modules_.end() ? std::nullopt : std::optional(found->second);
}

void RecordFolder::remember(const c10::intrusive_ptr<Engine>& engine, const std::string& path) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) {
    std::erase_if(modules_,
                  [&](const auto& module) { return module.first.expired() || module.first.lock() == engine; });
    modules_.emplace_back(engine, path);
  }
}

void RecordFolder::write(const Record& record, const std::string& folder) {
  writeCall(record, settings_.is_redacted, folder);
  if (settings_.is_redacted) {
    return;
  }
  const std::string module = folder + "/" + kModuleFile;
  const std::optional<std::string> written = moduleOf(record.engine);
  if (!written || link(written->c_str(), module.c_str()) != 0) {
    writeModule(record.engine, module);
  }
}

std::optional<std::string> RecordFolder::add(const Record& record) {
  std::error_code problem;
  fs::create_directories(settings_.folder, problem);
  if (problem) {
    throwUnwritable(settings_.folder, problem.value());
  }
  Use before = use();
  before.bytes += settings_.is_redacted ? 0 : bytesOf(record.inputs) + bytesOf(record.outputs);
  if (isFull(before)) {
    return std::nullopt;
  }
  const Draft draft(settings_.folder);
  write(record, draft.path());
  const std::string path = settings_.folder + "/" + finalName(draft);
  {
    const Lock lock(settings_.folder);
    if (isFull(use())) {
      return std::nullopt;
    }
    if (rename(draft.path().c_str(), path.c_str()) != 0) {
      throwUnwritable(path, errno);
    }
  }
  if (!settings_.is_redacted) {
    remember(record.engine, path + "/" + kModuleFile);
  }
  return path;
}

}  // namespace torchtrt::runtime::recording
