"""Triton kernels for CUDA, one op a file, each with its plain torch twin (contract section 12.2).

Every kernel runs in one configuration, fixed by dtypes and by the widths of weights and heads, and adds in a fixed order.
So a row's bits depend on that row alone: not on the rows beside it, their number, or its place among them. Numbers
that say how many rows there are stay out of Triton's specialisation, or one row alone would run other machine code.

`select`, `table` and `trunk_delta` import no Triton; the modules with kernels are imported where one is taken.
The kernels and their wiring were checked in Triton's interpreter on CPU tensors; for CUDA they were compiled (sm_80,
sm_89, sm_90), not run (tests/kernels).
"""
