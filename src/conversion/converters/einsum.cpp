#include <algorithm>
#include <map>
#include <numeric>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

// Operands are contracted one after the other, each step a product of matrices. A label is a letter, or a number below
// kEllipsis + rank for a dimension of "...", counted from the last.

namespace torchtrt::conversion::converters {
namespace {

using Labels = std::vector<int>;
constexpr int kEllipsis = 1000;

struct Term {
  Tensor* tensor;
  Labels labels;
};

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
  bool has_output = false;
};

Equation parseEquation(const Call& call, std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation equation;
  const size_t arrow = text.find("->");
  equation.has_output = arrow != std::string::npos;
  equation.output = equation.has_output ? text.substr(arrow + 2) : "";
  std::string inputs = text.substr(0, arrow);
  for (size_t begin = 0; begin <= inputs.size();) {
    const size_t end = std::min(inputs.find(',', begin), inputs.size());
    equation.inputs.push_back(inputs.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,->";
  if (text.find_first_not_of(allowed) != std::string::npos) {
    call.refuse("argument", "equation '" + text + "' has an unknown character");
  }
  return equation;
}

// The labels of one operand; `extra` dimensions hide behind "...".
Labels labelsOf(const std::string& text, int extra) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      for (int d = extra - 1; d >= 0; --d) {
        labels.push_back(kEllipsis + d);
      }
      i += 2;
    } else {
      labels.push_back(text[i]);
    }
  }
  return labels;
}

bool holds(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int64_t placeOf(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

const Dim& dimOf(const Term& term, int label) {
  return term.tensor->getDimensions()[static_cast<int>(placeOf(term.labels, label))];
}

// A label that an operand has twice stands for the diagonal.
Term withoutRepeats(const Call& call, Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const auto again =
        std::find(term.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, term.labels.end(), term.labels[i]);
    if (again == term.labels.end()) {
      continue;
    }
    const auto j = static_cast<size_t>(again - term.labels.begin());
    std::vector<int64_t> order;
    for (size_t axis = 0; axis < term.labels.size(); ++axis) {
      if (axis != i && axis != j) {
        order.push_back(static_cast<int64_t>(axis));
      }
    }
    order.push_back(static_cast<int64_t>(i));
    order.push_back(static_cast<int64_t>(j));
    Tensor& moved = call.permute(*term.tensor, order);
    std::vector<Dim> dims = moved.getDimensions().vec();
    const int64_t size = call.number(dims.back(), "the size of a repeated label");
    dims.pop_back();
    dims.back() = dims.back() * Dim(size);
    Tensor* places = call.ctx.constant(at::arange(size, at::kLong) * (size + 1));
    Tensor& flat = call.reshape(moved, Dims(dims));
    term.tensor = call.net.addGather(flat, *places, flat.rank() - 1)->getOutput(0);
    Labels labels;
    for (const int64_t axis : order) {
      labels.push_back(term.labels[static_cast<size_t>(axis)]);
    }
    labels.pop_back();
    term.labels = labels;
    i = static_cast<size_t>(-1);  // from the start, there may be more
  }
  return term;
}

Term summed(const Call& call, const Term& term, const Labels& gone) {
  std::vector<int64_t> axes;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (holds(gone, term.labels[i])) {
      axes.push_back(static_cast<int64_t>(i));
    } else {
      left.push_back(term.labels[i]);
    }
  }
  if (axes.empty()) {
    return term;
  }
  const bool is_whole = isIntegral(term.tensor->getType(), true);
  Tensor& terms = is_whole ? call.cast(*term.tensor, DType::kInt64) : *term.tensor;
  return {&call.reduce("sum", terms, axes, false), left};
}

Tensor& inOrder(const Call& call, const Term& term, const Labels& order) {
  std::vector<int64_t> axes;
  for (const int label : order) {
    axes.push_back(placeOf(term.labels, label));
  }
  return call.permute(*term.tensor, axes);
}

