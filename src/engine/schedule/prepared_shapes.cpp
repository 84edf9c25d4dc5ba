#include "engine/schedule/prepared_shapes.h"

namespace torchtrt::engine {
namespace {

thread_local uint64_t prepared_shapes = 0;

}  // namespace

uint64_t preparedShapes() {
  return prepared_shapes;
}

void countPreparedShapes() {
  ++prepared_shapes;
}

}  // namespace torchtrt::engine
