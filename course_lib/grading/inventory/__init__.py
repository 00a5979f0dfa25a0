"""Twelve questions that students answer before and after the course, and what their answers say of each question and misconception."""