Dim sizeOf(const Term& term, const Labels& labels) {
  Dim size = 1;
  for (const int label : labels) {
    size = size * dimOf(term, label);
  }
  return size;
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// The term as [batch..., rows, columns] for the product.
Tensor& asMatrices(const Call& call, const Term& term, const Labels& batch, const Labels& rows, const Labels& columns) {
  std::vector<Dim> dims;
  for (const int label : batch) {
    dims.push_back(dimOf(term, label));
  }
  dims.push_back(sizeOf(term, rows));
  dims.push_back(sizeOf(term, columns));
  return call.reshape(inOrder(call, term, joined({batch, rows, columns})), Dims(dims));
}

// A dimension of 1 stretches to the other's.
Term stretched(const Call& call, const Term& term, const Term& other, const Labels& labels) {
  std::vector<Dim> dims = term.tensor->getDimensions().vec();
  for (const int label : labels) {
    Dim& dim = dims[static_cast<size_t>(placeOf(term.labels, label))];
    dim = isOne(dim) ? dimOf(other, label) : dim;
  }
  return {&call.expand(*term.tensor, Dims(dims)), term.labels};
}

// PyTorch multiplies elements, of any dtypes, if nothing is contracted.
Tensor& multiplied(const Call& call, Tensor& a, Tensor& b, bool are_elements) {
  if (!are_elements) {
    return call.add(LayerType::kMATRIX_MULTIPLY, {&a, &b});
  }
  const DType dtype = promoteTypes(a.getType(), b.getType());
  const DType computed = dtype == DType::kBool ? DType::kUInt8 : dtype;
  return call.cast(call.add(LayerType::kMATRIX_MULTIPLY, {&call.cast(a, computed), &call.cast(b, computed)}), dtype);
}

// A product of vectors for each of the batch: as one of matrices it would be a matrix of one element. Halves stay with
// that, which does not round before it adds up.
bool areVectors(const Term& a, const Term& b, const Labels& contracted, const Labels& rows, const Labels& columns) {
  const DType dtype = a.tensor->getType();
  return rows.empty() && columns.empty() && !contracted.empty() && dtype == b.tensor->getType() &&
         (dtype == DType::kFloat32 || dtype == DType::kFloat64);
}

Term productOfVectors(const Call& call, const Term& a, const Term& b, const Labels& batch, const Labels& contracted) {
  const Labels order = joined({batch, contracted});
  std::vector<int64_t> axes(contracted.size());
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(batch.size()));
  Tensor& terms = call.elementwise("prod", inOrder(call, a, order), inOrder(call, b, order));
  return {&call.reduce("sum", terms, axes, false), batch};
}

// Sums over every label that neither the result nor a later operand (`needed`) asks for.
Term contract(const Call& call, const Term& left, const Term& right, const Labels& needed) {
  Labels batch, contracted, rows, columns, gone;
  for (const int label : left.labels) {
    if (holds(right.labels, label)) {
      (holds(needed, label) ? batch : contracted).push_back(label);
    } else {
      (holds(needed, label) ? rows : gone).push_back(label);
    }
  }
  for (const int label : right.labels) {
    if (!holds(left.labels, label)) {
      (holds(needed, label) ? columns : gone).push_back(label);
    }
  }
  const Term a = stretched(call, summed(call, left, gone), right, contracted);
  const Term b = stretched(call, summed(call, right, gone), left, contracted);
  if (areVectors(a, b, contracted, rows, columns)) {
    return productOfVectors(call, a, b, batch, contracted);
  }
  Tensor& product = multiplied(call, asMatrices(call, a, batch, rows, contracted),
                               asMatrices(call, b, batch, contracted, columns), contracted.empty());
  std::vector<Dim> dims(product.getDimensions().begin(), product.getDimensions().end() - 2);
  for (const int label : rows) {
    dims.push_back(dimOf(a, label));
  }
  for (const int label : columns) {
    dims.push_back(dimOf(b, label));
  }
  return {&call.reshape(product, Dims(dims)), joined({batch, rows, columns})};
}

// Returns the labels of an output without "->": the dimensions of "...", then every letter that occurs once, in order
// of the alphabet.
Labels impliedOutput(const std::vector<Term>& terms, int extra) {
  std::map<int, int> counts;
  for (const Term& term : terms) {
    for (const int label : term.labels) {
      counts[label] += label < kEllipsis ? 1 : 0;
    }
  }
  Labels labels = labelsOf("...", extra);
  for (const auto& [label, count] : counts) {
    if (count == 1) {
      labels.push_back(label);
    }
  }
  return labels;
}

// equation, tensors, path
Tensor& einsum(Call& call) {
  const Equation equation = parseEquation(call, call.text(0));
  const std::vector<Tensor*> tensors = call.tensors(1);
  if (equation.inputs.size() != tensors.size()) {
    call.refuse("argument", "the equation has " + std::to_string(equation.inputs.size()) + " operands, got " +
                                std::to_string(tensors.size()));
  }
  std::vector<Term> terms;
  int most = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto dots = static_cast<int>(std::count(equation.inputs[i].begin(), equation.inputs[i].end(), '.'));
    const int extra = dots ? tensors[i]->rank() - static_cast<int>(equation.inputs[i].size()) + dots : 0;
    most = std::max(most, extra);
    terms.push_back({tensors[i], labelsOf(equation.inputs[i], extra)});
    if (extra < 0 || terms.back().labels.size() != static_cast<size_t>(tensors[i]->rank())) {
      call.refuse("argument", "operand " + std::to_string(i) + " has rank " + std::to_string(tensors[i]->rank()) +
                                  ", expected that of '" + equation.inputs[i] + "'");
    }
  }
  const Labels output = equation.has_output ? labelsOf(equation.output, most) : impliedOutput(terms, most);
  for (Term& term : terms) {
    term = withoutRepeats(call, term);
  }
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels needed = output;
    for (size_t later = i + 1; later < terms.size(); ++later) {
      needed = joined({needed, terms[later].labels});
    }
    result = contract(call, result, terms[i], needed);
  }
  Labels gone;
  for (const int label : result.labels) {
    if (!holds(output, label)) {
      gone.push_back(label);
    }
  }
  return inOrder(call, summed(call, result, gone), output);
}

}  // namespace

void addEinsum(NodeConverterRegistry& registry) {
  registry.add("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", one(einsum));
}

}  // namespace torchtrt::conversion::converters
