// Converters written in TorchScript. An operator that is made of other operators is given as the body of a function
// with the operator's own argument names. Its nodes are converted in place of the one; a node that stays in PyTorch
// stays the operator it was. Questions of shapes, dtypes and None are decided while compiling.
#pragma once

#include <string>
#include <vector>

#include "torchtrt/conversion.h"

namespace torchtrt::conversion::composites {

// Adds a converter for the operator `name` ("aten::addcmul", "aten::where.Scalar") of libtorch; `body` is indented by
// two spaces or more.
void add(NodeConverterRegistry& registry, const std::string& name, const std::string& body);
// Adds one for an operator of an extension that may not be loaded, by its full schema.
void addSchema(NodeConverterRegistry& registry, const std::string& schema, const std::string& body);

// Compiles what the built-in ones are written in, which else happens on first use; says which are no TorchScript.
TORCHTRT_API std::vector<std::string> brokenDefinitions();

// These add one family each, in a file of its own; list.cpp calls them.
void addAliases(NodeConverterRegistry& registry);         // other names of operators
void addArithmetic(NodeConverterRegistry& registry);      // elementwise functions
void addRearrangements(NodeConverterRegistry& registry);  // stacks, splits, diagonals, windows
void addIndexing(NodeConverterRegistry& registry);        // scatters, fills and searches
void addProducts(NodeConverterRegistry& registry);        // of vectors and matrices
void addStatistics(NodeConverterRegistry& registry);      // reductions, normalisations, quantiles
void addLosses(NodeConverterRegistry& registry);
void addNetworks(NodeConverterRegistry& registry);  // recurrent cells, attention, fused operators of inference mode
void addQuantization(NodeConverterRegistry& registry);

void addAll(NodeConverterRegistry& registry);  // all of the above

}  // namespace torchtrt::conversion::composites
