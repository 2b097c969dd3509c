"""The values that cross the seams between the layers: all of them immutable.

They are named tuples rather than dataclasses because importing `dataclasses` alone
costs a third of what a whole keyword search from the command line may take.
"""
