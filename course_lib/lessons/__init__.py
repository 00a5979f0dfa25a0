"""What belongs to one lesson alone: its tables, pictures and comparisons. One package per lesson; none imports from another."""
