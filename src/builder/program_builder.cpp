#include "builder/program_builder.h"

namespace torchtrt::builder {

using plan::Op;
using plan::Register;

ProgramBuilder::ProgramBuilder(plan::Plan& plan, const std::vector<Symbol>& symbols) : plan_(plan) {
  for (const Symbol& symbol : symbols) {
    symbol_index_.emplace(symbol.name, static_cast<uint32_t>(plan.symbols.size()));
    plan.symbols.push_back(symbol);
  }
}

Register ProgramBuilder::compile(const Dim& dim) {
  if (const auto found = compiled_.find(dim); found != compiled_.end()) {
    return found->second;
  }
  Register result = 0;
  if (dim.isConstant()) {
    result = emit(Op::kConstant, 0, 0, dim.constant());
  } else {
    bool first = true;
    for (const Dim::Term& term : dim.terms()) {
      const Register value = compileTerm(term);
      result = first ? value : emit(Op::kAdd, result, value, 0);
      first = false;
    }
  }
  compiled_.emplace(dim, result);
  return result;
}

std::vector<Register> ProgramBuilder::compile(const Dims& dims) {
  std::vector<Register> registers;
  for (const Dim& dim : dims) {
    registers.push_back(compile(dim));
  }
  return registers;
}

Register ProgramBuilder::emit(Op op, uint32_t a, uint32_t b, int64_t immediate) {
  const auto [entry, is_new] = known_.try_emplace({op, a, b, immediate}, static_cast<Register>(plan_.program.size()));
  if (is_new) {
    plan_.program.push_back({op, a, b, immediate});
  }
  return entry->second;
}

Register ProgramBuilder::compileTerm(const Dim::Term& term) {
  if (term.atoms.empty()) {
    return emit(Op::kConstant, 0, 0, term.coefficient);
  }
  Register result = compileAtom(term.atoms[0]);
  for (size_t i = 1; i < term.atoms.size(); ++i) {
    const Register factor = compileAtom(term.atoms[i]);
    result = emit(Op::kMul, result, factor, 0);
  }
  if (term.coefficient == 1) {
    return result;
  }
  const Register coefficient = emit(Op::kConstant, 0, 0, term.coefficient);
  return emit(Op::kMul, coefficient, result, 0);
}

Register ProgramBuilder::compileAtom(const Dim::Atom& atom) {
  if (atom.kind == Dim::AtomKind::kSymbol) {
    const auto found = symbol_index_.find(atom.name);
    if (found == symbol_index_.end()) {
      throw CompileError(ErrorCode::kBuildFailed, "the symbol " + atom.name + " has no range", {},
                         "declare it with Network::addSymbol");
    }
    return emit(Op::kSymbol, found->second, 0, 0);
  }
  const Register a = compile(*atom.a);
  const Register b = compile(*atom.b);
  switch (atom.kind) {
    case Dim::AtomKind::kFloorDiv:
      return emit(Op::kFloorDiv, a, b, 0);
    case Dim::AtomKind::kMod:
      return emit(Op::kMod, a, b, 0);
    case Dim::AtomKind::kMax:
      return emit(Op::kMax, a, b, 0);
    default:
      return emit(Op::kMin, a, b, 0);
  }
}

}  // namespace torchtrt::builder
