#include "base/pass_run.h"

#include <chrono>
#include <regex>

#include "base/checkpoint.h"
#include "base/dump.h"
#include "base/logging.h"
#include "torchtrt/error.h"

namespace torchtrt {

namespace {

bool matchesName(const std::string& expression, const std::string& name) {
  try {
    return std::regex_search(name, std::regex(expression));
  } catch (const std::regex_error&) {
    throw CompileError(ErrorCode::kInvalidOption, "'" + expression + "' is no regular expression over pass names");
  }
}

void checkChanged(const PassRun& run, const std::string& before, bool changed) {
  if ((run.print() != before) != changed) {
    throw InternalError("pass '" + run.pass + "' says that it " + (changed ? "changed" : "kept") + " the " + run.level +
                        ", and its text says otherwise");
  }
}

}  // namespace

bool runPass(const PassRun& run, const std::function<bool()>& body) {
  const std::string before = run.check_changed ? run.print() : std::string();
  checkpoint();
  const auto start = std::chrono::steady_clock::now();
  const bool changed = body();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  TORCHTRT_LOG(kDEBUG, run.level << ": pass " << run.pass << (changed ? " changed '" : " kept '") << run.subject
                                 << "' in " << elapsed.count() << " ms");
  if (run.check_changed) {
    checkChanged(run, before, changed);
  }
  if (changed && run.verify) {
    run.verify();
  }
  if (!run.dump_after.empty() && matchesName(run.dump_after, run.pass)) {
    run.dump(run.print());
  }
  if (changed && dump::wantsPass(run.level, run.pass)) {
    dump::write(run.level, run.subject, run.pass, run.print());
  }
  return changed;
}

}  // namespace torchtrt
