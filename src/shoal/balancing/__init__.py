"""The balance of privacy and utility: releases along a sweep, and what is measured of them."""
