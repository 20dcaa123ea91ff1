"""What a cell or a header says: dates, numbers, identifiers, and when two values are one."""
