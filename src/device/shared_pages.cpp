#include "device/shared_pages.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/logging.h"

namespace torchtrt::device {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr std::string_view kFileName = "torchtrt:";
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
// While one process writes a file, others that want the same bytes wait for it so long.
constexpr std::chrono::seconds kPatience{20};
constexpr int kCollapse = 25;  // MADV_COLLAPSE, which Debian 12's header does not have yet: since Linux 6.1

std::string errorText() {
  std::array<char, 128> text{};
  return strerror_r(errno, text.data(), text.size());
}

class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(File&& other) noexcept : number_(other.release()) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  explicit operator bool() const {
    return number_ >= 0;
  }
  int number() const {
    return number_;
  }
  int release() {
    return std::exchange(number_, -1);
  }

 private:
  int number_;
};

// A file mapped to be read, at a multiple of the size of huge pages.
class Mapping {
 public:
  Mapping(const File& file, size_t bytes) : bytes_(bytes) {
    void* const reserved =
        mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
      return;
    }
    auto* const from = static_cast<std::byte*>(reserved);
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(from) % kHugePage) % kHugePage;
    if (before > 0) {
      munmap(from, before);
    }
    munmap(from + before + bytes, kHugePage - before);
    if (mmap(from + before, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file.number(), 0) == MAP_FAILED) {
      munmap(from + before, bytes);
      return;
    }
    data_ = from + before;
    takeHugePages();
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) {
      munmap(data_, bytes_);
    }
  }
  const void* data() const {
    return data_;
  }
  // Takes the place of private pages of the same size: one call, so that no moment is without a mapping.
  bool moveTo(void* begin) {
    if (mremap(data_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == MAP_FAILED) {
      return false;
    }
    data_ = nullptr;
    return true;
  }

 private:
  // Memory files have small pages by default (shmem_enabled), which cost a call 6 % (decision 0008). Systems that
  // cannot collapse them leave it at that.
  void takeHugePages() const {
    madvise(data_, bytes_, MADV_HUGEPAGE);
    madvise(data_, bytes_ / kHugePage * kHugePage, kCollapse);
  }

  void* data_ = nullptr;
  size_t bytes_;
};

