#include "runtime/recording/recorder.h"

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/logging.h"
#include "runtime/comparison.h"
#include "runtime/recording/record.h"
#include "runtime/recording/record_folder.h"
#include "runtime/threads.h"

namespace torchtrt::runtime::recording {

std::atomic<bool> detail::is_on = false;

namespace {

using Clock = std::chrono::steady_clock;

thread_local int pauses = 0;

class Recorder {
 public:
  explicit Recorder(const Settings& settings) : settings_(settings), folder_(settings) {}

  std::vector<at::Tensor> run(std::vector<at::Tensor>& inputs, const c10::intrusive_ptr<Engine>& engine,
                              const Call& call) {
    Record record;
    record.engine = engine;
    record.call = 1 + callsOf(*engine).fetch_add(1, std::memory_order_relaxed);
    if (!isCandidate(record.call)) {
      return call(inputs);
    }
    record.inputs = inputs;  // the call may put copies of lazy views into their places
    const auto start = Clock::now();
    const auto elapsed = [&start] { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); };
    try {
      record.outputs = call(inputs);
    } catch (const std::exception& error) {
      record.milliseconds = elapsed();
      record.error = error.what();
      keep(record);
      throw;
    }
    record.milliseconds = elapsed();
    std::vector<at::Tensor> outputs = record.outputs;
    if (isWanted(record)) {
      keep(record);
    }
    return outputs;
  }

 private:
  // Engines whose names have one hash count together. No lock: a process that is forked meanwhile would keep it.
  std::atomic<uint64_t>& callsOf(const Engine& engine) {
    return calls_[std::hash<std::string>()(engine.name()) % calls_.size()];
  }

  bool isCandidate(uint64_t call) const {
    switch (settings_.calls) {
      case Settings::Calls::kFirst:
        return call <= settings_.number;
      case Settings::Calls::kEvery:
        return (call - 1) % settings_.number == 0;
      default:
        return true;
    }
  }

  // Of a call that did not fail.
  bool isWanted(Record& record) noexcept {
    if (settings_.calls == Settings::Calls::kFailing) {
      return false;
    }
    if (settings_.calls != Settings::Calls::kWrong) {
      return true;
    }
    if (record.engine->kept() == nullptr) {
      return false;
    }
    try {
      onTeam([&](int) {
        record.disagreement = deviationFromPyTorch(*record.engine, record.inputs, record.outputs).difference;
      });
    } catch (const std::exception& error) {
      TORCHTRT_LOG(kDEBUG, "a call of engine \"" << record.engine->name()
                                                 << "\" is not compared with PyTorch: " << error.what());
    }
    return !record.disagreement.empty();
  }

  void keep(const Record& record) noexcept {
    if (settings_.calls == Settings::Calls::kWrong && has_found_.exchange(true)) {
      return;
    }
    try {
      const std::optional<std::string> path = folder_.add(record);
      if (!path) {
        end(logging::kINFO, "no more calls are recorded: \"" + settings_.folder + "\" is as full as it may be");
      } else if (settings_.calls == Settings::Calls::kWrong) {
        end(logging::kWARNING, "a call of engine \"" + record.engine->name() + "\" " +
                                   (record.error.empty() ? "disagrees with PyTorch" : "failed") +
                                   " and is recorded as \"" + *path + "\"");
      }
    } catch (const std::exception& error) {
      const std::string text = error.what();
      end(logging::kWARNING, "calls are not recorded: " + text.substr(0, text.find('\n')));
    }
  }

  // Tells once for all threads.
  static void end(logging::Level level, const std::string& message) {
    if (detail::is_on.exchange(false)) {
      logging::log(level, message);
    }
  }

  Settings settings_;
  RecordFolder folder_;
  std::array<std::atomic<uint64_t>, 256> calls_ = {};
  std::atomic<bool> has_found_ = false;
};

// A call holds on to its recorder. Engines may be called while the process ends, so it is never destroyed.
std::atomic<std::shared_ptr<Recorder>>& current() {
  static auto* const recorder = new std::atomic<std::shared_ptr<Recorder>>;
  return *recorder;
}

}  // namespace

void start(const Settings& settings) {
  current().store(std::make_shared<Recorder>(settings));
  detail::is_on = true;
}

void stop() {
  detail::is_on = false;
  current().store(nullptr);
}

void startFromEnvironment() {
  try {
    if (const std::optional<Settings> settings = settingsFromEnvironment()) {
      start(*settings);
    }
  } catch (const EngineError& error) {
    TORCHTRT_LOG(kWARNING, "calls are not recorded: " << error.message());
  }
}

Pause::Pause() {
  ++pauses;
}

Pause::~Pause() {
  --pauses;
}

std::vector<at::Tensor> recorded(std::vector<at::Tensor>& inputs, const c10::intrusive_ptr<Engine>& engine,
                                 const Call& call) {
  const std::shared_ptr<Recorder> recorder = pauses == 0 ? current().load() : nullptr;
  return recorder == nullptr ? call(inputs) : recorder->run(inputs, engine, call);
}

}  // namespace torchtrt::runtime::recording
