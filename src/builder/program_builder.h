// Compiles symbolic dimensions into a plan's shape program; equal expressions share their registers. Private to this
// folder.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "plan/plan.h"

namespace torchtrt::builder {

class ProgramBuilder {
 public:
  ProgramBuilder(plan::Plan& plan, const std::vector<Symbol>& symbols);  // appends to plan.symbols and plan.program

  plan::Register compile(const Dim& dim);
  std::vector<plan::Register> compile(const Dims& dims);

 private:
  plan::Register emit(plan::Op op, uint32_t a, uint32_t b, int64_t immediate);
  plan::Register compileTerm(const Dim::Term& term);
  plan::Register compileAtom(const Dim::Atom& atom);

  plan::Plan& plan_;
  std::unordered_map<std::string, uint32_t> symbol_index_;
  std::map<std::tuple<plan::Op, uint32_t, uint32_t, int64_t>, plan::Register> known_;
  std::map<Dim, plan::Register> compiled_;
};

}  // namespace torchtrt::builder
