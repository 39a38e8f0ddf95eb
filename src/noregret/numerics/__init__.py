"""Linear algebra of any size on NumPy's own BLAS: what SciPy would be loaded for."""
