// Shows that work goes on, where it takes longer than two seconds and stderr is a terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace torchtrtc {

// Lives as long as the work. Its line on the terminal, as torchtrt::progressLine() shows it, goes with it.
class Waiting {
 public:
  // `phase`: "comparing".
  explicit Waiting(const std::string& phase);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void show(const std::string& phase);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace torchtrtc
