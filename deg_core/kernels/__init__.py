"""Kernels: for CUDA by Triton, one op a file, each with its plain torch twin (contract section 12.2); for the CPU by numba,
all in `rowwise`.

Every Triton kernel runs in one configuration, fixed by dtypes and by the widths of weights and heads, and adds in a fixed
order. So a row's bits depend on that row alone: not on the rows beside it, their number, or its place among them. Numbers
that say how many rows there are stay out of Triton's specialisation, or one row alone would run other machine code.

`rowwise`, `select`, `table` and `trunk_delta` import no Triton; the modules with its kernels are imported where one is taken.
The kernels and their wiring were checked in Triton's interpreter on CPU tensors; for CUDA they were compiled (sm_80,
sm_89, sm_90), not run (tests/kernels).
"""
