"""What an instructor does with a class: release, collect, grade, feedback, marks."""
