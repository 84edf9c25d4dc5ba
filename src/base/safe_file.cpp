#include "base/safe_file.h"

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchtrt {

namespace {

constexpr std::string_view kDraftPrefix = ".torchtrt-draft-";

std::error_code lastError() {
  return {errno, std::generic_category()};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const {
    return number_;
  }
  bool isOpen() const {
    return number_ >= 0;
  }

 private:
  int number_;
};

std::filesystem::path folderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// True for a link of somebody else in a folder such as /tmp: it may be a trap.
bool isForeign(const std::filesystem::path& path, const struct stat& link) {
  struct stat folder {};
  if (stat(folderOf(path).c_str(), &folder) != 0) {
    return true;
  }
  const bool is_open_to_all = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return is_open_to_all && link.st_uid != geteuid() && link.st_uid != folder.st_uid;
}

// The place of a file, behind links, and the file that stands there.
struct Target {
  std::filesystem::path path;
  std::optional<struct stat> old;
};

std::error_code findTarget(const std::string& path, Target& target) {
  constexpr int kMostLinks = 40;  // the kernel's bound
  target.path = path;
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat found {};
    if (lstat(target.path.c_str(), &found) != 0) {
      return errno == ENOENT ? std::error_code() : lastError();
    }
    if (S_ISDIR(found.st_mode)) {
      return std::make_error_code(std::errc::is_a_directory);
    }
    if (S_ISREG(found.st_mode)) {
      target.old = found;
      return {};
    }
    if (!S_ISLNK(found.st_mode)) {
      return std::make_error_code(std::errc::invalid_argument);
    }
    if (isForeign(target.path, found)) {
      return std::make_error_code(std::errc::permission_denied);
    }
    std::error_code problem;
    const std::filesystem::path behind = std::filesystem::read_symlink(target.path, problem);
    if (problem) {
      return problem;
    }
    target.path = folderOf(target.path) / behind;
  }
  return std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

std::string draftName() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
    return {};
  }
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64, random);
  return std::string(kDraftPrefix) + digits;
}

// The lock tells other processes that the draft is alive; it ends with the process.
bool lock(const Descriptor& file) {
  return flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

bool isDead(const Descriptor& draft) {
  struct stat found {};
  return fstat(draft.number(), &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() && lock(draft);
}

void removeDeadDrafts(const Descriptor& folder) {
  const int number = openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = number < 0 ? nullptr : fdopendir(number);
  if (entries == nullptr) {
    return;
  }
  while (const dirent* entry = readdir(entries)) {
    if (!std::string_view(entry->d_name).starts_with(kDraftPrefix)) {
      continue;
    }
    const Descriptor draft(openat(folder.number(), entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (draft.isOpen() && isDead(draft)) {
      unlinkat(folder.number(), entry->d_name, 0);
    }
  }
  closedir(entries);
}

// The new content until it takes the target's place.
class Draft {
 public:
  Draft(const Descriptor& folder, mode_t mode, DraftKind kind) : folder_(folder) {
    const bool is_open = (kind == DraftKind::kUnnamed && openUnnamed(mode)) || openNamed(mode);
    problem_ = is_open ? std::error_code() : lastError();
  }
  ~Draft() {
    if (!name_.empty()) {
      unlinkat(folder_.number(), name_.c_str(), 0);
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::error_code problem() const {
    return problem_;
  }
  // A stream of its own, which the caller closes.
  std::FILE* open() const {
    const int number = fcntl(file_.number(), F_DUPFD_CLOEXEC, 0);
    std::FILE* const stream = number < 0 ? nullptr : fdopen(number, "wb");
    if (number >= 0 && stream == nullptr) {
      close(number);
    }
    return stream;
  }

  std::error_code moveTo(const Target& target) {
    const std::string name = target.path.filename();
    if (target.old) {
      keep(*target.old);
    } else if (name_.empty() && link(name)) {
      return {};
    }
    while (name_.empty()) {
      const std::string tried = draftName();
      if (link(tried)) {
        name_ = tried;
      } else if (errno != EEXIST) {
        return lastError();
      }
    }
    if (renameat(folder_.number(), name_.c_str(), folder_.number(), name.c_str()) != 0) {
      return lastError();
    }
    name_.clear();
    return {};
  }

 private:
  bool openUnnamed(mode_t mode) {
    file_ = Descriptor(openat(folder_.number(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    return file_.isOpen() && lock(file_);
  }

  bool openNamed(mode_t mode) {
    constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
    do {
      name_ = draftName();
      file_ = Descriptor(openat(folder_.number(), name_.c_str(), kFlags, mode));
      if (!file_.isOpen() && errno != EEXIST) {
        name_.clear();
        return false;
      }
    } while (!file_.isOpen() || !lock(file_) || !hasName());  // another process may take a new draft for a dead one
    return true;
  }

  bool hasName() const {
    struct stat found {};
    return fstat(file_.number(), &found) == 0 && found.st_nlink > 0;
  }

  // Gives the unnamed file a name; false where there is one like it already.
  bool link(const std::string& name) const {
    const std::string self = "/proc/self/fd/" + std::to_string(file_.number());
    return linkat(AT_FDCWD, self.c_str(), folder_.number(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

  // Only root may give files away; then permissions alone are kept.
  void keep(const struct stat& old) const {
    constexpr mode_t kPermissions = 0777;
    [[maybe_unused]] const int given = fchown(file_.number(), old.st_uid, old.st_gid);
    fchmod(file_.number(), old.st_mode & kPermissions);
  }

  const Descriptor& folder_;
  Descriptor file_{-1};
  std::string name_;  // empty while the file has none
  std::error_code problem_;
};

}  // namespace

std::error_code replaceFile(const std::string& path, const std::function<void(const FileSink& sink)>& write,
                            DraftKind kind) {
  constexpr mode_t kOfNewFiles = 0666;  // less what the umask takes
  Target target;
  if (const std::error_code problem = findTarget(path, target)) {
    return problem;
  }
  const Descriptor folder(::open(folderOf(target.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.isOpen()) {
    return lastError();
  }
  removeDeadDrafts(folder);
  Draft draft(folder, target.old ? target.old->st_mode & kOfNewFiles : kOfNewFiles, kind);
  if (draft.problem()) {
    return draft.problem();
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(draft.open(), std::fclose);
  if (!file) {
    return lastError();
  }
  // libtorch's archive writer ends the process when it is told of a failure, so that waits until it is done.
  std::error_code problem;
  const auto note = [&problem](bool is_good) { problem = is_good || problem ? problem : lastError(); };
  write([&](const void* data, size_t bytes) {
    note(problem || bytes == 0 || std::fwrite(data, 1, bytes, file.get()) == bytes);
    return bytes;
  });
  note(std::fflush(file.get()) == 0);
  return problem ? problem : draft.moveTo(target);
}

std::error_code replaceFile(const std::string& path, std::string_view content) {
  return replaceFile(path, [content](const FileSink& sink) { sink(content.data(), content.size()); });
}

std::error_code checkReplaceable(const std::string& path) {
  Target target;
  if (const std::error_code problem = findTarget(path, target)) {
    return problem;
  }
  return access(folderOf(target.path).c_str(), W_OK | X_OK) == 0 ? std::error_code() : lastError();
}

}  // namespace torchtrt
