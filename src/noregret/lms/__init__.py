"""Kernel LMS, and K-LMS-NET over a continuum of kernel widths (Herbster 2004)."""
