"""Triton kernels for CUDA, one op a file, each with its plain torch twin (contract section 12.2).

Every kernel runs in one configuration, fixed by dtypes and by the widths of weights and heads, and adds in a fixed order.
So a row's bits depend on that row alone: not on the rows beside it, their number, or its place among them. Numbers
that say how many rows there are stay out of Triton's specialisation, or one row alone would run other machine code.

The modules import Triton, which only machines with CUDA need; only `select` is imported without it.
All were checked in Triton's interpreter on CPU tensors and compiled for sm_80 to sm_90 (tests/kernels).
"""
