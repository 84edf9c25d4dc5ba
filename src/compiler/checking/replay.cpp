#include "compiler/checking/replay.h"

#include <algorithm>
#include <exception>
#include <sstream>

#include "compiler/checking/held_engine.h"
#include "compiler/checking/validation.h"
#include "compiler/checking/watch.h"
#include "compiler/reports/text.h"
#include "runtime/execute.h"
#include "runtime/torch_device.h"

namespace torchtrt::compiler {

namespace {

bool differs(const std::optional<Deviation>& deviation) {
  return deviation && !deviation->difference.empty();
}

std::vector<at::Tensor> placedFor(const runtime::Engine& engine, const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> placed;
  placed.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    placed.push_back(tensor.to(engine.device()));
  }
  return placed;
}

std::string errorOf(const std::exception& error) {
  return firstLine(messageOf(error.what()));
}

void compareWithTorch(const RecordedCall& call, const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& outputs, Replay& replay) {
  const runtime::Engine& engine = *call.engine;
  if (engine.kept() == nullptr) {
    replay.note = "it keeps nothing to compare it with, having been compiled with require_full_compilation";
    return;
  }
  try {
    if (replay.error.empty()) {
      replay.from_torch = runtime::deviationFromPyTorch(engine, inputs, outputs);
    }
    if (call.error.empty()) {
      replay.record_from_torch = runtime::deviationFromPyTorch(engine, inputs, placedFor(engine, call.outputs));
    }
  } catch (const std::exception& error) {
    replay.note = "PyTorch does not run it: " + errorOf(error);
    return;
  }
  if (differs(replay.from_torch)) {
    try {
      replay.culprit = firstDisagreeing(*engine.kept(), inputs);
    } catch (const std::exception& error) {
      replay.note = "which operator it is could not be found: " + errorOf(error);
    }
  }
}

std::string relativeOf(const std::optional<Deviation>& deviation) {
  return deviation ? brief(deviation->relative) : "";
}

void addRow(Table& table, const Replay& replay) {
  const std::optional<Deviation>& judge = replay.from_torch ? replay.from_torch : replay.from_record;
  table.add({relativeOf(replay.from_record), relativeOf(replay.from_torch), relativeOf(replay.record_from_torch),
             judge ? brief(judge->allowed) : "", fixed(replay.milliseconds, 3), replay.verdict(), replay.engine,
             replay.record});
}

void addDetails(std::ostream& out, const Replay& replay) {
  if (replay.isRight() && replay.note.empty()) {
    return;
  }
  out << "\nrecord " << replay.record << ", engine " << replay.engine << ": " << replay.verdict() << "\n";
  const auto add = [&](const char* what, const std::string& text) {
    out << (text.empty() ? "" : std::string("  ") + what + text + "\n");
  };
  const auto add_difference = [&](const char* what, const std::optional<Deviation>& deviation) {
    add(what, deviation ? deviation->difference : "");
  };
  add("recorded error: ", replay.recorded_error);
  add("error now: ", replay.error);
  add_difference("from the record: ", replay.from_record);
  add_difference("from PyTorch: ", replay.from_torch);
  add_difference("the record, from PyTorch: ", replay.record_from_torch);
  add("first layer that disagrees: ", replay.culprit);
  if (differs(replay.from_torch) && replay.culprit.empty() && replay.note.empty()) {
    out << "  an engine that is made anew of its operators agrees: a rewriter or another version may have made it\n";
  }
  add("", replay.note);
}

}  // namespace

bool Replay::isRight() const {
  return recorded_error.empty() && error.empty() && !differs(from_record) && !differs(from_torch) &&
         !differs(record_from_torch);
}

std::string Replay::verdict() const {
  if (!error.empty() && !recorded_error.empty()) {
    return error == recorded_error ? "fails, as recorded" : "fails, with another error";
  }
  if (!error.empty() || !recorded_error.empty()) {
    return error.empty() ? "failed in the record alone" : "fails now alone";
  }
  if (differs(from_torch) || differs(record_from_torch)) {
    return !differs(record_from_torch) ? "wrong now alone"
           : !differs(from_torch)      ? "wrong in the record alone"
           : differs(from_record)      ? "wrong, unlike the record"
                                       : "wrong, as recorded";
  }
  return differs(from_record) ? "unlike the record" : from_torch ? "agrees" : "as recorded";
}

Replay replay(const RecordedCall& call) {
  const c10::InferenceMode inference;
  Replay replay;
  replay.record = call.name;
  replay.engine = call.engine->name();
  replay.recorded_error = firstLine(messageOf(call.error));
  const std::vector<at::Tensor> inputs = placedFor(*call.engine, call.inputs);
  std::vector<at::Tensor> outputs;
  try {
    runtime::executeEngine(inputs, call.engine);  // prepares it for the shapes
    const auto start = Clock::now();
    outputs = runtime::executeEngine(inputs, call.engine);
    runtime::synchronize(call.engine->device());
    replay.milliseconds = millisecondsSince(start);
    if (call.error.empty()) {
      const std::vector<at::Tensor> recorded = placedFor(*call.engine, call.outputs);
      replay.from_record = deviation(c10::List<at::Tensor>(recorded), c10::List<at::Tensor>(outputs),
                                     call.engine->kept() == nullptr ? at::kDouble : coarsestOf(*call.engine));
    }
  } catch (const std::exception& error) {
    replay.error = errorOf(error);
  }
  compareWithTorch(call, inputs, outputs, replay);
  return replay;
}

std::string toText(const std::vector<Replay>& replays) {
  std::ostringstream out;
  Table table(5);
  table.add({"from record", "from PyTorch", "record from it", "allowed", "ms", "", "engine", "record"});
  for (const Replay& replay : replays) {
    addRow(table, replay);
  }
  table.print(out);
  for (const Replay& replay : replays) {
    addDetails(out, replay);
  }
  out << "\n" << verdictOf(replays) << "\n";
  return out.str();
}

std::string verdictOf(const std::vector<Replay>& replays) {
  const auto is_wrong = [](const Replay& replay) { return !replay.isRight(); };
  const auto first = std::find_if(replays.begin(), replays.end(), is_wrong);
  const std::string calls = counted(replays.size(), "call");
  if (first == replays.end()) {
    return replays.size() == 1 ? "the call is right" : "all " + calls + " are right";
  }
  const auto wrong = std::count_if(replays.begin(), replays.end(), is_wrong);
  return std::to_string(wrong) + " of " + calls + (wrong == 1 ? " is" : " are") + " not right, first " + first->record +
         ", engine " + first->engine + ": " + first->verdict() +
         (first->culprit.empty() ? "" : "; the first layer that disagrees is " + first->culprit);
}

}  // namespace torchtrt::compiler
