// Changes of saved modules that get past checksums: of records, of plans in them, and of the segments that engines
// keep. Lengths, checksums and hashes are right behind each change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace torchtrt::fuzz {

// Returns another archive, without compression; "" where the bytes are none.
std::string changedModule(std::string_view archive, uint64_t seed);

// Makes an archive of the records that can be found in changed bytes, taken as not compressed. Leaves bytes alone that
// have none.
void mendModule(std::string& bytes);

}  // namespace torchtrt::fuzz
