#include "signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "base/status.h"

namespace torchtrtc {

namespace {

bool isIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// The shell's convention: 130 and 143.
[[noreturn]] void endBy(int signal) {
  torchtrt::logging::setStatus("");
  const std::string text = std::string("torchtrtc: interrupted by ") + (signal == SIGINT ? "SIGINT" : "SIGTERM") +
                           ", no file is half written\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  _exit(128 + signal);
}

}  // namespace

void endOnSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    if (!isIgnored(signal)) {
      sigaddset(&signals, signal);
    }
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    while (sigwait(&signals, &signal) != 0) {
    }
    endBy(signal);
  }).detach();
}

}  // namespace torchtrtc
