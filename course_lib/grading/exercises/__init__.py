"""What each exercise demands: a module for each, `e04_tiling` for exercise 04_tiling, with `PARTS` in the order of the notebook."""
