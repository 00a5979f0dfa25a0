"""What belongs to one lesson alone: its tables, its pictures, its comparisons. One package per lesson; they share nothing with each other."""
