// The functions of a library of NVIDIA's as a table, opened when it is first asked for. Tests put others in its place.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace torchtrt::cuda {

// The table of one library. It is never destroyed: kernels keep a reference to it.
template <typename Table>
class OpenedTable {
 public:
  // Null, with the reason, where the library is missing or too old. `open` gives the table, and that reason.
  const Table* find(std::pair<Table, std::string> (*open)(), std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (current_ == nullptr) {
      auto [table, why] = open();
      current_ = new Opened{table, why, nullptr};
    }
    reason = current_->reason;
    return reason.empty() ? &current_->table : nullptr;
  }
  void use(const Table& table, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    current_ = new Opened{table, reason, current_};
  }

 private:
  struct Opened {
    Table table;
    std::string reason;
    Opened* before;  // it may be in use, and a checker of leaks finds it here
  };

  std::mutex mutex_;
  Opened* current_ = nullptr;
};

}  // namespace torchtrt::cuda
