"""How far results of one computation in another order may lie apart; every bound of the trainer's tests stands here.

All are for float32, whose rounding is 6e-8 relative; what is compared bit for bit needs none.
"""

# Gradients and losses of a step that was cut, shared or spread otherwise, relative to the largest element of each
# tensor's gradient: sums over some hundred tokens, seen up to 4e-6.
GRADIENT = 1e-5
# The same through layers that scan or that are read in pieces: the order changes inside every layer and grows from one
# to the next, seen up to 2e-5.
LAYERS = 1e-4
# Masters and moments after a few AdamW steps on summed gradients: some units in the last place, times the rate.
MASTER = 1e-6
# The norm of such a gradient, relative.
NORM = 1e-6
# Weights after a few AdamW steps on gradients of another order, relative to the norm of the whole update. The epsilon of
# that test lies far above rounding: AdamW moves an element by the sign of its gradient, even of one that is all noise.
UPDATE = 1e-3
