"""Adapters for plugins and models that were written for releases of torch before 2.0.

- `older_torch`: names that torch.onnx had (0.4 to 1.13), and modules that moved since.
- `older_helpers`: functions of `torch.onnx.symbolic_helper` that changed or are gone (0.4 to 1.12).
- `symbolic_call`, `signatures`: arguments of a symbolic function as Python numbers, by keyword, or
  after a SymbolicContext (0.4 to 1.12).
- `graph_arguments`: arguments of `g.op` as constants of the graph and as Python numbers (0.4 to
  1.12).

They are kept until 31 December 2027, or until torch removes its TorchScript exporter if that is
earlier. The changelog announces the end two minor versions before; this package is then deleted.
"""
