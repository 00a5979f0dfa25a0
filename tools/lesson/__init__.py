"""Run a lesson, look at it, move its sliders"""
