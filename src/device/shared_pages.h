// Pages of memory that processes of one user on one machine have in common, because the same bytes stand in them.
// A process writes its pages as it always did. Then it looks for a memory file with the same bytes that another process
// offers, compares every byte, and maps the file in the place of its own pages. If there is none, it makes one and
// offers it. A file is sealed before it is offered: nobody can write to it, or make it shorter, ever again. So nothing
// that another process left is trusted. The kernel frees a file when the last process that maps it ends, however it
// ends.
#pragma once

#include <cstddef>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::device {

// One range of such pages; those of a value that is moved from, or was never replaced, are private.
class TORCHTRT_API SharedPages {
 public:
  SharedPages() = default;
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;
  ~SharedPages();  // ends the offer; the pages stay mapped

  // Replaces whole pages of private memory, whose bytes stay the same and can only be read afterwards. They are
  // unmapped as before. False, after a line in the log, if they stay private: no memory files here, no folder for
  // offers, ...
  bool replace(void* begin, size_t bytes);

 private:
  int file_ = -1;
  std::string offer_;  // path of a symbolic link to the file, under /proc
  int process_ = 0;    // that made the offer: a forked child has its memory, but leaves its offer alone
};

// The folder in which processes of this user find each other's files: TORCHTRT_SHARE_WEIGHTS if that is an absolute
// path, else /dev/shm. Offers lie in a folder of their own in it, which nobody else can write to.
TORCHTRT_API std::string folderOfOffers();

}  // namespace torchtrt::device