// The folder of this user's offers, checked: nobody else may have made it, or may put something into it.
class Offers {
 public:
  Offers() : path_(folderOfOffers()) {
    mkdir(path_.c_str(), S_IRWXU);
    folder_ = File(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat state {};
    if (!folder_ || fstat(folder_.number(), &state) != 0) {
      problem_ = "cannot use the folder " + path_ + ": " + errorText();
    } else if (state.st_uid != geteuid() || (state.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
      problem_ = "the folder " + path_ + " is not this user's alone";
    }
  }

  const std::string& problem() const {
    return problem_;
  }

  // Another process's file with these bytes; nothing where there is none. Forgets the offers of processes that are
  // gone.
  std::optional<File> find(const std::string& key, const void* bytes_wanted, size_t bytes) const {
    std::optional<File> found;
    const auto closed = [](DIR* directory) { closedir(directory); };
    const std::unique_ptr<DIR, decltype(closed)> directory(opendir(path_.c_str()), closed);
    while (directory != nullptr) {
      const dirent* const entry = readdir(directory.get());
      if (entry == nullptr) {
        break;
      }
      const std::string_view name = entry->d_name;
      const std::string_view offered = name.substr(0, name.find('.'));
      if (offered.empty()) {
        continue;  // this folder and its parent
      }
      File file = fileOf(std::string(name), std::string(offered));
      if (file && !found && offered == key && holds(file, bytes_wanted, bytes)) {
        found = std::move(file);
      }
    }
    return found;
  }

  // Returns the link's path; empty where there is no room for it.
  std::string add(const std::string& key, const File& file) const {
    const std::string number = std::to_string(file.number());
    const std::string process = std::to_string(getpid());
    std::string link = path_ + "/" + key + "." + process + "." + number;
    unlink(link.c_str());  // of an earlier process with this number
    return symlink(("/proc/" + process + "/fd/" + number).c_str(), link.c_str()) == 0 ? link : "";
  }

  // Holds the folder's lock until the file is closed; the system releases it if the process ends.
  File lock() const {
    File folder(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (folder && flock(folder.number(), LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return folder;
  }

 private:
  static std::string readLink(const std::string& path) {
    std::array<char, 256> target{};
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    return {target.data(), static_cast<size_t>(std::max<ssize_t>(length, 0))};
  }

  // The name in a process's table of files comes first: opening something else that has the number today, a pipe say,
  // could have an effect.
  File fileOf(const std::string& link, const std::string& key) const {
    const std::string path = path_ + "/" + link;
    const std::string target = readLink(path);
    errno = 0;
    const std::string name = target.starts_with("/proc/") ? readLink(target) : "";
    if (name != "/memfd:" + std::string(kFileName) + key + " (deleted)") {
      if (errno == 0 || errno == ENOENT) {
        unlink(path.c_str());
      }
      return File();
    }
    return File(open(target.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  }

  static bool holds(const File& file, const void* bytes_wanted, size_t bytes) {
    struct stat state {};
    const int seals = fcntl(file.number(), F_GET_SEALS);
    if (seals < 0 || (seals & kSeals) != kSeals || fstat(file.number(), &state) != 0 ||
        static_cast<size_t>(state.st_size) != bytes) {
      return false;
    }
    const Mapping mapping(file, bytes);
    return mapping.data() != nullptr && std::memcmp(mapping.data(), bytes_wanted, bytes) == 0;
  }

  std::string path_;
  File folder_;
  std::string problem_;
};

// A sealed memory file that holds these bytes, opened to be read; none where the system has no such files, or no
// memory.
File makeFile(const std::string& key, const void* data, size_t bytes) {
  const File written(memfd_create((std::string(kFileName) + key).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!written || ftruncate(written.number(), static_cast<off_t>(bytes)) != 0) {
    return File();
  }
  const auto* at = static_cast<const char*>(data);
  for (size_t done = 0; done < bytes;) {
    const ssize_t some = pwrite(written.number(), at + done, bytes - done, static_cast<off_t>(done));
    if (some <= 0) {
      return File();
    }
    done += static_cast<size_t>(some);
  }
  if (fcntl(written.number(), F_ADD_SEALS, kSeals) != 0) {
    return File();
  }
  return File(open(("/proc/self/fd/" + std::to_string(written.number())).c_str(), O_RDONLY | O_CLOEXEC));
}

bool staysPrivate(size_t bytes, const std::string& why) {
  TORCHTRT_LOG(kINFO, bytes << " bytes of weights are not shared with other processes: " << why);
  return false;
}

}  // namespace

SharedPages::SharedPages(SharedPages&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      offer_(std::exchange(other.offer_, std::string())),
      process_(other.process_) {}

SharedPages& SharedPages::operator=(SharedPages&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(offer_, other.offer_);
  std::swap(process_, other.process_);
  return *this;
}

SharedPages::~SharedPages() {
  if (!offer_.empty() && process_ == getpid()) {
    unlink(offer_.c_str());
  }
  const File closed(file_);
}

bool SharedPages::replace(void* begin, size_t bytes) {
  const Offers offers;
  if (!offers.problem().empty()) {
    return staysPrivate(bytes, offers.problem());
  }
  const std::string key = hashBytes(begin, bytes).toString();
  std::optional<File> file = offers.find(key, begin, bytes);
  if (!file) {
    const File lock = offers.lock();
    file = offers.find(key, begin, bytes);
    if (!file) {
      file = makeFile(key, begin, bytes);
      if (!*file) {
        return staysPrivate(bytes, "cannot make a memory file: " + errorText());
      }
      offer_ = offers.add(key, *file);
    }
  }
  if (offer_.empty()) {
    offer_ = offers.add(key, *file);  // others find it here when the process that made it has ended
  }
  process_ = getpid();
  if (offer_.empty()) {
    return staysPrivate(bytes, "cannot write to " + folderOfOffers() + ": " + errorText());
  }
  Mapping mapping(*file, bytes);
  if (mapping.data() == nullptr || !mapping.moveTo(begin)) {
    return staysPrivate(bytes, "cannot map a memory file: " + errorText());
  }
  file_ = file->release();
  return true;
}

std::string folderOfOffers() {
  const char* const wanted = std::getenv("TORCHTRT_SHARE_WEIGHTS");
  const std::string parent = wanted != nullptr && *wanted == '/' ? wanted : "/dev/shm";
  // A number of a process means nothing to processes of another container that has the same folder.
  struct stat state {};
  const bool known = stat("/proc/self/ns/pid", &state) == 0;
  return parent + "/torchtrt-" + std::to_string(geteuid()) + "-" + (known ? std::to_string(state.st_ino) : "0");
}

}  // namespace torchtrt::device
