"""The interfaces of three documents: typed knowledge (S0), memory (S2), entries (S4)."""
