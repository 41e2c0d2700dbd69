"""Programs with complex tensors inside, computed on pairs of real and imaginary parts."""
