#include "lowering/memory/list_aliases.h"

#include <algorithm>

#include "lowering/memory/aliases.h"
#include "lowering/passes/list_writes.h"

namespace torchtrt::lowering {

using torch::jit::AliasDb;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

const AliasDb& ListAliases::get() {
  if (!aliases_) {
    aliases_ = std::unique_ptr<AliasDb>(new AliasDb(aliasesOf(graph_)));
  }
  return *aliases_;
}

bool ListAliases::mayBeWritten(const Value* list) {
  const bool is_made_here = list->node()->kind() == prim::ListConstruct || list->node()->kind() == prim::Constant;
  const bool is_only_read =
      is_made_here && std::all_of(list->uses().begin(), list->uses().end(), [](const Use& use) {
        const auto* schema = use.user->maybeSchema();
        return onlyReadsList(*use.user) && !(schema && schema->is_mutable({c10::SchemaArgType::input, use.offset}));
      });
  return !is_only_read && get().hasWriters(list);
}

}  // namespace torchtrt::lowering
